"""How components and known labels go together (Sec. 4.3).

A component and a class are both sets of rows. How much one tells about the other is the normalized
mutual information of their indicators, for all pairs from one sparse product of counts. It does not
say whether the class is more frequent in the component or less: the shares beside it do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from scipy.special import xlogy
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from elbmf.analysis.tails import adjusted_log_p, log_upper_tail
from elbmf.errors import InputError

__all__ = [
    "MOST_GROUPS",
    "NO_COMPONENT",
    "ComponentLabels",
    "clustering_scores",
    "component_labels",
    "is_known",
    "label_codes",
    "labels_in_order",
    "plain_labels",
]

NO_COMPONENT = -1
"""Stands for the component of a class that none has more of."""

MOST_GROUPS = 50
"""Labels of more kinds than this may be measurements or names rather than groups."""

# Which share of them must be numbers, for some may be words for what was not measured.
_NEARLY_ALL = 0.9


@dataclass(frozen=True, eq=False)
class ComponentLabels:
    """Components against classes.

    Parameters
    ----------
    classes : list
        The distinct labels, sorted.
    nmi : ndarray of float64, of shape (components, classes)
        Normalized mutual information of "is in the component" and "is of the class".
    overlap : ndarray of int64, of shape (components, classes)
        Rows of the component that are of the class.
    component_sizes, class_sizes : ndarray of int64
        Rows with a known label in each component, and in each class.
    """

    classes: list[Any]
    nmi: NDArray[np.float64]
    overlap: NDArray[np.int64]
    component_sizes: NDArray[np.int64]
    class_sizes: NDArray[np.int64]

    @property
    def share_inside(self) -> NDArray[np.float64]:
        """Share of the component's rows that are of the class; 0 where it has none."""
        return self.overlap / np.maximum(self.component_sizes, 1)[:, None]

    @property
    def share_outside(self) -> NDArray[np.float64]:
        """Share of the other rows that are of the class; 0 where there are none."""
        others = self.class_sizes.sum() - self.component_sizes
        return (self.class_sizes - self.overlap) / np.maximum(others, 1)[:, None]

    @property
    def fold(self) -> NDArray[np.float64]:
        """How many times as frequent the class is in the component as among all rows."""
        expected = np.multiply.outer(self.component_sizes, self.class_sizes)
        return self.overlap * self.class_sizes.sum() / np.maximum(expected, 1)

    @property
    def direction(self) -> NDArray[np.int64]:
        """1 where the class is more frequent in the component than elsewhere, -1 where less, or 0.

        A component with all rows, or with none, has no elsewhere, or no inside: 0.
        """
        expected = np.multiply.outer(self.component_sizes, self.class_sizes)
        return np.sign(self.overlap * self.class_sizes.sum() - expected)

    @property
    def signed_nmi(self) -> NDArray[np.float64]:
        """The nmi, below 0 where the class is less frequent in the component than elsewhere."""
        return self.direction * self.nmi

    @cached_property
    def log10_adjusted_p(self) -> NDArray[np.float64]:
        """Logarithm of the probability that so many rows of the class are in it by chance.

        The rows of a component are taken for a random draw (hypergeometric test). All pairs of
        components and classes are tests of one family (Benjamini and Hochberg), for the best
        component of a class is chosen from all of them.
        """
        background = int(self.class_sizes.sum())
        tails = [
            log_upper_tail(overlap, background, self.class_sizes, drawn)
            for overlap, drawn in zip(self.overlap, self.component_sizes, strict=True)
        ]
        adjusted = adjusted_log_p(np.ravel(tails))
        return np.reshape(adjusted, self.nmi.shape) / np.log(10)

    def best_components(self) -> NDArray[np.int64]:
        """Return for each class the component that tells most about it, the first of equals.

        Only components count in which the class is more frequent than elsewhere; `NO_COMPONENT`
        where there is none.
        """
        if not len(self.nmi):
            raise InputError("There is no component to compare with a class.")
        found = np.argmax(self.signed_nmi, axis=0)
        there = self.direction[found, np.arange(len(self.classes))] > 0
        return np.where(there, found, NO_COMPONENT)

    def best_nmi(self) -> NDArray[np.float64]:
        """Return for each class what its best component tells about it; 0 where it has none."""
        best = self.best_components()
        told = self.nmi[np.maximum(best, 0), np.arange(len(self.classes))]
        return np.where(best == NO_COMPONENT, 0.0, told)

    def absences(self) -> NDArray[np.int64]:
        """Return for each class the component whose lack of it tells most, the first of equals.

        `NO_COMPONENT` where that tells no more than the best component does.
        """
        best = self.best_nmi()
        found = np.argmin(self.signed_nmi, axis=0)
        lacks = -self.signed_nmi[found, np.arange(len(self.classes))]
        return np.where(lacks > best, found, NO_COMPONENT)

    def matching(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Pair components and classes one to one, such that the sum of their nmi is greatest.

        Where a class is less frequent in a component than elsewhere, that counts for nothing.

        Returns
        -------
        components, classes : ndarray of int64
            Positions of the partners, in the order of the classes.
        """
        components, classes = linear_sum_assignment(self._positive_nmi, maximize=True)
        order = np.argsort(classes)
        return components[order], classes[order]

    def components_by_class(self) -> NDArray[np.int64]:
        """Return an order of the components that puts the greatest nmi on a diagonal.

        The partners of the classes come first, then the others by the class they tell most about.
        """
        partners, _ = self.matching()
        others = np.setdiff1d(np.arange(len(self.nmi)), partners)
        if not others.size or not self.classes:
            return np.concatenate([partners, others])
        told = self._positive_nmi[others]
        order = np.lexsort((-told.max(axis=1), told.argmax(axis=1)))
        return np.concatenate([partners, others[order]])

    @property
    def _positive_nmi(self) -> NDArray[np.float64]:
        return np.maximum(self.signed_nmi, 0)


def component_labels(model: Any, labels: Sequence[Any] | NDArray[Any]) -> ComponentLabels:
    """Compare components with labels of the rows.

    Parameters
    ----------
    model : fitted estimator, SavedModel or matrix of shape (n, k)
        The components; or only which rows are in them, Boolean, dense or sparse.
    labels : sequence of length n
        Strings or numbers. None, NaN, NA and the empty string stand for an unknown label; such a
        row is left out. A column of a data frame is matched by its index, where the model knows the
        names of its rows; rows that are not in the index have no label. All else goes by position.

    Returns
    -------
    ComponentLabels

    Notes
    -----
    Mutual information is divided by the arithmetic mean of the two entropies, as scikit-learn's
    ``normalized_mutual_info_score`` does by default. A component or class with no rows or with all
    of them tells nothing, so its nmi is 0; scikit-learn gives 1 when both are so.

    Mutual information does not know directions: a component that all rows but those of a class have
    tells as much about it as one that only they have. `ComponentLabels.direction` tells them apart,
    and only the second is a best component of the class.

    References
    ----------
    S. Dalleiger, J. Vreeken. Efficiently Factorizing Boolean Matrices using Proximal Gradient
    Descent. NeurIPS 2022, Fig. 7c.

    Examples
    --------
    >>> found = component_labels([[1, 0], [1, 0], [0, 1], [1, 1]], ["a", "a", "b", "b"])
    >>> found.nmi.round(2).tolist()
    [[0.34, 0.34], [1.0, 1.0]]
    >>> found.signed_nmi.round(2).tolist()
    [[0.34, -0.34], [-1.0, 1.0]]
    >>> found.best_components().tolist()
    [0, 1]
    """
    found = getattr(model, "best_estimator_", model)  # of a search over ranks
    members = sparse.csr_array(_memberships(found))
    names = getattr(found, "row_names", getattr(found, "sample_names_in_", None))
    labels = labels_in_order(labels, members.shape[0], names)
    classes, codes = label_codes(labels)
    members = members[codes >= 0].astype(bool).astype(np.int64)
    codes = codes[codes >= 0]
    n = members.shape[0]
    indicators = sparse.csr_array(
        (np.ones(n, dtype=np.int64), codes, np.arange(n + 1)), shape=(n, len(classes))
    )
    both = (members.T @ indicators).toarray()
    in_component = members.sum(axis=0)
    in_class = np.bincount(codes, minlength=len(classes))
    return ComponentLabels(
        classes, _binary_nmi(both, in_component, in_class, n), both, in_component, in_class
    )


def _memberships(found: Any) -> Any:
    """Return which rows are in which component, of whatever has them."""
    for name in ("membership_", "U"):
        if hasattr(found, name):
            return getattr(found, name)
    if hasattr(found, "fit"):
        raise InputError(
            f"This {type(found).__name__} keeps no memberships of rows, which labels could be "
            "compared with. Fit it first; after partial_fit, pass what transform returns."
        )
    return found


def clustering_scores(
    labels: Sequence[Any] | NDArray[Any], clusters: Sequence[Any] | NDArray[Any]
) -> dict[str, float]:
    """Compare a clustering of the rows with labels, rows with unknown labels left out.

    Parameters
    ----------
    labels : sequence of length n
        As for `component_labels`.
    clusters : sequence of length n
        The cluster of each row.

    Returns
    -------
    dict
        ``nmi`` and ``ari``, the adjusted Rand index, both as scikit-learn computes them.
    """
    if len(labels) != len(clusters):
        raise InputError(f"Got {len(labels)} labels for {len(clusters)} clustered rows.")
    labels = plain_labels(labels)
    known = is_known(labels)
    truth = _comparable(labels, known)
    found = np.asarray(clusters)[known]
    return {
        "nmi": float(normalized_mutual_info_score(truth, found)),
        "ari": float(adjusted_rand_score(truth, found)),
    }


def labels_in_order(
    labels: Any,
    count: int,
    names: Sequence[Any] | None = None,
    lines: Literal["rows", "columns"] = "rows",
    argument: str = "labels",
) -> list[Any]:
    """Return the label of each row, or column; None where there is none.

    Parameters
    ----------
    labels : sequence
        Those of a data frame, with an index, are matched by name; all others come in order. Where
        an index only counts and has not all of the names, its labels come in order, too.
    count : int
        Rows, or columns.
    names : sequence, optional
        Their names, if they have any.
    lines : {"rows", "columns"}
        Which they are.
    argument : str
        What the labels are called by who hands them over.

    Raises
    ------
    InputError
        If there are more or fewer than lines, or the index has none of their names.
    """
    if isinstance(labels, str):
        raise InputError(
            f"{argument} must be a label for each of the {count} {lines}; got the text "
            f"{labels!r:.40}. Pass the labels themselves, such as a column of a data frame: "
            f"table[{labels!r:.40}], or adata.obs[{labels!r:.40}] of an AnnData."
        )
    values = list(plain_labels(labels))
    index = getattr(labels, "index", None)
    if names is not None and index is not None and not callable(index):  # as that of a list is
        keys, wanted = [str(each) for each in index], [str(each) for each in names]
        if keys == wanted:
            return values
        label_of = dict(zip(keys, values, strict=True))
        found = sum(name in label_of for name in wanted)
        if found == count or type(index).__name__ != "RangeIndex":
            if not found:
                raise InputError(
                    f"{argument}: none of the {lines} has a label. The {lines} are called "
                    f"{_few(wanted)}; the index of the labels has {_few(keys)}. Give it the names "
                    f"of the {lines}; or pass a plain list, in the order of the {lines}."
                )
            if len(label_of) < len(keys):
                twice = next(key for key in keys if keys.count(key) > 1)
                raise InputError(
                    f"{argument}: the index of the labels has {twice!r} more than once. Keep one "
                    "label of each."
                )
            return [label_of.get(name) for name in wanted]
    if len(values) != count:
        raise InputError(
            f"{argument} must be one for each of the {count} {lines}; got {len(values)}."
        )
    return values


def _few(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:3])) + (", …" if len(names) > 3 else "")


def label_codes(labels: Sequence[Any] | NDArray[Any]) -> tuple[list[Any], NDArray[np.int64]]:
    """Return the distinct labels in their order, and which of them each row has; -1 for none.

    Labels of more kinds than `MOST_GROUPS` that are numbers, or of which most rows have one of
    their own, are an error.
    """
    labels = plain_labels(labels)
    known = is_known(labels)
    codes = np.full(len(known), -1, dtype=np.int64)
    classes, codes[known] = np.unique(_comparable(labels, known), return_inverse=True)
    _require_groups(classes.tolist(), int(known.sum()))
    return classes.tolist(), codes


def _require_groups(classes: list[Any], rows: int) -> None:
    """Raise where labels measure or name rows instead of sorting them into groups."""
    if len(classes) <= MOST_GROUPS:
        return
    if sum(map(_is_number, classes)) > _NEARLY_ALL * len(classes):
        what, advice = "numbers", "Make groups of them first, such as quarters"
    elif len(classes) > rows // 2:
        what, advice = "names", "Choose labels that many rows share"
    else:
        return
    shown = ", ".join(map(str, classes[:3]))
    raise InputError(
        f"Labels must sort rows into groups; found {len(classes)} different values in {rows} rows, "
        f"which are rather {what}: {shown}, …. {advice}."
    )


def _is_number(label: Any) -> bool:
    try:
        float(label.replace(",", ".") if isinstance(label, str) else label)
    except (TypeError, ValueError):
        return False
    return True


def is_known(labels: Sequence[Any] | NDArray[Any]) -> NDArray[np.bool_]:
    """Return which labels are known: not None, NaN or the empty string."""
    values = plain_labels(labels)
    unknown = (label is None or label == "" or label != label for label in values)
    return ~np.fromiter(unknown, dtype=bool, count=len(values))


def plain_labels(labels: Any) -> Any:
    """Return labels as a list, None where a data frame has none."""
    if hasattr(labels, "isna") and hasattr(labels, "tolist"):
        # NA of pandas cannot even be compared.
        pairs = zip(labels.tolist(), labels.isna().tolist(), strict=True)
        return [None if unknown else label for label, unknown in pairs]
    return labels.tolist() if isinstance(labels, np.ndarray) else labels


def _comparable(labels: Sequence[Any] | NDArray[Any], known: NDArray[np.bool_]) -> NDArray[Any]:
    """Return the known labels as an array whose entries can be sorted."""
    kept = [label for label, wanted in zip(labels, known, strict=True) if wanted]
    kinds = {isinstance(label, str) for label in kept}
    if len(kinds) > 1:
        raise InputError(
            "Labels must be all strings or all numbers; got both. Convert them with str()."
        )
    return np.array(kept) if kept else np.array([], dtype=str)


def _binary_nmi(
    both: NDArray[np.int64], left: NDArray[np.int64], right: NDArray[np.int64], n: int
) -> NDArray[np.float64]:
    """Return the nmi of all pairs of sets among n rows, from their sizes and overlaps."""
    in_left, in_right = left[:, None], right[None, :]
    information = np.zeros(both.shape)
    for count, rows, columns in (
        (both, in_left, in_right),
        (in_left - both, in_left, n - in_right),
        (in_right - both, n - in_left, in_right),
        (n - in_left - in_right + both, n - in_left, n - in_right),
    ):
        # Where an outer set is empty the cell is, too, and 0 · log(1) is what it adds.
        expected = np.where(count > 0, rows * columns, 1) / max(n, 1)
        information += xlogy(count, np.where(count > 0, count / expected, 1.0))
    entropy = _entropy_sums(left, n)[:, None] + _entropy_sums(right, n)[None, :]
    constant = ((left == 0) | (left == n))[:, None] | ((right == 0) | (right == n))[None, :]
    nmi = np.where(constant, 0.0, 2 * information / np.where(constant, 1.0, entropy))
    return np.clip(nmi, 0.0, 1.0)


def _entropy_sums(sizes: NDArray[np.int64], n: int) -> NDArray[np.float64]:
    """Return n times the entropy, in nats, of being in a set of each size."""
    share = sizes / max(n, 1)
    return -(xlogy(sizes, share) + xlogy(n - sizes, 1 - share))
