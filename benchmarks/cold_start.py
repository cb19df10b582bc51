"""What the first fit on a machine takes, kernel by kernel: compiled anew, with nothing kept.

Each task runs in a fresh process with an empty folder of compiled kernels, and once more with that
folder filled. Printed are seconds of processor time in all and, for each kernel and each signature
of its arguments, the seconds of compiling, without what it calls.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

TASKS = {
    "fit of digits": """
from elbmf import ELBMF
from elbmf.datasets import load_digits
ELBMF(20, random_state=0).fit(load_digits()[0])
""",
    "elbmf fit table.csv": """
import io, contextlib, pathlib
from elbmf.cli.main import main
rows = ["," + ",".join(f"c{j}" for j in range(12))]
rows += [f"r{i}," + ",".join(str(int(i % 5 == j % 5)) for j in range(12)) for i in range(40)]
pathlib.Path("table.csv").write_text("\\n".join(rows) + "\\n")
with contextlib.redirect_stdout(io.StringIO()):
    main(["fit", "table.csv", "-k", "3", "-o", "result", "--seed", "0", "--overwrite"])
""",
}


def measure(task: str, kept: str) -> dict:
    """Run a task in a process of its own, in the folder of what is kept."""
    environment = os.environ | {"NUMBA_CACHE_DIR": f"{kept}/cache"}
    found = subprocess.run(
        [sys.executable, str(Path(__file__).resolve()), "--run", task],
        env=environment,
        cwd=kept,
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    return json.loads(found.stdout.splitlines()[-1])


def run(task: str) -> None:
    """Do a task here, and print what was compiled, how long and how much of the rest there was."""
    from numba.core import event

    class Listener(event.Listener):
        """Notes the time of each compilation, without those inside it."""

        def __init__(self) -> None:
            self.open = []
            self.found = defaultdict(float)

        def on_start(self, started: event.Event) -> None:
            self.open.append([time.process_time(), 0.0])

        def on_end(self, ended: event.Event) -> None:
            began, inside = self.open.pop()
            seconds = time.process_time() - began
            function = ended.data["dispatcher"].py_func
            name = f"{function.__module__.removeprefix('elbmf.')}.{function.__name__}"
            self.found[name, str(ended.data["args"])] += seconds - inside
            if self.open:
                self.open[-1][1] += seconds

    listener = Listener()
    event.register("numba:compile", listener)
    exec(compile(TASKS[task], task, "exec"), {})
    compiled = [[*key, seconds] for key, seconds in listener.found.items()]
    print(json.dumps({"seconds": time.process_time(), "compiled": compiled}))


def tell(task: str, signatures: bool) -> None:
    """Measure a task and print the tables."""
    with tempfile.TemporaryDirectory() as kept:
        cold, warm = measure(task, kept), measure(task, kept)
    print(f"\n{task}: {cold['seconds']:.1f} s of processor time, {warm['seconds']:.1f} s when kept")
    kernels = defaultdict(list)
    for name, signature, seconds in cold["compiled"]:
        kernels[name].append((seconds, signature))
    total = sum(seconds for found in kernels.values() for seconds, _ in found)
    print(f"{'seconds':>8} {'times':>6}  kernel")
    print(f"{total:8.2f} {len(cold['compiled']):6}  all")
    for name, found in sorted(kernels.items(), key=lambda each: -sum(s for s, _ in each[1])):
        print(f"{sum(seconds for seconds, _ in found):8.2f} {len(found):6}  {name}")
        if signatures:
            for seconds, signature in found:
                print(f"{seconds:8.2f} {'':6}      {signature}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--signatures", action="store_true", help="list these, too")
    parser.add_argument("--run", choices=TASKS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.run:
        run(arguments.run)
    else:
        for task in TASKS:
            tell(task, arguments.signatures)


if __name__ == "__main__":
    main()
