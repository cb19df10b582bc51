"""Documents of reports, made from random factors, slowly and obviously."""

import base64
import json
import zlib

import numpy as np

NOTHING = 65535
BEST = 12


def packed(values, kind):
    """Compress an array or, as JSON, anything."""
    if kind == "json":
        raw, length = json.dumps(values).encode(), len(values)
    else:
        array = np.asarray(values, dtype=kind.replace("u", "<u"))
        raw, length = array.tobytes(), array.size
    compressor = zlib.compressobj(9, wbits=-15)
    data = compressor.compress(raw) + compressor.flush()
    return {"type": kind, "length": length, "data": base64.b64encode(data).decode()}


def factors(n, m, k, seed=0, noise=0.05):
    """Return data and the factors that it was made from: blocks that overlap a little."""
    rng = np.random.default_rng(seed)
    U, V = np.zeros((n, k), dtype=bool), np.zeros((k, m), dtype=bool)
    for component in range(k):
        for lines, count in ((U[:, component], n), (V[component], m)):
            low = component * count // k
            lines[low : min(count, low + max(2, int(1.4 * count / k)))] = True
    U, V = U[rng.permutation(n)], V[:, rng.permutation(m)]
    A = (U.astype(int) @ V.astype(int) > 0) ^ (rng.random((n, m)) < noise)
    return A, U, V


def document(
    A,
    U,
    V,
    *,
    row_names=None,
    column_names=None,
    labels=None,
    data=True,
    title="A report",
    **changes,
):
    """Make a document; `labels` are one text for each row, `changes` replace fields."""
    n, k = U.shape
    m = V.shape[1]
    holders = U.astype(int) @ V.astype(int)
    covered = holders > 0
    hits, ones = int((A & covered).sum()), int(A.sum())
    row_order, column_order = _order(U), _order(V.T)
    components = [
        _component(component, A, U, V, holders, row_order, column_order, data)
        for component in range(k)
    ]
    classes = sorted(set(labels)) if labels else []
    made = {
        "format": "elbmf-report",
        "format_version": 1,
        "title": title,
        "vocabulary": None,
        "summary": {
            "rows": n,
            "columns": m,
            "components": k,
            "used": int((U.any(axis=0) & V.any(axis=1)).sum()),
            "ones": ones if data else None,
            "missing": 0,
            "density": ones / (n * m) if data else None,
            "missed": ones - hits if data else None,
            "extra": int(covered.sum()) - hits if data else None,
            "measures": {
                "loss": float((A ^ covered).sum()),
                "relative_loss": float((A ^ covered).sum() / max(ones, 1)),
                "similarity": float(1 - (A ^ covered).mean()),
                "recall": hits / max(ones, 1),
                "precision": hits / max(int(covered.sum()), 1),
            }
            if data
            else None,
            "method": "ELBMF",
            "seconds": 1.25 if data else None,
            "rank": {
                "chosen": data,
                "text": f"{k} components have the shortest description." if data else "As asked.",
                "curve": _curve(k) if data else None,
            },
            "sentences": [
                f"{n} rows and {m} columns were factorized into {k} components.",
                "Most of the ones are covered.",
            ],
            "warnings": ["The data could not be found."] if not data else [],
        },
        "rows": _axis(A, U, V.T, row_order, row_names, data),
        "columns": _axis(A.T, V.T, U, column_order, column_names, data),
        "components": components,
        "matrix": _grid(A, covered, row_order, column_order, data, 200),
        "consensus": None,
        "labels": _labels(U, classes, labels) if labels else None,
        "label_of_rows": packed([classes.index(label) for label in labels], "u2")
        if labels
        else None,
        "sets_title": "pathways.gmt" if labels else None,
        "trace": {
            "name": "epoch",
            "columns": {
                "epoch": [float(epoch) for epoch in range(30)],
                "relaxed_loss": [1000 / (1 + epoch) for epoch in range(30)],
                "gap": [None, *(1 / (1 + epoch) for epoch in range(29))],
                "flips": [float(300 - 10 * epoch) for epoch in range(30)],
            },
        }
        if data
        else None,
        "recipe": {
            "command": "elbmf fit data.csv --components 5 --seed 0" if data else None,
            "code": "ELBMF(5, random_state=0).fit(A)" if data else None,
            "parameters": {"n_components": str(k), "l2_reg": "0.001"},
            "seed": "0" if data else None,
            "versions": {"elbmf": "0.1.0", "python": "3.11.7", "numpy": "2.0.0"},
            "data": {"file": "data.csv"},
            "stages": [("relaxation", 900), ("refinement", 700)] if data else [],
            "run_losses": [700, 720] if data else [],
        },
    }
    return made | changes


def _order(memberships):
    keys = [tuple(~line) for line in memberships]
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int64)


def _curve(k):
    ranks = list(range(1, 2 * k + 1))
    return {
        "ranks": ranks,
        "relative_loss": [1 / rank for rank in ranks],
        "criterion": [1000.0 + 50 * abs(rank - k) for rank in ranks],
        "stability": None,
        "title": "description length",
        "unit": "bits",
    }


def _axis(A, own, other, order, names, data):
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    support = A.astype(int) @ other
    lines, holders = np.nonzero(own)
    best = support.argmax(axis=1) if own.shape[1] else np.zeros(len(own), dtype=int)
    fits = support[np.arange(len(own)), best] > 0
    return {
        "count": len(own),
        "kept": None,
        "names": None if names is None else packed(list(names), "json"),
        "place": packed(place, "u4"),
        "ones": packed(A.sum(axis=1), "u4") if data else None,
        "held": packed(own.sum(axis=1), "u2"),
        "holders": packed(holders, "u2"),
        "support": packed(support[lines, holders], "u4") if data else None,
        "margin": None,
        "returns": None,
        "nearest": packed(np.where(fits, best, NOTHING), "u2") if data else None,
        "nearest_support": packed(support.max(axis=1), "u4") if data else None,
    }


def _grid(A, covered, row_order, column_order, data, most):
    if not len(row_order) or not len(column_order):
        return None
    edges = [
        np.arange(min(len(order), most) + 1) * len(order) // min(len(order), most)
        for order in (row_order, column_order)
    ]

    def shares(cells):
        cells = cells[np.ix_(row_order, column_order)].astype(float)
        sums = np.add.reduceat(np.add.reduceat(cells, edges[0][:-1], 0), edges[1][:-1], 1)
        mean = sums / np.outer(np.diff(edges[0]), np.diff(edges[1]))
        return packed(np.where(mean > 0, np.maximum(1, np.rint(255 * mean)), 0), "u1")

    return {
        "rows": len(edges[0]) - 1,
        "columns": len(edges[1]) - 1,
        "row_edges": packed(edges[0], "u4"),
        "column_edges": packed(edges[1], "u4"),
        "hit": shares(A & covered if data else covered),
        "missed": shares(A & ~covered) if data else None,
        "extra": shares(covered & ~A) if data else None,
    }


def _component(component, A, U, V, holders, row_order, column_order, data):
    u, v = U[:, component], V[component]
    others = np.delete(np.arange(U.shape[1]), component)
    inside = np.outer(u, v)
    cells = int(inside.sum())
    ones = int((A & inside).sum())
    rows, columns = _ranked(A, u, v), _ranked(A.T, v, u)
    outside_rows, outside_columns = _ranked(A, ~u, v), _ranked(A.T, ~v, u)

    def told(lines):
        return [(line, fit if data else None) for line, fit in lines]

    return {
        "component": component,
        "rows": int(u.sum()),
        "columns": int(v.sum()),
        "covered": ones if data else None,
        "alone": int((A & inside & (holders == 1)).sum()) if data else None,
        "precision": ones / cells if data and cells else None,
        "recall": ones / max(int(A.sum()), 1) if data else None,
        "bits_saved": 3.7 * ones - 100 if data else None,
        "recurrence": None,
        "found_in": None,
        "p_value": None,
        "doubts": ["one row"] if int(u.sum()) == 1 else [],
        "top_rows": told(rows[:BEST]),
        "top_columns": told(columns[:BEST]),
        "weak_rows": told(rows[::-1][:5]) if data else [],
        "weak_columns": told(columns[::-1][:5]) if data else [],
        "near_rows": told(outside_rows[:5]) if data else [],
        "near_columns": told(outside_columns[:5]) if data else [],
        "row_spans": _spans(u[row_order]),
        "column_spans": _spans(v[column_order]),
        "overlaps": [
            {
                "component": int(other),
                "rows": int((u & U[:, other]).sum()),
                "columns": int((v & V[other]).sum()),
                "cells": int((u & U[:, other]).sum() * (v & V[other]).sum()),
            }
            for other in others
            if (u & U[:, other]).any() and (v & V[other]).any()
        ],
        "block": _grid(
            A,
            holders > 0,
            np.array([line for line, _ in rows], dtype=int),
            np.array([line for line, _ in columns], dtype=int),
            data,
            40,
        ),
        "labels": [],
        "sets": [],
    }


def _ranked(A, members, partners):
    fits = A[:, partners].sum(axis=1) / max(int(partners.sum()), 1)
    lines = sorted(np.flatnonzero(members), key=lambda line: (-fits[line], A[line].sum()))
    return [(int(line), float(fits[line])) for line in lines]


def _spans(members):
    steps = np.diff(np.concatenate([[0], members.astype(int), [0]]))
    spans = zip(np.flatnonzero(steps == 1), np.flatnonzero(steps == -1), strict=True)
    return sorted(((int(a), int(b)) for a, b in spans), key=lambda span: span[0] - span[1])[:8]


def _labels(U, classes, labels):
    """Stand in for normalized mutual information with the overlap (Jaccard)."""
    labels = np.array(labels)
    nmi = []
    for component in range(U.shape[1]):
        u = U[:, component]
        nmi.append(
            [float((u & (labels == c)).sum() / max(1, (u | (labels == c)).sum())) for c in classes]
        )
    best = np.argmax(nmi, axis=0)
    sizes, inside = (
        U.sum(axis=0),
        [U[:, b] & (labels == c) for b, c in zip(best, classes, strict=True)],
    )
    return {
        "title": "kind",
        "classes": [
            {
                "name": name,
                "size": int((labels == name).sum()),
                "best": {
                    "component": int(best[position]),
                    "nmi": nmi[best[position]][position],
                    "overlap": int(inside[position].sum()),
                    "component_rows": int(sizes[best[position]]),
                    "share_inside": float(inside[position].sum() / max(1, sizes[best[position]])),
                    "share_outside": 0.125,
                    "fold": 2.5,
                    "log10_p": -3.25,
                },
                "absence": None,
            }
            for position, name in enumerate(classes)
        ],
        "nmi": nmi,
        "order": list(range(U.shape[1])),
        "mean_nmi": float(np.mean([nmi[b][i] for i, b in enumerate(best)])),
        "unlabelled": 0,
    }
