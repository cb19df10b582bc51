"""Which known sets of columns, such as pathways of genes, a component is rich in (Sec. 4.3).

The columns of a component are taken for a draw without replacement from all columns, the
background; what a set has in common with it then follows a hypergeometric distribution.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from elbmf.analysis.significance import adjusted_log_p, log_upper_tail
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
    names = _Names.of(column_names, ignore_case, cut_at)
    W = sparse.csr_array(V)
    if W.shape[1] != len(column_names):
        raise InputError(
            f"There must be a name for each of the {W.shape[1]} columns; got {len(column_names)}."
        )
    chosen = _positions(components, W.shape[0])
    has = _binary(W[chosen].astype(bool).astype(np.int64) @ names.of_columns)
    S = _incidence(known, names)
    if not S.nnz:
        raise _no_match(column_names, known)
    genes = np.array(names.shown, dtype=object)
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
    tests = _Tests(chosen, has, [known[at] for at in tested], S[tested], genes, family)
    return [record for row in range(len(chosen)) for record in tests.records(row, max_adjusted_p)]


class _Tests:
    """All components against all sets.

    Parameters
    ----------
    components : ndarray of int
        Which components these are.
    has : sparse array of shape (components, names)
        The names of each component.
    sets : list of NamedSet
    members : sparse array of shape (sets, names)
        The names of each set.
    genes : ndarray of str
        The background.
    family : {"component", "all"}
    """

    def __init__(
        self,
        components: NDArray[np.int64],
        has: sparse.csr_array,
        sets: list[NamedSet],
        members: sparse.csr_array,
        genes: NDArray[Any],
        family: Family,
    ) -> None:
        self.components, self.has, self.genes = components, has, genes
        self.sets, self.members = sets, members
        self.drawn, self.sizes = has.sum(axis=1), members.sum(axis=1)
        self.overlaps = (has @ members.T).toarray()
        self.log_p = np.zeros(self.overlaps.shape)
        for row, size in enumerate(self.drawn):
            self.log_p[row] = log_upper_tail(self.overlaps[row], len(genes), self.sizes, size)
        if family == "all":
            self.log_adjusted = adjusted_log_p(self.log_p.ravel()).reshape(self.log_p.shape)
        else:
            self.log_adjusted = np.zeros(self.log_p.shape)
            for row, log_p in enumerate(self.log_p):
                self.log_adjusted[row] = adjusted_log_p(log_p)

    def records(self, row: int, max_adjusted_p: float) -> Iterator[Enrichment]:
        """Yield what a component is rich in, the most significant first."""
        significant = np.exp(self.log_adjusted[row]) <= max_adjusted_p
        of_set = np.flatnonzero((self.overlaps[row] > 0) & significant)
        overlap, log_p = self.overlaps[row, of_set], self.log_p[row, of_set]
        expected = self.sizes[of_set] * self.drawn[row] / len(self.genes)
        in_component = self.has[[row]].toarray()[0].astype(bool)
        for at in np.lexsort((-overlap / expected, log_p)):
            which = of_set[at]
            members = self.members.indices[
                self.members.indptr[which] : self.members.indptr[which + 1]
            ]
            log_adjusted = self.log_adjusted[row, which]
            yield Enrichment(
                component=int(self.components[row]),
                set=self.sets[which].name,
                description=self.sets[which].description,
                overlap=int(overlap[at]),
                set_size=int(self.sizes[which]),
                component_size=int(self.drawn[row]),
                background=len(self.genes),
                expected=float(expected[at]),
                fold_enrichment=float(overlap[at] / expected[at]),
                p=float(np.exp(log_p[at])),
                adjusted_p=float(np.exp(log_adjusted)),
                log10_p=float(log_p[at] / np.log(10)),
                log10_adjusted_p=float(log_adjusted / np.log(10)),
                genes=self.genes[np.sort(members[in_component[members]])].tolist(),
            )


@dataclass(frozen=True, eq=False)
class _Names:
    """The distinct names of the columns.

    Parameters
    ----------
    position : dict of str to int
        Where each name is, as it is compared.
    shown : list of str
        Each name as the first of its columns has it.
    of_columns : sparse array of shape (columns, names)
        The name of each column.
    ignore_case : bool
    """

    position: dict[str, int]
    shown: list[str]
    of_columns: sparse.csr_array
    ignore_case: bool

    @classmethod
    def of(cls, column_names: Sequence[str], ignore_case: bool, cut_at: str | None) -> _Names:
        """Tell the names of columns apart."""
        position: dict[str, int] = {}
        shown: list[str] = []
        indices = np.empty(len(column_names), dtype=np.int64)
        for column, name in enumerate(column_names):
            key = name.split(cut_at, 1)[0] if cut_at else name
            at = position.setdefault(key.upper() if ignore_case else key, len(shown))
            if at == len(shown):
                shown.append(key)
            indices[column] = at
        count = len(column_names)
        of_columns = sparse.csr_array(
            (np.ones(count, dtype=np.int64), indices, np.arange(count + 1)),
            shape=(count, len(shown)),
        )
        return cls(position, shown, of_columns, ignore_case)

    def find(self, name: str) -> int | None:
        """Return where a name is; None when no column has it."""
        return self.position.get(name.upper() if self.ignore_case else name)


def _incidence(sets: list[NamedSet], names: _Names) -> sparse.csr_array:
    """Return which names are in which set, of shape (sets, names)."""
    rows = [
        sorted({at for member in each.members if (at := names.find(member)) is not None})
        for each in sets
    ]
    indices = np.fromiter((at for row in rows for at in row), dtype=np.int64)
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows], dtype=np.int64)])
    ones = np.ones(len(indices), dtype=np.int64)
    return sparse.csr_array((ones, indices, indptr), shape=(len(rows), len(names.shown)))


def _binary(counts: Any) -> sparse.csr_array:
    return sparse.csr_array(counts).astype(bool).astype(np.int64)


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
