"""Whether anything beats a fit: other methods, in the time they take, and fits of fewer components.

Every fit is a process of its own, and a line of the file of results, which a second run goes on
from: what others reach does not change with the search, so that it is worth keeping.
"""

import argparse
import json
import multiprocessing
import os
import resource
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from common import data_argument, load, machine
from elbmf.estimators import METHODS
from elbmf.estimators import method as method_of
from elbmf.utils.progress import FitProgress

SETS = (
    "firewall1",
    "americas_small",
    "dna",
    "chess",
    "mushroom",
    "customer",
    "cora_words",
    "tcga7",
    "tcga_luad_coadread",
    "chea2022",
    "dorothea_grn",
    "newsgroups20",
    "retail",
    "ppi_biogrid",
    "mnist_bin",
    "genomes1k_peddy",
)
RIVALS = [name for name in METHODS if name != "elbmf"]
RANKS = (5, 20, 50, 100)
MONOTONE = ("firewall1", "americas_small", "dna", "chess", "mushroom")
# What a prototype reached in 20 s from greedy starts; a third entry is from below.
HIGH: dict[tuple[str, int, bool], int] = {
    ("americas_small", 100, False): 505,
    ("americas_small", 178, False): 8,
    ("americas_small", 100, True): 620,
    ("americas_small", 178, True): 7,
    ("firewall1", 40, True): 51,
    ("firewall1", 64, True): 0,
    ("mushroom", 50, False): 10_960,
    ("mushroom", 80, False): 1_410,
    ("dna", 100, False): 3_670,
}
OVER_TIME = {"firewall1": 20, "americas_small": 100, "mushroom": 50, "chess": 20}
MEDIUM = ("chess", "mushroom", "digits", "mnist_bin:2000", "genomes1k_peddy::500")


class Results:
    """Lines of a file, each of them a fit: what was fitted, and what that led to."""

    def __init__(self, path: Path, data: Path, limit: float) -> None:
        self._path, self._data, self._limit = path, data, limit
        self._lines: dict[str, dict[str, Any]] = {}
        if path.exists():
            for line in path.read_text().splitlines():
                entry = json.loads(line)
                self._lines[_key(entry["of"])] = entry["is"]

    def of(self, name: str, k: int, method: str = "elbmf", **parameters: Any) -> dict[str, Any]:
        """Return what a fit led to: loss, seconds, CPU seconds; loss None if it took too long."""
        of = {"name": name, "k": k, "method": method, **parameters}
        if _key(of) not in self._lines:
            self._lines[_key(of)] = found = self._fitted(of)
            with self._path.open("a") as file:
                file.write(json.dumps({"of": of, "is": found}) + "\n")
        return self._lines[_key(of)]

    def _fitted(self, of: dict[str, Any]) -> dict[str, Any]:
        receiver, sender = multiprocessing.Pipe(duplex=False)
        process = multiprocessing.get_context("fork").Process(
            target=_fit, args=(sender, self._data, of)
        )
        process.start()
        sender.close()
        found: dict[str, Any] = {"loss": None, "seconds": self._limit, "cpu": None}
        try:
            if receiver.poll(self._limit):
                found = receiver.recv()
        except EOFError:
            found["seconds"] = None
        process.kill()
        process.join()
        return found


def _key(of: dict[str, Any]) -> str:
    return json.dumps(of, sort_keys=True)


def _fit(sender: Any, data: Path, of: dict[str, Any]) -> None:
    """Fit, after a fit of little data, so that what is compiled or loaded once is not timed.

    Kernels are loaded when they are first called, some of them only on tables that are not tiny.
    """
    warnings.simplefilter("ignore")
    A = table(data, of.pop("name"))
    k, method = of.pop("k"), method_of(of.pop("method"))
    if of.pop("below", False):
        of["extra_weight"] = np.inf
    told: list[tuple[float, int]] = []
    if of.pop("told", False):

        def listen(report: FitProgress) -> None:
            if report.best is not None:
                told.append((time.perf_counter(), report.best))

        of["callback"] = listen
    if "time_limit" in of:
        method(k, random_state=0, **{**of, "time_limit": 1.0}).fit(A[:500])
    else:
        method(2, random_state=0, **of).fit(A[:40, :40])
    told.clear()
    used = resource.getrusage(resource.RUSAGE_SELF)
    began = time.perf_counter()
    model = method(k, **{"random_state": 0, **of}).fit(A)
    seconds = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime
    found = {"loss": int(model.reconstruction_err_), "seconds": seconds, "cpu": cpu}
    if told:
        best = np.minimum.accumulate([best for _, best in told])
        lower = np.flatnonzero(np.diff(best, prepend=best[0] + 1))
        found["told"] = [(round(told[place][0] - began, 4), int(best[place])) for place in lower]
        found["told"].append((round(seconds, 4), found["loss"]))
    sender.send(found)
    sender.close()
    os._exit(0)


def table(folder: Path, name: str) -> Any:
    """Load a set, or a part of one: ``name:rows:columns``."""
    name, _, part = name.partition(":")
    if name == "digits":
        return load_digits().data > 7
    rows, _, columns = part.partition(":")
    A = load(folder, name)
    return A[: int(rows) if rows else None, : int(columns) if columns else None]


def cases(arguments: argparse.Namespace) -> Iterator[tuple[str, int, bool]]:
    """All sets and ranks, and whether no zero may be covered."""
    for name in arguments.sets:
        for k in (*arguments.ranks, *((178,) if name == "americas_small" else ())):
            for below in (False, True):
                yield name, k, below


def rivals(arguments: argparse.Namespace, results: Results) -> None:
    """Default effort beside each other method, refined; from below beside GreConD."""
    print("default effort beside the other methods, refined")
    beaten = count = 0
    for name, k, below in cases(arguments):
        own = results.of(name, k, **_below(below))
        for rival in ("grecond",) if below else RIVALS:
            other = results.of(name, k, rival, refine=not below)
            count += other["loss"] is not None
            if other["loss"] is not None and own["loss"] > other["loss"]:
                beaten += 1
                print(f"  {_case(name, k, below)}: {own} beside {rival} {other}", flush=True)
    print(f"beaten in {beaten} of {count}\n", flush=True)


def equal_time(arguments: argparse.Namespace, results: Results) -> None:
    """In the time that each other method takes, refined or not, and whether that is kept."""
    print("in the time that others take")
    beaten, late, count = 0, 0, 0
    for name, k, below in cases(arguments):
        for rival in ("grecond",) if below else RIVALS:
            for refine in (False,) if below else (False, True):
                other = results.of(name, k, rival, refine=refine)
                if other["loss"] is None:
                    continue
                limit = max(0.3, round(other["seconds"], 2))
                own = results.of(name, k, time_limit=limit, **_below(below))
                count += 1
                if own["loss"] is None or own["loss"] > other["loss"]:
                    beaten += 1
                    print(f"  {_case(name, k, below)}: {own} beside {rival} {other}", flush=True)
                if own["seconds"] > 1.1 * limit + 0.2:
                    late += 1
                    print(f"  {_case(name, k, below)}: {own} late, of {limit} s", flush=True)
    print(f"beaten in {beaten} of {count}, late in {late}\n", flush=True)


def monotone(arguments: argparse.Namespace, results: Results) -> None:
    """Ranks 1 to 40, and 50 to 120: where the loss goes up."""
    ranks = [*range(1, 41), *range(50, 121, 10)]
    for name in (name for name in MONOTONE if name in arguments.sets):
        for below in (False, True):
            losses = [results.of(name, k, **_below(below))["loss"] for k in ranks]
            rises = [
                f"{losses[place]} at {ranks[place]}, {losses[place + 1]} at {ranks[place + 1]}"
                for place in np.flatnonzero(np.diff(losses) > 0)
            ]
            print(f"{_case(name, 0, below)}: {losses[-1]} at last; rises: {rises}", flush=True)
    print(flush=True)


def high(arguments: argparse.Namespace, results: Results) -> None:
    """High rank: 30 s and default effort beside a prototype."""
    for (name, k, below), least in HIGH.items():
        default = results.of(name, k, **_below(below))
        longer = results.of(name, k, time_limit=30, **_below(below))
        print(
            f"{_case(name, k, below)}: {longer['loss']} in 30 s (bar {least}), default "
            f"{default['loss']} in {default['seconds']:.1f} s (bar {1.05 * least + 5:.0f})",
            flush=True,
        )
    print(flush=True)


def medium(arguments: argparse.Namespace, results: Results) -> None:
    """Medium, dense tables: default effort and a minute beside 20 minutes."""
    for name in MEDIUM:
        for k in (10, 20):
            default, minute, best = (
                results.of(name, k, **limit)
                for limit in ({}, {"time_limit": 60}, {"time_limit": arguments.long})
            )
            least = min(default["loss"], minute["loss"], best["loss"])
            over = [each["loss"] / least - 1 for each in (default, minute)]
            print(
                f"{name} k={k}: default {over[0]:+.2%} in {default['seconds']:.1f} s, a minute "
                f"{over[1]:+.2%} of {least}",
                flush=True,
            )
    print(flush=True)


def cores(arguments: argparse.Namespace, results: Results) -> None:
    """CPU over wall time of a whole default fit."""
    for name, k in (("newsgroups20", 20), ("ppi_biogrid", 20), ("dorothea_grn", 100)):
        own = results.of(name, k)
        print(
            f"{name} k={k}: {own['cpu'] / own['seconds']:.2f} cores busy, {own['seconds']:.1f} s, "
            f"loss {own['loss']}",
            flush=True,
        )
    print(flush=True)


def over_time(arguments: argparse.Namespace, results: Results) -> None:
    """Draw the loss over time of a fit, and where the other methods end, refined or not."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    from elbmf.plots.look import (
        CLASS_SHAPES,
        OKABE_ITO,
        TICK,
        grouped_digits,
        plain_axes,
        titled,
    )

    colours = [*OKABE_ITO[:6], "0.6"]

    figure = Figure(figsize=(9, 7), layout="constrained")
    for ax, (name, k) in zip(figure.subplots(2, 2).flat, OVER_TIME.items(), strict=True):
        own = results.of(name, k, time_limit=arguments.seconds, told=True)
        seconds, losses = np.array(own["told"]).T
        ax.step(seconds, losses, where="post", color="black", linewidth=1.5, label="elbmf")
        for place, rival in enumerate(RIVALS):
            points = [results.of(name, k, rival, refine=refine) for refine in (False, True)]
            points = [point for point in points if point["loss"] is not None]
            ax.plot(
                [point["seconds"] for point in points],
                [point["loss"] for point in points],
                color=colours[place],
                marker=CLASS_SHAPES[place],
                linewidth=0.8,
                markersize=5,
                label=rival,
            )
        ax.set_xscale("log")
        ax.set_yscale("log")
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_locator(LogLocator(subs=(1, 2, 5) if axis is ax.yaxis else (1,)))
            axis.set_major_formatter(FuncFormatter(grouped_digits))
            axis.set_minor_formatter(NullFormatter())
        plain_axes(ax)
        titled(ax, f"{name}, k = {k}", "seconds", "wrong cells")
        print(f"{name} k={k}: {own['loss']}, first {own['told'][0]}", flush=True)
    figure.axes[0].legend(fontsize=TICK, frameon=False)
    figure.savefig(arguments.picture, dpi=110)
    print(flush=True)


def _below(below: bool) -> dict[str, bool]:
    return {"below": True} if below else {}


def _case(name: str, k: int, below: bool) -> str:
    return name + f" k={k}" * bool(k) + ", from below" * below


PARTS = {
    part.__name__: part for part in (high, cores, medium, monotone, rivals, equal_time, over_time)
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    data_argument(parser)
    parser.add_argument("results", type=Path, help="file of results, to be made or added to")
    parser.add_argument("--parts", nargs="*", choices=PARTS, default=list(PARTS))
    parser.add_argument("--sets", nargs="*", default=list(SETS))
    parser.add_argument("--ranks", nargs="*", type=int, default=list(RANKS))
    parser.add_argument("--limit", type=float, default=1500.0, help="seconds of a fit at most")
    parser.add_argument("--seconds", type=float, default=60.0, help="of the loss over time")
    parser.add_argument("--picture", type=Path, default=Path("docs/screens/over_time.png"))
    parser.add_argument("--long", type=float, default=1200.0, help="seconds that are long")
    arguments = parser.parse_args()
    print(machine() + "\n")
    results = Results(arguments.results, arguments.data, arguments.limit)
    for part in arguments.parts:
        PARTS[part](arguments, results)


if __name__ == "__main__":
    main()
