"""What constraints cost: the loss and the time beside those of a plain fit, in turns."""

import argparse
import time
from typing import Any

import numpy as np

from common import load, parts_parser, run_parts
from elbmf import ELBMF

SETS = {"mushroom": 20, "chess": 20, "americas_small": 50, "dna": 50}


def wishes(plain: ELBMF, other: ELBMF, generator: np.random.Generator) -> dict[str, dict[str, Any]]:
    """Return constraints that a plain fit does not keep to, as a rule, by what they are called."""
    k, (n, m) = plain.components_.shape[0], (plain.membership_.shape[0], plain.components_.shape[1])
    rows, columns = plain.membership_.sum(axis=0), plain.components_.sum(axis=1)
    own = plain.components_[generator.permutation(k)[: k // 4]]
    covered = plain.inverse_transform(plain.membership_).tocoo()
    some = generator.permutation(covered.nnz)[: covered.nnz // 1000 + 1]
    forbidden = np.zeros((n, m), np.bool_)
    forbidden[covered.row[some], covered.col[some]] = True
    return {
        "min_rows, min_columns": {
            "min_rows": int(np.median(rows)),
            "min_columns": int(np.median(columns)),
        },
        "max_columns": {"max_columns": int(np.median(columns)) + 1},
        "two per row": {"max_components_per_row": 2},
        "a quarter of its own fixed": {"fixed_components": own},
        "others fixed": {"fixed_components": other.components_},
        "forbidden": {"forbidden_cells": forbidden},
    }


def cost(arguments: argparse.Namespace) -> None:
    """Compare times and losses with those of the plain fits before and after each."""
    print("| set | k | constraint | loss | plain | time |\n|---|---|---|---|---|---|")
    for name in arguments.sets:
        A, k = load(arguments.data, name), SETS[name]
        generator = np.random.default_rng(0)
        seconds, plain = timed(A, k, {})
        other = ELBMF(max(1, k // 4), random_state=1).fit(A)
        for what, given in wishes(plain, other, generator).items():
            taken, model = timed(A, k, given)
            again, _ = timed(A, k, {})
            ratio = 2 * taken / (seconds + again)
            losses = (model.reconstruction_err_, plain.reconstruction_err_)
            print(
                f"| {name} | {k} | {what} | {losses[0]} | {losses[1]} | {ratio:.2f} |", flush=True
            )
            seconds = again


def timed(A: Any, k: int, given: dict[str, Any]) -> tuple[float, ELBMF]:
    began = time.perf_counter()
    model = ELBMF(k, random_state=0, **given).fit(A)
    return time.perf_counter() - began, model


PARTS = {part.__name__: part for part in (cost,)}


def main() -> None:
    parser = parts_parser(__doc__, PARTS)
    parser.add_argument("--sets", nargs="*", default=list(SETS), choices=list(SETS))
    run_parts(parser, PARTS)


if __name__ == "__main__":
    main()
