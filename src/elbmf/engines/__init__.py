"""Where slabs live and who visits them: every engine runs the same epoch."""

from elbmf.engines.base import Engine, Product, visit
from elbmf.engines.memory import MemoryEngine

__all__ = ["Engine", "MemoryEngine", "Product", "visit"]
