"""Arrays and text as a page holds them: compressed, and written in letters."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from elbmf.io.plain import plain
from elbmf.report.document import Packed

__all__ = ["pack_json", "pack_numbers", "short_numbers", "unpacked"]

Width = Literal["u1", "u2", "u4", "f4"]


def short_numbers(values: Iterable[float | None]) -> list[float | None]:
    """Return numbers with seven digits; None for what is not finite."""
    return [None if each is None else float(f"{each:.7g}") for each in plain(list(values))]


def pack_numbers(values: ArrayLike, width: Width | None = None) -> Packed:
    """Pack whole numbers from 0 on, by default as narrow as they allow; or any, as floats."""
    numbers = np.asarray(values)
    if width is None:
        most = int(numbers.max(initial=0))
        width = "u1" if most < 1 << 8 else "u2" if most < 1 << 16 else "u4"
    content = np.ascontiguousarray(numbers, dtype=f"<{width}").tobytes()
    return Packed(type=width, length=int(numbers.size), data=_deflated(content))


def pack_json(values: list[Any]) -> Packed:
    """Pack a list as JSON; characters that no text can hold (lone surrogates) are escaped."""
    text = json.dumps(values, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    try:
        content = text.encode()
    except UnicodeEncodeError:
        content = json.dumps(values, allow_nan=False, separators=(",", ":")).encode()
    return Packed(type="json", length=len(values), data=_deflated(content))


def unpacked(packed: Packed) -> list[Any]:
    """Return what was packed."""
    content = zlib.decompress(base64.b64decode(packed["data"]), wbits=-zlib.MAX_WBITS)
    if packed["type"] == "json":
        values: list[Any] = json.loads(content)
        return values
    return np.frombuffer(content, dtype=f"<{packed['type']}").tolist()


def _deflated(content: bytes) -> str:
    compressor = zlib.compressobj(level=6, wbits=-zlib.MAX_WBITS)
    return base64.b64encode(compressor.compress(content) + compressor.flush()).decode("ascii")
