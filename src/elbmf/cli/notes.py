"""What is noted of an estimator and saved with its factors."""

import math
from typing import Any

import numpy as np

from elbmf.cli import summary
from elbmf.cli.checkpoints import FLAGS
from elbmf.cli.cluster import Labels
from elbmf.cli.console import Console
from elbmf.engines.cluster import DaskMatrix
from elbmf.estimators import BooleanFactorizer
from elbmf.io import LabelledMatrix, SavedModel
from elbmf.matrix import BooleanMatrix
from elbmf.metrics import measures

__all__ = ["draw_seed", "noted_parameters", "saved_model"]


def draw_seed(estimator: BooleanFactorizer) -> None:
    """Draw a seed where none is given, so that it is known."""
    if estimator.random_state is None:
        estimator.set_params(random_state=int(np.random.default_rng().integers(2**31)))


def noted_parameters(estimator: BooleanFactorizer) -> dict[str, Any]:
    """Return the parameters to note."""
    parameters = estimator.get_params(deep=False)
    # JSON knows no infinity, but a text that reads back as one will do.
    return {
        name: str(value) if isinstance(value, float) and math.isinf(value) else value
        for name, value in parameters.items()
        if name not in ("callback", *FLAGS)
    }


def saved_model(
    estimator: BooleanFactorizer,
    A: BooleanMatrix | DaskMatrix,
    table: LabelledMatrix | Labels,
    console: Console,
    notes: dict[str, Any],
) -> SavedModel:
    """Return what to save of a fitted estimator.

    Parameters
    ----------
    estimator : BooleanFactorizer
        Fitted.
    A : BooleanMatrix or DaskMatrix
        The data, binarised.
    table : LabelledMatrix or Labels
        Where the names are.
    console : Console
        Whose warnings are noted.
    notes : dict
        How it came about: ``method``, ``parameters`` and more; they win over what the estimator
        itself tells.
    """
    U, V = estimator.membership_, estimator.components_
    info = {
        "seed": notes["parameters"].get("random_state"),
        "measures": measures(A, U, V, n_jobs=estimator.n_jobs),
        "n_iter": estimator.n_iter_,
        "n_components_used": estimator.n_components_,
        # A list, because the keys of a saved model are sorted.
        "stages": [{"stage": stage, "cost": cost} for stage, cost in estimator.stages_.items()],
        "run_losses": estimator.run_losses_ or [estimator.reconstruction_err_],
        "stop_reason": estimator.stop_reason_,
        "history": estimator.history_,
        "versions": summary.versions(),
        "warnings": list(console.warnings),
    }
    if hasattr(estimator, "bits_saved_"):
        info["bits_saved"] = estimator.bits_saved_.tolist()
    return SavedModel(U, V, table.row_names, table.column_names, info | notes)
