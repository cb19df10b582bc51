"""Slabs on the workers of a Dask cluster, visited there by their threads.

What moves in an epoch is the resident factor, to every worker, and a few sums of its size back.
The resident factor is updated here.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from elbmf.matrix.protocol import Matrix
from elbmf.relaxation.engines.base import Engine, Product, Where
from elbmf.relaxation.engines.cluster.data import DaskMatrix
from elbmf.relaxation.engines.cluster.sweeping import (
    add_visits,
    apply,
    begin,
    excess_loss,
    rows,
    sweep,
)
from elbmf.relaxation.half_step import Factor, HalfStep, Iterate, Rows, Summary
from elbmf.relaxation.slabs import SlabbedMatrix, heaviest_weight, storage_density
from elbmf.relaxation.starts import UniformRows
from elbmf.utils.threads import SingleThreadedBlas, available_cores

__all__ = ["DaskEngine"]

Floats = NDArray[np.floating[Any]]
T = TypeVar("T")


@dataclass(frozen=True)
class _SlabsElsewhere(SlabbedMatrix):
    """A matrix whose slabs are not here."""

    cells_with_weights: bool = False  # Whether any cell has another weight than 1

    @property
    def reweighed(self) -> bool:
        return self.cells_with_weights


@dataclass
class _FactorElsewhere:
    """The rows of an iterate, which are fetched when they are asked for."""

    shape: tuple[int, ...]
    _A: DaskMatrix  # Who holds them
    _which: str  # "current" or "previous"
    _dtype: Any

    def __getitem__(self, wanted: slice) -> Floats:
        low, high, _ = wanted.indices(self.shape[0])
        found = np.empty((max(high - low, 0), self.shape[1]), self._dtype)
        for number, lines in enumerate(self._A.slab_lines):
            first, last = max(low, lines.start), min(high, lines.stop)
            if first < last:
                own = slice(first - lines.start, last - lines.start)
                answer = self._A.workers.ask(rows, self._which, own, numbers=[number])
                found[first - low : last - low] = answer[number]
        return found


class DaskEngine(Engine):
    """Lets workers visit their slabs; gives the same bits as the engine in memory."""

    priority = 3

    def __init__(
        self,
        A: DaskMatrix,
        weight_of_ones: float = 1.0,  # ω, what a one weighs in the loss where a zero weighs 1
        n_jobs: int | None = None,  # Threads for the resident factor, here. All cores by default.
    ) -> None:
        matrix = _SlabsElsewhere(
            A.shape,
            A.ones,
            A.streamed_axis,
            (),
            heaviest_weight(A.ones, weight_of_ones),
            weight_of_ones != 1 or A.n_missing > 0,
        )
        super().__init__(matrix)
        self._A = A
        self._weight_of_ones = weight_of_ones
        self._sweeps = 0
        self._pool = ThreadPoolExecutor(n_jobs or available_cores())
        self._blas = SingleThreadedBlas()

    @classmethod
    def suits(cls, A: Matrix, where: Where) -> bool:  # noqa: D102
        return isinstance(A, DaskMatrix)

    @classmethod
    def of(cls, A: Any, weight_of_ones: float, where: Where) -> Self:  # noqa: D102
        return cls(A, weight_of_ones, where.n_jobs)

    def load(self, resident: Factor, streamed: Iterate) -> None:  # noqa: D102
        super().load(resident, streamed)
        self._dtype = resident.current.dtype
        self._inertia = resident.previous is not None
        self._n_components = resident.n_components
        lines = self._A.slab_lines

        def start_of(number: int) -> tuple[Iterate, slice]:
            own = lines[number]
            parts = (streamed.current, streamed.previous)
            if all(part is None or isinstance(part, UniformRows) for part in parts):
                # Workers draw them as well as anyone.
                return streamed, own
            cut_out: Any = [None if part is None else part[own] for part in parts]
            return Iterate(*cut_out), slice(None)

        self._A.workers.begin(
            begin,
            self._weight_of_ones,
            storage_density(self._A),
            self._dtype,
            self._inertia,
            apart=start_of,
        )

    def sweep(  # noqa: D102
        self, resident: Floats, step: HalfStep | None, ahead: Floats | None = None
    ) -> tuple[Product, Summary]:
        self._sweeps += 1
        # Kept until all workers have copies of what comes of it; the caller's will change.
        kept = resident.copy()
        visited = self._A.workers.change(
            sweep, self._sweeps, kept, ahead, step, self.matrix.reweighed, fold=add_visits
        )
        return visited.product, visited.summary

    def excess_loss(self, resident: Floats) -> float:  # noqa: D102
        if not self.matrix.reweighed:
            return 0.0
        losses: dict[int, float] = self._A.workers.ask(excess_loss, resident)
        return sum(losses.values())

    def run(self, function: Callable[..., T], *arguments: Iterable[Any]) -> list[T]:
        """Map over the threads of this machine."""
        return list(self._pool.map(function, *arguments))

    def collect(self, function: Callable[[Floats], NDArray[Any]]) -> NDArray[Any]:  # noqa: D102
        return np.concatenate(list(self._A.workers.ask(apply, function).values()))

    @property
    def iterate(self) -> Iterate:  # noqa: D102
        def elsewhere(which: str) -> Rows:
            shape = (self._A.edges[-1], self._n_components)
            return _FactorElsewhere(shape, self._A, which, self._dtype)

        return Iterate(elsewhere("current"), elsewhere("previous") if self._inertia else None)

    def close(self) -> None:  # noqa: D102
        self._pool.shutdown()
        self._blas.release()
