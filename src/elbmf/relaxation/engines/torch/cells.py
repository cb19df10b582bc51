"""Cells of the data as torch tensors on some device, and what an epoch adds up over them."""

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import embedding_bag

from elbmf.relaxation.engines.torch.tensors import moved, wide_type

__all__ = ["Bags", "Grid", "Storage", "storage", "sums_rows"]

# Numbers of rows that are gathered at once to compute the product at listed cells.
_NUMBERS_AT_ONCE = {"cpu": 1 << 17, "cuda": 1 << 25, "mps": 1 << 24}


def sums_rows(device: str) -> bool:
    """Tell whether this version of torch can add up listed rows on a device."""
    at, rows = torch.zeros(2, dtype=torch.int32, device=device), torch.zeros((1, 1), device=device)
    try:
        _sum_listed(rows, at[:0], at)
    except NotImplementedError:
        return False
    return True


def _sum_listed(rows: Tensor, indices: Tensor, indptr: Tensor, times: Tensor | None = None) -> Any:
    """Return for each line the sum of the rows that it lists, each times a number of its own."""
    return embedding_bag(
        indices, rows, indptr, mode="sum", per_sample_weights=times, include_last_offset=True
    )


class Storage(Protocol):
    """Some cells of a batch of lines: its ones, or those that are missing."""

    def pull(self, resident: Tensor) -> Tensor:
        """Return for each line the sum of the resident rows of its cells."""

    def push(self, lines: Tensor) -> Tensor:
        """Return for each resident row the sum of the lines of its cells."""

    def pull_residuals(self, resident: Tensor, point: Tensor, value: int) -> Tensor:
        """Return the same as `pull`, each row times ``value − p``; p is taken at ``point``."""

    def push_residuals(self, point: Tensor, lines: Tensor, value: int) -> Tensor:
        """Return the same as `push`, likewise; ``point`` stands for the resident factor."""

    def squared_residuals(self, resident: Tensor, lines: Tensor, value: int) -> Tensor:
        """Return Σ (value − p)² over the cells."""


class Lists(NamedTuple):
    """Cells in lists, one for each line: where they begin, and the rows they name."""

    indptr: Any
    indices: Any


@dataclass(frozen=True)
class Bags:
    """Cells as lists, of lines and of resident rows both: costs what these cells cost."""

    _of_lines: Lists  # For each line its resident rows
    _of_rows: Lists  # For each resident row its lines

    def pull(self, resident: Tensor) -> Tensor:  # noqa: D102
        return _sum_listed(resident, self._of_lines.indices, self._of_lines.indptr)

    def push(self, lines: Tensor) -> Tensor:  # noqa: D102
        return _sum_listed(lines, self._of_rows.indices, self._of_rows.indptr)

    def pull_residuals(self, resident: Tensor, point: Tensor, value: int) -> Tensor:  # noqa: D102
        indptr, indices = self._of_lines
        residuals = value - self._products(self._of_lines, point, resident)
        return _sum_listed(resident, indices, indptr, residuals)

    def push_residuals(self, point: Tensor, lines: Tensor, value: int) -> Tensor:  # noqa: D102
        indptr, indices = self._of_rows
        residuals = value - self._products(self._of_rows, point, lines)
        return _sum_listed(lines, indices, indptr, residuals)

    def squared_residuals(self, resident: Tensor, lines: Tensor, value: int) -> Tensor:  # noqa: D102
        residuals = value - self._products(self._of_lines, lines, resident)
        return residuals.square().sum(dtype=wide_type(lines.device))

    @staticmethod
    def _products(pattern: Lists, own: Tensor, named: Tensor) -> Tensor:
        """Return for each cell the scalar product of its list's own row and the row it names."""
        count = pattern.indices.shape[0]
        result = named.new_empty(count)
        lists = torch.arange(own.shape[0], dtype=torch.int32, device=own.device)
        owners = torch.repeat_interleave(lists, pattern.indptr.diff(), output_size=count)
        at_once = max(1, _NUMBERS_AT_ONCE[own.device.type] // own.shape[1])
        for start in range(0, count, at_once):
            some = slice(start, start + at_once)
            pairs = own.index_select(0, owners[some])
            pairs *= named.index_select(0, pattern.indices[some])
            torch.sum(pairs, dim=1, out=result[some])
        return result


@dataclass(frozen=True)
class Grid:
    """Cells as a whole matrix of zeros and ones: costs the same at any density."""

    _cells: Tensor  # 1 where a cell is listed, else 0

    def pull(self, resident: Tensor) -> Tensor:  # noqa: D102
        return self._cells @ resident

    def push(self, lines: Tensor) -> Tensor:  # noqa: D102
        return self._cells.T @ lines

    def pull_residuals(self, resident: Tensor, point: Tensor, value: int) -> Tensor:  # noqa: D102
        return self._residuals(resident, point, value) @ resident

    def push_residuals(self, point: Tensor, lines: Tensor, value: int) -> Tensor:  # noqa: D102
        return self._residuals(point, lines, value).T @ lines

    def squared_residuals(self, resident: Tensor, lines: Tensor, value: int) -> Tensor:  # noqa: D102
        return self._residuals(resident, lines, value).square_().sum(dtype=wide_type(lines.device))

    def _residuals(self, resident: Tensor, lines: Tensor, value: int) -> Tensor:
        return (lines @ resident.T).neg_().add_(value).mul_(self._cells)


def storage(
    # A matrix of zeros and ones; or where the list of each line begins, its resident rows, and the
    # same for the lists of lines of each resident row
    arrays: tuple[NDArray[Any], ...],
    like: Tensor,
) -> Storage:
    """Move the cells of some lines to the device of a factor."""
    there = [moved(array, like.device) for array in arrays]
    if len(there) == 1:
        return Grid(there[0].to(like.dtype))
    return Bags(Lists(*there[:2]), Lists(*there[2:]))
