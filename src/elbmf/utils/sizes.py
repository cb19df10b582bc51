"""Amounts of memory as people write them: 300MB, 1.5 GiB."""

import math
import re
from typing import Any

from elbmf.errors import InputError
from elbmf.utils.constraints import StrOptions

__all__ = ["SizeText", "bytes_of"]

_UNITS = {"": 1, "B": 1}
_UNITS |= {f"{letter}B": 1000**power for power, letter in enumerate("KMGT", start=1)}
_UNITS |= {f"{letter}IB": 1024**power for power, letter in enumerate("KMGT", start=1)}

_SIZE = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([A-Za-z]*)\s*")


def bytes_of(size: str | float) -> int:
    """Return a number of bytes, also from a text such as ``"300MB"`` (10⁶) or ``"2GiB"`` (2³⁰)."""
    amount, unit = size, ""
    if isinstance(size, str):
        match = _SIZE.fullmatch(size)
        amount, unit = (float(match[1]), match[2].upper()) if match else (math.nan, "")
    if unit not in _UNITS or not float(amount) * _UNITS[unit] >= 1 or math.isinf(float(amount)):
        raise InputError(
            f"Expected a size of memory, a number of bytes or a text such as '300MB' or '2GiB'; "
            f"got {size!r}."
        )
    return int(float(amount) * _UNITS[unit])


class SizeText(StrOptions):
    """Constraint of scikit-learn for a parameter that may be a size as text."""

    def __init__(self) -> None:
        super().__init__({"300MB", "2GiB", "…"})

    def is_satisfied_by(self, val: Any) -> bool:
        """Tell whether a value is such a text."""
        try:
            return isinstance(val, str) and bytes_of(val) > 0
        except InputError:
            return False
