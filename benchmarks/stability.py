"""Stability: planted tiles that return, noise that does not, and what it takes to tell.

python benchmarks/stability.py [--draws 10] [--first-seed 0] [--runs 20]
    [--only planted|ranks|members|cost] [--placed]

The rows and columns of each tile are drawn at random, and cells are flipped. ``--placed`` takes
tiles as `make_tiles` places them instead. Of these, one often has all rows or columns of another.
Such a pair is as well described by what they share and what is left: no loss tells which it was.
``apart`` says of a draw that there is no such pair. The consensus is compared with the tiles one
by one, and by the loss.
"""

import argparse
import time
import warnings

import numpy as np

from elbmf import ELBMF, RankSearch, stability
from elbmf.datasets import make_tiles
from margins import areas
from margins import matched as paired

SHAPE, TILES, K = (400, 300), 6, 9
HEIGHT, WIDTH, NOISE, MORE_NOISE = (40, 80), (30, 60), 0.1, 0.2

# Share of a tile's rows or columns that another may have.
APART = 0.9


def drawn(seed: int, scattered: bool, **noise: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a noisy matrix, and the tiles in it."""
    if not scattered:
        tiles = make_tiles(SHAPE, TILES, height=HEIGHT, width=WIDTH, random_state=seed, **noise)
        return tiles.A.toarray(), tiles.U, tiles.V
    generator = np.random.default_rng(seed)
    U, V = (np.zeros((TILES, length), dtype=bool) for length in SHAPE)
    for lines, (least, most) in ((U, HEIGHT), (V, WIDTH)):
        for line in lines:
            size = generator.integers(least, most, endpoint=True)
            line[generator.choice(line.size, size, replace=False)] = True
    A = (U.T.astype(int) @ V > 0) ^ (generator.random(SHAPE) < max(noise.values()))
    return A, U.T, V


def apart(U: np.ndarray, V: np.ndarray) -> bool:
    """Whether no tile has most of the rows or columns of another."""
    shares = []
    for lines in (U.T.astype(int), V.astype(int)):
        shared = lines @ lines.T / lines.sum(axis=1)[:, None]
        np.fill_diagonal(shared, 0)
        shares.append(shared.max())
    return max(shares) <= APART


def matched(U: np.ndarray, V: np.ndarray, model: ELBMF) -> np.ndarray:
    """Return how alike each tile and the component most like it are."""

    def jaccard(left: np.ndarray, right: np.ndarray) -> np.ndarray:
        both = left.astype(int) @ right.T
        return both / np.maximum(left.sum(axis=1)[:, None] + right.sum(axis=1) - both, 1)

    alike = jaccard(U.T, model.membership_.T) * jaccard(V, model.components_)
    return alike.max(axis=1)


def planted(draws: range, runs: int, scattered: bool) -> None:
    """Which of nine components return, where six are planted."""
    print("draw apart | recurrence of the sixth and of the seventh | consensus | CPU s")
    good = agreed = covered = 0
    for seed in draws:
        A, U, V = drawn(seed, scattered, noise=NOISE)
        began = time.process_time()
        found = stability(A, K, runs=runs, random_state=0)
        ranked = np.sort(found.recurrence_)[::-1]
        passes = ranked[TILES - 1] >= 0.9 and ranked[TILES] < 0.6
        consensus = found.consensus(0.75)
        alike = matched(U, V, consensus)
        # Tiles that can be cut in another way cannot be told from that; the loss can.
        tiles_cost = int(np.sum((U.astype(int) @ V > 0) ^ (A > 0)))
        as_good = len(consensus.components_) == TILES
        as_good &= consensus.reconstruction_err_ <= tiles_cost
        same = len(consensus.components_) == TILES and alike.min() >= 0.95
        good, agreed, covered = good + passes, agreed + same, covered + as_good
        print(
            seed, apart(U, V), f"| {ranked[TILES - 1]:.3f} {ranked[TILES]:.3f}",
            f"| {len(consensus.components_)} components, least alike {alike.min():.3f},",
            f"loss {consensus.reconstruction_err_} of {tiles_cost}",
            f"| {time.process_time() - began:.0f}",
            flush=True,
        )  # fmt: skip
    print(f"six recur with .9 or more, the others with less than .6: {good} of {len(draws)}")
    print(f"consensus is the tiles: {agreed} of {len(draws)}")
    print(f"as many components, at the loss of the tiles or less: {covered}", flush=True)


def ranks(draws: range, runs: int, scattered: bool) -> None:
    """Where stability is highest, by the number of components."""
    print("draw apart | stability of 1 to 9 components | highest, chosen | CPU s")
    highest = chosen = 0
    for seed in draws:
        A, U, V = drawn(seed, scattered, noise=NOISE)
        began = time.process_time()
        search = RankSearch(ELBMF(random_state=0), K, stability=runs).fit(A)
        values, choice = search.table_["stability"], search.choices_["stability"]
        peak = int(np.nanargmax(values))
        highest, chosen = highest + (peak == TILES), chosen + (choice == TILES)
        print(
            seed, apart(U, V), "|", " ".join(f"{value:.3f}" for value in values[1:]),
            f"| {peak} {choice} | {time.process_time() - began:.0f}",
            flush=True,
        )  # fmt: skip
    print(f"highest at the true number: {highest} of {len(draws)}; chosen: {chosen}", flush=True)


def members(draws: range, runs: int, scattered: bool) -> None:
    """Whether those who belong to a tile return more often than others, where a fifth is noise."""
    print("draw apart | AUC of rows: mean, least | of columns: mean, least | CPU s")
    for seed in draws:
        A, U, V = drawn(seed, scattered, flips=MORE_NOISE)
        began = time.process_time()
        found = stability(A, TILES, runs=runs, random_state=0)
        which = paired(found.reference_.components_, V)
        rows = areas(found.row_shares_[:, which], U)
        columns = areas(found.column_shares_[:, which], V.T)
        print(
            seed, apart(U, V), f"| {np.mean(rows):.4f} {min(rows):.4f}",
            f"| {np.mean(columns):.4f} {min(columns):.4f}",
            f"| {time.process_time() - began:.0f}",
            flush=True,
        )  # fmt: skip


def cost(runs: int, scattered: bool) -> None:
    """How many fits one assessment is worth, by the clock and by CPU time."""
    A, _, _ = drawn(1, scattered, noise=NOISE)
    ELBMF(K, random_state=0).fit(A)  # compiles
    times = []
    for task in (
        lambda: ELBMF(K, random_state=0).fit(A),
        lambda: stability(A, K, runs=runs, random_state=0),
    ):
        clock, used = time.perf_counter(), time.process_time()
        task()
        times.append((time.perf_counter() - clock, time.process_time() - used))
    (fit, fit_used), (whole, whole_used) = times
    print(f"fit {fit:.1f} s ({fit_used:.1f} CPU), {runs} runs {whole:.1f} s ({whole_used:.1f} CPU)")
    print(f"ratio {whole / fit:.1f} by the clock, {whole_used / fit_used:.1f} by CPU", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--only", choices=("planted", "ranks", "members", "cost"))
    parser.add_argument("--placed", action="store_true")
    given = parser.parse_args()
    scattered = not given.placed
    draws = range(given.first_seed, given.first_seed + given.draws)
    if given.only in (None, "cost"):
        cost(given.runs, scattered)
    if given.only in (None, "planted"):
        planted(draws, given.runs, scattered)
    if given.only in (None, "ranks"):
        ranks(draws, given.runs, scattered)
    if given.only in (None, "members"):
        members(draws, given.runs, scattered)
