"""Damage files, forge folders and make up command lines, and see that nothing breaks.

python tests/fuzzing.py [--seconds 60] [--seed 0] [--only files matrix ...] [--case 17]

Each case has a number. Its outcome must be an answer or one clean error: no other exception, no
crash, no case that takes longer than 20 s, no file left behind. What breaks that is printed with
what to type to see it again. ``make fuzz SECONDS=3600`` runs all kinds of cases in turn.

Cases run in processes of their own, of which one does many cases, and may take so much memory.
"""

import argparse
import contextlib
import faulthandler
import io
import itertools
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import forging
import mutations
from elbmf import ELBMF, RankSearch
from elbmf.cli.main import main as elbmf
from elbmf.cli.registry import COMMANDS
from elbmf.datasets import make_tiles
from elbmf.errors import InputError
from elbmf.io import load_model, save_model
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.matrix.on_disk import DiskMatrix, store

LONGEST = 20  # seconds of a case that it may compute; on a busy machine it may take longer
WAITING = 10 * LONGEST  # seconds of a case, whatever it does
MEMORY = 1 << 30  # bytes that a process may take for its cases
CASES_OF_PROCESS = 40

FIT = {"max_iter": 15, "effort": 0.05, "random_state": 0}
# Those that download, draw for minutes, or are no more than others with data of their own.
LEFT_OUT = ("data", "reproduce", "demo", "compare")
CODES = (0, 1, 2, 3, 130)


class Broken(Exception):
    """An outcome that is neither an answer nor a clean error."""


class Halted(Exception):
    """Ends a fit in its middle."""


def answer(call: Callable[[], object]) -> object:
    """Return what a call gives, or the message of a clean error."""
    try:
        return call()
    except InputError as error:
        if "\n" in str(error):
            raise Broken(f"a message of several lines: {error}") from error
        return str(error)


def command(*arguments: object) -> int:
    """Run a command line in this process; return its exit code."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = elbmf([str(each) for each in arguments])
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 2
    said = err.getvalue()
    if code not in CODES or "Traceback" in said or "\x1b[2J" in said + out.getvalue():
        raise Broken(f"elbmf {' '.join(map(str, arguments))!r} ended with {code}: {said[-2000:]}")
    return code


def halting(at: int) -> Callable[[object], None]:
    """Return what ends a fit when it has been told of it so many times."""
    told = itertools.count(1)

    def halt(report: object) -> None:
        if next(told) == at:
            raise Halted

    return halt


# --- what there is to be damaged, made once ---


def tiles() -> np.ndarray:
    return make_tiles((40, 30), 4, height=(6, 12), noise=0.1, random_state=0).A.toarray()


def make(base: Path) -> None:
    """Make good files, folders, models and checkpoints."""
    (base / "files").mkdir()
    mutations.good_files(base / "files")
    A = tiles()
    names = [
        [f"{kind}{place}" for place in range(length)]
        for kind, length in zip("rc", A.shape, strict=True)
    ]
    store(BooleanMatrix.from_array(A), base / "plain.matrix", *names)
    hidden = np.random.default_rng(0).random(A.shape) < 0.03
    store(BooleanMatrix.from_array(A, missing=hidden), base / "gaps.matrix")
    lines = [",".join(["", *names[1]])]
    lines += [
        ",".join([name, *map(str, map(int, row))]) for name, row in zip(names[0], A, strict=True)
    ]
    (base / "d.csv").write_text("\n".join(lines) + "\n")
    (base / "p.toml").write_text("kappa = 0.1\nmax_iter = 20\nn_init = 2\n")
    saved = ["--seed", 1, "--effort", 0.05, "-q"]
    assert command("fit", base / "d.csv", "-k", 4, "-o", base / "model", *saved) == 0
    flags = ["--runs", 3, *saved]
    assert command("stability", base / "d.csv", "-k", 4, "-o", base / "stable", *flags) == 0
    for name, every, at in (("epochs", 3, 10), ("search", 1, 40)):
        halt = halting(at)
        model = ELBMF(4, **FIT, checkpoint=base / name, checkpoint_every=every, callback=halt)
        with contextlib.suppress(Halted):
            model.fit(A)
    search = RankSearch(ELBMF(**FIT), 4, holdout=0.1, checkpoint=base / "steps")
    search.set_params(callback=halting(12))
    with contextlib.suppress(Halted):
        search.fit(A)


# --- cases ---


def files(base: Path, work: Path, generator: np.random.Generator) -> str:
    """A damaged file is read and converted, and both agree."""
    good = forging.chosen(generator, sorted((base / "files").iterdir()))
    path = work / good.name
    path.write_bytes(mutations.damaged(good.read_bytes(), generator))
    size = path.stat().st_size
    if wrong := mutations.disagreement(path):
        raise Broken(wrong)
    known = {good.name, "converted.matrix", "converted.npz"}
    if left := {each.name for each in work.iterdir()} - known:
        raise Broken(f"left behind: {left}")
    made = sum(each.stat().st_size for each in work.rglob("*") if each.is_file())
    if made > 20 * size + (1 << 25):
        raise Broken(f"{made} bytes made of {size}")
    return good.name


def matrix(base: Path, work: Path, generator: np.random.Generator) -> str:
    """A forged matrix folder is looked through, worked on and converted."""
    target = work / "t.matrix"
    shutil.copytree(base / forging.chosen(generator, ["plain.matrix", "gaps.matrix"]), target)
    how: str = forging.forge_matrix(generator, target)
    limit = forging.chosen(generator, [None, 1000])
    model = ELBMF(3, **FIT, memory_limit=limit)
    answer(lambda: DiskMatrix(target).verify())
    answer(lambda: model.fit(DiskMatrix(target)))
    command("info", target)
    command("convert", target, work / "o.npz", "-q")
    return how


def model(base: Path, work: Path, generator: np.random.Generator) -> str:
    """A forged model is loaded, shown and used."""
    target = work / "t"
    shutil.copytree(base / forging.chosen(generator, ["model", "stable"]), target)
    how: str = forging.forge_model(generator, target)
    again = work / "again"
    answer(lambda: save_model(again, load_model(target), tsv=True))
    data = base / "d.csv"
    shown = (
        ("info", target),
        ("info", target, "--json"),
        ("export", target, "-o", work / "e.json"),
        ("transform", target, data, "-o", work / "m.csv", "-q"),
        ("score", target, data),
        ("report", target, data, "-o", work / "r.html", "-q"),
        ("explain", target, "--row", "r1"),
    )
    command(*forging.chosen(generator, shown))
    return how


def checkpoint(base: Path, work: Path, generator: np.random.Generator) -> str:
    """A fit goes on from a forged checkpoint."""
    name = forging.chosen(generator, ["epochs", "search"])
    target = work / name
    shutil.copytree(base / name, target)
    how: str = forging.forge_checkpoint(generator, target)
    every = 3 if name == "epochs" else 1
    fitted = ELBMF(4, **FIT, checkpoint=target, checkpoint_every=every)
    if isinstance(answer(lambda: fitted.fit(tiles())), ELBMF):
        U, V = fitted.membership_, fitted.components_
        wrong = int(np.sum((U.astype(int) @ V > 0) != (tiles() > 0)))
        if wrong != fitted.reconstruction_err_:
            raise Broken(f"{name}: a loss of {fitted.reconstruction_err_} where {wrong} are wrong")
    return f"{name}: {how}"


def steps(base: Path, work: Path, generator: np.random.Generator) -> str:
    """A search over ranks goes on from forged steps."""
    target = work / "steps"
    shutil.copytree(base / "steps", target)
    how: str = forging.forge_steps(generator, target)
    search = RankSearch(ELBMF(**FIT), 4, holdout=0.1, checkpoint=target)
    answer(lambda: search.fit(tiles()))
    return how


def parameters(base: Path, work: Path, generator: np.random.Generator) -> str:
    """A fit takes its parameters from a damaged file."""
    path = work / "p.toml"
    path.write_bytes(mutations.damaged((base / "p.toml").read_bytes(), generator))
    # More runs and epochs than anybody can wait for may be asked for.
    flags = ["-k", 2, "--time-limit", 1, "-o", work / "o", "-q"]
    command("fit", base / "d.csv", "--config", path, *flags)
    return repr(path.read_bytes())


def commands(base: Path, work: Path, generator: np.random.Generator) -> str:
    """A command gets flags at random, with values at random."""
    shutil.copytree(base / "model", work / "model")
    shutil.copy(base / "d.csv", work / "d.csv")
    chosen = forging.chosen(generator, [each for each in COMMANDS if each.name not in LEFT_OUT])
    parser = argparse.ArgumentParser(add_help=False)
    chosen.load().configure(parser, [])
    flags = [each for each in parser._actions if each.option_strings]
    takes_result = any(each.dest == "result" for each in parser._actions)
    given: list[object] = [chosen.name, "model" if takes_result else "d.csv"]
    given += ["d.csv"] if generator.random() < 0.5 else []
    given += ["-k", 3] if any("-k" in each.option_strings for each in flags) else []
    for _ in range(int(generator.integers(4))):
        flag = forging.chosen(generator, flags)
        given.append(forging.chosen(generator, flag.option_strings))
        if flag.nargs != 0:
            given.append(forging.chosen(generator, [*_VALUES, *(flag.choices or ())]))
    given += ["-o", forging.chosen(generator, ["out", "out.csv", "out.json", "out.html"])]
    with contextlib.chdir(work):
        command(*given)
    return " ".join(map(str, given))


_VALUES = (
    *("", "0", "1", "2", "-1", "1e999", "nan", "inf", "0.5", "x", "auto", "d.csv", "model"),
    *("é\x1b[2J", "\u202e", "a" * 3000, "99999999999999999999999", "1,2", ":", "rows:0.5", "/"),
)

KINDS = {each.__name__: each for each in (files, matrix, model, checkpoint, steps)}
KINDS |= {each.__name__: each for each in (parameters, commands)}


# --- processes ---


@dataclass
class Run:
    """Runs cases until the time is over."""

    base: Path
    broken: int = 0

    def cases(self, kind: str, seed: int, first: int, count: int, until: float) -> int:
        """Run some cases, in as many processes as that takes; return how many were run."""
        at = first
        while at < first + count and time.monotonic() < until:
            at = self._process(kind, seed, at, first + count, until)
        return at - first

    def _process(self, kind: str, seed: int, first: int, end: int, until: float) -> int:
        """Run cases in one process; return the first that was not run."""
        receiver, sender = os.pipe()
        child = os.fork()
        if not child:
            os.close(receiver)
            _child(self.base, kind, seed, range(first, end), until, sender)
        os.close(sender)
        at = first - 1
        with open(receiver) as told:
            for line in told:
                at, wrong = json.loads(line)
                if wrong:
                    self._report(kind, seed, at, wrong)
        _, status = os.waitpid(child, 0)
        if status:
            code = os.waitstatus_to_exitcode(status)
            self._report(kind, seed, at, f"the process ended with {code}")
        return at + 1

    def _report(self, kind: str, seed: int, case: int, wrong: str) -> None:
        self.broken += 1
        print(f"\n{kind}, case {case}: {wrong}\nTo see it again:")
        print(f"  python tests/fuzzing.py --only {kind} --seed {seed} --case {case}", flush=True)


def _child(
    base: Path, kind: str, seed: int, cases: range, until: float, sender: int
) -> None:  # pragma: no cover
    """Run cases and tell of each, before and after; never returns."""
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    # Threads take addresses, though no memory, for their stacks.
    resource.setrlimit(resource.RLIMIT_AS, (taken + MEMORY + (1 << 30), resource.RLIM_INFINITY))
    warnings.simplefilter("ignore")
    code = 1
    try:
        for case in cases:
            if time.monotonic() > until:
                break
            _tell(sender, case, "")
            signal.setitimer(signal.ITIMER_PROF, LONGEST)
            signal.alarm(WAITING)
            wrong = one(base, kind, seed, case)
            if wrong:
                _tell(sender, case, wrong)
        code = 0
    finally:
        os._exit(code)


def _tell(sender: int, case: int, wrong: str) -> None:
    os.write(sender, (json.dumps([case, wrong[-3000:]]) + "\n").encode())


def one(base: Path, kind: str, seed: int, case: int) -> str:
    """Run a case; return what is wrong with its outcome, if anything is."""
    generator = np.random.default_rng([seed, case, sum(kind.encode())])
    with tempfile.TemporaryDirectory() as work:
        try:
            KINDS[kind](base, Path(work), generator)
        except Broken as error:
            return str(error)
        except BaseException:
            return traceback.format_exc()
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", choices=KINDS, default=[*KINDS])
    parser.add_argument("--case", type=int, help="run this one alone, in this process")
    given = parser.parse_args()
    faulthandler.enable()
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        # In a process of its own: threads that fits leave would not be there after a fork.
        child = os.fork()
        if not child:
            code = 1
            try:
                make(base)
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)
        if os.waitpid(child, 0)[1]:
            return 1
        if given.case is not None:
            (kind,) = given.only
            wrong = one(base, kind, given.seed, given.case)
            print(wrong or "ok")
            return bool(wrong)
        run, counts = Run(base), dict.fromkeys(given.only, 0)
        until = time.monotonic() + given.seconds
        while time.monotonic() < until:
            for kind in given.only:
                first = counts[kind]
                counts[kind] += run.cases(kind, given.seed, first, CASES_OF_PROCESS, until)
    told = ", ".join(f"{count} of {kind}" for kind, count in counts.items())
    print(f"{sum(counts.values())} cases ({told}); {run.broken} broken")
    return bool(run.broken)


if __name__ == "__main__":
    sys.exit(main())
