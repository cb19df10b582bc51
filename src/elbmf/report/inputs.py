"""What a report may be made from: saved models and fitted estimators, and data of any kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sklearn.utils.validation import check_is_fitted

from elbmf.errors import InputError
from elbmf.estimators import BooleanFactorizer
from elbmf.estimators.rank_search import RankSearch
from elbmf.estimators.reading import matrix_of
from elbmf.estimators.saving import rank_notes, saved_model
from elbmf.io import SavedModel
from elbmf.io.table import names_of
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.relaxation.engines.cluster import is_distributed
from elbmf.search.constrained.search import describe_within

__all__ = ["ReportSubject", "described_by", "subject_of"]


@dataclass(frozen=True, eq=False)
class ReportSubject:
    """What a report is about: a model, its data, and what a search over ranks noted.

    ``described`` says that the components were made from other rows than these, and describe them.
    """

    model: SavedModel
    A: BooleanMatrix | None
    described: bool = False
    ranks: Mapping[str, Any] | None = None


def subject_of(model: Any, data: Any = None, n_jobs: int | None = None) -> ReportSubject:
    """Read a model and its data, as `elbmf.report.write_report` takes them.

    Raises where it is no model, or the data cannot be that of the model.
    """
    if is_distributed(data):
        raise InputError("A report needs data in memory; got data on a cluster.")
    if isinstance(model, RankSearch):
        return _of_search(model, data, n_jobs)
    if isinstance(model, BooleanFactorizer):
        return _of_estimator(model, data, n_jobs)
    if isinstance(model, SavedModel):
        A = None if data is None else matrix_of(model, data)
        return described_by(model, A, names_of(data)[0], n_jobs)
    raise InputError(
        "A report is made from a saved model, as elbmf.io.load_model returns it, or a fitted "
        f"estimator; got {type(model).__name__}."
    )


def described_by(
    model: SavedModel, A: BooleanMatrix | None, row_names: list[str] | None, n_jobs: int | None
) -> ReportSubject:
    """Describe the rows of data by the components of a model that keeps no rows itself.

    A model that has rows stays as it is.
    """
    if A is None or model.shape[0] or model.info.stream is None:
        return ReportSubject(model, A)
    if A.shape[1] != model.shape[2]:
        raise InputError(
            f"The data has {A.shape[1]} columns, but the model was made from {model.shape[2]}."
        )
    U = describe_within(A, model.V.toarray(), model.weights(A.shape), model.most_per_row, n_jobs)
    return ReportSubject(replace(model, U=U, row_names=row_names), A, described=True)


def _of_search(search: RankSearch, data: Any, n_jobs: int | None) -> ReportSubject:
    check_is_fitted(search, "best_estimator_")
    found = _of_estimator(search.best_estimator_, data, n_jobs)
    looked_at = search.table_["rank"].tolist()
    noted = rank_notes(search.criterion, search.n_components_, looked_at)
    found.model.info.rank_search = noted
    return replace(found, ranks={"table": search.table_, "criterion": search.criterion})


def _of_estimator(estimator: BooleanFactorizer, data: Any, n_jobs: int | None) -> ReportSubject:
    check_is_fitted(estimator, "components_")
    A = None if data is None else matrix_of(estimator, data)
    rows, columns = names_of(data)
    # What the estimator knows wins: data with names is in its order by now.
    own_rows = not hasattr(estimator, "membership_") or hasattr(estimator, "sample_names_in_")
    own_columns = hasattr(estimator, "feature_names_in_")
    model = saved_model(estimator, A, None if own_rows else rows, None if own_columns else columns)
    return described_by(model, A, rows, n_jobs)
