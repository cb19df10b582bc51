"""Which components may be chance, by what is seen of them at once or was found out later."""

from collections.abc import Sequence
from typing import Any

from elbmf.utils.text import counted, number, percent

__all__ = ["SIGNIFICANT", "doubt_text", "doubts", "left_out_text", "trust_texts"]

SIGNIFICANT = 0.05
"""The largest p-value of a component that is taken for more than chance."""

# Components that a sentence names at most.
_MOST_NAMED = 10

# Share of runs below which a component does not recur.
_FEW_RUNS = 0.5


def doubts(
    shape: tuple[int, int],
    rows: Sequence[int],
    columns: Sequence[int],
    bits_saved: Sequence[float] | None = None,
    found_in: Sequence[float] | None = None,
    p_values: Sequence[float] | None = None,
    samples: int | None = None,
) -> list[list[str]]:
    """Return for each component why it may be chance; nothing for most.

    Parameters
    ----------
    shape : (int, int)
        Rows and columns of the matrix.
    rows, columns : sequence of int
        Size of each component. One that is empty is in nobody's way.
    bits_saved : sequence of float, optional
        What each saves, see `elbmf.ranks.criteria.savings`.
    found_in : sequence of float, optional
        In which share of the fits of resampled data each was found again, see `elbmf.stability`.
    p_values : sequence of float, optional
        Of each beside random data, see `elbmf.significance`.
    samples : int, optional
        Random matrices that these are of. Where they are too few to tell, there is no doubt.

    Returns
    -------
    list of list of str
        Of ``"one row"``, ``"one column"``, ``"saves no bits"``, ``"does not recur"`` and ``"not
        significant"``, those that hold.
    """
    saved = [1.0] * len(rows) if bits_saved is None else bits_saved
    found = [1.0] * len(rows) if found_in is None else found_in
    chances = [0.0] * len(rows) if p_values is None else p_values
    # What no random matrix is as good as has this one, be it above the level.
    least = SIGNIFICANT if samples is None else max(SIGNIFICANT, 1.5 / (1 + samples))
    return [
        [
            reason
            for reason, holds in (
                ("one row", height == 1 < shape[0]),
                ("one column", width == 1 < shape[1]),
                ("saves no bits", bits <= 0),
                ("does not recur", recurs < _FEW_RUNS),
                ("not significant", p > least),
            )
            if holds and height and width
        ]
        for height, width, bits, recurs, p in zip(rows, columns, saved, found, chances, strict=True)
    ]


def doubt_text(reasons: Sequence[Sequence[str]]) -> str:
    """Say in a sentence which components may be chance; nothing if none is in doubt."""
    named = [f"{at} ({', '.join(why)})" for at, why in enumerate(reasons) if why]
    if not named:
        return ""
    which = ", ".join(named[:_MOST_NAMED])
    more = f" and {number(len(named) - _MOST_NAMED)} more" if len(named) > _MOST_NAMED else ""
    of = f"{number(len(named))} of {counted(len(reasons), 'component')}"
    return f"{of} may be chance: {which}{more}."


def left_out_text(rows: int | None, columns: int | None, shape: tuple[int, int]) -> str:
    """Say how many lines are in no component; nothing if all are in some.

    Parameters
    ----------
    rows, columns : int or None
        How many there are; None where nothing is known of them.
    shape : (int, int)
        Rows and columns of the matrix.
    """
    parts = [
        f"{number(loose)} of {counted(count, noun)}"
        for loose, count, noun in zip((rows, columns), shape, ("row", "column"), strict=True)
        if loose
    ]
    one = len(parts) == 1 and 1 in (rows, columns)
    return f"{' and '.join(parts)} {'is' if one else 'are'} in no component." if parts else ""


def trust_texts(stability: Any = None, significance: Any = None) -> list[str]:
    """Say in a sentence each whether components return, and whether they differ from chance.

    Parameters
    ----------
    stability, significance : optional
        What a model notes: `elbmf.io.model_info.StabilityInfo` and ``SignificanceInfo``. Nothing is
        said of what is not noted.
    """
    said = []
    if stability is not None:
        known = stability.cophenetic
        company = "" if known is None else f"; the cophenetic correlation of rows is {known:.2f}"
        said.append(
            f"In {counted(stability.runs, 'fit')} of resampled data ({stability.resample}), "
            f"components recur by {percent(stability.stability)} on average{company}."
        )
    if significance is not None:
        samples = significance.samples
        fitted = f"{number(samples)} {'was' if samples == 1 else 'were'} fitted"
        low = sum(p <= SIGNIFICANT for p in significance.p_values)
        if SIGNIFICANT * (1 + samples) < 1 and min(significance.p_values) < 1.5 / (1 + samples):
            fitted += ", too few to tell of all"
        of = counted(len(significance.p_values), "component")
        said.append(
            f"{number(low)} of {of} {'is' if low == 1 else 'are'} better than those of random data "
            f"with the same sums (p ≤ {SIGNIFICANT:g}; {fitted})."
        )
    return said
