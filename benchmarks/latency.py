"""What a web service waits for: requests of one row, a large batch, the import, the first request.

The model has 20 components of 1,587 columns. Times of requests are those of the clock, the median
of many; what a process does once is told in seconds of processor time, the best of a few processes.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse

import elbmf
from common import machine

COLUMNS = 1587
MODEL = f"""
import numpy as np
from elbmf import ELBMF
generator = np.random.default_rng(0)
U, V = generator.random((800, 20)) < 0.1, generator.random((20, {COLUMNS})) < 0.03
ELBMF(20, effort=0, random_state=0).fit((U.astype(int) @ V) > 0).save("model", overwrite=True)
"""

# Each prints seconds of processor time.
ONCE = {
    "import elbmf": "import elbmf",
    "from elbmf import ELBMF": "from elbmf import ELBMF",
    "of which scikit-learn and numba": "import sklearn.base, sklearn.utils.validation, numba",
    "elbmf fit --help": (
        "import contextlib, io\n"
        "from elbmf.cli import main\n"
        "with contextlib.redirect_stdout(io.StringIO()): main(['fit', '--help'])"
    ),
}
FIRST = f"""
import time, numpy as np, elbmf
model = elbmf.load("model")
{{before}}
row = np.zeros((1, {COLUMNS})); row[0, :9] = 1
began = time.process_time()
model.transform(row)
print(time.process_time() - began)
"""


def processor_seconds(code, folder, runs, **environment):
    """Run code in processes of its own; it prints its seconds, or takes those of all of it."""
    code += "" if "print(" in code else "\nimport time; print(time.process_time())"
    found = [
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=folder,
            env=os.environ | environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()[-1]
        for _ in range(runs)
    ]
    return min(map(float, found))


def requests(folder):
    """Return the median milliseconds of one request, by what is given."""
    model = elbmf.load(f"{folder}/model")
    names = [f"column {each}" for each in range(COLUMNS)]
    model.feature_names_in_ = np.array(names, dtype=object)
    nameless = elbmf.load(f"{folder}/model")
    generator = np.random.default_rng(1)
    many = sparse.random_array((100_000, COLUMNS), density=0.01, format="csr", rng=generator)
    many.data[:] = 1
    one = many[[0]].toarray()
    given = {
        "one row, array": (nameless, one, 200),
        "one row, csr": (nameless, sparse.csr_array(one), 200),
        "one row, data frame": (model, pd.DataFrame(one, columns=names), 200),
        "100,000 rows, csr": (nameless, many, 7),
    }
    found = {}
    for name, (asked, rows, times) in given.items():
        asked.transform(rows)
        seconds = []
        for _ in range(times):
            began = time.perf_counter()
            asked.transform(rows)
            seconds.append(time.perf_counter() - began)
        found[name] = statistics.median(seconds) * 1e3
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3, help="processes of each kind")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-c", MODEL], cwd=folder, check=True)
        milliseconds = requests(folder)
        seconds = {
            name: processor_seconds(code, folder, arguments.runs) for name, code in ONCE.items()
        }
        kept = f"{folder}/kept"
        cold, first = {"NUMBA_CACHE_DIR": kept}, FIRST.format(before="")
        # As it was installed: the folder of this one has kernels, too.
        fresh = Path(folder) / "package" / "elbmf"
        shutil.copytree(Path(elbmf.__file__).parent, fresh, ignore=shutil.ignore_patterns("*.nb?"))
        cold["PYTHONPATH"] = str(fresh.parent)
        warm = FIRST.format(before="elbmf.warm_up(model)")
        seconds["first request, nothing kept"] = processor_seconds(first, folder, 1, **cold)
        for name, code in (("kernels kept", first), ("after warm_up", warm)):
            runs = arguments.runs
            seconds[f"first request, {name}"] = processor_seconds(code, folder, runs, **cold)
    if arguments.json:
        print(json.dumps({"milliseconds": milliseconds, "seconds": seconds}, indent=2))
        return
    print(machine())
    for name, each in milliseconds.items():
        print(f"{name:34} {each:8.2f} ms")
    for name, each in seconds.items():
        print(f"{name:34} {each:8.3f} s of processor time")


if __name__ == "__main__":
    main()
