"""Which components may be chance, by what is seen of them at once."""

from collections.abc import Sequence

from elbmf.utils.text import counted, number

__all__ = ["doubt_text", "doubts", "left_out_text"]

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
        In which share of the fits of resampled data each was found again, see
        `elbmf.comparison.Stability`.

    Returns
    -------
    list of list of str
        Of ``"one row"``, ``"one column"``, ``"saves no bits"`` and ``"does not recur"``, those that
        hold.
    """
    saved = [1.0] * len(rows) if bits_saved is None else bits_saved
    found = [1.0] * len(rows) if found_in is None else found_in
    return [
        [
            reason
            for reason, holds in (
                ("one row", height == 1 < shape[0]),
                ("one column", width == 1 < shape[1]),
                ("saves no bits", bits <= 0),
                ("does not recur", recurs < _FEW_RUNS),
            )
            if holds and height and width
        ]
        for height, width, bits, recurs in zip(rows, columns, saved, found, strict=True)
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
