"""What of real data is stable, significant and firm: the tables and pictures of docs/how_sure.md.

python benchmarks/how_sure.py --data FOLDER [--sets digits] [--runs 20] [--samples 19]
    [--pictures docs/screens]
"""

import argparse
import gzip
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_digits
from sklearn.metrics import normalized_mutual_info_score as nmi

from common import data_argument, load, machine
from elbmf import ELBMF, margins, significance, stability
from elbmf.plots import component_stability, consensus_map


class Case(NamedTuple):
    """A set, how many components, what a covered zero costs, and the column of its labels."""

    name: str
    k: int
    weight: Any = 1.0
    label: int | None = None


CASES = (
    Case("firewall1", 20),
    Case("tcga7", 7, "auto", 1),
    Case("genomes1k_peddy", 5, 1.0, 2),
    Case("newsgroups20", 20, "auto", 1),
    Case("digits", 10, 1.0, 0),
)


def table(folder: Path, case: Case) -> tuple[Any, np.ndarray | None]:
    """Load a set and the labels of its rows."""
    if case.name == "digits":
        digits = load_digits()
        return digits.data > 7, digits.target
    A = load(folder, case.name).astype(bool)
    if case.label is None:
        return A, None
    with gzip.open(folder / f"{case.name}.rows.tsv.gz", "rt") as lines:
        labels = [line.rstrip("\n").split("\t")[case.label] for line in lines][-A.shape[0] :]
    return A, np.array(labels)


def assess(arguments: argparse.Namespace, case: Case) -> None:
    """Print what is sure of each component, and draw it."""
    A, labels = table(arguments.data, case)
    times = [time.perf_counter()]
    model = ELBMF(case.k, extra_weight=case.weight, random_state=0)
    found = stability(A, model, runs=arguments.runs, random_state=0)
    times.append(time.perf_counter())
    reference = found.reference_
    p_values = np.full(case.k, np.nan)
    if arguments.samples:
        p_values = significance(A, reference, samples=arguments.samples, random_state=0).p_values
    times.append(time.perf_counter())
    U, V = reference.membership_, reference.components_
    firmness = margins(A, U, V, extra_weight=reference.extra_weight_)
    recurring = (found.found_in_ >= 0.5).sum()
    print(
        f"{case.name} {A.shape[0]}×{A.shape[1]}, k={case.k}, weight {reference.extra_weight_:.2f}: "
        f"stability {found.stability_:.2f}, {recurring} of {case.k} recur, "
        f"{(p_values <= 0.05).sum()} significant with {arguments.samples} samples, "
        f"{(~U.any(axis=1)).sum()} rows in none; {times[1] - times[0]:.0f} s and "
        f"{times[2] - times[1]:.0f} s"
    )
    print("| component | rows × columns | recurs | found in | p | firm rows | label |")
    for l in range(case.k):
        sizes = U[:, l].sum(), V[l].sum()
        # Without such a row the loss would go up by a tenth of the columns or more.
        own = firmness.rows.toarray()[U[:, l], l]
        firm = np.mean(own >= 0.1 * sizes[1]) if sizes[0] else np.nan
        print(
            f"| {l} | {sizes[0]} × {sizes[1]} | {found.recurrence_[l]:.2f} | "
            f"{found.found_in_[l]:.0%} | {p_values[l]:.2f} | {firm:.0%} | "
            f"{told(labels, U[:, l])} |"
        )
    print(flush=True)
    draw(found, arguments.pictures / f"sure-{case.name}.png", case)


def told(labels: Sequence[Any] | None, rows: np.ndarray) -> str:
    """Return the label that a component tells most about, of those it has more of than chance."""
    if labels is None or not rows.any():
        return ""
    labels = np.asarray(labels)
    more = [each for each in np.unique(labels) if rows[labels == each].mean() > rows.mean()]
    if not more:
        return ""
    best = max(more, key=lambda each: nmi(labels == each, rows))
    return f"{best} (NMI {nmi(labels == best, rows):.2f})"


def draw(found: Any, path: Path, case: Case) -> None:
    """Draw how surely components return, beside the rows that stay together."""
    figure = Figure(figsize=(11, 3.8), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1.9, 1))
    component_stability(found, ax=left)
    consensus_map(found, ax=right)
    figure.suptitle(f"{case.name}, k = {case.k}", fontsize=11)
    figure.savefig(path, dpi=100)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    data_argument(parser)
    parser.add_argument("--sets", nargs="*", default=[case.name for case in CASES])
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--samples", type=int, default=19, help="0 to leave the test out")
    parser.add_argument("--pictures", type=Path, default=Path("docs/screens"))
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    print(machine() + "\n")
    for case in CASES:
        if case.name in arguments.sets:
            assess(arguments, case)


if __name__ == "__main__":
    main()
