"""Factors, products and half-steps as torch tensors on some device.

All sums have one fixed order on a given device: nothing here is added up by several threads at once
in the order in which they happen to come.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import threshold

from elbmf.relaxation.engines.base import Product
from elbmf.relaxation.half_step import Factor, HalfStep, Iterate, Summary, Tally, padded_width
from elbmf.relaxation.kernels.half_step import HUGE, TINY

__all__ = [
    "Sums",
    "Tensor",
    "TensorFactor",
    "TensorProduct",
    "before_step",
    "devices",
    "free_memory",
    "is_out_of_memory",
    "let_go",
    "moved",
    "number_type",
    "step_down",
    "wide_type",
]

Floats = NDArray[np.floating[Any]]

# Rows that are copied to or from a device at once.
_ROWS_AT_ONCE = 1 << 16

# What torch says, apart from raising an error of its own, where there is no memory left.
_OUT_OF_MEMORY = ("out of memory", "can't allocate memory", "not enough memory")


def devices() -> list[str]:
    """Return the kinds of devices that torch finds on this machine."""
    has = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    return ["cpu", *(name for name, there in has.items() if there)]


def free_memory(device: str) -> int | None:
    """Return how many bytes a device has left, or None where there is nothing to be moved to it."""
    if device == "cuda":
        kept = torch.cuda.memory_reserved() - torch.cuda.memory_allocated()
        return int(torch.cuda.mem_get_info()[0]) + kept
    if device == "mps":
        return int(torch.mps.recommended_max_memory() - torch.mps.driver_allocated_memory())
    return None


def let_go(device: str) -> None:
    """Give memory back to a device that torch keeps for later."""
    if device != "cpu":
        getattr(torch, device).empty_cache()


def is_out_of_memory(error: BaseException) -> bool:
    """Tell whether an error says that there is no memory left."""
    message = str(error).lower()
    return isinstance(error, MemoryError) or any(words in message for words in _OUT_OF_MEMORY)


def moved(array: Any, device: str) -> Tensor:
    """Return an array as a tensor of a device; the same memory if it is there already."""
    return torch.as_tensor(array, device=device)


def number_type(array: Any) -> np.dtype[Any]:
    """Return numpy's type of the numbers in an array or a tensor."""
    return np.dtype(str(array.dtype).removeprefix("torch."))


def wide_type(device: torch.device) -> torch.dtype:
    """Return the type in which sums are kept: one device has no float64."""
    return torch.float32 if device.type == "mps" else torch.float64


@dataclass(frozen=True)
class TensorRows:
    """Rows of a factor on a device, copied from there when they are asked for."""

    _rows: Tensor  # Without padding

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of rows, and of components."""
        return tuple(self._rows.shape)

    def __getitem__(self, rows: slice) -> Floats:
        fetched: Floats = self._rows[rows].numpy(force=True)
        return fetched


class TensorFactor(Factor):
    """A factor on a device."""

    current: Any
    previous: Any

    def __init__(
        self,
        start: Iterate,  # The initial iterate
        dtype: Any,
        inertia: bool,  # Keep the last iterate but one
        device: str,  # Where to keep it
    ) -> None:
        length, self.n_components = start.current.shape
        number = np.dtype(dtype)
        shape = (length, padded_width(self.n_components))
        self.current = torch.zeros(shape, dtype=getattr(torch, number.name), device=device)
        self.previous = torch.zeros_like(self.current) if inertia else None
        for first in range(0, length, _ROWS_AT_ONCE):
            some = slice(first, first + _ROWS_AT_ONCE)
            for own, given in ((self.current, start.current), (self.previous, start.previous)):
                if own is not None and given is not None:
                    own[some, : self.n_components] = moved(np.array(given[some], number), device)
        if self.previous is not None and start.previous is None:
            self.previous.copy_(self.current)

    @property
    def values(self) -> Floats:
        """The current iterate without padding, copied from the device."""
        return self.iterate.current[:]

    @property
    def iterate(self) -> Iterate:
        """Both iterates without padding; the next half-step overwrites them."""
        k = self.n_components
        previous = None if self.previous is None else TensorRows(self.previous[:, :k])
        return Iterate(TensorRows(self.current[:, :k]), previous)

    def ahead(self, beta: float, rows: slice = slice(None), out: Any = None) -> Any:
        """Z = X + β(X − X₋₁), where the gradient of the next half-step is taken (Alg. 2)."""
        current = self.current[rows]
        if self.previous is None:
            return current.clone() if out is None else out.copy_(current)
        change = torch.sub(current, self.previous[rows], out=out)
        return torch.add(current, change, alpha=beta, out=change)

    def replace(self, rows: slice, last: Tensor, current: Tensor) -> None:
        """Take over the new iterate of some rows, and what becomes the last one."""
        if self.previous is not None:
            self.previous[rows].copy_(last)
        self.current[rows].copy_(current)

    def rescale(self, scale: Floats) -> None:
        """Multiply each column, in the present and the last iterate."""
        factor = moved(scale, self.current.device)
        self.current *= factor
        if self.previous is not None:
            self.previous *= factor


class TensorProduct(Product):
    """A product whose parts are on a device."""

    tensors: tuple[Tensor, ...]

    def __init__(
        self,
        # The plain product and, if there are reweighed cells, what they add to it
        tensors: tuple[Tensor, ...],
    ) -> None:
        object.__setattr__(self, "tensors", tensors)  # of what is frozen

    @property
    def plain(self) -> Floats:
        """Q, the data times the streamed factor, copied from the device."""
        return self.tensors[0].numpy(force=True)

    @property
    def residual(self) -> Floats | None:
        """What the reweighed cells add to it, likewise."""
        return self.tensors[1].numpy(force=True) if len(self.tensors) > 1 else None

    @classmethod
    def zeros(cls, parts: int, rows: int, like: Tensor) -> "TensorProduct":
        """Return one of so many parts and rows, as wide as a factor."""
        return cls(tuple(like.new_zeros((rows, like.shape[1])) for _ in range(parts)))

    def clear(self) -> None:
        """Set all to zero."""
        for tensor in self.tensors:
            tensor.zero_()

    def add(self, parts: list[Tensor]) -> None:
        """Add to each part."""
        for tensor, part in zip(self.tensors, parts, strict=True):
            tensor += part

    def total(self, rows: slice) -> Tensor:
        """Return the sum of the parts, for some rows."""
        first, *others = (tensor[rows] for tensor in self.tensors)
        return first + others[0] if others else first

    def rescale(self, scale: Floats) -> None:
        """Multiply each column, in place."""
        for tensor in self.tensors:
            tensor *= moved(scale, tensor.device)

    def overlap(self, resident: Any) -> float:
        """Return ⟨A, UV⟩ = ⟨Q, X⟩, X being the resident factor; here every cell weighs 1."""
        product = self.tensors[0]
        wide = wide_type(product.device)
        return float((product.to(wide) * moved(resident, product.device).to(wide)).sum())


class Sums:
    """What is summed up of a factor while it is worked on: all that makes a `Summary`."""

    def __init__(self, like: Tensor) -> None:
        width, wide = like.shape[1], wide_type(like.device)
        self._gram = torch.zeros((width, width), dtype=wide, device=like.device)
        self._totals = torch.zeros(width, dtype=wide, device=like.device)
        self._gap = torch.zeros((), dtype=wide, device=like.device)
        self._flips = torch.zeros((), dtype=torch.int64, device=like.device)

    def of(self, rows: Tensor, before: Tensor | None) -> list[Tensor]:
        """Return what some rows of the factor add, and what was changed since ``before``."""
        wide = self._gap.dtype
        terms = [(rows.T @ rows).to(wide), rows.sum(dim=0).to(wide)]
        if before is not None:
            gap = torch.minimum(rows, (rows - 1).abs_())  # no entry is negative
            flips = ((rows > 0.5) != (before > 0.5)).count_nonzero()
            terms += [gap.sum().to(wide), flips]
        return terms

    def add(self, terms: list[Tensor]) -> None:
        """Add what `of` returned."""
        for total, term in zip((self._gram, self._totals, self._gap, self._flips), terms):  # noqa: B905
            total += term

    def summary(self) -> Summary:
        """Return all of it."""
        gram, totals = (
            tensor.numpy(force=True).astype(np.float64) for tensor in (self._gram, self._totals)
        )
        return Summary(gram, totals, Tally(float(self._gap), int(self._flips)))


def before_step(step: HalfStep, factor: TensorFactor, rows: slice) -> tuple[Tensor, Tensor]:
    """Return X and Z of some rows, as the half-step rescales them."""
    scale = None if step.scale is None else moved(step.scale, factor.current.device)
    current: Any = factor.current[rows]
    x = current if scale is None else current * scale
    if factor.previous is None:
        return x, x
    point = factor.ahead(step.beta, rows)
    return x, point if scale is None else point.mul_(scale)


def step_down(
    step: HalfStep,
    point: Tensor,  # Z, where the gradient is taken
    product: Tensor,  # The product of the rows with the data, P
) -> Tensor:
    """Return the new iterate of some rows: down the gradient, proximal operator, bounds."""
    _, kappa, lam = step.regularizer.arguments(*step.strength, step.gram.dtype)
    gradient = torch.addmm(product, point, moved(step.gram, point.device), beta=-1)
    down = torch.sub(point, gradient, alpha=step.step)
    fresh = step.regularizer.formula(torch, down, kappa, lam)
    return threshold(fresh.clamp_(max=HUGE), TINY, 0.0)
