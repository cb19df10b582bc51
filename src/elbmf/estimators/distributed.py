"""Fits to data on a Dask cluster: the epochs, the rounding and the refinement all happen there.

What comes back are the Boolean factors. There is no search beyond the refinement, which would need
the data in one place.
"""

import copy
import os
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from elbmf.binarizers import is_number
from elbmf.errors import ClusterError, InputError
from elbmf.estimators.base import FittedFactors
from elbmf.estimators.relaxed import RelaxedFactorizer
from elbmf.estimators.resuming import Session
from elbmf.relaxation.engines import Engine, open_engine
from elbmf.relaxation.engines.cluster import DaskMatrix, is_distributed
from elbmf.relaxation.palm import State
from elbmf.relaxation.rounding import project
from elbmf.search.on_cluster import ClusterSearch

__all__ = ["ClusterFactorizer"]


class ClusterFactorizer(RelaxedFactorizer):
    """Base of the methods that also take Dask arrays, Dask data frames and `DaskMatrix`."""

    n_init: Any

    def _read(self, X: Any, missing: Any, reset: bool) -> Any:
        """Validate input; on the workers where it is theirs."""
        if not is_distributed(X):
            return super()._read(X, missing, reset)
        if reset:
            self._require_feasible()
        # A data frame of Dask has an empty one of pandas, with the names.
        validate_data(
            self,
            getattr(X, "_meta", X) if hasattr(X, "columns") else X,
            reset=reset,
            skip_check_array=True,
        )
        axis = None if reset else 0
        if isinstance(X, DaskMatrix):
            if missing is not None:
                raise InputError("missing: has no use for data that the workers have read already.")
            return X
        if not (self.binarize is None or is_number(self.binarize)):
            raise InputError(
                f"binarize={self.binarize!r} learns from all the data, which is not in one place. "
                "Set a number, or binarize the Dask collection first."
            )
        try:
            return _Own.from_collection(
                X, binarize=self.binarize, missing=missing, streamed_axis=axis
            )
        except InputError as error:
            raise InputError(f"{type(self).__name__}: {error}") from None

    def _require_feasible(self) -> None:
        """Say which parameters have no meaning for data that is not in one place."""
        impossible = {
            "n_components": self.n_components == "auto",
            "init": isinstance(self.init, str) and self.init == "svd",
            "memory_limit": self.memory_limit is not None,
            "device": self.device is not None,
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
                    f"{name}={getattr(self, name)!r} is not possible for data on a cluster. "
                    f"{instead[name]}"
                )

    def _placed(self, A: Any) -> AbstractContextManager[Any]:
        return _lent(A) if isinstance(A, DaskMatrix) else super()._placed(A)

    def _find_on_cluster(
        self, A: DaskMatrix, generator: np.random.Generator, session: Session
    ) -> FittedFactors:
        """Relax, round and refine on the workers; of several runs, the best is taken."""
        try:
            with open_engine(A, self._weights(A.shape).relaxed, self._where) as engine:
                self._run_on_cluster(A, engine, generator, session)
        except ClusterError as error:
            if self.checkpoint is None:
                raise
            raise ClusterError(
                f"{error} Fitting again with checkpoint={os.fspath(self.checkpoint)!r} goes on "
                "from what was kept there."
            ) from error
        best, _ = min(session.runs, key=lambda run: run[1])
        best.run_losses = [cost for _, cost in session.runs]
        if session.runs[-1][0].stop_reason == "callback":
            best.stop_reason = "callback"
        return best

    def _run_on_cluster(
        self, A: DaskMatrix, engine: Engine, generator: np.random.Generator, session: Session
    ) -> None:
        """Do the runs that the session has not seen yet."""
        method = copy.copy(self)
        if isinstance(self.init, str):
            method.init = "random"
        runs = 1 if self.n_init == "auto" or not isinstance(self.init, str) else self.n_init
        for run in range(len(session.runs) + 1, runs + 1):
            if session.runs and session.runs[-1][1] == 0:
                return
            state, reason, history = method._relax(
                A,  # type: ignore[arg-type]
                self._rank,
                self.max_iter,
                engine,
                generator,
                run,
                runs,
                session,
            )
            fitted = self._finish(A, state, session.began, stopped=reason == "callback")
            fitted.history = history
            fitted.n_iter = state.iteration
            fitted.stop_reason = fitted.stop_reason or reason
            session.keep_run(fitted, list(fitted.stages.values())[-1])
            if fitted.stop_reason == "callback":
                return

    def _finish(self, A: DaskMatrix, state: State, began: float, *, stopped: bool) -> FittedFactors:
        """Round the factors of the last epoch, and refine them."""
        search = ClusterSearch(A, project(state.resident.values), project, self._weights(A.shape))
        stages = {"rounding": search.cost}
        ended = False

        def observe(cost: int) -> bool:
            nonlocal ended
            seconds = time.perf_counter() - began
            ended = self._tell(replace(state, stage="search", loss=cost, seconds=seconds))
            return ended

        if self.refine:
            # A fit that was ended is refined for one turn only.
            search.descend((lambda cost: True) if stopped else observe)
            stages["refinement"] = search.cost
        sides = (search.streamed, search.resident)
        U, Vt = sides if A.streamed_axis == 0 else sides[::-1]
        fitted = FittedFactors(U, np.ascontiguousarray(Vt.T))
        fitted.stages = stages
        fitted.stop_reason = "callback" if ended else ""
        return fitted


class _Own(DaskMatrix):
    """A matrix that was made for one fit, and is released when that ends."""


@contextmanager
def _lent(A: DaskMatrix) -> Iterator[DaskMatrix]:
    try:
        yield A
    finally:
        if isinstance(A, _Own):
            A.close()
