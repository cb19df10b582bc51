"""Names in numpy files: all of them as UTF-8 in one byte array, and where each begins.

A fixed-width unicode array would be as wide as the longest name for every name, and an object
array could only be read by unpickling.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np

from elbmf.errors import InputError

__all__ = ["check_names", "pack_names", "unpack_names"]


def check_names(names: Iterable[str], field: str, *, without: str = "") -> None:
    """Refuse names that UTF-8 cannot hold, those with lone surrogates, and those with a character.

    Parameters
    ----------
    names : iterable of str
    field : str
        What they are called in the message.
    without : str
        A character that they may not have either; none by default.

    Raises
    ------
    InputError
        That says which name it is.
    """
    for position, name in enumerate(names):
        if (without and without in name) or not _is_encodable(name):
            raise InputError(
                f"{field}: the name at position {position}, {name!r}, cannot be written as "
                "text. Remove its NUL characters and surrogates."
            )


def _is_encodable(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def pack_names(names: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the joined UTF-8 bytes of names, and the n + 1 offsets between them."""
    encoded = [name.encode() for name in names]
    offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
    np.cumsum([len(name) for name in encoded], out=offsets[1:])
    return np.frombuffer(b"".join(encoded), dtype=np.uint8), offsets


def unpack_names(utf8: np.ndarray, offsets: np.ndarray) -> list[str]:
    """Return the names that `pack_names` packed; ValueError where the arrays do not fit."""
    if utf8.dtype != np.uint8 or offsets.dtype.kind not in "iu" or offsets.ndim != 1:
        raise ValueError("the arrays of names have unexpected types")
    bounds = offsets.tolist()
    if not bounds or bounds[0] != 0 or bounds[-1] != utf8.size or bounds != sorted(bounds):
        raise ValueError("the offsets of names do not fit the text")
    joined = utf8.tobytes()
    return [joined[begin:end].decode() for begin, end in pairwise(bounds)]
