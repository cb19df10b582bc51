"""Where slabs live and who visits them: every engine runs the same epoch.

A new engine is a file of its own next to this one, and one line in `ENGINES`.
"""

from importlib import import_module
from typing import Any

from elbmf.relaxation.engines.base import Engine, Product, Where, visit
from elbmf.relaxation.engines.memory import MemoryEngine

__all__ = ["ENGINES", "Engine", "MemoryEngine", "Product", "Where", "open_engine", "visit"]

# In the order in which they are asked whether they suit. Most data is for the last one.
ENGINES = {
    "dask": "elbmf.relaxation.engines.cluster:DaskEngine",
    "torch": "elbmf.relaxation.engines.torch.engine:TorchEngine",
    "disk": "elbmf.relaxation.engines.disk:DiskEngine",
    "memory": "elbmf.relaxation.engines.memory:MemoryEngine",
}


def open_engine(A: Any, weight_of_ones: float = 1.0, where: Where | None = None) -> Engine:
    """Return the engine for some data, with its slabs.

    Parameters
    ----------
    A : BooleanMatrix or DaskMatrix
        The data.
    weight_of_ones : float
        ω, what a one weighs in the loss where a zero weighs 1.
    where : Where, optional
        What is said of where slabs may live.
    """
    where = where or Where()
    for place in ENGINES.values():
        module, name = place.split(":")
        engine: type[Engine] = getattr(import_module(module), name)
        if engine.suits(A, where):
            return engine.of(A, weight_of_ones, where)
    raise AssertionError(f"no engine takes {type(A).__name__}")
