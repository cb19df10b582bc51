"""Every command, ended at random moments, on disks that are full, and killed and run again.

``signals`` sends SIGINT or SIGTERM and looks at the exit code (130 or 143), at what is said (one
line, no traceback), at processes and files that are left, in the folder and in the system's place
for temporary ones, and at results, which are whole or absent.

``disks`` lets each command write to a file system of memory with little room (needs root and
Linux). It must end with one line that names a file or folder, or with the whole result.

``kills`` sends signal 9 at random moments, and runs the same command again until it ends. The
result must have the bits of an undisturbed run.
"""

import argparse
import atexit
import contextlib
import importlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from common import machine
from elbmf.cli import main as main_of_command
from elbmf.datasets import make_tiles
from elbmf.io import LabelledMatrix, load_model, read, write

COMMANDS = {
    "fit": "fit in/data.csv -k 3 --seed 1 -o out/result --tsv --report out/page.html",
    "fit checkpoint": "fit in/data.csv -k 3 --seed 1 -o out/result --checkpoint out/kept --every 1",
    "fit auto": "fit in/small.csv -k auto --seed 1 -o out/result",
    "fit memory": "fit in/data.csv -k 3 --seed 1 -o out/result --memory-limit 1kB",
    "fit stream": "fit in/data.csv -k 3 --seed 1 -o out/result --stream --batch-rows 50",
    "fit write-back": "fit out/copy.h5ad -k 3 --seed 1 -o out/result --write-back",
    "fit overwrite": "fit in/data.csv -k 3 --seed 1 -o out/result --overwrite",
    "rank": "rank in/small.csv --max 4 --seed 1 -o out/ranks",
    "stability": "stability in/small.csv -k 3 --runs 4 --seed 1 -o out/stable",
    "cover": "cover in/small.csv --seed 1 -o out/roles",
    "bound": "bound in/small.csv -k 2",
    "compare": "compare in/small.csv -k 3 --seed 1 -o out/table.csv --methods elbmf,grecond,asso",
    "report": "report in/result -o out/page.html",
    "transform": "transform in/result in/data.csv -o out/new.tsv",
    "transform parquet": "transform in/result in/data.csv -o out/new.parquet",
    "score": "score in/result in/data.csv",
    "enrich": "enrich in/result --sets in/sets.gmt -o out/sets.tsv",
    "labels": "labels in/result in/labels.tsv -o out/labels.csv",
    "significance": "significance in/result --samples 20 --seed 1",
    "plot": "plot map in/result -o out/map.png",
    "plot pdf": "plot factorization in/result -o out/map.pdf",
    "explain": "explain in/result --row r1",
    "export": "export in/result in/data.csv -o out/tables",
    "export parquet": "export in/result in/data.csv --format parquet -o out/tables",
    "export json": "export in/result -o out/result.json",
    "convert csv": "convert in/large.npz out/x.csv",
    "convert gz": "convert in/large.npz out/x.csv.gz",
    "convert npz": "convert in/large.npz out/x.npz",
    "convert npy": "convert in/large.npz out/x.npy",
    "convert mtx": "convert in/large.npz out/x.mtx",
    "convert h5ad": "convert in/large.npz out/x.h5ad",
    "convert parquet": "convert in/large.npz out/x.parquet",
    "convert folder": "convert in/large.npz out/x.matrix --memory-limit 10MB",
    "convert folder over": "convert in/large.npz out/x.matrix --memory-limit 10MB",
    "info": "info in/large.npz",
    "data": "data standin lgg --scale 0.02 -o out/data",
    "demo": "demo -o out/demo",
    "reproduce": "reproduce noise --quick -o out/reproduced",
}

# What may be there after an end in the midst: it is what the next run goes on from.
KEPT = ("kept", "steps", "runs", "reproduced")

# Results whose bits do not depend on when and how fast they were made.
RESUMED = ("fit checkpoint", "rank", "stability", "cover")

PATIENCE = 120.0

# What commands import.
MODULES = ("estimators", "report", "plots", "comparison", "cli.running.fit", "cli.running.ranks")
MODULES = (*(f"elbmf.{name}" for name in MODULES), "h5py", "pyarrow.parquet", "matplotlib.figure")


class Fork:
    """A command in a copy of this process, which has everything imported; used as a `Popen`.

    A file ``said`` has what it says.
    """

    def __init__(self, command: str, folder: Path, said: Path) -> None:
        self.args, self.returncode = command, None
        self._said = said
        self.pid = os.fork()
        if self.pid == 0:
            try:
                atexit._clear()  # What is to be done at the end of this process.
                os.chdir(folder)
                os.environ["TMPDIR"], tempfile.tempdir = str(folder / "tmp"), None
                for descriptor in (1, 2):
                    os.dup2(os.open(self._said, os.O_WRONLY | os.O_CREAT | os.O_APPEND), descriptor)
                sys.argv = ["elbmf", *command.split()]
                main_of_command()
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(99)

    def communicate(self, timeout: float = PATIENCE) -> tuple[str, str]:
        """Wait for the end, and return what was said."""
        end = time.monotonic() + timeout
        while self.returncode is None:
            found, status = os.waitpid(self.pid, os.WNOHANG)
            if found:
                self.returncode = os.waitstatus_to_exitcode(status)
            elif time.monotonic() > end:
                raise subprocess.TimeoutExpired(self.args, timeout)
            else:
                time.sleep(0.005)
        said = self._said.read_text(errors="replace") if self._said.exists() else ""
        self._said.unlink(missing_ok=True)
        return "", said

    def send_signal(self, number: int) -> None:
        """Send a signal."""
        os.kill(self.pid, number)


class Bench:
    """A folder with data, in which each command runs in a folder of its own."""

    def __init__(self, place: Path, *, forks: bool = False) -> None:
        self.place, self.forks = place, forks
        inputs = place / "in"
        inputs.mkdir()
        tiles = make_tiles(
            (300, 80), 3, height=(50, 90), width=(8, 20), noise=0.05, random_state=0
        ).A.toarray()
        rows, columns = [f"r{i}" for i in range(300)], [f"c{j}" for j in range(80)]
        write(inputs / "data.csv", LabelledMatrix(tiles, rows, columns))
        write(inputs / "data.h5ad", LabelledMatrix(tiles, rows, columns))
        write(inputs / "small.csv", LabelledMatrix(tiles[:40, :24], rows[:40], columns[:24]))
        large = np.random.default_rng(0).random((1500, 1000)) < 0.2
        names = [f"row {i}" for i in range(1500)], [f"column {j}" for j in range(1000)]
        write(inputs / "large.npz", LabelledMatrix(large, *names))
        (inputs / "sets.gmt").write_text("one\t\tc1\tc2\tc3\tc4\ntwo\t\tc5\tc6\tc7\n")
        labels = "".join(f"r{i}\t{'ab'[i % 2]}\n" for i in range(300))
        (inputs / "labels.tsv").write_text(f"row\tkind\n{labels}")
        self.run(self.start("prepare", "fit in/data.csv -k 3 --seed 1 -o in/result", place))
        self.run(self.start("prepare", "convert in/data.csv in/old.matrix", place))
        self._count = 0

    def folder(self, name: str, above: Path | None = None) -> Path:
        """Make a folder for a command."""
        self._count += 1
        folder = (above or self.place) / f"run{self._count}"
        for each in ("out", "tmp"):
            (folder / each).mkdir(parents=True)
        (folder / "in").symlink_to(self.place / "in")
        if name == "fit write-back":
            shutil.copy(folder / "in" / "data.h5ad", folder / "out" / "copy.h5ad")
        if name == "fit overwrite":
            shutil.copytree(folder / "in" / "result", folder / "out" / "result")
        if name == "convert folder over":
            shutil.copytree(folder / "in" / "old.matrix", folder / "out" / "x.matrix")
        return folder

    def start(self, name: str, command: str, folder: Path) -> "subprocess.Popen[str] | Fork":
        """Start a command."""
        (folder / "tmp").mkdir(exist_ok=True)
        if self.forks:
            return Fork(command, folder, self.place / f"{folder.name}.said")
        environment = {**os.environ, "TMPDIR": str(folder / "tmp"), "MPLBACKEND": "agg"}
        return subprocess.Popen(
            [sys.executable, "-m", "elbmf", *command.split()],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )

    def run(self, process: "subprocess.Popen[str] | Fork") -> None:
        """Wait for a command that must not fail."""
        _, err = process.communicate(timeout=PATIENCE)
        if process.returncode:
            raise SystemExit(f"{process.args}: {err}")


def files(folder: Path) -> dict[str, bytes]:
    """Return what is in a folder, by names relative to it."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def damage(folder: Path, whole: dict[str, bytes], before: dict[str, bytes]) -> list[str]:
    """Return what is wrong with the results in a folder."""
    said = []
    found = files(folder / "out")
    said += [f"left in tmp: {path.name}" for path in (folder / "tmp").iterdir()]
    said += [
        f"left: {path.relative_to(folder)}"
        for path in (folder / "out").rglob("*")
        if path.is_dir() and not any(path.iterdir()) and path.name not in KEPT
    ]
    for name, content in found.items():
        path = folder / "out" / name
        if any(part in KEPT for part in Path(name).parts):
            if name.endswith((".tmp", ".part")):
                said.append(f"left: {name}")
        elif name not in whole:
            said.append(f"left: {name}")
        elif content != whole[name] and content != before.get(name):
            said += [f"half: {name}: {why}" for why in [unreadable(path)] if why]
    said += [f"lost: {name}" for name in before if name not in found]
    for note in (folder / "out").rglob("matrix.json"):
        with contextlib.suppress(OSError):
            said += [f"half: {note.parent.name}: {why}" for why in [unreadable(note.parent)] if why]
    return said


def unreadable(path: Path) -> str:
    """Say why a result is not whole, as far as its bytes may differ from run to run."""
    try:
        if path.name in ("model.json", "factors.npz", "components.tsv", "rows.tsv", "columns.tsv"):
            load_model(path.parent)
        elif path.suffix in (".h5ad", ".npz", ".npy", ".matrix", ".parquet", ".xlsx"):
            read(path)
        elif path.suffix == ".json":
            json.loads(path.read_text())
        elif path.suffix == ".html":
            return "" if path.read_text().rstrip().endswith("</html>") else "no end"
        elif path.suffix == ".pdf":
            return "" if path.read_bytes().rstrip().endswith(b"%%EOF") else "no end"
        elif path.suffix == ".png":
            from matplotlib.image import imread

            imread(path)
        elif path.suffix in (".tsv", ".csv"):
            return "" if path.read_text().endswith("\n") else "no end"
        else:
            return "other bytes"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def still_running(folder: Path) -> list[str]:
    """Return the processes that were started in a folder."""
    found = []
    wanted = f"TMPDIR={folder / 'tmp'}".encode()
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if wanted in (entry / "environ").read_bytes().split(b"\0"):
                found.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode())
    return found


class Whole(NamedTuple):
    """An undisturbed run: how long it took, what it wrote, and what was there before."""

    seconds: float
    files: dict[str, bytes]


def undisturbed(bench: Bench, name: str, times: int = 1) -> Whole:
    """Run a command to its end; the time is that of the last one."""
    for _ in range(times):
        folder = bench.folder(name)
        began = time.perf_counter()
        bench.run(bench.start(name, COMMANDS[name], folder))
        seconds = time.perf_counter() - began
    return Whole(seconds, files(folder / "out"))


def signals(bench: Bench, names: list[str], count: int, generator: random.Random) -> None:
    """End commands at random moments."""
    total: Counter[str] = Counter()
    for name in names:
        whole = undisturbed(bench, name, times=2)
        seen: Counter[str] = Counter()
        for at in range(count):
            number = (signal.SIGINT, signal.SIGTERM)[at % 2]
            folder = bench.folder(name)
            before = files(folder / "out")
            process = bench.start(name, COMMANDS[name], folder)
            moment = generator.uniform(0.0, whole.seconds)
            time.sleep(moment)
            process.send_signal(number)
            twice = at % 5 == 4
            if twice:
                time.sleep(generator.uniform(0, 0.02))
                process.send_signal(number)
            _, err = process.communicate(timeout=PATIENCE)
            code = process.returncode
            wrong = damage(folder, whole.files, before)
            time.sleep(0.05)
            wrong += [f"running: {each}" for each in still_running(folder)]
            if "Traceback" in err or "Exception ignored" in err or "rror" in err:
                wrong.append(f"said: {err}")
            if code == 0:
                told = "had ended"
            elif code == 128 + number:
                told = "right code"
            elif "elbmf" not in err and (code == -number or "KeyboardInterrupt" in err):
                # Before there is anything of this program; the shell calls it 130 or 143, too.
                told = "while Python starts"
                wrong = [each for each in wrong if not each.startswith("said")]
            else:
                told = f"code {code}"
                wrong.append(f"code {code}: {err}")
            seen[told] += 1
            total[told] += 1
            for each in wrong:
                kind = f"{signal.Signals(number).name}{' twice' if twice else ''}"
                print(f"  {name}, {kind} after {moment:.2f} s, code {code}: {each}", flush=True)
            total["wrong"] += bool(wrong)
            shutil.rmtree(folder, ignore_errors=True)
        print(f"{name:<20} {whole.seconds:5.1f} s  {dict(seen)}", flush=True)
    print(f"all: {dict(total)}")


@contextlib.contextmanager
def small_disk(place: Path, size: int) -> Iterator[Path]:
    """Mount a file system of some bytes."""
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", place], check=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", place], check=True)
        place.rmdir()


def disks(bench: Bench, names: list[str], count: int, generator: random.Random) -> None:
    """Let commands write where there is little room."""
    total: Counter[str] = Counter()
    for number, name in enumerate(names):
        whole = undisturbed(bench, name)
        size = sum(map(len, whole.files.values()))
        if not size:
            continue
        seen: Counter[str] = Counter()
        for at in range(count):
            room = max(4096, int(1.3 * size * at / count) + 4096 * at)
            with small_disk(bench.place / f"disk{number}.{at}", room) as disk:
                try:
                    folder = bench.folder(name, disk)
                except OSError:
                    seen["no room for what it reads"] += 1
                    continue
                (folder / "tmp").rmdir()
                elsewhere = bench.folder(name)
                (folder / "tmp").symlink_to(elsewhere / "tmp")
                before = files(folder / "out")
                process = bench.start(name, COMMANDS[name], folder)
                _, err = process.communicate(timeout=PATIENCE)
                code = process.returncode
                rescued = list((elsewhere / "tmp").glob("elbmf-*/*"))
                for each in rescued:
                    shutil.rmtree(each.parent)
                wrong = damage(folder, whole.files, before) if code else []
                errors = [line for line in err.splitlines() if "error" in line.lower()]
                if code == 0:
                    told = "whole"
                    wrong += sorted(
                        f"absent: {each}" for each in {*whole.files} - {*files(folder / "out")}
                    )
                elif code == 2 and len(errors) == 1 and "Traceback" not in err:
                    told = "rescued elsewhere" if rescued else "one message"
                    if not any(
                        each in errors[0] for each in ("out/", "/out", " out:", str(folder))
                    ):
                        wrong.append(f"no name: {errors[0]}")
                else:
                    told = f"code {code}"
                    wrong.append(err)
                if at == 0 or wrong:
                    print(f"    {room} bytes: {' '.join(errors)}")
                seen[told] += 1
                total[told] += 1
                total["wrong"] += bool(wrong)
                for each in wrong:
                    print(f"  {name}, {room} bytes, code {code}: {each}", flush=True)
        print(f"{name:<20} {size:>9} bytes  {dict(seen)}", flush=True)
    print(f"all: {dict(total)}")


# What notes say of how a result was made: how long it took, and what was seen of it on the way.
TIMES = ("seconds", "command", "versions", "iterations_seen")


def same_bits(one: dict[str, bytes], other: dict[str, bytes]) -> list[str]:
    """Return the names of files that do not hold the same, but for how long it took."""

    def bare(name: str, content: bytes) -> object:
        if not name.endswith(".json"):
            return content

        def without(value: object) -> object:
            if isinstance(value, dict):
                return {key: without(each) for key, each in value.items() if key not in TIMES}
            return [without(each) for each in value] if isinstance(value, list) else value

        return without(json.loads(content))

    def told(found: dict[str, bytes]) -> dict[str, object]:
        kept = {
            name: content
            for name, content in found.items()
            if not any(p in KEPT or p.endswith((".tmp", ".part")) for p in Path(name).parts)
        }
        # Pictures and pages say when and in which version they were made.
        return {n: bare(n, c) for n, c in kept.items() if not n.endswith((".png", ".html"))}

    first, second = told(one), told(other)
    return [
        f"{name}{_where(first.get(name), second.get(name))}"
        for name in {*first, *second}
        if first.get(name) != second.get(name)
    ]


def _where(one: object, other: object) -> str:
    """Return the first key under which two notes differ."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in {*one, *other}:
            if one.get(key) != other.get(key):
                return f", {key}{_where(one.get(key), other.get(key))}"
    return ""


def kills(bench: Bench, names: list[str], count: int, generator: random.Random) -> None:
    """Kill commands until one run comes to its end."""
    for name in names:
        if name not in RESUMED:
            continue
        whole = undisturbed(bench, name)
        again = COMMANDS[name] + (" --resume --overwrite" if name.startswith("fit") else "")
        same = killed = 0
        for _ in range(count):
            folder = bench.folder(name)
            for _ in range(generator.randint(1, 4)):
                process = bench.start(name, again, folder)
                try:
                    _, err = process.communicate(timeout=generator.uniform(0.3, whole.seconds))
                    break
                except subprocess.TimeoutExpired:
                    process.send_signal(signal.SIGKILL)
                    process.communicate()
                    killed += 1
            else:
                process = bench.start(name, again, folder)
                _, err = process.communicate(timeout=PATIENCE)
            differing = same_bits(whole.files, files(folder / "out"))
            # One that was killed when all was done finds its result, and says so.
            done = not process.returncode or "exists and is not empty" in err
            if not done or differing:
                print(f"  {name}: code {process.returncode}, {differing}: {err[-300:]}", flush=True)
            else:
                same += 1
            shutil.rmtree(folder, ignore_errors=True)
        print(f"{name:<20} {same} of {count} have the same bits, after {killed} kills", flush=True)


PARTS: dict[str, Callable[[Bench, list[str], int, random.Random], None]] = {
    "signals": signals,
    "disks": disks,
    "kills": kills,
}


def main() -> None:
    """Run the parts that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--commands", nargs="*", default=list(COMMANDS), choices=COMMANDS)
    parser.add_argument("--count", type=int, default=10, help="runs of each command")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    print(machine())
    for name in MODULES:
        importlib.import_module(name)
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), forks=args.part != "signals")
        PARTS[args.part](bench, args.commands, args.count, random.Random(args.seed))


if __name__ == "__main__":
    main()
