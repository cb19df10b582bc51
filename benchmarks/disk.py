"""A fit from the disk within a memory limit, beside the same fit in memory: time, peak, bits.

Each fit runs in a process of its own, in turns. Peaks are in MiB, of the whole process and
above what it has when the method is imported.
"""

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

from common import machine, peak_of_process
from elbmf import ELBMF
from elbmf.matrix.on_disk import DiskMatrix, store
from elbmf.utils.threads import available_cores

# Shape, density, tiles.
NETFLIX = ((17770, 480189), 0.00667, 20)


def fit(path: str, k: int, epochs: int, limit: str | None) -> None:
    """Fit, and print what it took; the whole of a child process."""
    before = peak_of_process()
    began = time.perf_counter()
    model = ELBMF(k, max_iter=epochs, memory_limit=limit, random_state=0)
    model.fit(DiskMatrix(path))
    bits = hashlib.sha256(model.components_.tobytes() + model.membership_.tobytes())
    result = {
        "seconds": time.perf_counter() - began,
        "epochs": float(model.history_["seconds"][-1]),
        "loss": model.reconstruction_err_,
        "bits": bits.hexdigest()[:16],
        "above_imports": peak_of_process() - before,
        "peak": peak_of_process(),
    }
    print(json.dumps(result))


def opening(path: str, rounds: int) -> None:
    """Compare opening with all checks to opening with those of the checksums alone.

    In seconds of all threads, which other programs disturb least.
    """

    def checksums() -> None:
        blocks = [(file, number) for file in DiskMatrix(path).files() for number in file.blocks()]
        with ThreadPoolExecutor(available_cores()) as pool:
            list(pool.map(lambda block: block[0].verify(block[1]), blocks))

    checks = {"checksums": checksums, "all checks": lambda: DiskMatrix(path).look()}
    best = dict.fromkeys(checks, float("inf"))
    for _ in range(1 + rounds):  # The first reads the files from the disk.
        for name, check in checks.items():
            began = time.process_time()
            check()
            best[name] = min(best[name], time.process_time() - began)
    ones, (checked, whole) = DiskMatrix(path).ones, best.values()
    print(f"opening {ones} ones: {checked:.3f} s with checksums alone, {whole:.3f} s with all")
    print(f"opening, all checks to checksums alone: {whole / checked:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", help="a matrix folder; by default, one of Netflix's shape")
    parser.add_argument("--limit", default="300MB")
    parser.add_argument("-k", type=int, default=20)
    parser.add_argument("--epochs", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument(
        "--opening", action="store_true", help="only open the folder, five times as often"
    )
    parser.add_argument("--child", nargs=4, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        path, k, epochs, limit = arguments.child
        fit(path, int(k), int(epochs), limit or None)
        return
    print(machine())
    with tempfile.TemporaryDirectory() as folder:
        path = arguments.folder
        if path is None:
            path = f"{folder}/netflix.matrix"
            # Not among what a child imports.
            from elbmf.matrix.boolean_matrix import BooleanMatrix
            from elbmf.paper.catalog import stand_in

            generated = stand_in(*NETFLIX, random_state=0).matrix.values
            store(BooleanMatrix.from_array(generated), path)
        if arguments.opening:
            opening(path, 5 * arguments.rounds)
            return
        best: dict[str, dict[str, float]] = {}
        for _ in range(arguments.rounds):
            for name, limit in (("memory", ""), ("disk", arguments.limit)):
                child = [path, str(arguments.k), str(arguments.epochs), limit]
                done = subprocess.run(
                    [sys.executable, __file__, "--child", *child],
                    stdout=subprocess.PIPE,
                    check=True,
                    text=True,
                )
                found = json.loads(done.stdout)
                print(f"{name:7}", {**found, "limit": limit}, flush=True)
                if name not in best or found["seconds"] < best[name]["seconds"]:
                    best[name] = found
    memory, disk = best["memory"], best["disk"]
    print(f"time, disk to memory: {disk['seconds'] / memory['seconds']:.2f}")
    print(f"epochs, disk to memory: {disk['epochs'] / memory['epochs']:.2f}")
    print(
        f"peak above imports: {1.048576 * disk['above_imports']:.0f} MB (limit {arguments.limit})"
    )
    print("same bits:", memory["bits"] == disk["bits"])


if __name__ == "__main__":
    main()
