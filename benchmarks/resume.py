"""Fits that are killed with signal 9 and resumed: the same bits as unbroken ones, at what cost.

Each data set is fitted by ``elbmf fit`` in processes of their own: unbroken, without checkpoints
and with, in turns; then with a kill at each of some random moments, from the start of the fit to
its end, and resumed; then one fit that is killed again and again.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from common import data_argument, machine
from elbmf.datasets import make_tiles
from elbmf.estimators.checkpoints import has_checkpoint
from elbmf.io import SavedModel, load_model

GENERATED = "tiles, 3000×2000"

ENDED = "had ended"


class Fits:
    """Fits of one matrix by the command.

    Parameters
    ----------
    matrix : path
        The data.
    folder : Path
        For results and checkpoints.
    arguments : Namespace
        With ``k``, ``every`` and ``seed``.
    """

    def __init__(self, matrix: Path, folder: Path, arguments: argparse.Namespace) -> None:
        self.folder = folder
        self.kept = folder / "kept"
        self._every = arguments.every
        self._command = [sys.executable, "-m", "elbmf", "fit", str(matrix), "-k", str(arguments.k)]
        self._command += ["--seed", str(arguments.seed), "--quiet", "-o"]
        self._count = 0
        self._preparing = np.inf

    def start(self, *, checkpoint: bool = True) -> "subprocess.Popen[bytes]":
        """Start a fit, which goes on from a checkpoint if there is one; set ``output``."""
        self._count += 1
        self.output = self.folder / f"result{self._count}"
        flags = ["--checkpoint", str(self.kept), "--every", str(self._every), "--resume"]
        command = [*self._command, str(self.output), *(flags if checkpoint else [])]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL)

    def fit(self, *, checkpoint: bool = True) -> SavedModel:
        """Fit to the end."""
        began = time.perf_counter()
        process = self.start(checkpoint=checkpoint)
        if process.wait():
            raise SystemExit(f"{' '.join(self._command)} failed")
        model = load_model(self.output)
        preparing = time.perf_counter() - began - model.info.seconds
        self._preparing = min(self._preparing, preparing)
        return model

    def kill(self, seconds: float) -> str:
        """Start a fit, kill it so many seconds after it has begun; tell where it was then."""
        resumes = has_checkpoint(self.kept)
        process = self.start()
        if resumes:
            time.sleep(self._preparing)
        while not has_checkpoint(self.kept) and process.poll() is None:
            time.sleep(0.001)
        time.sleep(seconds)
        ended = process.poll() is not None
        if not ended:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
        return ENDED if ended else self.place()

    def place(self) -> str:
        """Tell what the last checkpoint holds."""
        found = [
            (int(path.stem.split("-")[1]), path) for path in self.kept.glob("checkpoint-*.json")
        ]
        if not found:
            return "before or after all checkpoints"
        facts = json.loads(max(found)[1].read_text())["facts"]
        if facts["finished"]:
            return "finished, not saved"
        if facts["place"] is not None:
            return f"search, {facts['place'][2] / 1e9:.2f}e9 of work done"
        if facts["packed"]:
            return f"{len(facts['packed'])} runs reduced"
        epoch = 0 if facts["epochs"] is None else facts["epochs"]["epoch"]
        return f"run {len(facts['costs']) + 1}, epoch {epoch}"


def same(model: SavedModel, expected: SavedModel) -> bool:
    """Tell whether the factors are the same, and the trace but for the time."""
    histories = [dict(each.info.history) for each in (model, expected)]
    for history in histories:
        del history["seconds"]
    return (
        all(
            (sparse.csr_array(one) != sparse.csr_array(two)).nnz == 0
            for one, two in ((model.U, expected.U), (model.V, expected.V))
        )
        and histories[0] == histories[1]
        and model.info.stages == expected.info.stages
    )


def compare(name: str, matrix: Path, arguments: argparse.Namespace) -> bool:
    """Kill and resume fits of one matrix, print what came out; tell whether all were the same."""
    generator = np.random.default_rng(arguments.seed)
    with tempfile.TemporaryDirectory(dir=arguments.scratch) as scratch:
        fits = Fits(matrix, Path(scratch), arguments)
        fits.fit(checkpoint=False)  # kernels are compiled, and the file is read once
        seconds: dict[bool, list[float]] = {False: [], True: []}
        models: list[SavedModel] = []
        for _ in range(arguments.repeats):
            for checkpoint in (False, True):
                models.append(fits.fit(checkpoint=checkpoint))
                seconds[checkpoint].append(models[-1].info.seconds)
        expected = models[0]
        good = all(same(model, expected) for model in models)
        plain, kept = (min(each) for each in seconds.values())
        ratios = sorted(b / a for a, b in zip(*seconds.values(), strict=True))
        print(
            f"{name}: {plain:.2f} s without checkpoints, {kept:.2f} s with one every "
            f"{arguments.every} epochs; median ratio {np.median(ratios):.3f} of {len(ratios)} pairs"
        )
        moments = (np.arange(arguments.kills) + generator.random(arguments.kills)) * kept
        for moment in moments / max(arguments.kills, 1):
            place = fits.kill(moment)
            model = fits.fit()
            equal = same(model, expected)
            good &= equal
            told = "the same bits" if equal else "NOT THE SAME"
            print(f"  killed after {moment:6.2f} s ({place}): {told}", flush=True)
        places = []
        while len(places) < arguments.kills and places[-1:] != [ENDED]:
            places.append(fits.kill(generator.random() * kept))
        model = load_model(fits.output) if places[-1:] == [ENDED] else fits.fit()
        equal = same(model, expected)
        good &= equal
        told = "the same bits" if equal else "NOT THE SAME"
        print(f"  killed again and again ({'; '.join(places)}): {told}", flush=True)
    return good


def main() -> None:
    """Run all."""
    parser = argparse.ArgumentParser(description=__doc__)
    data_argument(parser)
    parser.add_argument("--names", nargs="*", default=["americas_small"], help="of the matrices")
    parser.add_argument("-k", type=int, default=20)
    parser.add_argument("--every", type=int, default=20)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--scratch", help="folder for results and checkpoints")
    arguments = parser.parse_args()
    print(machine())
    matrices: dict[str, Path] = {
        name: arguments.data.resolve() / f"{name}.npz" for name in arguments.names
    }
    with tempfile.TemporaryDirectory(dir=arguments.scratch) as scratch:
        tiles: Any = make_tiles(
            (3000, 2000), 20, height=(100, 300), noise=0.02, random_state=arguments.seed
        )
        matrices[GENERATED] = Path(scratch) / "tiles.npz"
        sparse.save_npz(matrices[GENERATED], sparse.csr_array(tiles.A))
        good = [compare(name, path, arguments) for name, path in matrices.items()]
    if not all(good):
        raise SystemExit("some resumed fits differ from the unbroken one")


if __name__ == "__main__":
    main()
