"""How often the least loss is proved, and how near bounds come to the best that is found."""

import argparse
from collections.abc import Iterator

import numpy as np

from common import load, parts_parser, run_parts
from elbmf import loss_bound
from elbmf.boolean.product import Bools
from elbmf.datasets import make_tiles

SETS = ("firewall1", "americas_small", "dna", "chess", "mushroom", "customer", "cora_words")


def small_tables(arguments: argparse.Namespace) -> Iterator[tuple[str, Bools]]:
    """Slices of real data, planted tiles and noise, with up to 250 rows and 22 columns."""
    for case in range(arguments.cases):
        generator = np.random.default_rng(case)
        n, m = int(generator.integers(50, 251)), int(generator.integers(10, 23))
        if case % 5 == 4:
            yield "noise", generator.random((n, m)) < 0.3
        elif case % 5 == 3:
            tiles = make_tiles((n, m), 3, height=(5, m // 2), noise=0.1, random_state=case)
            yield "tiles", tiles.A.toarray() > 0
        else:
            name = SETS[int(generator.integers(len(SETS)))]
            A = load(arguments.data, name)
            # Columns that have something in common, and rows that have something in them.
            some = A[:, np.argsort(-A.sum(axis=0), kind="stable")[: 3 * m]]
            some = some[:, generator.permutation(some.shape[1])[:m]].toarray() > 0
            rows = np.flatnonzero(some.any(axis=1))
            yield name, some[generator.permutation(rows)[:n]]


def small(arguments: argparse.Namespace) -> None:
    """Small tables with few components: how often the best is proved."""
    for k in arguments.ranks:
        proved, open_ = 0, []
        for name, A in small_tables(arguments):
            found = loss_bound(A, k, time_limit=arguments.seconds, random_state=0)
            proved += found.proved
            if not found.proved:
                open_.append(f"{name} {A.shape[0]}×{A.shape[1]} {found.at_least} of {found.cost}")
        print(f"k={k}: proved in {proved} of {arguments.cases}; not: {open_}", flush=True)


def real(arguments: argparse.Namespace) -> None:
    """Real data: the bound beside the best that is found."""
    print("| set | k | at least | best | by |\n|---|---|---|---|---|")
    for name in SETS:
        for k in (2, 5, 20):
            A = load(arguments.data, name)
            found = loss_bound(A, k, time_limit=arguments.seconds, random_state=0)
            given = (name, k, found.at_least, found.cost, found.proved_by)
            print("| " + " | ".join(map(str, given)) + " |", flush=True)


PARTS = {part.__name__: part for part in (small, real)}


def main() -> None:
    parser = parts_parser(__doc__, PARTS)
    parser.add_argument("--cases", type=int, default=50, help="small tables")
    parser.add_argument("--ranks", nargs="*", type=int, default=[1, 2, 3], help="of these")
    parser.add_argument("--seconds", type=float, default=60.0, help="of each")
    run_parts(parser, PARTS)


if __name__ == "__main__":
    main()
