"""What Sec. 4.2 says about real data, checked against the table of results.

Claims about other methods alone are under "plain". Where two methods are compared, only sets count
on which both have a result; for runtimes, only those where it is known who is slower: one that was
ended by the time limit took at least that long.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from statistics import geometric_mean, median

from elbmf.comparison.results import FINISHED
from elbmf.paper.experiments.entrants import PAPERS_BINAPS, RIVALS
from elbmf.paper.experiments.experiment import Claim, Row, Tables, checked

__all__ = ["claims"]

_SECTION = "Sec. 4.2"
_DEDICATED = ("asso", "grecond", "orm", "sofa")

# What words of the paper are taken to mean, in numbers.
_COMPARABLE = 0.05  # two figures differ by at most
_CONSIDERABLY = 1.05  # a loss is higher by at least this factor
_FREQUENTLY = _MOST = 0.5  # share of cases, more than
_ALMOST_ALWAYS = 0.8
_HIGH_SIMILARITY = 0.9
_ON_PAR = 2.0  # runtimes differ by less than this factor
_MUCH_SLOWER = 2.0
_AMONG_THE_BEST = 3  # methods


class _Results:
    """The table, by set and method."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows = {(row["set"], row["method"]): row for row in rows}
        self.sets = sorted({name for name, _ in self._rows}, key=lambda name: self._cells(name))

    def _cells(self, name: str) -> tuple[int, str]:
        row = next(row for (owner, _), row in self._rows.items() if owner == name)
        return row["n"] * row["m"], name

    def value(self, name: str, method: str, measure: str) -> float | None:
        """Return a figure of a method on a set, None where there is none."""
        row = self._rows.get((name, method))
        return None if row is None else row[measure]

    def values(self, method: str, measure: str, sets: Iterable[str] | None = None) -> list[float]:
        """Return the figures of a method that there are."""
        chosen = self.sets if sets is None else sets
        found = (self.value(name, method, measure) for name in chosen)
        return [value for value in found if value is not None]

    def pairs(self, one: str, other: str, measure: str) -> list[tuple[str, float, float]]:
        """Return the figures of two methods on the sets on which both have one."""
        found = (
            (name, self.value(name, one, measure), self.value(name, other, measure))
            for name in self.sets
        )
        return [(name, a, b) for name, a, b in found if a is not None and b is not None]

    def times(self, one: str, other: str) -> list[tuple[float, float]]:
        """Return the runtimes of two methods where it is known which is longer.

        One that has no result took forever.
        """
        known = []
        for name in self.sets:
            rows = [self._rows.get((name, method)) for method in (one, other)]
            if None in rows:
                continue
            seconds = [
                row["seconds"] if row["seconds"] is not None else float("inf")
                for row in rows
                if row is not None
            ]
            finished = [row is not None and row["status"] == FINISHED for row in rows]
            longer = int(seconds[1] > seconds[0])
            # The shorter of the two must be a time, and not a bound.
            if finished[1 - longer]:
                known.append((seconds[0], seconds[1]))
        return known


# What was measured, and whether the claim holds.
_Finding = tuple[str, bool | None]
_NOTHING: _Finding = ("", None)


def claims(tables: Tables) -> list[Claim]:
    """Check the claims of Sec. 4.2."""
    results = _Results(tables["results"])

    def of_elbmf(says: str, check: Callable[[_Results, str], _Finding]) -> Claim:
        return checked(_SECTION, says, lambda own: check(results, own))

    def of_others(says: str, check: Callable[[_Results], _Finding]) -> Claim:
        return Claim(_SECTION, says, *check(results))

    return [
        of_others(
            "GreConD and Asso show comparable loss, similarity and recall.", _covers_are_comparable
        ),
        of_others(
            "GreConD and Asso do better on smaller matrices and struggle with complex ones.",
            _covers_struggle,
        ),
        of_others(
            "On complex matrices, rounded NMF occasionally surpasses dedicated methods (Asso, "
            "GreConD, OrM, Sofa).",
            _nmf_is_good,
        ),
        of_elbmf("Rounded NMF is always outperformed by ELBMF.", _always_below("nmf")),
        of_elbmf(
            "GreConD, Asso, OrM, Sofa, Binaps and NMF frequently result in a considerably higher "
            "loss than ELBMF.",
            _frequently_below,
        ),
        of_elbmf("ELBMF always results in a lower loss than Primp.", _always_below("primp")),
        of_elbmf("ELBMF has the lowest loss of all methods (Fig. 6a).", _lowest_of_all),
        of_elbmf(
            "The gap between ELBMF and Primp is largest on Cerebellum.", _gap_is_largest_on_one
        ),
        of_elbmf("All methods except Binaps result in a high similarity.", _similarity_is_high),
        of_elbmf("Binaps surpasses all others in recall.", _binaps_surpasses_in_recall),
        of_elbmf(
            "Of the others, ELBMF is among the best in recall, often above Primp.",
            _recall_is_among_the_best,
        ),
        of_elbmf(
            "Where Primp has a higher recall, it often has a higher loss.", _recall_has_a_price
        ),
        of_elbmf(
            "In most cases Asso, GreConD, OrM, Sofa and Primp are slower than ELBMF.",
            _others_are_slower,
        ),
        of_elbmf("NMF and ELBMF are almost on par in runtime.", _as_fast_as_nmf),
        of_elbmf("Primp is almost always much slower than ELBMF.", _primp_is_much_slower),
        of_elbmf("Only Binaps and ELBMF finish Netflix.", _only_ones_to_finish),
    ]


def _covers_are_comparable(results: _Results) -> _Finding:
    parts, holds = [], True
    for measure, title in (
        ("relative_loss", "relative loss"),
        ("similarity", "similarity"),
        ("recall", "recall"),
    ):
        gaps = [abs(a - b) for _, a, b in results.pairs("asso", "grecond", measure)]
        if not gaps:
            return _NOTHING
        parts.append(f"{title} {median(gaps):.3f}")
        holds = holds and median(gaps) <= _COMPARABLE
    return f"median difference: {', '.join(parts)}", holds


def _covers_struggle(results: _Results) -> _Finding:
    half = len(results.sets) // 2
    parts, holds = [], True
    for method in ("grecond", "asso"):
        small = results.values(method, "relative_loss", results.sets[:half])
        large = results.values(method, "relative_loss", results.sets[-half:] if half else [])
        if not small or not large:
            return _NOTHING
        parts.append(f"{method} {median(small):.3f} and {median(large):.3f}")
        holds = holds and median(small) < median(large)
    return f"median relative loss on the smaller and the larger half: {', '.join(parts)}", holds


def _nmf_is_good(results: _Results) -> _Finding:
    complex_sets = set(results.sets[len(results.sets) // 2 :])
    pairs = [
        nmf < other
        for method in _DEDICATED
        for name, nmf, other in results.pairs("nmf", method, "relative_loss")
        if name in complex_sets
    ]
    if not pairs:
        return _NOTHING
    return f"below in {_of(pairs)} cases on the larger half of the sets", any(pairs)


def _always_below(rival: str) -> Callable[[_Results, str], _Finding]:
    def check(results: _Results, own: str) -> _Finding:
        pairs = results.pairs(own, rival, "relative_loss")
        if not pairs:
            return _NOTHING
        below = [a < b for _, a, b in pairs]
        failed = [f"{name} ({a:.3f} beside {b:.3f})" for name, a, b in pairs if not a < b]
        ratio = median(b / a if a else float("inf") for _, a, b in pairs)
        said = f"lower on {_of(below)} sets; median ratio {ratio:.2f}"
        return said + (f"; not on {', '.join(failed)}" if failed else ""), all(below)

    return check


def _frequently_below(results: _Results, own: str) -> _Finding:
    pairs = [
        (a, b)
        for method in RIVALS
        if method != "primp"
        for _, a, b in results.pairs(own, method, "relative_loss")
    ]
    if not pairs:
        return _NOTHING
    higher = [b > a for a, b in pairs]
    considerably = [b >= _CONSIDERABLY * a and b > a for a, b in pairs]
    return (
        f"higher in {_of(higher)} cases, by at least {_CONSIDERABLY - 1:.0%} in "
        f"{sum(considerably)}",
        _share(considerably) > _FREQUENTLY,
    )


def _lowest_of_all(results: _Results, own: str) -> _Finding:
    outcomes, failed = [], []
    for name in results.sets:
        mine = results.value(name, own, "relative_loss")
        others = {m: results.value(name, m, "relative_loss") for m in RIVALS}
        known = {method: loss for method, loss in others.items() if loss is not None}
        if mine is None or not known:
            continue
        rival = min(known, key=lambda method: known[method])
        outcomes.append(mine <= known[rival])
        if mine > known[rival]:
            failed.append(f"{name} ({mine:.3f}; {rival} {known[rival]:.3f})")
    if not outcomes:
        return _NOTHING
    said = f"on {_of(outcomes)} sets"
    return said + (f"; not on {', '.join(failed)}" if failed else ""), all(outcomes)


def _gap_is_largest_on_one(results: _Results, own: str) -> _Finding:
    gaps = {name: b - a for name, a, b in results.pairs(own, "primp", "relative_loss")}
    if "cerebellum" not in gaps:
        return _NOTHING
    largest = max(gaps, key=lambda name: gaps[name])
    return f"largest on {largest}: {gaps[largest]:.3f}", largest == "cerebellum"


def _similarity_is_high(results: _Results, own: str) -> _Finding:
    medians = {
        method: median(values)
        for method in (own, *RIVALS)
        if (values := results.values(method, "similarity"))
    }
    medians.pop("binaps", None)
    as_in_paper = results.values(_papers_binaps(results), "similarity")
    if not medians or not as_in_paper:
        return _NOTHING
    binaps = median(as_in_paper)
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
        others = [results.value(name, m, "recall") for m in (own, *RIVALS) if m != "binaps"]
        known = [recall for recall in others if recall is not None]
        if binaps is not None and known:
            outcomes.append(binaps > max(known))
    if not outcomes:
        return _NOTHING
    return f"highest on {_of(outcomes)} sets", _share(outcomes) > _MOST


def _recall_is_among_the_best(results: _Results, own: str) -> _Finding:
    places = []
    for name in results.sets:
        mine = results.value(name, own, "recall")
        others = [results.value(name, m, "recall") for m in RIVALS if m != "binaps"]
        if mine is not None and any(each is not None for each in others):
            places.append(1 + sum(each is not None and each > mine for each in others))
    above = [a > b for _, a, b in results.pairs(own, "primp", "recall")]
    if not places or not above:
        return _NOTHING
    best = [place <= _AMONG_THE_BEST for place in places]
    return (
        f"among the best {_AMONG_THE_BEST} on {_of(best)} sets, above Primp on {_of(above)}",
        _share(best) > _MOST and _share(above) > _MOST,
    )


def _recall_has_a_price(results: _Results, own: str) -> _Finding:
    loss = {name: b > a for name, a, b in results.pairs(own, "primp", "relative_loss")}
    recalls = results.pairs(own, "primp", "recall")
    costs_more = [loss[name] for name, a, b in recalls if b > a and name in loss]
    if not costs_more:
        return _NOTHING
    return f"higher loss on {_of(costs_more)} such sets", _share(costs_more) > _MOST


def _others_are_slower(results: _Results, own: str) -> _Finding:
    slower = {
        method: [b > a for a, b in results.times(own, method)]
        for method in ("asso", "grecond", "orm", "sofa", "primp")
    }
    cases = [each for outcomes in slower.values() for each in outcomes]
    if not cases:
        return _NOTHING
    parts = [f"{method} {_of(outcomes)}" for method, outcomes in slower.items()]
    return f"slower on: {', '.join(parts)} sets", _share(cases) > _MOST


def _as_fast_as_nmf(results: _Results, own: str) -> _Finding:
    times = [(a, b) for a, b in results.times(own, "nmf") if max(a, b) < float("inf")]
    if not times:
        return _NOTHING
    ratio = geometric_mean(a / b for a, b in times)
    said = f"ELBMF takes {ratio:.2g} times as long (geometric mean of {len(times)} sets)"
    return said, 1 / _ON_PAR < ratio < _ON_PAR


def _primp_is_much_slower(results: _Results, own: str) -> _Finding:
    slower = [b > _MUCH_SLOWER * a for a, b in results.times(own, "primp")]
    if not slower:
        return _NOTHING
    return (
        f"at least {_MUCH_SLOWER:g} times as slow on {_of(slower)} sets",
        _share(slower) >= _ALMOST_ALWAYS,
    )


def _only_ones_to_finish(results: _Results, own: str) -> _Finding:
    if "netflix" not in results.sets:
        return _NOTHING
    finished = {
        method
        for method in (own, *RIVALS)
        if results.value("netflix", method, "status") == FINISHED
    }
    return f"finished: {', '.join(sorted(finished)) or 'none'}", finished == {own, "binaps"}


def _share(outcomes: list[bool]) -> float:
    return sum(outcomes) / len(outcomes)


def _of(outcomes: list[bool]) -> str:
    return f"{sum(outcomes)} of {len(outcomes)}"
