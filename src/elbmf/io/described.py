"""What is told of the components of a model: their sizes, what they cover, who is in them."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from elbmf.analysis import best_first, doubts, line_ones, support_in_pieces
from elbmf.boolean.coverage import component_cover
from elbmf.io.model import SavedModel
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.matrix.protocol import Matrix

__all__ = ["Side", "described", "doubts_of", "members"]

Side = Literal["rows", "columns"]


def described(model: SavedModel, A: Matrix | None = None) -> list[dict[str, Any]]:
    """Return sizes, columns and what is noted of each component.

    Of the data that the model was made from, if it is given, there is also what each covers. The
    names of columns come best first: those that most rows of the component have and, without data,
    those that return most surely when it is resampled, where that is noted, or else those that are
    in the fewest components.
    """
    cover = None if A is None else component_cover(A, model.U, model.V)
    sizes = None if model.info.stream else np.bincount(model.U.indices, minlength=model.shape[1])
    names = model.column_labels()
    order, _ = _ordered(model, "columns", A)
    noted, doubtful = model.noted, doubts_of(model)
    found = []
    for at in range(model.shape[1]):
        columns = order[at]
        one: dict[str, Any] = {"component": at}
        if sizes is not None:
            one["rows"] = int(sizes[at])
        one["columns"] = len(columns)
        if cover is not None:
            one["covered"], one["alone"] = int(cover.covered[at]), int(cover.alone[at])
            one["precision"] = float(cover.precision[at])
        one |= {name: values[at] for name, values in noted.items()}
        found.append({**one, "doubts": doubtful[at], "column_names": [names[j] for j in columns]})
    return found


def doubts_of(model: SavedModel) -> list[list[str]]:
    """Return why each component may be chance, see `elbmf.analysis.doubts`."""
    if model.info.stream:
        return [[] for _ in range(model.shape[1])]
    rows, columns = np.bincount(model.U.indices, minlength=model.shape[1]), np.diff(model.V.indptr)
    noted = model.noted
    bits_saved, found_in, p_values = map(noted.get, ("bits_saved", "found_in", "p_value"))
    significance = model.info.significance
    samples = None if significance is None else significance.samples
    sizes = rows.tolist(), columns.tolist()
    return doubts(model.shape[::2], *sizes, bits_saved, found_in, p_values, samples)


def members(model: SavedModel, side: Side, A: BooleanMatrix | None = None) -> dict[str, Any]:
    """Return a table of who is in which component, best first, by its columns.

    Parameters
    ----------
    model : SavedModel
    side : {"columns", "rows"}
        Whose members.
    A : BooleanMatrix, optional
        The data that the model was made from.

    Returns
    -------
    dict of str to ndarray
        ``component``, ``column`` (or ``row``) and ``place``; and of the data, the ``share`` of the
        component's other side that has a one there, and ``share_elsewhere``.
    """
    order, shares = _ordered(model, side, A)
    places = np.concatenate([*order, np.empty(0, dtype=np.int64)]).astype(np.int64)
    labels = model.column_labels() if side == "columns" else model.row_labels()
    table: dict[str, Any] = {
        "component": np.repeat(np.arange(len(order)), [len(each) for each in order]),
        side.removesuffix("s"): np.array(labels, dtype=object)[places],
        "place": places,
    }
    if shares is not None:
        inside, elsewhere = (np.concatenate([*each, np.empty(0)]) for each in shares)
        table |= {"share": inside, "share_elsewhere": elsewhere}
    return table


_Lists = list[NDArray[Any]]


def _ordered(
    model: SavedModel, side: Side, A: Matrix | None
) -> tuple[_Lists, tuple[_Lists, _Lists] | None]:
    """Return the members of each component, best first, and their shares inside and elsewhere."""
    axis = 1 if side == "columns" else 0
    of_components = model.V if axis else model.U.T.tocsr()
    members = [
        np.sort(each) for each in np.split(of_components.indices, of_components.indptr[1:-1])
    ]
    members = members[: model.shape[1]]
    if not isinstance(A, BooleanMatrix):
        in_all = np.bincount(of_components.indices, minlength=of_components.shape[1])
        returns = _returns(model, side, members)
        given = zip(members, returns, strict=True)
        return [each[best_first(inside, in_all[each])] for each, inside in given], None
    partners = model.U if axis else model.V.T
    ones, in_all = _ones_of_members(A, axis, partners, of_components), line_ones(A, axis)
    sizes = np.asarray(partners.sum(axis=0)).ravel()
    others = A.shape[1 - axis] - sizes
    orders, shares, elsewhere = [], [], []
    for at, each in enumerate(members):
        counts = ones[at]
        best = best_first(counts, in_all[each])
        orders.append(each[best])
        shares.append(counts[best] / max(sizes[at], 1))
        elsewhere.append((in_all[each] - counts)[best] / max(others[at], 1))
    return orders, (shares, elsewhere)


def _returns(model: SavedModel, side: Side, members: _Lists) -> list[NDArray[Any] | None]:
    """Return how often each member of each component returns, where that is noted."""
    stability = model.info.stability
    noted = [] if stability is None else [getattr(each, side) for each in stability.components]
    if [len(each) for each in noted] != [len(each) for each in members]:
        return [None] * len(members)
    return [np.asarray(each, dtype=np.float64) for each in noted]


def _ones_of_members(
    A: BooleanMatrix, axis: int, partners: sparse.csr_array, of_components: sparse.csr_array
) -> _Lists:
    """Count the ones of each member of each component inside it, in the order of the lines."""
    pieces: list[_Lists] = []
    by_line = of_components.T.tocsr()
    for low, counts in support_in_pieces(A, axis, partners.toarray().astype(np.bool_)):
        piece = by_line[low : low + len(counts)].tocsc()
        pieces.append(
            [
                counts[np.sort(piece.indices[start:end]), at]
                for at, (start, end) in enumerate(
                    zip(piece.indptr[:-1], piece.indptr[1:], strict=True)
                )
            ]
        )
    k = of_components.shape[0]
    empty = np.empty(0, dtype=np.int32)
    return [np.concatenate([empty, *(piece[at] for piece in pieces)]) for at in range(k)]
