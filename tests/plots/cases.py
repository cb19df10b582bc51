"""Small pictures of every kind, always the same, on data that is made here."""

import numpy as np
from matplotlib.figure import Figure
from scipy import sparse

from elbmf import plots
from elbmf.analysis.enrichment import Enrichment
from elbmf.analysis.labels import component_labels
from elbmf.comparison import Result
from elbmf.io import SavedModel
from elbmf.io.model_info import ComponentStability, ModelInfo, StabilityInfo
from elbmf.matrix.boolean_matrix import BooleanMatrix

HOSTILE = [
    "$x^2$",
    r"\frac{1}{2} $",
    "<script>alert('x')</script>",
    "two\nlines\tand a tab",
    "שלום עולם",
    "\u202eturned\u202c",
    "😀 🧬 漢字",
    "long " * 2000,
    "",
    "   ",
    "_underscore",
    "%d {} \\ & # ~ ^",
    "\x00\x07control",
    "é" + "\u0301" * 30,
]


def factors(seed=0, n=60, m=40, k=5, noise=0.06):
    """A matrix with noise and missing cells, and the factors it is made from."""
    generator = np.random.default_rng(seed)
    U = generator.random((n, k)) < np.linspace(0.5, 0.1, k)
    V = generator.random((k, m)) < np.linspace(0.15, 0.35, k)[:, None]
    A = (U.astype(int) @ V > 0) ^ (generator.random((n, m)) < noise)
    missing = generator.random((n, m)) < noise / 2
    return BooleanMatrix.from_array(A, missing=missing), U, V


def history(epochs=30):
    at = np.arange(1, epochs + 1)
    return {
        "epoch": at,
        "relaxed_loss": 900 / at + 100,
        "rounded_loss": 2000 / np.sqrt(at),
        "gap": np.where(at < epochs, 2.0**-at, 0.0),
        "flips": np.where(at % 7, 4000 // at**2, 0),
    }


def search(count=20, chosen=7, *, stable=False):
    rank = np.arange(count + 1)
    table = {
        "rank": rank,
        "relative_loss": 1 / (1 + rank),
        "mdl": 1e5 + 100 * (rank - chosen) ** 2.0,
        "bai_ng_1": np.where(rank < chosen, -rank, -np.inf),
        "held_out": np.where(rank % 2 == chosen % 2, np.abs(rank - chosen), np.nan),
    }
    if stable:
        table["stability"] = np.where(rank, 1 - np.abs(rank - chosen) / 20, np.nan)
    return table, dict.fromkeys(("mdl", "bai_ng_1", "held_out"), chosen)


RESULTS = [
    Result(method="asso", status="finished", loss=420, relative_loss=0.42, seconds=0.5),
    Result(method="elbmf", status="finished", loss=210, relative_loss=0.21, seconds=3.2),
    Result(method="orm", status="time limit", loss=300, relative_loss=0.30, seconds=60.0),
    Result(method="primp", status="out of memory"),
    Result(method="sofa", status="finished", loss=9000, relative_loss=9.0, seconds=0.02),
]


def _labels(U):
    return np.array(["one", "two", "three", ""])[(2 * U[:, 0] + U[:, 1]).astype(int)].tolist()


def _figure(width=5, height=4):
    """A figure whose layout does not depend on how large letters are."""
    figure = Figure((width, height))
    figure.subplots_adjust(left=0.14, right=0.8, bottom=0.16, top=0.88, hspace=0.5, wspace=0.3)
    return figure


def _axes(*shape, size=(5, 4)):
    return _figure(*size).subplots(*shape)


def _matrix(what):
    A, U, V = factors()
    return plots.reordered_matrix((U, V), A, what=what, ax=_axes())


def _factorization():
    A, U, V = factors()
    return plots.factorization((U, V), A, axes=_axes(1, 3, size=(8, 3.5)))


def _strips():
    """Of a matrix most of which is in no component; the axes make room for the legend."""
    _, U, V = factors(n=30, m=20, k=3)
    U, V = np.r_[U, np.zeros((40, 3), bool)], np.c_[V, np.zeros((3, 10), bool)]
    A = (U.astype(int) @ V > 0) ^ (np.random.default_rng(0).random((70, 30)) < 0.03)
    labels = [*_labels(U[:30]), *["four"] * 40]
    places = np.array(["left", "right"])[np.arange(30) // 15]
    return plots.factorization(
        (U, V),
        A,
        row_labels=labels,
        column_labels=places,
        axes=_axes(1, 3, size=(8, 3.5)),
    )


def _enrichment():
    found = [
        Enrichment(
            component=component,
            set=f"set {at}",
            description="",
            overlap=1 + at * component % 7,
            set_size=8,
            component_size=20,
            background=100,
            expected=1.6,
            fold_enrichment=1.0,
            p=0.0,
            adjusted_p=10.0**-log,
            log10_p=-log - 1.0,
            log10_adjusted_p=-log,
            genes=[],
        )
        for component in range(4)
        for at in range(6)
        if (log := (at * 5 + component * 3) % 11) > 2
    ]
    return plots.enrichment(found, most=2, ax=_axes())


def _aggregated():
    A, U, V = factors(1, 600, 800, 8, noise=0.01)
    return plots.reordered_matrix((U, V), A, what="errors", ax=_axes(size=(3, 2.4)))


def _lists(side, **names):
    A, U, V = factors()
    return plots.component_lists((U, V), A, side=side, most=5, axes=_axes(2, 2), **names)


def _overlap(k, what):
    _, U, V = factors(k=k)
    return plots.component_overlap((U, V), what=what, ax=_axes())


def _map(labelled):
    _, U, V = factors(n=300, k=4)
    return plots.row_map((U, V), labels=_labels(U) if labelled else None, ax=_axes())


def _stable():
    """A saved model that knows how stable it is; the last component was never found."""
    _, U, V = factors()
    generator = np.random.default_rng(0)
    components = [
        ComponentStability(
            recurrence=found * 0.9,
            found_in=found,
            rows=(generator.random(u.sum()) ** (1 - found)).tolist(),
            columns=(generator.random(v.sum()) ** (1 - found)).tolist(),
        )
        for found, u, v in zip((1.0, 0.9, 0.6, 0.3, 0.0), U.T, V, strict=True)
    ]
    groups = np.repeat([0, 1, 2], [6, 4, 2])
    consensus = np.where(groups[:, None] == groups, 0.9, 0.1).tolist()
    info = ModelInfo(stability=StabilityInfo(20, "rows:0.5", 0.5, 0.93, components, consensus))
    return SavedModel(sparse.csr_array(U), sparse.csr_array(V), info=info)


def _nmi():
    _, U, _ = factors()
    return plots.label_nmi(component_labels(U, _labels(U)), ax=_axes())


def _bands():
    _, _, V = factors(m=36)
    bands = {"components": V.reshape(5, 6, 6), "inverted": ~V.reshape(5, 6, 6)[:2]}
    return plots.image_bands(bands, columns=4, figure=_figure())


CASES = {
    "matrix-data": lambda: _matrix("data"),
    "matrix-reconstruction": lambda: _matrix("reconstruction"),
    "matrix-errors": lambda: _matrix("errors"),
    "matrix-aggregated": _aggregated,
    "factorization": _factorization,
    "factorization-labels": _strips,
    "enrichment": _enrichment,
    "lists-columns": lambda: _lists("columns"),
    "lists-rows-hostile": lambda: _lists("rows", row_names=[*HOSTILE * 5][:60]),
    "overlap-cells": lambda: _overlap(5, "cells"),
    "overlap-rows-many": lambda: _overlap(60, "rows"),
    "trace": lambda: plots.trace(history(), axes=_axes(3, 1)),
    "ranks": lambda: plots.rank_curve(*search(), axes=_axes(2, 1)),
    "ranks-stability": lambda: plots.rank_curve(*search(stable=True), axes=_axes(3, 1)),
    "stability": lambda: plots.component_stability(_stable(), ax=_axes()),
    "consensus": lambda: plots.consensus_map(_stable(), ax=_axes()),
    "comparison": lambda: plots.comparison(RESULTS, axes=_axes(1, 2)),
    "map-components": lambda: _map(False),
    "map-labels": lambda: _map(True),
    "label-nmi": _nmi,
    "image-bands": _bands,
}
