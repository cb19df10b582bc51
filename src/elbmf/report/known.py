"""What is known about rows and columns, against components: labels, and sets of columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elbmf.analysis.enrichment import Enrichment, NamedSet, enrichment
from elbmf.analysis.labels import (
    NO_COMPONENT,
    ComponentLabels,
    component_labels,
    label_codes,
    labels_in_order,
)
from elbmf.errors import InputError
from elbmf.report.document import Enriched, LabelClass, Labels, Told
from elbmf.report.facts import Facts
from elbmf.report.limits import Limits
from elbmf.report.packing import pack_numbers
from elbmf.report.sides import NOWHERE
from elbmf.utils.text import shortened

__all__ = [
    "KnownLabels",
    "KnownSets",
    "compare",
    "label_of_rows",
    "labels_of",
    "listed_sets",
    "rich_in_labels",
    "rich_in_sets",
]

# What is less significant, once adjusted for the number of tests, is not said.
_MOST_P = 0.05

# A number that JSON can hold in place of the logarithm of nothing.
_LEAST_LOG10 = -99999.0


@dataclass(frozen=True, eq=False)
class KnownLabels:
    """Labels of the rows.

    Parameters
    ----------
    values : sequence
        One for each row: text or numbers; None, NaN and empty text stand for an unknown label. A
        column of a data frame is matched by its index, where rows have names.
    title : str
        What the labels are.
    """

    values: Sequence[Any]
    title: str = "label"


@dataclass(frozen=True, eq=False)
class KnownSets:
    """Known sets of columns.

    Parameters
    ----------
    sets : sequence of NamedSet
    title : str
        Where they are from.
    ignore_case, cut_at
        How names of columns are compared, see `elbmf.analysis.enrichment.enrichment`.
    """

    sets: Sequence[NamedSet]
    title: str = "sets"
    ignore_case: bool = False
    cut_at: str | None = None


@dataclass(frozen=True, eq=False)
class _Compared:
    """Components against labels, and which label each row has."""

    title: str
    found: ComponentLabels
    codes: NDArray[np.int64]


def compare(facts: Facts, labels: KnownLabels) -> _Compared:
    """Compare the components with labels of the rows: one for each, of which some are known."""
    values = labels_in_order(labels.values, facts.U.shape[0], facts.model.row_names)
    _, codes = label_codes(values)
    if (codes < 0).all():
        raise InputError(
            "labels: none of them is known. Pass text or numbers; None, NaN and empty text stand "
            "for what is not known."
        )
    return _Compared(labels.title, component_labels(facts.U, values), codes)


def _shown(compared: _Compared, limits: Limits) -> NDArray[np.int64]:
    """Choose the classes to show, the largest ones, in their own order."""
    sizes = compared.found.class_sizes
    return np.sort(np.argsort(-sizes, kind="stable")[: min(limits.classes, NOWHERE - 1)])


def labels_of(compared: _Compared, limits: Limits) -> Labels:
    """Say how components and labels go together."""
    found, shown = compared.found, _shown(compared, limits)
    best, absences = found.best_components(), found.absences()
    return Labels(
        title=shortened(compared.title, limits.name),
        classes=[
            LabelClass(
                name=shortened(str(found.classes[at]), limits.name),
                size=int(found.class_sizes[at]),
                best=_told(found, int(best[at]), at),
                absence=_told(found, int(absences[at]), at),
            )
            for at in shown.tolist()
        ],
        # Below 0 where the label is rarer in the component than elsewhere.
        nmi=[[round(value, 4) for value in row] for row in found.signed_nmi[:, shown].tolist()],
        order=found.components_by_class().tolist(),
        mean_nmi=float(found.best_nmi().mean()),
        unlabelled=int((compared.codes < 0).sum()),
    )


def _told(found: ComponentLabels, component: int, position: int) -> Told | None:
    """Say what a component tells about a label, if there is one."""
    if component == NO_COMPONENT:
        return None
    at = component, position
    return Told(
        component=component,
        nmi=round(float(found.nmi[at]), 4),
        overlap=int(found.overlap[at]),
        component_rows=int(found.component_sizes[component]),
        share_inside=round(float(found.share_inside[at]), 6),
        share_outside=round(float(found.share_outside[at]), 6),
        fold=_fold(found.fold[at]),
        log10_p=_log10(found.log10_adjusted_p[at]),
    )


def label_of_rows(compared: _Compared, limits: Limits, kept: NDArray[np.int64]) -> Any:
    """Pack the label of each row that is kept, as its position among those shown."""
    place = np.full(len(compared.found.classes) + 1, NOWHERE, dtype=np.int64)
    shown = _shown(compared, limits)
    place[shown] = np.arange(len(shown))
    # Rows without a label have -1, which is the last entry.
    return pack_numbers(place[compared.codes[kept]], "u2")


def rich_in_labels(compared: _Compared, limits: Limits) -> dict[int, list[Enriched]]:
    """Find the labels that each component has more of than chance, the most significant first."""
    found = compared.found
    good = (found.overlap > 0) & (found.log10_adjusted_p <= np.log10(_MOST_P))
    rich: dict[int, list[Enriched]] = {}
    for component, log_p in enumerate(found.log10_adjusted_p):
        chosen = np.flatnonzero(good[component])
        order = chosen[np.lexsort((-found.overlap[component][chosen], log_p[chosen]))]
        rich[component] = [
            Enriched(
                name=shortened(str(found.classes[at]), limits.name),
                size=int(found.class_sizes[at]),
                overlap=int(found.overlap[component, at]),
                fold=_fold(found.fold[component, at]),
                log10_p=_log10(log_p[at]),
                nmi=round(float(found.nmi[component, at]), 4),
            )
            for at in order[: limits.enriched].tolist()
        ]
    return rich


def _fold(value: float) -> float:
    """Return a ratio with three digits that matter: more would not be so of other rows."""
    return float(f"{value:.3g}")


def _log10(value: float) -> float:
    return round(max(float(value), _LEAST_LOG10), 3)


def rich_in_sets(facts: Facts, known: KnownSets) -> list[Enrichment]:
    """Find the known sets that the columns of each component, which have names, are rich in."""
    if facts.columns.names is None:
        raise InputError(
            "sets: the columns have no names to compare with the sets. Fit data that "
            "names its columns, such as a csv file with a header or a data frame."
        )
    return enrichment(
        facts.model.V,
        facts.columns.names,
        known.sets,
        ignore_case=known.ignore_case,
        cut_at=known.cut_at,
        max_adjusted_p=_MOST_P,
    )


def listed_sets(found: Iterable[Enrichment], limits: Limits) -> dict[int, list[Enriched]]:
    """Say which sets each component is rich in, the most significant first."""
    return {
        component: [
            Enriched(
                name=shortened(each.set, limits.name),
                size=each.set_size,
                overlap=each.overlap,
                fold=_fold(each.fold_enrichment),
                log10_p=_log10(each.log10_adjusted_p),
                members=[shortened(name, limits.name) for name in each.genes[: limits.members]],
            )
            for each in list(group)[: limits.enriched]
        ]
        for component, group in groupby(found, key=lambda each: each.component)
    }
