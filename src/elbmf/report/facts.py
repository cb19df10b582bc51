"""What a report is made from: everything that is counted in the data, once."""

from __future__ import annotations

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

__all__ = ["Facts", "facts_of"]

# What components save is worked out anew where it is not noted, and so many ones times components
# are not too many for that.
_MOST_FOR_SAVINGS = 2_000_000_000


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
        return doubts(shape, *sizes, self.bits_saved, self.model.info.found_in)

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
        noted = self.model.info.measures.get("loss")
        return (
            self.cover is not None
            and not self.described
            and noted is not None
            and noted != self.cover.loss
        )


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
        rows=side_of(A, 0, model.U, V.T, model.row_names, order.rows, outliers, n_jobs),
        columns=side_of(A, 1, of_columns, U, model.column_names, order.columns, outliers, n_jobs),
        n_jobs=n_jobs,
    )
    return replace(found, bits_saved=_bits_saved(found))


def _bits_saved(facts: Facts) -> list[float] | None:
    """Return what is noted, unless that is of other data; then, what is saved here."""
    noted = facts.model.info.bits_saved
    if noted and len(noted) == facts.k and not (facts.changed or facts.described):
        return [float(bits) for bits in noted]
    if facts.A is None or facts.A.ones * facts.k > _MOST_FOR_SAVINGS:
        return None
    two_rates = facts.model.info.noise_rates is not None
    found = savings(facts.A, facts.U, facts.V, facts.n_jobs, two_rates=two_rates)
    bits = np.empty(facts.k)
    bits[found.order] = found.saved
    return bits.tolist()
