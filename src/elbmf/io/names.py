"""Names in numpy files: all of them as UTF-8 in one byte array, and where each begins.

A fixed-width unicode array would be as wide as the longest name for every name, and an object
array could only be read by unpickling.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from elbmf.errors import InputError

__all__ = ["NAME_FIELDS", "check_names", "names_in", "packed_names", "unpack_names"]

NAME_FIELDS = ("row_names", "column_names")


def check_names(names: Iterable[str], field: str, *, without: str = "") -> None:
    """Raise where UTF-8 cannot hold a name, for lone surrogates, or where one has some character.

    The error says which name it is, and of what, by the name of a field.
    """
    names = list(names)
    together = "".join(names)
    if _is_encodable(together) and not (without and without in together):
        return
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


def packed_names(owner: Any) -> dict[str, Any]:
    """Return the arrays of the names that an object has of its rows and columns."""
    arrays = {}
    for field in NAME_FIELDS:
        names = getattr(owner, field)
        if names is not None:
            encoded = [name.encode() for name in names]
            arrays[f"{field}_utf8"] = np.frombuffer(b"".join(encoded), dtype=np.uint8)
            arrays[f"{field}_offsets"] = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    return arrays


def names_in(archive: Mapping[str, np.ndarray], field: str) -> list[str] | None:
    """Return names from the arrays of an npz file, packed or as an array of text, if it has any."""
    packed, offsets = f"{field}_utf8", f"{field}_offsets"
    if packed in archive and offsets in archive:
        return unpack_names(archive[packed], archive[offsets])
    found = archive.get(field)
    if found is None or found.dtype.kind != "U":
        return None
    # Numpy does not look at them, and Python's own strings would not survive others.
    characters = np.frombuffer(
        found.tobytes(), np.dtype(np.uint32).newbyteorder(found.dtype.byteorder)
    )
    if (characters > sys.maxunicode).any():
        raise ValueError(f"{field} has characters that do not exist")
    return [str(name) for name in found.ravel()]


def unpack_names(utf8: np.ndarray, offsets: np.ndarray) -> list[str]:
    """Return the names that are packed into arrays; ValueError where the arrays do not fit."""
    if utf8.dtype != np.uint8 or offsets.dtype.kind not in "iu" or offsets.ndim != 1:
        raise ValueError("the arrays of names have unexpected types")
    bounds = offsets.tolist()
    if not bounds or bounds[0] != 0 or bounds[-1] != utf8.size or bounds != sorted(bounds):
        raise ValueError("the offsets of names do not fit the text")
    joined = utf8.tobytes()
    return [joined[begin:end].decode() for begin, end in pairwise(bounds)]
