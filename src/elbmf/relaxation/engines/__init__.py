"""Where slabs live and who visits them: every engine runs the same epoch.

A new engine is a file of its own, and one line in `ENGINES`.
"""

from collections.abc import Iterable, Iterator, Set

from elbmf.errors import InputError
from elbmf.matrix.protocol import Matrix
from elbmf.relaxation.engines.base import Engine, Product, SlabEngine, Where, visit
from elbmf.relaxation.engines.memory import MemoryEngine
from elbmf.utils.late import imported

__all__ = [
    "DEVICES",
    "ENGINES",
    "Engine",
    "MemoryEngine",
    "Product",
    "SlabEngine",
    "Where",
    "open_engine",
    "visit",
]

# In any order: each says itself what it suits, and with which priority.
ENGINES = {
    "dask": "elbmf.relaxation.engines.cluster:DaskEngine",
    "disk": "elbmf.relaxation.engines.disk:DiskEngine",
    "memory": "elbmf.relaxation.engines.memory:MemoryEngine",
    "torch": "elbmf.relaxation.engines.torch.engine:TorchEngine",
}


def _registered() -> Iterator[type[Engine]]:
    yield from map(imported, ENGINES.values())


class _Devices(Set[str]):
    """The devices of all engines, also of those that are registered later."""

    def __contains__(self, device: object) -> bool:
        return any(device in engine.devices for engine in _registered())

    def __iter__(self) -> Iterator[str]:
        return iter(sorted({device for engine in _registered() for device in engine.devices}))

    def __len__(self) -> int:
        return sum(1 for _ in self)  # list() would ask for the length

    @classmethod
    def _from_iterable(cls, devices: Iterable[str]) -> Set[str]:  # type: ignore[override]
        return frozenset(devices)


DEVICES = _Devices()
"""What the parameter ``device`` of an estimator may be."""


def open_engine(A: Matrix, weight_of_ones: float = 1.0, where: Where | None = None) -> Engine:
    """Return the engine for some data, with its slabs.

    Parameters
    ----------
    A : Matrix
        The data.
    weight_of_ones : float
        ω, what a one weighs in the loss where a zero weighs 1.
    where : Where, optional
        What is said of where slabs may live.

    Raises
    ------
    InputError
        If no engine takes it, or two that have the same priority.
    """
    where = where or Where()
    suitable = [engine for engine in _registered() if engine.suits(A, where)]
    if not suitable:
        device = "" if where.device is None else f" with device={where.device!r}"
        raise InputError(
            f"No engine takes a {type(A).__name__}{device}. Engines: {', '.join(ENGINES)}; "
            f"devices: {', '.join(DEVICES)}."
        )
    highest = max(engine.priority for engine in suitable)
    chosen, *others = (engine for engine in suitable if engine.priority == highest)
    if others:
        raise InputError(
            f"{chosen.__name__} and {others[0].__name__} both take a {type(A).__name__}, with "
            f"the same priority {highest}. Give one of them another."
        )
    return chosen.of(A, weight_of_ones, where)
