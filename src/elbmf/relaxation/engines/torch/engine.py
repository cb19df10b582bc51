"""Slabs on a device of torch: a graphics card, or the processor.

The streamed factor, the resident one and their product live on the device. The data does too, if it
fits; else its batches of lines are moved there one after the other, in every epoch. Where memory
runs out all the same, batches get smaller until it does not.
"""

import logging
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from elbmf.errors import DeviceMemoryError, InputError, Setting
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.relaxation.engines.base import Engine, Product, Where
from elbmf.relaxation.engines.torch.batches import Batch, Cells, batches
from elbmf.relaxation.half_step import Factor, HalfStep, Iterate, Summary, padded_width
from elbmf.relaxation.slabs import uncut
from elbmf.utils.extras import optional_module
from elbmf.utils.text import size_text

if TYPE_CHECKING:
    from elbmf.relaxation.engines.torch.cells import Storage

__all__ = ["TorchEngine"]

_LOG = logging.getLogger(__name__)

Floats = NDArray[np.floating[Any]]
T = TypeVar("T")

# Numbers in each of the arrays that a half-step makes on its way.
_NUMBERS_AT_ONCE = {"cpu": 1 << 20, "cuda": 1 << 24, "mps": 1 << 24}

# Share of what is free on a device that the data may take; the rest is for what is computed. Where
# it does not fit, so many batches have to: one that goes, one that is worked on, one that comes.
_SHARE_OF_FREE = 0.7
_BATCHES_AT_A_TIME = 3


class TorchEngine(Engine):
    """Visits batches of lines on a device of torch; results differ from others' by rounding.

    Parameters
    ----------
    A : BooleanMatrix
        The data.
    weight_of_ones : float
        ω, what a one weighs in the loss where a zero weighs 1.
    device : {"cpu", "cuda", "mps"}
        The device.
    n_jobs : int, optional
        Threads, if that is the processor. As many as torch takes by default.
    memory : int, optional
        Bytes of the device that the data may take. By default, most of what is free.
    """

    priority = 2
    devices = ("cpu", "cuda", "mps")

    def __init__(
        self,
        A: BooleanMatrix,
        weight_of_ones: float = 1.0,
        device: str = "cpu",
        n_jobs: int | None = None,
        memory: int | None = None,
    ) -> None:
        super().__init__(uncut(A, weight_of_ones))
        purpose = f"running epochs on the device {device!r}"
        self._torch = optional_module("torch", extra="torch", purpose=purpose)
        # Modules that import it, too.
        self._tensors = import_module("elbmf.relaxation.engines.torch.tensors")
        self._tensor_cells = import_module("elbmf.relaxation.engines.torch.cells")
        self._device = self._checked(device)
        self._memory = memory
        self._threads_before = self._torch.get_num_threads()
        if device == "cpu" and n_jobs is not None:
            self._torch.set_num_threads(n_jobs)
        # Cells that are looked at, by what the data has there: 1 for ones, 0 for missing cells.
        (whole,) = self.matrix.slabs
        lists = {1: A.lines(self.matrix.streamed_axis)}
        lists |= {cells.value: (cells.indptr, cells.indices) for cells in whole.reweighed}
        self._cells = {
            value: Cells(*pattern, self.matrix.n_resident, A.allocate)
            for value, pattern in lists.items()
        }
        # How much more than others they weigh, likewise.
        self._excess = {cells.value: cells.excess for cells in whole.reweighed}
        self._factor: Any = None
        self._product: Any = None
        self._batches: list[Batch] = []
        self._made_for: tuple[Any, int] | None = None

    @classmethod
    def of(cls, A: Any, weight_of_ones: float, where: Where) -> Self:  # noqa: D102
        assert where.device is not None
        return cls(A, weight_of_ones, where.device, where.n_jobs)

    def _checked(self, device: str) -> str:
        """Return a device that is there and knows all that is needed, or say what is wrong."""
        there = self._tensors.devices()
        version = self._torch.__version__
        if device not in there:
            raise InputError(
                Setting("device", device),
                f": torch {version} finds no such device on this machine; it has "
                f"{', '.join(map(repr, there))}. Install a driver and a build of torch for it "
                "(https://pytorch.org/get-started), or leave the device out: the epochs then run "
                "on the processor, with kernels made for it.",
            )
        if not self._tensor_cells.sums_rows(device):
            raise InputError(
                Setting("device", device),
                f": torch {version} has no operation on it that adds up rows "
                "(embedding_bag). Update torch, or leave the device out.",
            )
        return device

    def home(self, start: Iterate, dtype: Any, inertia: bool) -> Factor:  # noqa: D102
        number = np.dtype(dtype)
        if self._device == "mps" and number == np.float64:
            raise InputError(
                Setting("device", "mps"),
                " knows no numbers of 64 bits, and ",
                Setting("dtype", "float64"),
                " asks for them. Set ",
                Setting("dtype", "float32"),
                ", or leave the device out.",
            )
        rows, k = start.current.shape
        size = size_text(rows * padded_width(k) * number.itemsize * (1 + inertia))
        return self._sparing(
            lambda: self._tensors.TensorFactor(start, number, inertia, self._device),
            what=f"a factor of {rows} rows and {k} components ({size})",
        )

    def load(self, resident: Factor, streamed: Iterate) -> None:  # noqa: D102
        number = self._tensors.number_type(resident.current)
        width = resident.current.shape[1]
        if (number, width) != self._made_for:
            self._batches = []
        self._factor = self._product = None  # makes room for others
        self._factor = self.home(streamed, number, inertia=resident.previous is not None)
        rows, parts = self.matrix.n_resident, 1 + self.matrix.reweighed
        self._product = self._sparing(
            lambda: self._tensors.TensorProduct.zeros(parts, rows, self._factor.current),
            what=f"the product of the data with a factor ({parts}·{rows}·{width} numbers)",
        )
        if not self._batches:
            self._plan(width, number.itemsize)
            self._made_for = number, width

    def _plan(self, width: int, itemsize: int) -> None:
        """Decide what is worked on at once, and whether the data stays on the device."""
        n_resident = self.matrix.n_resident
        numbers = _NUMBERS_AT_ONCE[self._device]
        # Every batch makes sums over the resident side anew, which it should be worth.
        at_once = max(1, numbers // width, n_resident)
        if any(self._cells[value].dense for value in self._excess):
            at_once = min(at_once, max(1, numbers // n_resident))
        cells = self._cells.values()
        sizes: NDArray[np.int64] = np.sum([own.sizes(itemsize) for own in cells], axis=0)
        allowed = self._memory
        free = self._tensors.free_memory(self._device)
        if allowed is None and free is not None:
            allowed = int(_SHARE_OF_FREE * free)
        self._hold = allowed is None or bool(sizes[-1] <= allowed)
        limit = None if self._hold or allowed is None else allowed // _BATCHES_AT_A_TIME
        self._batches = batches(cells, sizes, at_once, limit)
        starts = range(0, n_resident, at_once)
        self._pieces = [Batch(start, min(start + at_once, n_resident)) for start in starts]
        _LOG.info(
            "%s: %s of data in %d batches, %s",
            self._device,
            size_text(int(sizes[-1])),
            len(self._batches),
            "moved there once" if self._hold else "moved there in every epoch",
        )

    def sweep(  # noqa: D102
        self, resident: Floats, step: HalfStep | None, ahead: Floats | None = None
    ) -> tuple[Product, Summary]:
        tensors, factor, product = self._tensors, self._factor, self._product
        here = tensors.moved(resident, self._device)
        point = here if ahead is None else tensors.moved(ahead, self._device)
        sums = tensors.Sums(factor.current)
        product.clear()

        def visit(batch: Batch) -> None:
            cells = self._storages(batch)
            old, new = None, factor.current[batch.rows]
            if step is not None:
                old, z = tensors.before_step(step, factor, batch.rows)
                pulled = cells[1].pull(here)
                for value, excess in self._excess.items():
                    pulled += cells[value].pull_residuals(here, z, value).mul_(excess)
                new = tensors.step_down(step, z, pulled)
            pushed = [cells[1].push(new)]
            residuals = [
                cells[value].push_residuals(point, new, value).mul_(excess)
                for value, excess in self._excess.items()
            ]
            if residuals:
                pushed.append(sum(residuals))
            terms = sums.of(new, old)
            # Only now, when nothing can run out of memory any more: a batch counts once.
            if old is not None:
                factor.replace(batch.rows, old, new)
            product.add(pushed)
            sums.add(terms)

        self._over(self._batches, visit)
        return product, sums.summary()

    def advance(self, resident: Factor, step: HalfStep | None, product: Product | None) -> Summary:  # noqa: D102
        tensors = self._tensors
        assert isinstance(resident, tensors.TensorFactor)
        sums = tensors.Sums(resident.current)

        def visit(piece: Batch) -> None:
            old, new = None, resident.current[piece.rows]
            if step is not None and isinstance(product, tensors.TensorProduct):
                old, z = tensors.before_step(step, resident, piece.rows)
                new = tensors.step_down(step, z, product.total(piece.rows))
            terms = sums.of(new, old)
            if old is not None:
                resident.replace(piece.rows, old, new)
            sums.add(terms)

        self._over(self._pieces, visit)
        return sums.summary()

    def excess_loss(self, resident: Floats) -> float:  # noqa: D102
        if not self._excess:
            return 0.0
        here = self._tensors.moved(resident, self._device)
        losses: list[float] = []

        def visit(batch: Batch) -> None:
            cells = self._storages(batch)
            lines = self._factor.current[batch.rows]
            own = (
                excess * float(cells[value].squared_residuals(here, lines, value))
                for value, excess in self._excess.items()
            )
            losses.append(sum(own))

        self._over(self._batches, visit)
        return sum(losses)

    def collect(self, function: Callable[[Floats], NDArray[Any]]) -> NDArray[Any]:  # noqa: D102
        rows = self._factor.iterate.current
        at_once = max(1, _NUMBERS_AT_ONCE[self._device] // rows.shape[1])
        starts = range(0, rows.shape[0], at_once)
        return np.concatenate([function(rows[start : start + at_once]) for start in starts])

    @property
    def iterate(self) -> Iterate:  # noqa: D102
        return self._factor.iterate

    def close(self) -> None:  # noqa: D102
        self._batches = []
        self._torch.set_num_threads(self._threads_before)
        self._tensors.let_go(self._device)

    def _storages(self, batch: Batch) -> "dict[int, Storage]":
        """Return the cells of a batch on the device, moving them there if need be."""
        if batch.held is not None:
            return batch.held
        taken = batch.taken or {
            value: cells.take(batch.start, batch.stop) for value, cells in self._cells.items()
        }
        storages = {
            value: self._tensor_cells.storage(arrays, like=self._factor.current)
            for value, arrays in taken.items()
        }
        if self._hold:
            batch.held, batch.taken = storages, None
        else:
            batch.taken = taken
        return storages

    def _over(self, runs: list[Batch], work: Callable[[Batch], None]) -> None:
        """Do some work on each batch; one that is too large is replaced by its halves."""
        position = 0

        def go_on() -> None:
            nonlocal position
            while position < len(runs):
                work(runs[position])
                position += 1

        def split() -> bool:
            halves = runs[position].halves()
            runs[position : position + 1] = halves
            return len(halves) > 1

        self._sparing(go_on, what="a single line of the data and what belongs to it", smaller=split)

    def _sparing(
        self, work: Callable[[], T], what: str, smaller: Callable[[], bool] = lambda: False
    ) -> T:
        """Do some work; where memory runs out, make room, or make it smaller, and try again."""
        while True:
            try:
                return work()
            except (RuntimeError, MemoryError) as error:
                if not self._tensors.is_out_of_memory(error):
                    raise
                said = str(error)
            # Here, where the error no longer keeps alive what was made on the way.
            if not (self._release() or smaller()):
                raise DeviceMemoryError(self._device, what, said)
            self._tensors.let_go(self._device)

    def _release(self) -> bool:
        """Stop holding data on the device; tell whether there was any."""
        held = [batch for batch in self._batches if batch.held is not None]
        for batch in held:
            batch.held = None
        self._hold = False
        if held:
            _LOG.info("%s: out of memory; data is moved there in every epoch", self._device)
        return bool(held)
