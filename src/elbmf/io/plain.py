"""Notes as JSON can hold them."""

import json
import math
from typing import Any

import numpy as np

from elbmf.errors import CONTROLS, InputError
from elbmf.utils.notes import Notes

__all__ = ["json_text", "plain"]

# JSON itself escapes those before the space, and has line ends of its own.
_ESCAPES = {code: f"\\u{code:04x}" for code in CONTROLS if code > ord(" ")}


def json_text(value: Any, where: str = "value", *, indent: int = 2, sort_keys: bool = False) -> str:
    """Return notes as JSON that can be shown anywhere: letters as they are, but no controls."""
    noted = plain(value, where)
    text = json.dumps(
        noted, indent=indent, sort_keys=sort_keys, ensure_ascii=False, allow_nan=False
    )
    return text.translate(_ESCAPES) + "\n"


def plain(value: Any, where: str = "value") -> Any:
    """Return notes as JSON can hold them; numbers that are not finite become null."""
    if isinstance(value, Notes):
        value = value.to_json()
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                raise InputError(f"{where}: keys must be strings, got {key!r}.")
        return {key: plain(item, f"{where}[{key!r}]") for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item, f"{where}[{position}]") for position, item in enumerate(value)]
    raise InputError(
        f"{where}: expected text, numbers, lists or dicts, got {type(value).__name__}, which JSON "
        "cannot hold. Convert or remove it."
    )
