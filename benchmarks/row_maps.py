"""Maps of the rows that need no random start: how often near rows have the same label.

    python benchmarks/row_maps.py --data FOLDER

For each data set and map, the share of the 10 nearest neighbours in the plane that have the label
of the row itself. Rows in the same place are neighbours in no order.
"""

import argparse
import csv
import gzip
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from elbmf import ELBMF
from elbmf.analysis import block_order, row_layout
from elbmf.datasets import load_digits

LABELS = {"newsgroups20": "group", "genomes1k_peddy": "superpop"}
NEIGHBOURS = 10


def reconstructed(U, V):
    """Principal components of reconstructed rows: what `row_layout` does."""
    found = row_layout(U, V)
    return found.places[found.place_of]


def memberships(U, V):
    """Principal components of memberships, each weighed by the root of its component's columns."""
    return _principal(U * np.sqrt(V.sum(axis=1)))


def correspondence(U, V):
    """Correspondence analysis of memberships."""
    table = np.c_[U, np.full(len(U), 1e-9)]
    rows, columns, total = table.sum(axis=1), table.sum(axis=0), table.sum()
    expected = np.outer(rows, columns) / total
    residuals = (table - expected) / np.sqrt(expected * total)
    _, vectors = np.linalg.eigh(residuals.T @ residuals)
    return residuals @ vectors[:, :-3:-1] / np.sqrt(rows / total)[:, None]


def radial(U, V):
    """Means of anchors on a circle, one for each component."""
    angles = np.empty(len(V))
    angles[block_order(U, V).components] = 2 * np.pi * np.arange(len(V)) / len(V)
    weights = U * np.sqrt(V.sum(axis=1))
    anchors = np.c_[np.cos(angles), np.sin(angles)]
    return weights @ anchors / np.maximum(weights.sum(axis=1, keepdims=True), 1e-12)


def _principal(X):
    X = X - X.mean(axis=0)
    _, vectors = np.linalg.eigh(X.T @ X)
    return X @ vectors[:, :-3:-1]


def purity(places, labels):
    """Return the share of neighbours with the same label."""
    spread = places.std() or 1.0
    jitter = np.random.default_rng(0).normal(scale=1e-6 * spread, size=places.shape)
    nearest = NearestNeighbors(n_neighbors=NEIGHBOURS).fit(places + jitter)
    return np.mean(labels[nearest.kneighbors(return_distance=False)] == labels[:, None])


def data_sets(folder):
    A, _, digits = load_digits()
    yield "digits", A, np.asarray(digits)
    for name, column in LABELS.items():
        if (folder / f"{name}.npz").exists():
            with gzip.open(folder / f"{name}.rows.tsv.gz", "rt") as stream:
                labels = [row[column] for row in csv.DictReader(stream, delimiter="\t")]
            yield name, sparse.load_npz(folder / f"{name}.npz"), np.array(labels)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    folder = parser.parse_args().data
    for name, A, labels in data_sets(folder):
        model = ELBMF(20, max_iter=60, random_state=0).fit(A)
        U, V = model.membership_, model.components_
        print(f"{name}: in no component {np.mean(~U.any(axis=1)):.0%}")
        for place in (reconstructed, memberships, correspondence, radial):
            print(f"  {place.__name__:<16}{purity(place(U, V), labels):.3f}")


if __name__ == "__main__":
    main()
