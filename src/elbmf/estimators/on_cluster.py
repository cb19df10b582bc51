"""The part of a method that fits data on a Dask cluster: epochs, rounding and refinement are there.

What comes back are the Boolean factors. There is no search beyond the refinement, which would need
the data in one place.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from elbmf.binarizers import is_number
from elbmf.boolean.fitted import FittedFactors
from elbmf.errors import ClusterError, InputError
from elbmf.estimators.relaxer import Relaxed
from elbmf.relaxation.engines.cluster import DaskMatrix
from elbmf.relaxation.rounding import project
from elbmf.search.on_cluster import ClusterSearch

__all__ = ["lent_by_cluster", "naming_checkpoint", "read_on_cluster", "refined_on_cluster"]


def read_on_cluster(method: Any, X: Any, missing: Any, *, reset: bool) -> DaskMatrix:
    """Validate input of a method on the workers whose it is, to be fitted if ``reset`` is true."""
    if reset:
        _require_feasible(method)
    # A data frame of Dask has an empty one of pandas, with the names.
    validate_data(
        method,
        getattr(X, "_meta", X) if hasattr(X, "columns") else X,
        reset=reset,
        skip_check_array=True,
    )
    axis = None if reset else 0
    if isinstance(X, DaskMatrix):
        if missing is not None:
            raise InputError(
                "missing: cannot be used with data that the workers have already read."
            )
        return X
    if not (method.binarize is None or is_number(method.binarize)):
        raise InputError(
            f"binarize={method.binarize!r} learns from all the data, which is not in one place. "
            "Set a number, or binarize the Dask collection first."
        )
    try:
        return _Own.from_collection(
            X, binarize=method.binarize, missing=missing, streamed_axis=axis
        )
    except InputError as error:
        raise InputError(f"{type(method).__name__}: {error}") from None


def _require_feasible(method: Any) -> None:
    """Say which parameters have no meaning for data that is not in one place."""
    impossible = {
        "n_components": method.n_components == "auto",
        "init": isinstance(method.init, str) and method.init == "svd",
        "memory_limit": method.memory_limit is not None,
        "device": method.device is not None,
    }
    instead = {
        "n_components": "Set a number; a sample of the rows in memory can tell a good one.",
        "init": "Set 'random', or leave it at 'auto'.",
        "memory_limit": "Limit the memory of the workers instead.",
        "device": "Leave it unset.",
    }
    for name, asked in impossible.items():
        if asked:
            raise InputError(
                f"{name}={getattr(method, name)!r} is not possible for data on a cluster. "
                f"{instead[name]}"
            )


class _Own(DaskMatrix):
    """A matrix that was made for one fit, and is released when that ends."""


@contextmanager
def lent_by_cluster(A: DaskMatrix) -> Iterator[DaskMatrix]:
    """Lend data on a cluster, and release it afterwards if it was made for this."""
    try:
        yield A
    finally:
        if isinstance(A, _Own):
            A.close()


@contextmanager
def naming_checkpoint(checkpoint: Any) -> Iterator[None]:
    """Say of a cluster that was lost where the fit can go on from."""
    try:
        yield
    except ClusterError as error:
        if checkpoint is None:
            raise
        raise ClusterError(
            f"{error} Fitting again with checkpoint={os.fspath(checkpoint)!r} goes on "
            "from what was kept there."
        ) from error


def refined_on_cluster(
    method: Any,  # With the parameters of `ELBMF`
    A: DaskMatrix,
    relaxed: Relaxed,  # What a run has led to
    began: float,  # When the fit began, as of `time.perf_counter`
) -> FittedFactors:
    """Round the factors of the last epoch, and refine them, on the workers."""
    state, reason = relaxed.state, relaxed.reason
    search = ClusterSearch(A, project(state.resident.values), project, method._weights(A.shape))
    stages = {"rounding": search.cost}

    def observe(cost: int) -> bool:
        nonlocal reason
        seconds = time.perf_counter() - began
        if method._tell(replace(state, stage="search", loss=cost, seconds=seconds)):
            reason = "callback"
        return reason == "callback"

    if method.refine:
        # A fit that was ended is refined for one turn only.
        search.descend((lambda cost: True) if reason == "callback" else observe)
        stages["refinement"] = search.cost
    sides = (search.streamed, search.resident)
    U, Vt = sides if A.streamed_axis == 0 else sides[::-1]
    return FittedFactors(
        U,
        np.ascontiguousarray(Vt.T),
        n_iter=state.iteration,
        stop_reason=reason,
        history=relaxed.history,
        stages=stages,
        cost=search.cost,
    )
