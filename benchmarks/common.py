"""What the benchmarks share: data, timing, the machine they ran on."""

import argparse
import time
from collections.abc import Callable
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
    "peak_of_process",
]


def data_argument(parser: argparse.ArgumentParser) -> None:
    """Add the option that says where the matrices are."""
    default = Path(__file__).parents[1] / ".." / "shared" / "data"
    parser.add_argument("--data", type=Path, default=default, help="folder of .npz matrices")


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
