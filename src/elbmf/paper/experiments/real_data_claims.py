"""What Sec. 4.2 says about real data, checked against the table of results.

Claims about other methods alone are under "plain". Where two methods are compared, only sets count
on which both have a result; for runtimes, only those where it is known who is slower: one that was
ended by the time limit took at least that long. A check that finds no figures at all ends with
`StatisticsError`, as the means and medians of the standard library do, and nothing is claimed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from statistics import StatisticsError, fmean, geometric_mean, median
from typing import Any

from elbmf.comparison.results import FINISHED
from elbmf.paper.experiments.compared import PAPERS_BINAPS, RIVALS
from elbmf.paper.experiments.experiment import Claim, Row, Tables, checked

__all__ = ["claims"]

_SECTION = "Sec. 4.2"
_DEDICATED = ("asso", "grecond", "orm", "sofa")
_BUT_BINAPS = tuple(name for name in RIVALS if name != "binaps")

# What words of the paper are taken to mean, in numbers.
_COMPARABLE = 0.05  # two figures differ by at most
_CONSIDERABLY = 1.05  # a loss is higher by at least this factor
_FREQUENTLY = _MOST = 0.5  # share of cases, more than
_ALMOST_ALWAYS = 0.8
_HIGH_SIMILARITY = 0.9
_ON_PAR = 2.0  # runtimes differ by less than this factor
_MUCH_SLOWER = 2.0
_AMONG_THE_BEST = 3  # methods

# What was measured, and whether the claim holds.
_Finding = tuple[str, bool | None]
_NOTHING: _Finding = ("", None)


class _Results:
    """The table, by set and method."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows = {(row["set"], row["method"]): row for row in rows}
        cells = {row["set"]: (row["n"] * row["m"], row["set"]) for row in self._rows.values()}
        self.sets = sorted(cells, key=lambda name: cells[name])

    def value(self, name: str, method: str, measure: str) -> Any:
        """Return a figure of a method on a set, None where there is none."""
        return self._rows.get((name, method), {}).get(measure)

    def known(self, name: str, methods: Iterable[str], measure: str) -> dict[str, float]:
        """Return the figures of methods on a set, of those that have one."""
        found = {method: self.value(name, method, measure) for method in methods}
        return {method: value for method, value in found.items() if value is not None}

    def values(self, method: str, measure: str, sets: Iterable[str] | None = None) -> list[float]:
        """Return the figures of a method that there are."""
        found = (
            self.value(name, method, measure) for name in (self.sets if sets is None else sets)
        )
        return [value for value in found if value is not None]

    def pairs(self, one: str, other: str, measure: str) -> list[tuple[str, float, float]]:
        """Return the figures of two methods on the sets on which both have one."""
        found = ((name, self.known(name, (one, other), measure)) for name in self.sets)
        return [(name, both[one], both[other]) for name, both in found if len(both) == 2]

    def times(self, one: str, other: str) -> list[tuple[float, float]]:
        """Return the runtimes of two methods where it is known which is longer.

        One that has no result took forever.
        """
        known = []
        for name in self.sets:
            if (name, one) not in self._rows or (name, other) not in self._rows:
                continue
            both = self._rows[name, one], self._rows[name, other]
            first, second = (
                float("inf") if row["seconds"] is None else row["seconds"] for row in both
            )
            # The shorter of the two must be a time, and not a bound.
            if both[0 if second > first else 1]["status"] == FINISHED:
                known.append((first, second))
        return known


def claims(tables: Tables) -> list[Claim]:
    """Check the claims of Sec. 4.2."""
    results = _Results(tables["results"])

    def found(check: Callable[..., _Finding], *own: str) -> _Finding:
        try:
            return check(results, *own)
        except StatisticsError:
            return _NOTHING

    return [
        *(Claim(_SECTION, says, *found(check)) for says, check in _OF_OTHERS.items()),
        *(checked(_SECTION, says, partial(found, check)) for says, check in _OF_ELBMF.items()),
    ]


def _covers_are_comparable(results: _Results) -> _Finding:
    gaps = {
        title: median(abs(a - b) for _, a, b in results.pairs("asso", "grecond", measure))
        for measure, title in (
            ("relative_loss", "relative loss"),
            ("similarity", "similarity"),
            ("recall", "recall"),
        )
    }
    parts = [f"{title} {gap:.3f}" for title, gap in gaps.items()]
    return f"median difference: {', '.join(parts)}", max(gaps.values()) <= _COMPARABLE


def _covers_struggle(results: _Results) -> _Finding:
    half = len(results.sets) // 2
    parts, holds = [], True
    for method in ("grecond", "asso"):
        small = median(results.values(method, "relative_loss", results.sets[:half]))
        large = median(results.values(method, "relative_loss", results.sets[-half:]))
        parts.append(f"{method} {small:.3f} and {large:.3f}")
        holds = holds and small < large
    return f"median relative loss on the smaller and the larger half: {', '.join(parts)}", holds


def _nmf_is_good(results: _Results) -> _Finding:
    complex_sets = set(results.sets[len(results.sets) // 2 :])
    below = [
        nmf < other
        for method in _DEDICATED
        for name, nmf, other in results.pairs("nmf", method, "relative_loss")
        if name in complex_sets
    ]
    return f"below in {_of(below)} cases on the larger half of the sets", fmean(below) > 0


def _always_below(results: _Results, own: str, *, rival: str) -> _Finding:
    pairs = results.pairs(own, rival, "relative_loss")
    below = [a < b for _, a, b in pairs]
    failed = [f"{name} ({a:.3f} beside {b:.3f})" for name, a, b in pairs if not a < b]
    ratio = median(b / a if a else float("inf") for _, a, b in pairs)
    return f"lower on {_of(below)} sets; median ratio {ratio:.2f}{_but(failed)}", all(below)


def _frequently_below(results: _Results, own: str) -> _Finding:
    pairs = [
        (a, b)
        for method in RIVALS
        if method != "primp"
        for _, a, b in results.pairs(own, method, "relative_loss")
    ]
    higher = [b > a for a, b in pairs]
    considerably = [b >= _CONSIDERABLY * a and b > a for a, b in pairs]
    return (
        f"higher in {_of(higher)} cases, by at least {_CONSIDERABLY - 1:.0%} in "
        f"{sum(considerably)}",
        fmean(considerably) > _FREQUENTLY,
    )


def _lowest_of_all(results: _Results, own: str) -> _Finding:
    outcomes, failed = [], []
    for name in results.sets:
        mine = results.value(name, own, "relative_loss")
        known = results.known(name, RIVALS, "relative_loss")
        if mine is None or not known:
            continue
        rival = min(known, key=lambda method: known[method])
        outcomes.append(mine <= known[rival])
        if mine > known[rival]:
            failed.append(f"{name} ({mine:.3f}; {rival} {known[rival]:.3f})")
    return f"on {_of(outcomes)} sets{_but(failed)}", fmean(outcomes) == 1


def _gap_is_largest_on_one(results: _Results, own: str) -> _Finding:
    gaps = {name: b - a for name, a, b in results.pairs(own, "primp", "relative_loss")}
    if "cerebellum" not in gaps:
        return _NOTHING
    largest = max(gaps, key=lambda name: gaps[name])
    return f"largest on {largest}: {gaps[largest]:.3f}", largest == "cerebellum"


def _similarity_is_high(results: _Results, own: str) -> _Finding:
    binaps = median(results.values(_papers_binaps(results), "similarity"))
    values = {method: results.values(method, "similarity") for method in (own, *_BUT_BINAPS)}
    medians = {method: median(known) for method, known in values.items() if known}
    if not medians:
        return _NOTHING
    least = min(medians, key=lambda method: medians[method])
    return (
        f"median similarity at least {medians[least]:.3f} ({least}), of Binaps {binaps:.3f}",
        medians[least] >= _HIGH_SIMILARITY and binaps < medians[least],
    )


def _papers_binaps(results: _Results) -> str:
    """Return Binaps as the paper runs it, where that took part: dense, as ours is not."""
    return PAPERS_BINAPS if results.values(PAPERS_BINAPS, "recall") else "binaps"


def _binaps_surpasses_in_recall(results: _Results, own: str) -> _Finding:
    outcomes = []
    for name in results.sets:
        binaps = results.value(name, _papers_binaps(results), "recall")
        known = results.known(name, (own, *_BUT_BINAPS), "recall").values()
        if binaps is not None and known:
            outcomes.append(binaps > max(known))
    return f"highest on {_of(outcomes)} sets", fmean(outcomes) > _MOST


def _recall_is_among_the_best(results: _Results, own: str) -> _Finding:
    best = []
    for name in results.sets:
        mine = results.value(name, own, "recall")
        known = results.known(name, _BUT_BINAPS, "recall").values()
        if mine is not None and known:
            best.append(sum(each > mine for each in known) < _AMONG_THE_BEST)
    above = [a > b for _, a, b in results.pairs(own, "primp", "recall")]
    return (
        f"among the best {_AMONG_THE_BEST} on {_of(best)} sets, above Primp on {_of(above)}",
        min(fmean(best), fmean(above)) > _MOST,
    )


def _recall_has_a_price(results: _Results, own: str) -> _Finding:
    loss = {name: b > a for name, a, b in results.pairs(own, "primp", "relative_loss")}
    recalls = results.pairs(own, "primp", "recall")
    costs_more = [loss[name] for name, a, b in recalls if b > a and name in loss]
    return f"higher loss on {_of(costs_more)} such sets", fmean(costs_more) > _MOST


def _others_are_slower(results: _Results, own: str) -> _Finding:
    slower = {
        method: [b > a for a, b in results.times(own, method)] for method in (*_DEDICATED, "primp")
    }
    parts = [f"{method} {_of(outcomes)}" for method, outcomes in slower.items()]
    share = fmean(each for outcomes in slower.values() for each in outcomes)
    return f"slower on: {', '.join(parts)} sets", share > _MOST


def _as_fast_as_nmf(results: _Results, own: str) -> _Finding:
    times = [(a, b) for a, b in results.times(own, "nmf") if max(a, b) < float("inf")]
    ratio = geometric_mean(a / b for a, b in times)
    said = f"ELBMF takes {ratio:.2g} times as long (geometric mean of {len(times)} sets)"
    return said, 1 / _ON_PAR < ratio < _ON_PAR


def _primp_is_much_slower(results: _Results, own: str) -> _Finding:
    slower = [b > _MUCH_SLOWER * a for a, b in results.times(own, "primp")]
    said = f"at least {_MUCH_SLOWER:g} times as slow on {_of(slower)} sets"
    return said, fmean(slower) >= _ALMOST_ALWAYS


def _only_ones_to_finish(results: _Results, own: str) -> _Finding:
    if "netflix" not in results.sets:
        return _NOTHING
    statuses = results.known("netflix", (own, *RIVALS), "status")
    finished = {method for method, status in statuses.items() if status == FINISHED}
    return f"finished: {', '.join(sorted(finished)) or 'none'}", finished == {own, "binaps"}


def _of(outcomes: list[bool]) -> str:
    return f"{sum(outcomes)} of {len(outcomes)}"


def _but(failed: list[str]) -> str:
    return f"; not on {', '.join(failed)}" if failed else ""


_OF_OTHERS: Mapping[str, Callable[[_Results], _Finding]] = {
    "GreConD and Asso show comparable loss, similarity and recall.": _covers_are_comparable,
    "GreConD and Asso do better on smaller matrices and struggle with complex ones.": (
        _covers_struggle
    ),
    "On complex matrices, rounded NMF occasionally surpasses dedicated methods (Asso, GreConD, "
    "OrM, Sofa).": _nmf_is_good,
}
_OF_ELBMF: Mapping[str, Callable[[_Results, str], _Finding]] = {
    "Rounded NMF is always outperformed by ELBMF.": partial(_always_below, rival="nmf"),
    "GreConD, Asso, OrM, Sofa, Binaps and NMF frequently result in a considerably higher loss than "
    "ELBMF.": _frequently_below,
    "ELBMF always results in a lower loss than Primp.": partial(_always_below, rival="primp"),
    "ELBMF has the lowest loss of all methods (Fig. 6a).": _lowest_of_all,
    "The gap between ELBMF and Primp is largest on Cerebellum.": _gap_is_largest_on_one,
    "All methods except Binaps result in a high similarity.": _similarity_is_high,
    "Binaps surpasses all others in recall.": _binaps_surpasses_in_recall,
    "Of the others, ELBMF is among the best in recall, often above Primp.": (
        _recall_is_among_the_best
    ),
    "Where Primp has a higher recall, it often has a higher loss.": _recall_has_a_price,
    "In most cases Asso, GreConD, OrM, Sofa and Primp are slower than ELBMF.": _others_are_slower,
    "NMF and ELBMF are almost on par in runtime.": _as_fast_as_nmf,
    "Primp is almost always much slower than ELBMF.": _primp_is_much_slower,
    "Only Binaps and ELBMF finish Netflix.": _only_ones_to_finish,
}
"""What the paper says, and how that is checked."""
