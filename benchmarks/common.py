"""What the benchmarks share: data, timing, the machine they ran on."""

import argparse
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from scipy import sparse

from elbmf.utils.machine import machine

__all__ = [
    "best_of",
    "data_argument",
    "geometric_mean",
    "load",
    "machine",
    "names",
    "parts_parser",
    "peak_of_process",
    "run_parts",
]


def data_argument(parser: argparse.ArgumentParser) -> None:
    """Add the option that says where the matrices are."""
    default = Path(__file__).parents[1] / ".." / "shared" / "data"
    parser.add_argument("--data", type=Path, default=default, help="folder of .npz matrices")


def parts_parser(description: str | None, parts: Mapping[str, object]) -> argparse.ArgumentParser:
    """Make a parser for a benchmark of several parts."""
    parser = argparse.ArgumentParser(description=description)
    data_argument(parser)
    parser.add_argument("--parts", nargs="*", choices=parts, default=list(parts))
    return parser


def run_parts(
    parser: argparse.ArgumentParser, parts: Mapping[str, Callable[[argparse.Namespace], object]]
) -> None:
    """Run the parts that are asked for, after a line about the machine."""
    arguments = parser.parse_args()
    print(machine() + "\n")
    for part in arguments.parts:
        parts[part](arguments)


def load(folder: Path, name: str) -> sparse.csr_array:
    """Load one matrix."""
    return sparse.csr_array(sparse.load_npz(folder / f"{name}.npz"))


def names(folder: Path) -> list[str]:
    """Names of all matrices in the folder, the smallest file first."""
    return [path.stem for path in sorted(folder.glob("*.npz"), key=lambda p: p.stat().st_size)]


def best_of(function: Callable[[], object], repeats: int) -> float:
    """Shortest of several runs, in seconds."""
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        function()
        times.append(time.perf_counter() - began)
    return min(times)


def geometric_mean(values: list[float]) -> float:
    """Mean of ratios."""
    return float(np.exp(np.mean(np.log(values))))


def peak_of_process() -> float:
    """Resident memory at its highest, of this process alone.

    What ``getrusage`` tells includes that of the process it was started from.
    """
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024
    return np.nan
