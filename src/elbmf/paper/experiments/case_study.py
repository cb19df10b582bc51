"""Fig. 7: groups of rows in components and reconstructions, against labels that are known.

Each data set is factorized plainly, as the paper does it, and with refinement; and once more with
refinement where uncovered ones weigh as much as covered zeros altogether ("balanced"). Everything
that is done with a reconstruction is done with the target in the same way, for comparison: singular
vectors, t-SNE of these, and k-means with as many clusters as there are classes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.manifold import TSNE
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from elbmf.analysis.labels import clustering_scores, component_labels
from elbmf.errors import InputError
from elbmf.estimators import ELBMF
from elbmf.paper.experiments.case_study_figures import draw
from elbmf.paper.experiments.data_sets import DIGITS, names_of_sets, ones_of, open_set
from elbmf.paper.experiments.experiment import (
    PLAIN,
    REFINED,
    Claim,
    Experiment,
    Row,
    Settings,
    Tables,
    Task,
    checked,
)

__all__ = ["EXPERIMENT"]

# Rows that are embedded in a quick run, and ones of the largest set; more takes minutes.
_QUICK_ROWS = 1500
_QUICK_ONES = 1_000_000

# Singular vectors that t-SNE sees, and seeds of k-means.
_DIMENSIONS = 50
_SEEDS = 5

# Neighbours of a point in the plane that are asked for their label.
_NEIGHBOURS = 10

# Rows of a reconstruction coincide; so far, relative to their spread, they are moved apart.
_JITTER = 1e-3


_TARGET = "target"
_METHODS = (_TARGET, "plain", "refined", "balanced")

# What claims call the two of them.
_OWN = {PLAIN: "plain", REFINED: "refined"}


# The numbers of components to look for in a data set, and what its rows are labelled with. As many
# components as there are classes, which is the paper's rule; and the paper's own numbers for
# patients of 33 cancer types and genomes of 26 populations, where fewer classes are known here.
_STUDIES: dict[str, tuple[tuple[int, ...], str]] = {
    DIGITS: ((10,), "digit"),
    "tcga": ((33,), "cancer type"),
    "tcga_luad_coadread": ((4, 33), "cohort"),
    "genomes": ((5, 28), "super-population"),
    "genomes1k_peddy": ((5, 28), "superpop"),
    "newsgroups20": ((20,), "group"),
}


def _tasks(settings: Settings) -> list[Task]:
    """Return a task for each rank and data set that is there; digits always are."""
    there = names_of_sets(settings)
    return [
        {"data": name, "n_components": rank, "method": method}
        for name, (ranks, _) in _STUDIES.items()
        if name in there and (settings.full or ones_of(name, settings) <= _QUICK_ONES)
        for rank in ranks
        for method in _METHODS
    ]


def _open(name: str, settings: Settings) -> tuple[sparse.csr_array, NDArray[Any]]:
    """Return a matrix and the labels of its rows."""
    data, labelling = open_set(name, settings), _STUDIES[name][1]
    labels = data.row_labels.get(labelling)
    if labels is None:
        raise InputError(
            f"{name}: the rows have no labels {labelling!r}, only "
            f"{', '.join(data.row_labels) or 'none'}. Prepare the data with its table of labels."
        )
    return data.matrix.values, np.array(labels)


def _measure(task: Task, settings: Settings) -> Tables:
    """Compare a target, or what a factorization of it gives, with the labels."""
    A, labels = _open(task["data"], settings)
    k, method = task["n_components"], task["method"]
    data = {"data": f"{task['data']}-k{k}"}
    common = {**data, "method": method}
    groups, tables = {}, {}
    if method == _TARGET:
        matrix = A
    else:
        parameters = _parameters(method, A)
        model = ELBMF(k, random_state=settings.seed, n_jobs=settings.n_jobs, **parameters).fit(A)
        matrix = _reconstruction(model.membership_, model.components_)
        groups["components"] = model.membership_
        tables["nmi"] = [{**common, **row} for row in _nmi_rows(model.membership_, labels)]
    # In one thread, so that nothing depends on how many there are.
    with threadpool_limits(limits=1):
        coordinates = _coordinates(matrix, settings.seed)
        shown = _shown_rows(labels, len(labels) if settings.full else _QUICK_ROWS, settings.seed)
        plane = _plane(coordinates[shown], settings)
        clusterings = list(_clusterings(coordinates[:, :k], labels, settings))
    tables["embedding"] = [
        {**common, "row": int(row), "x": float(x), "y": float(y), "label": str(labels[row])}
        for row, (x, y) in zip(shown, plane, strict=True)
    ]
    tables["separation"] = [{**common, "purity": _purity(plane, labels[shown])}]
    tables["clusters"] = [
        {**common, "seed": seed, **clustering_scores(labels, clusters)}
        for seed, clusters in enumerate(clusterings)
    ]
    groups["clusters"] = clusterings[0][:, None] == np.unique(clusterings[0])
    if method == _TARGET:
        # Each coordinate cut in two at its mean: what is above is in.
        groups["thresholded"] = coordinates[:, :k] > coordinates[:, :k].mean(axis=0)
    tables["best"] = [
        {**data, "groups": f"{method}: {kind}", **row}
        for kind, members in groups.items()
        for row in _best_rows(members, labels)
    ]
    return tables


def _best_rows(members: Any, labels: NDArray[Any]) -> Iterator[Row]:
    """Return for each class the group of rows that tells most about it, be it by its absence."""
    found = component_labels(members, labels)
    best = zip(found.classes, found.nmi.argmax(axis=0), found.nmi.max(axis=0), strict=True)
    return ({"label": label, "group": int(at), "nmi": float(nmi)} for label, at, nmi in best)


def _nmi_rows(U: Any, labels: NDArray[Any]) -> Iterator[Row]:
    """Compare all components and classes, in the order that shows the diagonal."""
    found = component_labels(U, labels)
    for place, component in enumerate(found.components_by_class()):
        for label, nmi in zip(found.classes, found.nmi[component], strict=True):
            yield {"component": int(component), "place": place, "label": label, "nmi": float(nmi)}


def _parameters(method: str, A: sparse.csr_array) -> dict[str, Any]:
    """Return what makes a factorization plain, refined or balanced."""
    ones_to_zeros = A.nnz / max(1, A.shape[0] * A.shape[1] - A.nnz)
    return {
        "plain": {"refine": False},
        "refined": {},
        "balanced": {"extra_weight": ones_to_zeros},
    }[method]


def _reconstruction(U: Any, V: Any) -> sparse.csr_array:
    product = sparse.csr_array(U).astype(np.float32) @ sparse.csr_array(V).astype(np.float32)
    return sparse.csr_array(product).astype(bool)


def _coordinates(matrix: sparse.csr_array, seed: int) -> NDArray[np.float64]:
    """Return the rows in terms of the leading singular vectors."""
    count = min(_DIMENSIONS, min(matrix.shape) - 1)
    svd = TruncatedSVD(count, random_state=seed)
    return np.asarray(svd.fit_transform(matrix.astype(np.float32)), dtype=np.float64)


def _shown_rows(labels: NDArray[Any], most: int, seed: int) -> NDArray[np.int64]:
    """Draw rows such that each class keeps its share, as near as whole rows allow."""
    if len(labels) <= most:
        return np.arange(len(labels))
    order = np.random.default_rng(seed).permutation(len(labels))
    by_class = order[np.argsort(labels[order], kind="stable")]
    # Evenly spaced in the order of the classes: every class has its share.
    return np.sort(by_class[np.linspace(0, len(labels) - 1, most).round().astype(int)])


def _plane(coordinates: NDArray[np.float64], settings: Settings) -> NDArray[np.float64]:
    """Embed rows by t-SNE."""
    generator = np.random.default_rng(settings.seed)
    spread = float(coordinates.std()) or 1.0
    jitter = generator.normal(scale=_JITTER * spread, size=coordinates.shape)
    perplexity = min(30.0, (len(coordinates) - 1) / 3)
    tsne = TSNE(perplexity=perplexity, random_state=settings.seed, n_jobs=1)
    return np.asarray(tsne.fit_transform((coordinates + jitter).astype(np.float32)))


def _purity(plane: NDArray[np.float64], labels: NDArray[Any]) -> float:
    """Return the share of nearest neighbours that have the label of the point itself."""
    count = min(_NEIGHBOURS, len(plane) - 1)
    neighbours = NearestNeighbors(n_neighbors=count).fit(plane).kneighbors(return_distance=False)
    return float(np.mean(labels[neighbours] == labels[:, None]))


def _clusterings(
    coordinates: NDArray[np.float64], labels: NDArray[Any], settings: Settings
) -> Iterator[NDArray[np.int64]]:
    """Cluster rows by k-means into as many clusters as there are classes, with several seeds."""
    # Of a reconstruction, fewer rows than there are classes may differ.
    spread = float(coordinates.std()) or 1.0
    distinct = len(np.unique((coordinates / spread).round(6), axis=0))
    count = min(len(np.unique(labels)), distinct)
    for seed in range(_SEEDS):
        yield KMeans(count, n_init=10, random_state=settings.seed + seed).fit_predict(coordinates)


def _claims(tables: Tables) -> Sequence[Claim]:
    """Check what Sec. 4.3 says of patients on all data sets."""
    return [
        _compared_with_target(
            tables["separation"],
            "purity",
            "Fig. 7a, b",
            "Classes overlap in the embedding of the target and are cleanly segmented in that of "
            "the reconstruction (share of neighbours with the same label)",
        ),
        _compared_with_target(
            tables["clusters"],
            "nmi",
            "Fig. 7b",
            "The reconstruction falls into clusters that mostly hold a single class (nmi of "
            "k-means clusters and classes)",
        ),
        _of_nmi(
            tables["nmi"],
            _sparsity,
            "The nmi matrix is noticeably sparse (share of pairs below a tenth of the greatest)",
        ),
        _of_nmi(
            tables["nmi"],
            _mutual,
            "Components and classes correspond almost one to one (share of classes whose best "
            "component has no class it tells more about, times its nmi)",
        ),
        _best_components(tables["best"]),
        Claim(
            "Sec. 4.3",
            "A component of 356 genes of patients with thyroid carcinoma is enriched in thyroid "
            "hormone generation and thyroid gland development (needs all of TCGA and gene sets; "
            "see elbmf enrich)",
        ),
    ]


def _on_every_set(
    rows: list[Row], where: str, says: str, find: Callable[[str, str], tuple[str, bool]]
) -> Claim:
    """Claim something of a method on every data set; ``find`` says what was measured on one."""

    def check(name: str) -> tuple[str, bool]:
        found = {data: find(data, _OWN[name]) for data in _unique(rows, "data")}
        text = "; ".join(f"{data} {measured}" for data, (measured, _) in found.items())
        return text, all(holds for _, holds in found.values())

    return checked(where, says, check)


def _compared_with_target(rows: list[Row], field: str, where: str, says: str) -> Claim:
    """Claim that a mean is greater for reconstructions than for targets, on every data set."""

    def find(data: str, method: str) -> tuple[str, bool]:
        theirs, ours = (_mean(rows, field, data, "method", each) for each in (_TARGET, method))
        return f"{theirs:.3f} to {ours:.3f}", ours > theirs

    claim = _on_every_set(rows, where, says, find)
    balanced = ", ".join(
        f"{data} {_mean(rows, field, data, 'method', 'balanced'):.3f}"
        for data in _unique(rows, "data")
    )
    note = f" (where ones weigh as much as zeros: {balanced})"
    return replace(claim, refined=claim.refined + note)


def _best_components(rows: list[Row]) -> Claim:
    """Claim that the best component of each class tells more about it than clusters do."""

    def find(data: str, method: str) -> tuple[str, bool]:
        groups = (f"{method}: components", "target: clusters")
        ours, theirs = (_mean(rows, "nmi", data, "groups", each) for each in groups)
        return f"{ours:.3f} beside {theirs:.3f}", ours > theirs

    return _on_every_set(
        rows,
        "Fig. 7c",
        "Estimated groups correspond to classes (mean nmi of the best component of each class, "
        "beside that of the best k-means cluster of the target)",
        find,
    )


def _of_nmi(rows: list[Row], measure: Any, says: str) -> Claim:
    """Claim that a measure of the nmi matrix is above one half, on every data set."""

    def find(data: str, method: str) -> tuple[str, bool]:
        value = measure(_matrix([r for r in rows if (r["data"], r["method"]) == (data, method)]))
        return f"{value:.2f}", value > 0.5

    return _on_every_set(rows, "Fig. 7c", says, find)


def _sparsity(nmi: NDArray[np.float64]) -> float:
    return float(np.mean(nmi < nmi.max() / 10))


def _mutual(nmi: NDArray[np.float64]) -> float:
    best = nmi.argmax(axis=0)
    mutual = nmi[best].argmax(axis=1) == np.arange(nmi.shape[1])
    return float(np.mean(mutual * nmi.max(axis=0)))


def _matrix(rows: list[Row]) -> NDArray[np.float64]:
    """Return components × classes from the rows of the table."""
    labels = _unique(rows, "label")
    return np.array([row["nmi"] for row in rows]).reshape(-1, len(labels))


def _mean(rows: list[Row], field: str, data: str, by: str, value: str) -> float:
    return float(np.mean([row[field] for row in rows if (row["data"], row[by]) == (data, value)]))


def _unique(rows: list[Row], field: str) -> list[Any]:
    return list(dict.fromkeys(row[field] for row in rows))


EXPERIMENT = Experiment(
    name="case-study",
    shows="Fig. 7",
    title="groups of rows in targets, reconstructions and components, against known labels",
    tasks=_tasks,
    measure=_measure,
    draw=draw,
    claims=_claims,
    remark="In tcga_luad_coadread a gene is high, by definition, in about one patient of twenty, "
    "while the two largest classes have four patients of ten each. No set of genes is high in most "
    "patients of such a class, so that covering it costs more than it gains, and most patients are "
    "in no component; in the paper's data, with 33 cancer types, classes are about as large as "
    "genes are often high. Balanced factorizations weigh uncovered ones as much, altogether, as "
    "covered zeros, and find larger groups.",
)
