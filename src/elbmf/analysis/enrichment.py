"""Which known sets of columns, such as pathways of genes, a component is rich in (Sec. 4.3).

The columns of a component are taken for a draw without replacement from all columns, the
background; what a set has in common with it then follows a hypergeometric distribution.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from elbmf.analysis.tails import adjusted_log_p, log_upper_tail
from elbmf.errors import InputError, Setting

__all__ = ["Background", "Enrichment", "Family", "NamedSet", "enrichment"]

Background = Literal["all", "annotated"]
Family = Literal["component", "all"]


@dataclass(frozen=True)
class NamedSet:
    """A known set of columns.

    Parameters
    ----------
    name : str
    description : str
    members : tuple of str
        Names of columns; repeated ones count once.
    """

    name: str
    description: str
    members: tuple[str, ...]


@dataclass(frozen=True)
class Enrichment:
    """A set that a component may be rich in.

    Parameters
    ----------
    component : int
        Position of the component.
    set : str
        Name of the set.
    description : str
        Its description.
    overlap : int
        Names in both.
    set_size, component_size, background : int
        Names in the set and in the component, both within the background, and in the background.
    expected : float
        Overlap that a random draw of as many names would have on average.
    fold_enrichment : float
        The overlap divided by that.
    p, adjusted_p : float
        Chance of an overlap at least as large, and the same adjusted for the number of tests.
        Below 1e-308 or so they are 0.
    log10_p, log10_adjusted_p : float
        Their decimal logarithms, which do not vanish.
    genes : list of str
        The names in both, in the order of the columns.
    """

    component: int
    set: str
    description: str
    overlap: int
    set_size: int
    component_size: int
    background: int
    expected: float
    fold_enrichment: float
    p: float
    adjusted_p: float
    log10_p: float
    log10_adjusted_p: float
    genes: list[str]


def enrichment(
    V: Any,
    column_names: Sequence[str],
    sets: Iterable[NamedSet],
    *,
    components: Sequence[int] | None = None,
    background: Background = "all",
    min_size: int = 2,
    max_size: int | None = None,
    ignore_case: bool = False,
    cut_at: str | None = None,
    family: Family = "component",
    max_adjusted_p: float = 1.0,
) -> list[Enrichment]:
    """Test whether the columns of each component have more in common with known sets than chance.

    Parameters
    ----------
    V : matrix of shape (k, m)
        Boolean components, dense or sparse.
    column_names : sequence of str, of length m
        Columns of the same name count as one, which a component has when it has any of them.
    sets : iterable of NamedSet
        What to compare with, e.g. from `elbmf.io.read_gmt`.
    components : sequence of int, optional
        Which components to test; all by default.
    background : {"all", "annotated"}, default="all"
        What a component is drawn from: all columns, or only those that are in any set at all.
    min_size, max_size : int
        Sets with fewer or more names in the background are not tested. No most by default.
    ignore_case : bool, default=False
        Whether ``Tp53`` and ``TP53`` are the same name.
    cut_at : str, optional
        Leave out of the columns' names what comes from this text on: ``"|"`` makes ``TP53`` of
        ``TP53|7157``, ``"."`` removes versions from Ensembl's names.
    family : {"component", "all"}, default="component"
        Over which tests the false discovery rate is controlled: those of each component, so that
        what is said of one does not depend on the others, or those of all components together.
    max_adjusted_p : float, default=1
        Only what has at most this adjusted p is returned.

    Returns
    -------
    list of Enrichment
        By component, the most significant first. Pairs without any overlap count as tests, with a
        p of 1, but are not returned.

    Raises
    ------
    InputError
        When no column has a name that is in any set, or no set has the right size.

    References
    ----------
    Y. Benjamini, Y. Hochberg. Controlling the False Discovery Rate: A Practical and Powerful
    Approach to Multiple Testing. Journal of the Royal Statistical Society B, 1995.

    Notes
    -----
    p is that of Fisher's exact test, one-sided. Adjusted p are Benjamini and Hochberg's.

    Examples
    --------
    >>> V = [[1, 1, 1, 0, 0, 0, 0, 0]]
    >>> found = enrichment(V, list("abcdefgh"), [NamedSet("first", "", ("a", "b", "c"))])
    >>> found[0].overlap, round(found[0].p, 5)
    (3, 0.01786)
    """
    _check_options(background, family, min_size, max_size)
    known = list(sets)
    W = sparse.csr_array(V)
    if W.shape[1] != len(column_names):
        raise InputError(
            f"There must be a name for each of the {W.shape[1]} columns; got {len(column_names)}."
        )
    chosen = _positions(components, W.shape[0])
    names, of_columns = _distinct_names(column_names, ignore_case, cut_at)
    counts = W[chosen].astype(bool).astype(np.int64) @ of_columns
    has = sparse.csr_array(counts).astype(bool).astype(np.int64)
    S = _incidence(known, list(names), ignore_case)
    if not S.nnz:
        raise _no_match(column_names, known)
    genes = np.array(list(names.values()), dtype=object)
    if background == "annotated":
        annotated = np.flatnonzero(S.sum(axis=0))
        S, has, genes = S[:, annotated], has[:, annotated], genes[annotated]
    sizes = S.sum(axis=1)
    most = len(genes) if max_size is None else max_size
    tested = np.flatnonzero((sizes >= min_size) & (sizes <= most))
    if not tested.size:
        raise InputError(
            f"None of the {len(known)} sets has {min_size} to {most} names among the {len(genes)} "
            f"of the background; they have {sizes.min()} to {sizes.max()}. Allow other sizes."
        )
    S, sizes, drawn = S[tested], sizes[tested], has.sum(axis=1)
    overlaps = (has @ S.T).toarray()
    log_p = log_upper_tail(overlaps, len(genes), sizes, drawn[:, None])
    families = log_p.reshape(1, -1) if family == "all" else log_p
    log_adjusted = np.array([adjusted_log_p(each) for each in families]).reshape(log_p.shape)
    found = []
    for row, component in enumerate(chosen):
        in_component = has[[row]].toarray()[0].astype(bool)
        expected = sizes * drawn[row] / len(genes)
        shown = (overlaps[row] > 0) & (np.exp(log_adjusted[row]) <= max_adjusted_p)
        at = np.flatnonzero(shown)
        for which in at[np.lexsort((-overlaps[row, at] / expected[at], log_p[row, at]))]:
            members = S.indices[S.indptr[which] : S.indptr[which + 1]]
            found.append(
                Enrichment(
                    component=int(component),
                    set=known[tested[which]].name,
                    description=known[tested[which]].description,
                    overlap=int(overlaps[row, which]),
                    set_size=int(sizes[which]),
                    component_size=int(drawn[row]),
                    background=len(genes),
                    expected=float(expected[which]),
                    fold_enrichment=float(overlaps[row, which] / expected[which]),
                    p=float(np.exp(log_p[row, which])),
                    adjusted_p=float(np.exp(log_adjusted[row, which])),
                    log10_p=float(log_p[row, which] / np.log(10)),
                    log10_adjusted_p=float(log_adjusted[row, which] / np.log(10)),
                    genes=genes[np.sort(members[in_component[members]])].tolist(),
                )
            )
    return found


def _distinct_names(
    column_names: Sequence[str], ignore_case: bool, cut_at: str | None
) -> tuple[dict[str, str], sparse.csr_array]:
    """Tell the names of columns apart.

    Returns each distinct name as it is compared, with how the first of its columns has it, and
    which of them each column has, of shape (columns, names).
    """
    position: dict[str, int] = {}
    shown: list[str] = []
    indices = np.empty(len(column_names), dtype=np.int64)
    for column, name in enumerate(column_names):
        key = name.split(cut_at, 1)[0] if cut_at else name
        at = position.setdefault(key.upper() if ignore_case else key, len(shown))
        if at == len(shown):
            shown.append(key)
        indices[column] = at
    entries = np.ones(len(indices), dtype=np.int64), indices, np.arange(len(indices) + 1)
    of_columns = sparse.csr_array(entries, shape=(len(indices), len(shown)))
    return dict(zip(position, shown, strict=True)), of_columns


def _incidence(sets: list[NamedSet], names: Sequence[str], ignore_case: bool) -> sparse.csr_array:
    """Return which names are in which set, of shape (sets, names)."""
    position = {name: at for at, name in enumerate(names)}
    rows = []
    for each in sets:
        members = (name.upper() if ignore_case else name for name in each.members)
        rows.append(sorted({position[name] for name in members if name in position}))
    indices = np.fromiter((at for row in rows for at in row), dtype=np.int64)
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows], dtype=np.int64)])
    ones = np.ones(len(indices), dtype=np.int64)
    return sparse.csr_array((ones, indices, indptr), shape=(len(rows), len(names)))


def _positions(components: Sequence[int] | None, count: int) -> NDArray[np.int64]:
    if components is None:
        return np.arange(count)
    for component in components:
        if not 0 <= component < count:
            raise InputError(
                f"There is no component {component}; there are {count}, counted from 0."
            )
    return np.asarray(components, dtype=np.int64)


def _check_options(background: str, family: str, min_size: int, max_size: int | None) -> None:
    for field, value, allowed in (
        ("background", background, get_args(Background)),
        ("family", family, get_args(Family)),
    ):
        if value not in allowed:
            raise InputError(f"{field} must be one of {', '.join(allowed)}; got {value!r}.")
    if min_size < 1 or (max_size is not None and max_size < min_size):
        raise InputError(
            Setting("min_size"),
            " must be at least 1 and ",
            Setting("max_size"),
            f" no less; got {min_size} and {max_size}.",
        )


def _no_match(column_names: Sequence[str], sets: list[NamedSet]) -> InputError:
    """Say that no name matches, what the names look like, and what may help."""
    members = list(islice((member for each in sets for member in each.members), 3))
    text = (
        f"None of the {len(column_names)} columns has a name that is in any of the {len(sets)} "
        f"sets. Columns are called {', '.join(map(repr, column_names[:3]))}, members of sets "
        f"{', '.join(map(repr, members)) or 'nothing'}. "
    )
    known = {member.upper() for each in sets for member in each.members}
    if any(name.upper() in known for name in column_names):
        case = Setting("ignore_case", True)
        return InputError(text, "They differ in upper and lower case only; set ", case, ".")
    for mark in "|.":
        if any(name.split(mark, 1)[0].upper() in known for name in column_names):
            cut = Setting("cut_at", mark)
            return InputError(text, f"What comes before {mark!r} does match; set ", cut, ".")
    return InputError(
        text, "Take sets with the same kind of names, such as symbols or Ensembl ids."
    )
