"""What a report is made from: everything that is counted in the data, once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from elbmf.analysis import (
    BlockOrder,
    ComponentOverlap,
    block_order,
    component_overlap,
    doubts,
    line_ones,
)
from elbmf.boolean.coverage import ComponentCover, Cover, component_cover, cover
from elbmf.boolean.product import Bools
from elbmf.io.model import SavedModel
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.ranks.criteria import savings
from elbmf.report.sides import Side, side_of
from elbmf.search.margins import Margins

__all__ = ["Facts", "facts_of"]

# What components save is worked out anew where it is not noted, and so many ones times components
# are not too many for that.
_MOST_FOR_SAVINGS = 2_000_000_000

# Members are weighed where that takes no more than this, about in nanoseconds: some seconds.
_MOST_FOR_MARGINS = 5e8


@dataclass(frozen=True, eq=False)
class Facts:
    """What is counted of a factorization; without data, what needs it is None.

    ``described`` says that the rows were described by the components, which were made from others;
    ``order`` is that in which the matrix is shown.
    """

    model: SavedModel
    A: BooleanMatrix | None
    U: Bools
    V: Bools
    described: bool
    order: BlockOrder
    overlap: ComponentOverlap
    cover: Cover | None
    components: ComponentCover | None
    bits_saved: list[float] | None
    rows: Side
    columns: Side
    n_jobs: int | None

    @property
    def k(self) -> int:
        """Number of components."""
        return self.V.shape[0]

    @cached_property
    def doubts(self) -> list[list[str]]:
        """Why each component may be chance."""
        if self.of_stream:
            return [[] for _ in range(self.k)]
        shape = (self.rows.count, self.columns.count)
        sizes = self.rows.sizes.tolist(), self.columns.sizes.tolist()
        found_in, p_values = (self.noted.get(name) for name in ("found_in", "p_value"))
        significance = self.model.info.significance
        samples = None if significance is None else significance.samples
        return doubts(shape, *sizes, self.bits_saved, found_in, p_values, samples)

    @property
    def noted(self) -> dict[str, Sequence[float]]:
        """What is noted of each component, see `elbmf.io.SavedModel.noted`; not of other data."""
        return {} if self.of_other_data else self.model.noted

    @property
    def used(self) -> NDArray[np.bool_]:
        """Which components have rows and columns; of a stream, whose rows are not kept, columns."""
        has_columns = self.columns.sizes > 0
        return has_columns if self.of_stream else has_columns & (self.rows.sizes > 0)

    @property
    def of_stream(self) -> bool:
        """Whether rows are not known, for the model is that of a stream."""
        return self.A is None and self.model.info.stream is not None

    @property
    def changed(self) -> bool:
        """Whether the data is not what the model was made from, by the number of wrong cells."""
        if self.described or self.cover is None:
            return False
        return self.model.is_of_other_data(self.cover)

    @property
    def of_other_data(self) -> bool:
        """Whether what is noted of components is not of this data."""
        return self.described or self.changed


def facts_of(
    model: SavedModel,
    A: BooleanMatrix | None,
    *,
    described: bool,
    outliers: int,
    n_jobs: int | None = None,
) -> Facts:
    """Count what a report says, and find so many outliers of each component that fit it best."""
    U, V = model.U.toarray(), model.V.toarray()
    row_sums, column_sums = (None if A is None else line_ones(A, axis) for axis in (0, 1))
    overlap = component_overlap(U, V)
    order = block_order(U, V, row_sums=row_sums, column_sums=column_sums, overlap=overlap)
    covered = None if A is None else cover(A, U, V, n_jobs)
    of_columns = sparse.csr_array(model.V.T)
    margins = _margins(model, A, n_jobs)
    stability = model.info.stability
    other = covered is not None and model.is_of_other_data(covered)
    noted = {} if described or other else model.noted
    stable = stability.components if stability is not None and "recurrence" in noted else ()
    found = Facts(
        model=model,
        A=A,
        U=U,
        V=V,
        described=described,
        order=order,
        overlap=overlap,
        cover=covered,
        components=None if A is None else component_cover(A, U, V, n_jobs),
        bits_saved=None,
        rows=side_of(
            A,
            0,
            model.U,
            V.T,
            model.row_names,
            order.rows,
            outliers,
            n_jobs,
            None if margins is None else margins.rows,
            [each.rows for each in stable],
        ),
        columns=side_of(
            A,
            1,
            of_columns,
            U,
            model.column_names,
            order.columns,
            outliers,
            n_jobs,
            None if margins is None else sparse.csr_array(margins.columns.T),
            [each.columns for each in stable],
        ),
        n_jobs=n_jobs,
    )
    return replace(found, bits_saved=_bits_saved(found))


def _margins(model: SavedModel, A: BooleanMatrix | None, n_jobs: int | None) -> Margins | None:
    """Return how firmly members belong, unless there are too many to find out."""
    rows, k, columns = model.shape
    pairs = (model.U.nnz, columns), (model.V.nnz, rows)
    work = sum(members * (300 + k * (across // 64 + 1)) for members, across in pairs)
    if A is None or work > _MOST_FOR_MARGINS:
        return None
    return model.margins(A, n_jobs=n_jobs)


def _bits_saved(facts: Facts) -> list[float] | None:
    """Return what is noted, unless that is of other data; then, what is saved here."""
    if "bits_saved" in facts.noted:
        return [float(bits) for bits in facts.noted["bits_saved"]]
    if facts.A is None or facts.A.ones * facts.k > _MOST_FOR_SAVINGS:
        return None
    two_rates = facts.model.info.noise_rates is not None
    found = savings(facts.A, facts.U, facts.V, facts.n_jobs, two_rates=two_rates)
    bits = np.empty(facts.k)
    bits[found.order] = found.saved
    return bits.tolist()
