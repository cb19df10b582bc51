"""The fewest components: beside greedy concepts, on planted covers, and how often proved."""

import argparse
import time

import numpy as np

from common import load, parts_parser, run_parts
from elbmf import GreConD, MinimalCover
from elbmf.boolean.coverage import cover

# Sets, and the fewest components that are known.
KNOWN = {
    "americas_small": 178,
    "customer": 276,
    "firewall1": 65,
    "dna": None,
    "cora_words": None,
    "mushroom": None,
    "chess": None,
}


def real(arguments: argparse.Namespace) -> None:
    """Real data, in a time and at default effort, beside greedy concepts."""
    print(f"| set | greedy | default | {arguments.seconds:.0f} s | at least | known |")
    print("|---|---|---|---|---|---|")
    for name in arguments.sets:
        A = load(arguments.data, name)
        greedy = GreConD(n_components=None).fit(A).n_components_
        began = time.perf_counter()
        default = MinimalCover(random_state=0).fit(A)
        seconds = time.perf_counter() - began
        longer = MinimalCover(time_limit=arguments.seconds, random_state=0).fit(A)
        for model in (default, longer):
            found = cover(A, model.membership_, model.components_)
            assert found.loss == 0, f"{name}: {found}"
        print(
            f"| {name} | {greedy} | {default.n_components_} in {seconds:.1f} s | "
            f"{longer.n_components_} | {max(default.lower_bound_, longer.lower_bound_)} | "
            f"{KNOWN.get(name) or ''} |",
            flush=True,
        )
    print()


def planted(arguments: argparse.Namespace) -> None:
    """Covers that are planted without noise: whether as few are found, and proved."""
    as_few = proved = 0
    for case in range(arguments.cases):
        generator = np.random.default_rng(case)
        k, size = int(generator.integers(20, 201)), int(generator.integers(100, 1001))
        U, V = planted_factors(generator, size, size, k)
        A = (U.astype(np.float32) @ V.astype(np.float32)) > 0
        began = time.perf_counter()
        model = MinimalCover(random_state=0).fit(A)
        seconds = time.perf_counter() - began
        as_few += model.n_components_ <= k
        proved += model.proved_
        if model.n_components_ > k:
            print(f"  {size}², {k}: {model.n_components_}, {seconds:.1f} s", flush=True)
    print(f"as few as planted in {as_few} of {arguments.cases}, proved {proved}\n", flush=True)


def proof(arguments: argparse.Namespace) -> None:
    """Small random covers of up to 12 components: how often the number is proved."""
    proved = 0
    for case in range(arguments.cases):
        generator = np.random.default_rng(1000 + case)
        n, m = (int(each) for each in generator.integers(10, 101, size=2))
        U, V = planted_factors(generator, n, m, int(generator.integers(2, 13)))
        proved += MinimalCover(random_state=0).fit((U.astype(int) @ V) > 0).proved_
    print(f"proved in {proved} of {arguments.cases} small covers\n", flush=True)


def planted_factors(
    generator: np.random.Generator, n: int, m: int, k: int
) -> tuple[np.ndarray, np.ndarray]:
    """Draw components of between one line and a tenth of them."""
    shares = generator.uniform(0.01, 0.1, size=(2, k))
    U = generator.random((n, k)) < shares[0]
    V = generator.random((k, m)) < shares[1][:, None]
    U[generator.integers(n, size=k), np.arange(k)] = True
    V[np.arange(k), generator.integers(m, size=k)] = True
    return U, V


PARTS = {part.__name__: part for part in (real, planted, proof)}


def main() -> None:
    parser = parts_parser(__doc__, PARTS)
    parser.add_argument("--sets", nargs="*", default=list(KNOWN))
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--cases", type=int, default=50)
    run_parts(parser, PARTS)


if __name__ == "__main__":
    main()
