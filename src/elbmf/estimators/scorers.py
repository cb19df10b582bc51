"""Scorers for scikit-learn's searches over parameters, which do not always favour more components.

`score` is how well rows are described by components that are chosen for them: with more components
to choose from, it hardly ever falls. These charge for that, or look at cells that were not seen.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from elbmf.boolean.coverage import cover
from elbmf.errors import InputError
from elbmf.estimators.base import BooleanFactorizer
from elbmf.estimators.resampled import hide_cells
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.ranks.criteria import count, description_length_of_rows

__all__ = ["description_length_scorer", "held_out_scorer"]


def description_length_scorer(estimator: Any, X: Any, y: Any = None) -> float:
    """Score a fitted method by how few bits it takes to describe rows by its components.

    These are the bits of the errors, those that say which rows have each component, and a share of
    those that say which columns are in it: as large as the rows of X are among all that the
    components are for, which are those of the fit.

    Parameters
    ----------
    estimator : BooleanFactorizer or Pipeline
        Fitted; in a pipeline, the last step.
    X : array-like, sparse matrix or data frame
        Rows, as a rule other ones than those of the fit.
    y : ignored

    Returns
    -------
    float
        Minus the bits for each known cell of X. The highest is the best.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV
    >>> from elbmf import ELBMF
    >>> from elbmf.datasets import make_tiles
    >>> from elbmf.estimators import description_length_scorer
    >>> A = make_tiles((60, 50), 3, height=(15, 20), noise=0.05, random_state=0).A
    >>> ranks = {"n_components": [2, 3, 4]}
    >>> search = GridSearchCV(
    ...     ELBMF(effort=0.1, random_state=0), ranks, scoring=description_length_scorer, cv=2
    ... )
    >>> search.fit(A).best_params_
    {'n_components': 3}
    """
    model, A = _last_step(estimator, X)
    counts = count(A, model.transform(A), model.components_, model._threads)
    learned_from = getattr(model, "n_rows_seen_", None) or len(model.membership_)
    return -description_length_of_rows(counts, learned_from) / max(A.known, 1)


def held_out_scorer(
    estimator: Any, X: Any, y: Any = None, *, share: float = 0.2, random_state: int = 0
) -> float:
    """Score a fitted method by how well it tells cells of rows from the other cells.

    Some cells of each row are hidden. The row is described by what is left of it, and the hidden
    cells are compared with what its components say.

    Parameters
    ----------
    estimator : BooleanFactorizer or Pipeline
        Fitted; in a pipeline, the last step.
    X : array-like, sparse matrix or data frame
        Rows, as a rule other ones than those of the fit.
    y : ignored
    share : float, default=0.2
        How many of the cells to hide; at most as many as there are ones. To set it, pass
        ``functools.partial(held_out_scorer, share=0.1)``.
    random_state : int, default=0
        Which; the same for every method, so that scores compare.

    Returns
    -------
    float
        One minus the wrong cells for each one, among the hidden cells: 1 is perfect, and 0 is what
        no components at all reach. The highest is the best.
    """
    if not 0 < share < 1:
        raise InputError(f"share must be between 0 and 1; got {share!r}.")
    model, A = _last_step(estimator, X)
    masked = hide_cells(A, share, np.random.default_rng(random_state))
    U, V = model.transform(masked), model.components_
    whole, seen = (cover(each, U, V, model._threads) for each in (A, masked))
    return 1 - (whole.loss - seen.loss) / max(whole.ones - seen.ones, 1)


def _last_step(estimator: Any, X: Any) -> tuple[BooleanFactorizer, BooleanMatrix]:
    """Return the method that is scored, and the rows as it reads them."""
    model = estimator
    if hasattr(estimator, "steps"):
        model = estimator.steps[-1][1]
        X = estimator[:-1].transform(X) if len(estimator.steps) > 1 else X
    if not isinstance(model, BooleanFactorizer):
        raise InputError(
            f"Expected a method such as ELBMF, or a pipeline that ends with one; got "
            f"{type(model).__name__}."
        )
    check_is_fitted(model, "components_")
    return model, model._read(X, None, reset=False)
