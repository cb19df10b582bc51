"""Where slabs live and who visits them: every engine runs the same epoch."""

from elbmf.engines.base import Engine, visit
from elbmf.engines.memory import MemoryEngine

__all__ = ["Engine", "MemoryEngine", "visit"]
