"""Fits of parts of the data: which part each sees, and with what effort."""

import copy
import re
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from elbmf.errors import InputError, Setting
from elbmf.estimators.base import BooleanFactorizer
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.utils.tuning import TUNING

__all__ = ["HALF", "Part", "Resample", "hide_cells", "run_estimator"]

HALF = "rows:0.5"
"""What a run sees by default. In as many rows as this, the columns that chance has filled most are
others each time; in four fifths they often are the same. benchmarks/stability.py"""

_WORDS = re.compile(r"(rows|columns|cells):(\d*\.?\d+)")

# Parameters that are about single rows, and others that are about single columns.
_OF_ROWS = ("forbidden_cells", "required_cells", "fixed_components", "init")
_OF_COLUMNS = (*_OF_ROWS, "separate_columns", "previous")


class Part(NamedTuple):
    """A part of a matrix, and which of its rows and columns it has."""

    A: BooleanMatrix
    rows: NDArray[np.int64]
    columns: NDArray[np.int64]


@dataclass(frozen=True)
class Resample:
    """What of the data a run sees: shares of the rows, columns and cells, drawn at random."""

    rows: float = 1.0
    columns: float = 1.0
    cells: float = 1.0

    @classmethod
    def of(cls, text: str) -> Self:
        """Read shares such as ``"rows:0.5,columns:1"``; what is not named is seen whole."""
        shares: dict[str, float] = {}
        for word in text.replace(" ", "").split(","):
            match = _WORDS.fullmatch(word)
            if match is None or not 0 < float(match[2]) <= 1 or match[1] in shares:
                raise InputError(
                    Setting("resample"), " must be shares above 0 and up to 1 of rows, columns or "
                    f"cells, each named once, such as rows:0.5,columns:0.9; got {text!r}."
                )  # fmt: skip
            shares[match[1]] = float(match[2])
        return cls(**shares)

    @property
    def is_whole(self) -> bool:
        """Whether every run sees everything."""
        return self.rows == self.columns == self.cells == 1

    def check(self, method: BooleanFactorizer) -> None:
        """Raise where parameters of a method are about lines that a run may not see."""
        bound = _OF_COLUMNS if self.columns < 1 else _OF_ROWS if self.rows < 1 else ()
        for name in bound:
            value = getattr(method, name, None)
            if value is not None and not isinstance(value, str):
                raise InputError(
                    Setting(name), " is about lines of the whole matrix, of which each run sees a "
                    "part. Leave it out, or set ", Setting("resample", "cells:0.9"), "."
                )  # fmt: skip

    def draw(self, A: BooleanMatrix, generator: np.random.Generator) -> Part:
        """Draw a part of a matrix."""
        rows, columns = (
            np.sort(generator.choice(length, max(1, round(share * length)), replace=False))
            if share < 1
            else np.arange(length)
            for length, share in zip(A.shape, (self.rows, self.columns), strict=True)
        )
        if self.rows < 1 or self.columns < 1:
            missing = None if A.missing is None else A.missing.to_csr()[rows][:, columns]
            A = BooleanMatrix.from_array(A.to_csr()[rows][:, columns], missing=missing)
        if self.cells < 1:
            A = hide_cells(A, 1 - self.cells, generator)
        return Part(A, rows, columns)


def hide_cells(A: BooleanMatrix, share: float, generator: np.random.Generator) -> BooleanMatrix:
    """Let a share of the cells be missing, at most as many as there are ones."""
    n, m = A.shape
    amount = max(1, int(min(share * n * m, A.ones)))
    if n * m <= 20 * amount:
        flat = generator.permutation(n * m)[:amount]
    else:
        flat = np.unique(generator.integers(n * m, size=amount))
    cells = np.ones(flat.size, dtype=np.bool_)
    mask = sparse.csr_array((cells, np.divmod(flat, m)), shape=A.shape)
    if A.missing is not None:
        mask = sparse.csr_array(mask + A.missing.to_csr())
    return BooleanMatrix.from_array(A.to_csr(), missing=mask)


def run_estimator(method: BooleanFactorizer, resample: Resample) -> BooleanFactorizer:
    """Return a method as a run uses it: on one thread, with less effort, within as much less room.

    Where every run sees the same, all would begin from the same singular vectors: they begin at
    random.
    """
    known = method.get_params(deep=False)
    changed: dict[str, Any] = {"n_jobs": 1, "callback": None, "verbose": False}
    changed["random_state"] = None
    if "checkpoint" in known:
        changed["checkpoint"] = None
    if "effort" in known:
        changed["effort"] = TUNING.effort_of_runs * known["effort"]
    if resample.is_whole and isinstance(known.get("init"), str):
        changed["init"] = "random"
    for side, share in (("rows", resample.rows), ("columns", resample.columns)):
        for name in (f"min_{side}", f"max_{side}"):
            if known.get(name) is not None:
                changed[name] = max(1, round(share * known[name]))
    return copy.copy(method).set_params(**changed)
