"""The cells of text tables: what counts as a number, as missing, and as plain text."""

from __future__ import annotations

import math

__all__ = [
    "CellError",
    "CellValues",
    "cell_text",
    "finite_number",
    "is_missing",
    "is_number",
    "is_text",
    "parse_cell",
    "shown",
]

_BOOLEANS = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0}
_MISSING = {"", "na", "nan", "null", "?"}
# With some a missing value, with others a plain no, so neither is guessed.
_UNCLEAR = {"n/a", "#n/a", "none", "nil", ".", "-"}
_WRITTEN_MISSING = "NA"
# Beyond, not every whole number is a float.
_EXACT_WHOLE = 2.0**53
_CACHE_LIMIT = 1 << 16
_MOST_SHOWN = 60


class CellError(ValueError):
    """A cell holds no number; the message says what it holds, not where."""


def shown(text: str | bytes) -> str:
    """Return what a message says of a text: in quotes, not too long, with codes for odd bytes."""
    try:
        plain = text if isinstance(text, str) else text.decode()
    except UnicodeDecodeError:
        return repr(text[:_MOST_SHOWN]).removeprefix("b")
    return repr(plain if len(plain) <= _MOST_SHOWN else plain[: _MOST_SHOWN - 1] + "…")


def is_missing(cell: str) -> bool:
    """Whether a cell is empty or says that its value is missing: NA, NaN, null or ?."""
    return cell.strip().lower() in _MISSING


def is_number(cell: str) -> bool:
    """Whether a cell is a finite number, or true, false, yes or no."""
    try:
        return not math.isnan(parse_cell(cell))
    except CellError:
        return False


def is_text(cell: str) -> bool:
    """Whether a cell is neither a number, finite or not, nor a sign for a missing value or no."""
    if is_missing(cell) or is_number(cell) or cell.strip().lower() in _UNCLEAR:
        return False
    try:
        return "_" in cell or not math.isinf(float(cell))
    except ValueError:
        return True


def parse_cell(cell: str) -> float:
    """Return the number in a cell: true and yes are 1, false and no 0, a missing value is NaN.

    Parameters
    ----------
    cell : str
        The text of the cell, without the quotes around it.
    """
    text = cell.strip()
    if text.lower() in _BOOLEANS:
        return _BOOLEANS[text.lower()]
    if is_missing(text):
        return math.nan
    if text.lower() in _UNCLEAR:
        raise CellError(f"the cell is {shown(cell)}, which may mean 0 or a missing value")
    value = finite_number(text)
    if value is None:
        raise CellError(f"the cell is {shown(cell)}, which is not a finite number")
    return value


def finite_number(text: str) -> float | None:
    """Return the number that a text is; None where it is none, or not finite."""
    try:
        # float() alone would take the digit separators of Python source, as in 1_000.
        value = math.nan if "_" in text else float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def cell_text(value: float) -> str:
    """Return how a number or a missing value is written, so that `parse_cell` reads it back."""
    if math.isnan(value):
        return _WRITTEN_MISSING
    whole = isinstance(value, float) and value.is_integer() and abs(value) < _EXACT_WHOLE
    return repr(int(value) if whole else value)


class CellValues(dict[str, float]):
    """The numbers of cell texts, each distinct text parsed once.

    Tables repeat few texts very often, so looking up is much faster than parsing.
    """

    def __missing__(self, cell: str) -> float:
        value = parse_cell(cell)
        if len(self) < _CACHE_LIMIT:
            self[cell] = value
        return value
