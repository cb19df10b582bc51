"""The contract of an engine, what it does with one slab (pull, step, push), and one that does it.

An engine owns the streamed factor. In one pass over the data it updates that factor and returns
what the resident factor is updated from: Q, the product of the data with the streamed factor, and
a summary of the streamed factor with its Gram matrix H. Where some cells have another weight, what
they add to a product is held beside the plain one: the loss needs both.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from operator import add
from threading import Lock
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from elbmf.matrix.protocol import Matrix
from elbmf.relaxation.engines.buffers import Product, Workspace
from elbmf.relaxation.half_step import Factor, HalfStep, Iterate, Summary, Tally
from elbmf.relaxation.slabs import Slab, SlabbedMatrix, cut
from elbmf.utils.aligned import aligned_empty

__all__ = [
    "Engine",
    "Product",
    "SlabEngine",
    "TreeSum",
    "Where",
    "merges",
    "visit",
]

Floats = NDArray[np.floating[Any]]
T = TypeVar("T")


# The resident factor is worked on in so many pieces, unless they get too small.
_RESIDENT_PIECES = 16
_FEWEST_ROWS = 3000


@dataclass(frozen=True)
class Where:
    """Where slabs may live, and what may visit them.

    Parameters
    ----------
    n_jobs : int, optional
        Threads. All cores by default.
    device : str, optional
        Asks for the engine that declares it. By default there is none: our own kernels on the
        processor.
    """

    n_jobs: int | None = None
    device: str | None = None


class Engine(ABC):
    """Runs passes over a slabbed matrix.

    Parameters
    ----------
    matrix : SlabbedMatrix
        The data.

    Attributes
    ----------
    priority : int
        Of the engines that suit, the one with the highest is taken. Those of this package have
        less than the default.
    devices : tuple of str
        Values of the parameter ``device`` by which users ask for this engine.
    """

    priority: ClassVar[int] = 10
    devices: ClassVar[tuple[str, ...]] = ()

    def __init__(self, matrix: SlabbedMatrix) -> None:
        self.matrix = matrix

    @classmethod
    def suits(cls, A: Matrix, where: Where) -> bool:
        """Whether this is an engine for some data: by default if one of its devices is asked for.

        Parameters
        ----------
        A : Matrix
            The data.
        where : Where
            What is said of where slabs may live.
        """
        return where.device in cls.devices and A.in_one_place

    @classmethod
    @abstractmethod
    def of(cls, A: Any, weight_of_ones: float, where: Where) -> Self:
        """Make slabs of some data, in which ones weigh ω, and an engine for them."""

    @property
    def _resident_rows_at_once(self) -> int:
        """Rows of the resident factor that are worked on at once: pieces of equal size."""
        pieces = min(_RESIDENT_PIECES, -(-self.matrix.n_resident // _FEWEST_ROWS))
        return -(-self.matrix.n_resident // pieces)

    def home(self, start: Iterate, dtype: Any, inertia: bool) -> Factor:
        """Make a factor where this engine works on it; see `Factor` for the parameters."""
        return Factor(start, dtype, inertia)

    @abstractmethod
    def load(self, resident: Factor, streamed: Iterate) -> None:
        """Take over the streamed factor, and make room for working on both.

        Parameters
        ----------
        resident : Factor
            The other one, which `home` made, for its number type and whether there is inertia.
        streamed : Iterate
            Where the streamed factor starts from.
        """
        at_once = self._resident_rows_at_once
        self._resident_workspaces = {
            start: Workspace(min(at_once, self.matrix.n_resident), resident.current)
            for start in range(0, self.matrix.n_resident, at_once)
        }

    @abstractmethod
    def sweep(
        self, resident: Floats, step: HalfStep | None, ahead: Floats | None = None
    ) -> tuple[Product, Summary]:
        """Visit every slab once and add up what they return, in the order of `merges`.

        Parameters
        ----------
        resident : ndarray of shape (resident, k)
            The resident factor.
        step : HalfStep or None
            The update of the streamed factor; None leaves it as it is.
        ahead : ndarray of shape (resident, k), optional
            Where the next gradient of the resident factor is taken, which the reweighed cells
            depend on; at that factor itself by default.

        Returns
        -------
        product : Product
            Of the data and the streamed factor; the next sweep overwrites it.
        summary : Summary
            Of the streamed factor.
        """

    @abstractmethod
    def excess_loss(self, resident: Floats) -> float:
        """Σ (w − 1)(a − p)² over the reweighed cells, at both factors as they are."""

    def advance(self, resident: Factor, step: HalfStep | None, product: Product | None) -> Summary:
        """Update the resident factor.

        Parameters
        ----------
        resident : Factor
            Updated in place; `home` made it.
        step : HalfStep or None
            The update; None leaves the factor as it is.
        product : Product or None
            Of the data and the streamed factor; kept as it is. None when there is no step.
        """
        at_once = self._resident_rows_at_once

        def work(start: int) -> Summary:
            rows = slice(start, start + at_once)
            values = resident.current[rows]
            tally = Tally()
            if step is not None and product is not None:
                workspace = self._resident_workspaces[start]
                own_product = workspace.product(values.shape[0])
                own_product[:] = product.plain[rows]
                if product.residual is not None:
                    own_product += product.residual[rows]
                tally = step.apply(resident, rows, own_product, workspace.scratch(values.shape[0]))
            return Summary.of(values, tally)

        return reduce(add, self.run(work, range(0, self.matrix.n_resident, at_once)))

    def run(self, function: Callable[..., T], *arguments: Iterable[Any]) -> list[T]:
        """Map ``function`` over the arguments, in parallel where the engine can."""
        return list(map(function, *arguments))

    @abstractmethod
    def collect(self, function: Callable[[Floats], NDArray[Any]]) -> NDArray[Any]:
        """Apply a function to the streamed factor, run of rows by run of rows, where it lies.

        Parameters
        ----------
        function : callable
            Makes an array of as many rows of the rows it is given, each from that row alone.

        Returns
        -------
        ndarray
            The results, one after the other.
        """

    @property
    @abstractmethod
    def iterate(self) -> Iterate:
        """The two last iterates of the streamed factor, as they are until the next sweep."""

    def close(self) -> None:
        """Release what the engine holds; nothing by default."""
        return

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def visit(
    slab: Slab,
    factor: Factor,
    resident: Floats,
    ahead: Floats,
    step: HalfStep | None,
    product: Product,
    workspace: Workspace,
) -> Summary:
    """Pull, step, push: update the lines of one slab and add up what they give back.

    Parameters
    ----------
    slab : Slab
        The data.
    factor : Factor
        The streamed factor; its rows ``slab.start`` to ``slab.stop`` are updated in place.
    resident : ndarray
        The resident factor.
    ahead : ndarray
        Where its next gradient is taken.
    step : HalfStep or None
        The update; None leaves the lines as they are.
    product : Product
        Where to add up what the resident factor is updated from; overwritten.
    workspace : Workspace
        Room for a block of lines.

    Returns
    -------
    Summary
        Of the lines of this slab.
    """
    for part in product.parts:
        part[:] = 0
    tally = Tally()
    for low, high in slab.blocks(resident.shape[1]):
        rows = slice(slab.start + low, slab.start + high)
        if step is not None:
            own_product = workspace.product(high - low)
            scratch = workspace.scratch(high - low)
            slab.pull(resident, low, high, own_product)
            if slab.reweighed:
                point = step.point(factor, rows, out=scratch[0])
                slab.pull_residuals(resident, point, low, high, own_product)
            tally = tally.plus(step.apply(factor, rows, own_product, scratch))
        lines = factor.current[rows]
        slab.push(lines, low, high, product.plain)
        if product.residual is not None:
            slab.push_residuals(ahead, lines, low, high, product.residual)
    return Summary.of(factor.current[slab.start : slab.stop], tally)


class SlabEngine(Engine):
    """Visits slabs on this machine, one after the other.

    An engine that visits them in another way has its own `run`.

    Parameters
    ----------
    matrix : SlabbedMatrix
        The data.
    n_jobs : int, optional
        Threads, for engines that have several.
    """

    def __init__(self, matrix: SlabbedMatrix, n_jobs: int | None = None) -> None:
        super().__init__(matrix)

    @classmethod
    def of(cls, A: Any, weight_of_ones: float, where: Where) -> Self:  # noqa: D102
        return cls(cut(A, weight_of_ones), where.n_jobs)

    def load(self, resident: Factor, streamed: Iterate) -> None:  # noqa: D102
        super().load(resident, streamed)
        number = resident.current.dtype
        self._factor = Factor(streamed, number, inertia=resident.previous is not None)
        width = self._factor.current.shape[1]
        self._products = [self._new_product() for _ in self.matrix.slabs]
        self._workspaces = [
            Workspace(slab.lines_at_once(width), self._factor.current) for slab in self.matrix.slabs
        ]

    def _new_product(self) -> Product:
        """Make room for the product of a slab."""
        like = self._factor.current
        shape, parts = (self.matrix.n_resident, like.shape[1]), 1 + self.matrix.reweighed
        return Product(*(aligned_empty(shape, like.dtype) for _ in range(parts)))

    def sweep(  # noqa: D102
        self, resident: Floats, step: HalfStep | None, ahead: Floats | None = None
    ) -> tuple[Product, Summary]:
        point = resident if ahead is None else ahead
        summaries = self.run(
            lambda *own: visit(own[0], self._factor, resident, point, step, *own[1:]),
            self.matrix.slabs,
            self._products,
            self._workspaces,
        )
        if len(summaries) > 1:
            at_once = self._resident_rows_at_once
            self.run(self._add_products, range(0, self.matrix.n_resident, at_once))
        summary = TreeSum(len(summaries), add)
        for position, own in enumerate(summaries):
            summary.put(position, own)
        return self._products[0], summary.total

    def _add_products(self, start: int) -> None:
        """Add the products of all slabs, into the first, for some resident rows."""
        rows = slice(start, start + self._resident_rows_at_once)
        for parts in zip(*(product.parts for product in self._products), strict=True):
            for into, other in merges(len(parts)):
                parts[into][rows] += parts[other][rows]

    def excess_loss(self, resident: Floats) -> float:  # noqa: D102
        if not self.matrix.reweighed:
            return 0.0
        lines = self._factor.current
        return sum(
            self.run(
                lambda slab: slab.excess_loss(resident, lines[slab.start : slab.stop]),
                self.matrix.slabs,
            )
        )

    def collect(self, function: Callable[[Floats], NDArray[Any]]) -> NDArray[Any]:  # noqa: D102
        return function(self._factor.values)

    @property
    def iterate(self) -> Iterate:  # noqa: D102
        return self._factor.iterate


def merges(count: int) -> Iterator[tuple[int, int]]:
    """Yield pairs of positions: add the second to the first, one pair after the other."""
    step = 1
    while step < count:
        for position in range(0, count - step, 2 * step):
            yield position, position + step
        step *= 2


class TreeSum(Generic[T]):
    """Adds up what comes in any order, as `merges` says; at most a few terms wait at a time.

    Rounding makes a sum of floating-point numbers depend on its order. Here slabs 0 and 1 are
    added, 2 and 3, then the two sums, and so on, wherever the slabs are and whichever is ready
    first: every engine gets the same bits, and each needs to move or keep only a few sums at a
    time.
    """

    def __init__(
        self,
        count: int,
        add: Callable[[T, T], T],  # Returns the sum of two terms; it may change them
    ) -> None:
        self._count = count
        self._add = add
        self._waiting: dict[tuple[int, int], T] = {}
        self._lock = Lock()

    def put(self, position: int, term: T, step: int = 1) -> None:
        """Take a term; add it to its neighbour if that is here already. Safe from any thread.

        With another ``step``, the term is what another such sum has as a `part`.
        """
        while step < self._count:
            first = position % (2 * step) == 0
            other = position + step if first else position - step
            if other < self._count:
                with self._lock:
                    if (step, other) not in self._waiting:
                        self._waiting[step, position] = term
                        return
                    neighbour = self._waiting.pop((step, other))
                pair: Any = (term, neighbour) if first else (neighbour, term)
                term = self._add(*pair)
                position = min(position, other)
            step *= 2
        self._waiting[step, 0] = term

    @property
    def parts(self) -> dict[tuple[int, int], T]:
        """The sums so far, by their step and their first position, which wait for others."""
        return dict(self._waiting)

    @property
    def total(self) -> T:
        """The sum, when all terms have come."""
        (total,) = self._waiting.values()
        return total
