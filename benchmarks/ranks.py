"""Choosing the rank: planted ranks found, cost of a path, search at high ranks, no structure."""

import argparse
import time
from collections import Counter
from typing import Any

import numpy as np

from common import load, parts_parser, run_parts
from elbmf import ELBMF, RankSearch
from elbmf.datasets import make_tiles
from elbmf.ranks.criteria import CRITERIA, count

COST = ("mushroom", "americas_small", "tcga_luad_coadread")


def planted(arguments: argparse.Namespace) -> None:
    """Fig. 5: 400×300, 10 tiles of 30-70 apart, 10% noise, ranks 1 to 30."""
    print("400×300, true rank 10, 10% noise: rank chosen, and whether the criterion likes the")
    print("planted tiles less than what it chose")
    chosen: dict[str, list[int]] = {name: [] for name in CRITERIA}
    beaten: Counter[str] = Counter()
    for seed in range(arguments.first_seed, arguments.first_seed + arguments.draws):
        drawn = make_tiles((400, 300), 10, height=(30, 70), noise=0.1, random_state=seed)
        search = RankSearch(ELBMF(random_state=seed), 30).fit(drawn.A)
        truth = count(drawn.A, drawn.U, drawn.V)
        rises = np.maximum(np.diff(search.table_["loss"]), 0).sum()
        for name, criterion in CRITERIA.items():
            chosen[name].append(search.choices_[name])
            beaten[name] += criterion(truth) > search.table_[name].min()
        print(
            f"  seed {seed}: {search.choices_}, loss at 10: {search.table_['loss'][10]} "
            f"(tiles {truth.errors}), rises {rises}",
            flush=True,
        )
    for name, ranks in chosen.items():
        right = sum(rank == 10 for rank in ranks)
        print(
            f"  {name}: 10 on {right} of {len(ranks)} {ranks}; something better than the tiles on "
            f"{beaten[name]}"
        )
    print(flush=True)


def harder(arguments: argparse.Namespace) -> None:
    """Overlapping tiles of several ranks and noise levels, on oblong matrices."""
    print(
        "| shape | true rank | noise | chosen by MDL | bits with it | bits with the tiles "
        "| loss at the true rank | tiles' loss |"
    )
    print("|---|---|---|---|---|---|---|---|")
    within = []
    shorter = 0
    for shape in ((400, 300), (1000, 120), (150, 800)):
        for true_rank in (5, 10, 20):
            for noise in (0.05, 0.1, 0.2):
                # Sides of about a twelfth to a sixth, as the 30 to 70 of the paper's 400×300 are.
                height, width = ((length // 12, length // 6) for length in shape)
                drawn = make_tiles(
                    shape,
                    true_rank,
                    height=height,
                    width=width,
                    overlap=True,
                    noise=noise,
                    random_state=arguments.first_seed,
                )
                search = RankSearch(ELBMF(random_state=0), 30).fit(drawn.A)
                rank = search.choices_["mdl"]
                within.append(abs(rank - true_rank) <= 1)
                truth = count(drawn.A, drawn.U, drawn.V)
                bits, bits_of_tiles = search.table_["mdl"][rank], CRITERIA["mdl"](truth)
                shorter += bits < bits_of_tiles
                print(
                    f"| {shape[0]}×{shape[1]} | {true_rank} | {noise:.0%} | {rank} "
                    f"| {bits:.0f} | {bits_of_tiles:.0f} "
                    f"| {search.table_['loss'][true_rank]} | {truth.errors} |",
                    flush=True,
                )
    print(
        f"\nwithin one of the true rank: {sum(within)} of {len(within)}; shorter than with the "
        f"tiles: {shorter}\n",
        flush=True,
    )


def structureless(arguments: argparse.Namespace) -> None:
    """Pure noise."""
    for density in (0.05, 0.2, 0.5):
        A = np.random.default_rng(arguments.first_seed).random((300, 200)) < density
        search = RankSearch(ELBMF(random_state=0), 30).fit(A)
        print(f"noise of density {density}: {search.choices_}", flush=True)
    print()


def cost(arguments: argparse.Namespace) -> None:
    """Time of the whole path 1 to 30 over that of one fit at 30, interleaved, best of several."""
    for name in arguments.sets or COST:
        A = load(arguments.data, name)
        fit, path = np.inf, np.inf
        for _ in range(arguments.rounds):
            fit = min(fit, _timed(ELBMF(30, random_state=0), A))
            search = RankSearch(ELBMF(random_state=0), 30)
            path = min(path, _timed(search, A))
        print(
            f"{name}: fit {fit:.1f} s, path {path:.1f} s, ratio {path / fit:.2f}; "
            f"{search.choices_}",
            flush=True,
        )
    print()


def high(arguments: argparse.Namespace) -> None:
    """Search up to rank 200; beside a full scan on a tenth of the columns."""
    A = load(arguments.data, "dorothea_grn")
    search = RankSearch(ELBMF(random_state=0), 200)
    seconds = _timed(search, A)
    print(
        f"dorothea_grn up to 200: {seconds:.0f} s, {len(search.table_['rank']) - 1} ranks looked "
        f"at, {search.choices_}",
        flush=True,
    )
    tenth = A[:, np.sort(np.random.default_rng(0).permutation(A.shape[1])[: A.shape[1] // 10])]
    found = {}
    for every in (False, True):
        search = RankSearch(ELBMF(random_state=0), 200, every=every)
        seconds = _timed(search, tenth)
        found[every] = search.table_["mdl"].min()
        print(
            f"a tenth of it, {'every rank' if every else 'ever closer'}: {seconds:.0f} s, rank "
            f"{search.choices_['mdl']}, {found[every]:.0f} bits",
            flush=True,
        )
    print(f"excess {found[False] / found[True] - 1:+.2%}\n", flush=True)


def _timed(model: Any, A: Any) -> float:
    began = time.perf_counter()
    model.fit(A)
    return time.perf_counter() - began


PARTS = {part.__name__: part for part in (planted, harder, structureless, cost, high)}


def main() -> None:
    parser = parts_parser(__doc__, PARTS)
    parser.add_argument("--sets", nargs="*", help="real data, by name, for the cost")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=2, help="of timing")
    run_parts(parser, PARTS)


if __name__ == "__main__":
    main()
