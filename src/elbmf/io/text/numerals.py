"""How numbers are written: with a decimal point or comma, and marks between thousands.

``1,234`` is a thousand and more to some, and a little more than one to others. What else is in the
file decides: ``7,5`` and ``0,123`` have a decimal comma; ``2.5`` and ``1,234.5`` have a decimal
point. Where nothing does, the number is refused.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from functools import cache

import numpy as np

from elbmf.errors import InputError, Setting

__all__ = ["CellError", "Numerals", "check_marks", "looks_numeric", "readings"]

_DECIMALS = (".", ",")
_SPACES = (" ", "\u00a0", "\u202f", "\u2009")
_APOSTROPHES = ("'", "\u2019")
_THOUSANDS = {
    ".": (".",),
    ",": (",",),
    " ": _SPACES,
    "space": _SPACES,
    "'": _APOSTROPHES,
    "none": (),
}
_AUTO = "auto"
_NUMBER_BYTES = np.zeros(256, dtype=np.bool_)
_NUMBER_BYTES[list(b"0123456789")] = True
_BEFORE_MARK = _NUMBER_BYTES.copy()
_BEFORE_MARK[list(b'+-"\n;,\t|: ')] = True
# UTF-8 never has this byte, so no number does.
_NO_BYTE = 0xFF
# Longer ones are no numbers that anybody writes with marks.
_LONGEST = 40


class CellError(ValueError):
    """A cell holds no number; the message says what it holds, not where."""

    def __init__(self, said: str, advice: tuple[str | Setting, ...] = ()) -> None:
        super().__init__(said)
        self.advice = advice


@cache
def _pattern(decimal: str, marks: tuple[str, ...]) -> re.Pattern[str]:
    grouped = "|".join(rf"[1-9]\d{{0,2}}(?:{re.escape(mark)}\d{{3}})+" for mark in marks)
    point = re.escape(decimal)
    whole = rf"(?P<grouped>{grouped})|" if grouped else "(?P<grouped>(?!))|"
    return re.compile(
        rf"(?P<sign>[+−-]?)(?:{whole}(?P<whole>\d+)|(?={point}\d))"
        rf"(?:{point}(?P<part>\d*))?(?P<power>e[+-]?\d+)?",
        re.ASCII | re.IGNORECASE,
    )


def _reading(text: str, decimal: str, thousands: str = _AUTO) -> float | None:
    """Return the number that a text is with a decimal mark, or None."""
    marks = _THOUSANDS.get(thousands)
    if marks is None:
        other = _DECIMALS[1 - _DECIMALS.index(decimal)]
        marks = (other, *_SPACES, *_APOSTROPHES)
    found = _pattern(decimal, tuple(mark for mark in marks if mark != decimal)).fullmatch(text)
    if found is None or (found["grouped"] and found["power"]):
        return None
    whole = "".join(filter(str.isdigit, found["grouped"] or found["whole"] or "0"))
    sign = "-" if found["sign"] in ("-", "−") else ""
    value = float(f"{sign}{whole}.{found['part'] or 0}{found['power'] or ''}")
    return value if math.isfinite(value) else None


def readings(text: str, thousands: str = _AUTO) -> dict[str, float]:
    """Return the number that a text is with each decimal mark with which it is one."""
    found = {mark: _reading(text, mark, thousands) for mark in _DECIMALS}
    return {mark: value for mark, value in found.items() if value is not None}


def looks_numeric(cell: str) -> bool:
    """Whether a cell is a number as somebody writes them."""
    text = cell.strip()
    return 0 < len(text) <= _LONGEST and text[-1:].isdigit() and bool(readings(text))


def check_marks(decimal: str, thousands: str) -> None:
    """Raise where these are no marks of numbers, or cannot go together."""
    if decimal not in (*_DECIMALS, _AUTO):
        raise InputError(f"decimal must be '.', ',' or 'auto', got {decimal!r}.")
    if thousands not in (*_THOUSANDS, _AUTO):
        allowed = ", ".join(map(repr, (*_THOUSANDS, _AUTO)))
        raise InputError(f"thousands must be one of {allowed}, got {thousands!r}.")
    if decimal == thousands != _AUTO:
        raise InputError(f"decimal and thousands cannot both be {decimal!r}. Change one of them.")


class Numerals:
    """How the numbers of a file are written, as far as that is known yet.

    Parameters
    ----------
    delimiter : str
        What separates fields.
    decimal, thousands : str
        Marks, or "auto".
    ones : str
        Texts that are 1 where empty cells are 0, with commas between, such as ``"x"``.
    """

    def __init__(
        self, delimiter: str, decimal: str = _AUTO, thousands: str = _AUTO, ones: str = ""
    ) -> None:
        self.ones = frozenset(filter(None, (each.strip().lower() for each in ones.split(","))))
        check_marks(decimal, thousands)
        if decimal == _AUTO and thousands in _DECIMALS:
            decimal = _DECIMALS[1 - _DECIMALS.index(thousands)]
        self.decimal = decimal
        self._delimiter = delimiter
        self._thousands = thousands
        self._because = ""

    def number(self, text: str) -> float | None:
        """Return the number in a text without blanks around it, None where there is none.

        Raises `CellError` where it may be one of two numbers, or is written as others are not.
        """
        found = readings(text, self._thousands)
        if self.decimal in found:
            return found[self.decimal]
        if not found:
            return None
        if self.decimal != _AUTO:
            raise self._contradicts(text)
        if len(set(found.values())) > 1:
            raise self.unclear(text)
        mark, value = next(iter(found.items()))
        if len(found) == 1:
            self._settle(mark, text)
        return value

    def decide(self, text: str) -> bool:
        """Take a text for a sign of how numbers are written; tell whether it is unclear."""
        found = readings(text, self._thousands)
        if len(found) == 1 and self.decimal == _AUTO:
            self._settle(next(iter(found)), text)
        return len(set(found.values())) > 1

    def unclear(self, text: str) -> CellError:
        """Return the error of a number that may be one of two."""
        found = readings(text, self._thousands)
        said = " or ".join(f"{value:.15g}" for value in sorted(found.values()))
        mark = "," if "," in text else "."
        return CellError(
            f"the cell is {text!r}, which may be {said}, and nothing else in the file tells "
            f"whether {mark!r} is a decimal mark or stands between thousands",
            (
                "Say it: ",
                Setting("decimal", mark),
                " for a decimal mark, ",
                Setting("thousands", mark),
                " for thousands.",
            ),
        )

    def _contradicts(self, text: str) -> CellError:
        name = {".": "point", ",": "comma"}[self.decimal]
        whence = f" ({self._because!r} is one)" if self._because else ""
        return CellError(
            f"the cell is {text!r}, which is no number where numbers have a decimal {name}{whence}",
            (
                "Write all numbers in the same way, or say how they are written: ",
                Setting("decimal", "," if self.decimal == "." else "."),
                ".",
            ),
        )

    def _settle(self, mark: str, because: str) -> None:
        self.decimal, self._because = mark, because

    def look(self, candidates: Iterable[tuple[int, str]]) -> tuple[int, str] | None:
        """Decide by the first numbers with marks, of what `candidates` yields.

        Returns where one is that may be two numbers, when no other one decides.
        """
        unclear: tuple[int, str] | None = None
        for at, text in candidates:
            if self.decide(text) and (unclear is None or ("," in text and "," not in unclear[1])):
                unclear = at, text
            if self.decimal != _AUTO:
                return None
        return unclear

    def candidates(self, block: bytes) -> Iterator[tuple[int, str]]:
        """Yield where a mark may be one of a number, and the field or what may be one."""
        if self.decimal != _AUTO:
            return
        # Where commas separate fields, only those in quotes are of numbers.
        quoted = self._delimiter == ","
        codes = [46] * (b"." in block) + [44] * ((b'"' if quoted else b",") in block)
        if not codes:
            return
        data = np.frombuffer(block, dtype=np.uint8)
        marks = np.zeros(data.size, dtype=np.bool_)
        for code in codes:
            found = data == code
            if code == 44 and quoted:
                found &= (np.cumsum(data == 34, dtype=np.uint8) & 1).astype(np.bool_)
            marks |= found
        marks[:1] = marks[-1:] = False
        places = np.flatnonzero(marks)
        places = places[_NUMBER_BYTES[data[places + 1]] & _BEFORE_MARK[data[places - 1]]]
        bounds = [b'"', b"\n", b"\r"]
        separator = self._delimiter.encode()
        for at in places.tolist():
            within = bounds if quoted and block[at] == 44 else [*bounds, separator]
            begin = max(block.rfind(bound, max(0, at - _LONGEST), at) for bound in within) + 1
            ends = [block.find(bound, at + 1, at + _LONGEST) for bound in within]
            end = min((each for each in ends if each >= 0), default=at + _LONGEST)
            yield at, block[begin or max(0, at - _LONGEST) : end].decode(errors="replace").strip()

    def plain(self, data: np.ndarray) -> np.ndarray:
        """Return bytes of text in which plain numbers have a decimal point, and others none."""
        if self.decimal != ",":
            return data
        table = np.arange(256, dtype=np.uint8)
        if self._delimiter == ",":
            table[ord(".")] = _NO_BYTE
        else:
            table[[ord("."), ord(",")]] = ord(","), ord(".")
        return table[data]
