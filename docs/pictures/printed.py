"""The pictures of the page about pictures, of patients and genes that are made here."""

from collections.abc import Callable

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from elbmf import ELBMF
from elbmf.analysis.enrichment import NamedSet, enrichment
from elbmf.plots import enrichment as enrichment_dots
from elbmf.plots import factorization, figure_of

_KINDS = ("lung", "colon", "skin", "liver")
_PROCESSES = (
    "cilium movement",
    "digestion",
    "pigmentation",
    "bile acid transport",
    "cell cycle",
    "respiration",
)


def _patients() -> tuple[np.ndarray, ELBMF, list[str], list[str]]:
    """Four kinds of patients, half of them without anything in common, and their genes."""
    generator = np.random.default_rng(0)
    kinds = np.repeat([*_KINDS, "none"], [24, 20, 16, 12, 90])
    V = np.repeat(np.eye(4, 9, dtype=bool), 20, axis=1)
    V[1, 70:84] = V[2, 70:78] = True
    truth = (kinds[:, None] == np.array(_KINDS)) @ V
    chance = generator.random(truth.shape)
    A = np.where(truth, chance < 0.8, chance < 0.03)
    # As usual, the labels do not quite go with what is measured.
    labels = np.where(generator.random(len(kinds)) < 0.1, "skin", kinds)
    labels = np.where(labels == "none", generator.choice(_KINDS, len(labels)), labels)
    genes = [f"gene {at}" for at in range(A.shape[1])]
    return A, ELBMF(4, random_state=0).fit(A), labels.tolist(), genes


def _on_white(figure: Figure) -> Figure:
    """Put white behind a figure: its ink is that of paper, whatever the page is like."""
    behind = Rectangle((0, 0), 1, 1, transform=figure.transFigure, facecolor="white", zorder=-9)
    figure.add_artist(behind)
    return figure


def strips() -> Figure:
    """Draw a matrix with the labels of its rows, as far as it is in components."""
    A, model, labels, _ = _patients()
    with matplotlib.rc_context(matplotlib.rcParamsDefault):
        return _on_white(figure_of(factorization(model, A, row_labels=labels)))


def sets() -> Figure:
    """Draw sets of genes that components are rich in."""
    _, model, _, genes = _patients()
    generator = np.random.default_rng(1)
    known = []
    for at, name in enumerate(_PROCESSES):
        # Twenty genes of two components, the more of the second the later.
        some = generator.choice(20, 14 - at, replace=False) + 20 * (at % 4)
        others = generator.choice(20, 6 + at, replace=False) + 20 * ((at + 1) % 4)
        known.append(NamedSet(name, "", tuple(genes[each] for each in (*some, *others))))
    found = enrichment(model.components_, genes, known)
    with matplotlib.rc_context(matplotlib.rcParamsDefault):
        return _on_white(figure_of(enrichment_dots(found)))


PICTURES: dict[str, Callable[[], Figure]] = {"strips": strips, "sets": sets}
"""By the name of the file."""
