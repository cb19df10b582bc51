"""Frequent itemsets beside components: how many of either, and how long they take.

python benchmarks/baskets.py --data FOLDER

Itemsets are counted by mlxtend (``pip install mlxtend``); without it, only components are.
"""

import argparse
import time
from importlib.util import find_spec

import numpy as np
from scipy import sparse

from common import load, parts_parser, run_parts
from elbmf import ELBMF

# Name, least supports of itemsets, settings of the fits.
SETS = {
    "mushroom": ((0.3, 0.2), ({}, {"extra_weight": np.inf})),
    "retail": (
        (0.005, 0.001),
        ({"effort": 0.3}, {"effort": 0.3, "extra_weight": "auto", "min_columns": 2}),
    ),
}


def itemsets(given: argparse.Namespace) -> None:
    """Count the itemsets with a least support, all of them and those that no other contains."""
    if find_spec("mlxtend") is None:
        print("no mlxtend, no itemsets")
        return
    import pandas
    from mlxtend.frequent_patterns import fpgrowth, fpmax

    print("set support | itemsets, of two items and more, seconds | maximal")
    for name, (supports, _) in SETS.items():
        A = sparse.csr_array(load(given.data, name))
        counts = np.bincount(A.indices, minlength=A.shape[1])
        for support in supports:
            # Itemsets with a rare item are rare.
            usual = np.flatnonzero(counts >= support * A.shape[0])
            frame = pandas.DataFrame(A[:, usual].toarray().astype(bool))
            began = time.perf_counter()
            found = fpgrowth(frame, min_support=support)
            seconds = time.perf_counter() - began
            several = int((found["itemsets"].map(len) > 1).sum())
            maximal = len(fpmax(frame, min_support=support))
            print(name, support, f"| {len(found)} {several} {seconds:.1f} | {maximal}", flush=True)


def components(given: argparse.Namespace) -> None:
    """Fit 20 components."""
    print("set settings | relative loss, of one item, items of a component at most, seconds")
    for name, (_, settings) in SETS.items():
        A = load(given.data, name)
        for parameters in settings:
            began = time.perf_counter()
            model = ELBMF(20, random_state=0, **parameters).fit(A)
            seconds = time.perf_counter() - began
            sizes = model.components_.sum(axis=1)
            print(
                name, parameters,
                f"| {1 - model.score(A):.3f} {(sizes == 1).sum()} {sizes.max()} {seconds:.1f}",
                flush=True,
            )  # fmt: skip


if __name__ == "__main__":
    parts = {"itemsets": itemsets, "components": components}
    run_parts(parts_parser(__doc__, parts), parts)
