"""Seconds that Asso and GreConD take, beside PyBMF's where that is at hand."""

import argparse
import contextlib
import io
import sys
import time
from typing import Any

import numpy as np
from scipy import sparse

from common import best_of, data_argument, load, machine
from elbmf import Asso, GreConD
from elbmf.boolean.metrics import hamming_loss

# A matrix without structure, and data sets.
SPEED = ("random", "mushroom", "americas_small")
THRESHOLD = 0.5


def measure(arguments: argparse.Namespace) -> None:
    ranks = sorted({arguments.pybmf_rank, arguments.rank})
    print(f"seconds with k = {ranks}; Asso with threshold {THRESHOLD}, columns associated")
    for name in arguments.sets or SPEED:
        A = _random() if name == "random" else load(arguments.data, name)
        for method, fit in (("asso", _fit_asso), ("grecond", _fit_grecond)):
            fit(A, 1)
            seconds = {k: best_of(lambda: fit(A, k), arguments.rounds) for k in ranks}  # noqa: B023
            said = ", ".join(f"k={k} {value:.4f} s" for k, value in seconds.items())
            k = arguments.pybmf_rank
            said += f"; loss at k={k} {fit(A, k).reconstruction_err_}"
            if arguments.pybmf:
                theirs, loss = _pybmf(arguments.pybmf, method, A, k)
                again = best_of(lambda: fit(A, k), arguments.rounds)  # noqa: B023
                ratio = theirs / min(seconds[k], again)
                said += f"; PyBMF k={k} {theirs:.2f} s, loss {loss}; ratio {ratio:.0f}"
            print(f"  {name} {A.shape[0]}×{A.shape[1]} {method}: {said}", flush=True)


def _random() -> sparse.csr_array:
    return sparse.csr_array(np.random.default_rng(0).random((5000, 2000)) < 0.02)


def _fit_asso(A: Any, k: int) -> Asso:
    # As the other one does: columns are associated, whichever side is longer.
    return Asso(k, threshold=THRESHOLD, associate_rows=False).fit(A)


def _fit_grecond(A: Any, k: int) -> GreConD:
    return GreConD(k).fit(A)


def _pybmf(paths: list[str], method: str, A: sparse.csr_array, k: int) -> tuple[float, int]:
    """Return seconds and loss of a fit by PyBMF, without its pictures and prints."""
    sys.path[:0] = [path for path in paths if path not in sys.path]
    from PyBMF import models

    models.BaseModel.show_matrix = lambda *_, **__: None
    quiet = dict.fromkeys(("verbose", "display", "show_logs", "save_model", "show_result"), False)
    X = sparse.csr_matrix(A.astype(np.int64))
    with contextlib.redirect_stdout(io.StringIO()):
        model = models.Asso(tau=THRESHOLD, k=k) if method == "asso" else models.GreConD(k=k)
        began = time.perf_counter()
        model.fit(X, task="reconstruction", **quiet)
        seconds = time.perf_counter() - began
    return seconds, hamming_loss(A, model.U.astype(bool), model.V.T.astype(bool))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    data_argument(parser)
    parser.add_argument("--sets", nargs="*", help="data sets, by name")
    parser.add_argument("--rank", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3, help="of timing")
    parser.add_argument(
        "--pybmf", nargs="*", metavar="PATH", help="folders of PyBMF and what it imports"
    )
    parser.add_argument("--pybmf-rank", type=int, default=1, help="components to time PyBMF with")
    arguments = parser.parse_args()
    print(machine() + "\n")
    measure(arguments)


if __name__ == "__main__":
    main()
