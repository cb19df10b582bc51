"""What goes from a comparison to the process of a method and back: files in a folder.

The data is written once for all methods, and mapped into their memory.
"""

import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elbmf.estimators import BooleanFactorizer
from elbmf.matrix.boolean_matrix import BooleanMatrix

__all__ = ["Job", "load_factors", "save_data", "save_factors"]

Bools = NDArray[np.bool_]

_JOB, _FACTORS = "job.pickle", "factors.npz"
_ONES, _MISSING = "ones", "missing"


def save_data(folder: Path, A: BooleanMatrix) -> None:
    """Write a matrix to a folder."""
    for name, pattern in ((_ONES, A), (_MISSING, A.missing)):
        if pattern is not None:
            np.save(folder / f"{name}.indptr.npy", pattern.indptr)
            np.save(folder / f"{name}.indices.npy", pattern.indices[: pattern.ones])


def _load_data(folder: Path, shape: tuple[int, int]) -> BooleanMatrix:
    def mapped(name: str) -> NDArray[Any]:
        # Copied when written to, which no one does: for arrays that may not be written to, other
        # kernels would have to be compiled.
        array = np.asarray(np.load(folder / f"{name}.npy", mmap_mode="c"))
        # Now it is in memory, and reading it is no part of the fit.
        array.sum()
        return array

    def pattern(name: str, missing: BooleanMatrix | None = None) -> BooleanMatrix:
        return BooleanMatrix(shape, mapped(f"{name}.indptr"), mapped(f"{name}.indices"), missing)

    some_missing = (folder / f"{_MISSING}.indptr.npy").exists()
    return pattern(_ONES, pattern(_MISSING) if some_missing else None)


@dataclass(frozen=True)
class Job:
    """What a process is to do.

    Parameters
    ----------
    A : BooleanMatrix
        The data.
    estimator : BooleanFactorizer
        Not fitted.
    time_limit : float, optional
        Seconds after which the fit is to end with what it has.
    """

    A: BooleanMatrix
    estimator: BooleanFactorizer
    time_limit: float | None

    def save(self, folder: Path) -> None:
        """Write the job to the folder that has its data."""
        (folder / _FACTORS).unlink(missing_ok=True)
        with open(folder / _JOB, "wb") as stream:
            pickle.dump((self.A.shape, self.estimator, self.time_limit), stream)

    @classmethod
    def load(cls, folder: Path) -> "Job":
        """Read a job and its data."""
        with open(folder / _JOB, "rb") as stream:
            shape, estimator, time_limit = pickle.load(stream)
        return cls(_load_data(folder, shape), estimator, time_limit)


def save_factors(folder: Path, U: Bools, V: Bools) -> None:
    """Write what was found."""
    np.savez(folder / _FACTORS, U=U, V=V)


def load_factors(folder: Path) -> tuple[Bools, Bools]:
    """Read what was found."""
    with np.load(folder / _FACTORS) as found:
        return found["U"], found["V"]
