"""Notes in JSON files, as typed objects: what is read is checked against the types of their fields.

A class of notes is a dataclass that derives from `Notes`. Its fields are the keys, and their types
say what may be there: text, numbers, lists, objects with keys of any name, other notes, and None.
`Within` and `Length` say more, as in ``Annotated[int, Within(1, 9)]``. An error names the file and
the key.
"""

from __future__ import annotations

import json
import math
import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    Self,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np

from elbmf.errors import FileFormatError, InputError

__all__ = [
    "ANY_NUMBER",
    "AnyFloat",
    "Count",
    "Length",
    "Notes",
    "Within",
    "load_json",
    "parse_json",
    "read_note",
    "require_file",
]

_OTHER = "other"

# Whole numbers that are counted and computed with.
_LEAST, _MOST = np.iinfo(np.int64).min, np.iinfo(np.int64).max

# Lists and objects within one another, at most. What is noted here has a handful.
_DEEPEST = 100


@dataclass(frozen=True)
class Within:
    """Numbers that a field may have."""

    least: float
    most: float = math.inf
    words: str = ""  # What messages say of them, if not that

    def __contains__(self, value: float) -> bool:
        return self.least <= value <= self.most

    def __str__(self) -> str:
        return (
            self.words or f" from {self.least} {'on' if self.most >= _MOST else f'to {self.most}'}"
        )


@dataclass(frozen=True)
class Length:
    """How long a list must be."""

    length: int


Count = Annotated[int, Within(0, _MOST)]
"""How many there are of something."""

AnyFloat = Annotated[float, Within(-math.inf, math.inf)]
"""A number that may be infinite; others are not."""


class _Anything:
    def __contains__(self, value: float) -> bool:
        return True


ANY_NUMBER = _Anything()
"""Says that a number may also be none, NaN."""


@dataclass(kw_only=True)
class Notes:
    """Notes that JSON can hold.

    Parameters
    ----------
    other : dict
        What else is noted, by name.
    """

    other: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def from_json(cls, value: Any, where: str = "info") -> Self:
        """Read notes as JSON has them, or raise an InputError that says which of them is wrong."""
        read: Self = _read(cls, value, where)
        return read

    def to_json(self) -> dict[str, Any]:
        """Return what is noted, by name."""
        found = {
            each.name: _written(getattr(self, each.name))
            for each in fields(self)
            if each.name != _OTHER
        }
        noted = {name: value for name, value in found.items() if _is_noted(value)}
        return noted | self.other

    def check(self, where: str) -> None:
        """Raise an InputError where fields do not fit each other, after they were read."""


N = TypeVar("N", bound=Notes)


# --- files ---


def read_note(
    kind: type[N],
    path: Path,
    remedy: str,  # What to do where it is not as it should be
    check: Callable[[Any], None] = lambda value: None,  # Looks at what it says, before it is read
) -> N:
    """Read the notes of a file.

    Raises
    ------
    FileFormatError
        If there is no such file, or it holds something else.
    """
    value = load_json(path, remedy)
    check(value)
    try:
        return kind.from_json(value, "")
    except InputError as error:
        if isinstance(error, FileFormatError):
            raise
        raise FileFormatError(f"{path}: {error}. {remedy}") from None


def load_json(path: Path, remedy: str) -> Any:
    """Return what a JSON file holds.

    Raises
    ------
    FileFormatError
        If there is no such file, or it is no JSON, or lists are in lists without end.
    """
    require_file(path, remedy)
    return parse_json(path.read_bytes(), f"{path}", remedy)


def require_file(path: Path, remedy: str) -> None:
    """Raise a FileFormatError unless there is a file: opening a pipe would block."""
    try:
        is_file = stat.S_ISREG(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        raise FileFormatError(f"{path}: is missing. {remedy}") from None
    if not is_file:
        raise FileFormatError(f"{path}: is no file. {remedy}")


def parse_json(content: str | bytes, place: str, remedy: str) -> Any:
    """Return what is in a JSON text, or raise a FileFormatError as `load_json` does."""
    try:
        text = content if isinstance(content, str) else content.decode()
        value = json.loads(text)
        deep = _is_deep(value)
        if not deep and "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise FileFormatError(f"{place}: has halves of characters in its text. {remedy}") from None
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise FileFormatError(
            f"{place}: not valid JSON, or cut off: {_reason(error)}. {remedy}"
        ) from None
    except ValueError:
        # That is what Python says of whole numbers of thousands of digits.
        raise FileFormatError(f"{place}: has a number that is too long. {remedy}") from None
    except RecursionError:
        deep = True
    if deep:
        raise FileFormatError(f"{place}: lists or objects in it are nested too deeply. {remedy}")
    return value


def _reason(error: ValueError) -> str:
    text = str(error)
    return text[:1].lower() + text[1:]


def _is_deep(value: Any) -> bool:
    """Tell whether lists and objects are nested deeper than any that are written."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(_DEEPEST):
        if not level:
            return False
        inner = [each.values() if isinstance(each, dict) else each for each in level]
        level = [some for each in inner for some in each if isinstance(some, dict | list)]
    return True


# --- writing ---


def _is_noted(value: Any) -> bool:
    # A list without entries is something to note, unlike the tuple that stands for no list.
    return value is not None and value != () and value != {}


def _written(value: Any) -> Any:
    if isinstance(value, Notes):
        return value.to_json()
    if isinstance(value, list | tuple) and value:
        return [_written(item) for item in value]
    if isinstance(value, dict):
        return {name: _written(item) for name, item in value.items()}
    return value


# --- reading ---

# What values are called in messages, and how Python has them; whole numbers pass for numbers.
_KINDS: dict[Any, tuple[str, tuple[type, ...]]] = {
    str: ("text", (str,)),
    bool: ("true or false", (bool,)),
    int: ("a whole number", (int,)),
    float: ("a number", (int, float)),
    NoneType: ("null", (NoneType,)),
    Sequence: ("a list", (list, tuple)),
    tuple: ("a list", (list, tuple)),
    dict: ("an object", (dict,)),
}

# What numbers of a type must be within, where nothing is said.
_LARGEST = float(np.finfo(float).max)
_USUAL = {
    int: Within(_LEAST, _MOST, " that 64 bits can hold"),
    float: Within(-_LARGEST, _LARGEST, " that is finite"),
}

_hints = cache(get_type_hints)


def _read(kind: Any, value: Any, where: str) -> Any:
    """Return a value as a field of some type holds it."""
    if kind is Any:
        return value
    kinds = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    fitting = next((each for each in kinds if _fits(each, value)), None)
    if fitting is None:
        expected = " or ".join(_words(each, value) for each in kinds if each is not NoneType)
        raise InputError(f"{where or 'it'} must be {expected}, found {value!r:.40}")
    fitting, _ = _bare(fitting)
    if is_dataclass(fitting):
        return _read_notes(fitting, value, where)
    base, given = _base(fitting), get_args(fitting)
    if base is Sequence:
        return [_read(given[0], each, f"{where}[{at}]") for at, each in enumerate(value)]
    if base is tuple:
        return tuple(
            _read(each, item, f"{where}[{at}]")
            for at, (each, item) in enumerate(zip(given, value, strict=True))
        )
    if base is dict and given:
        return {str(name): _read(given[1], each, _at(where, name)) for name, each in value.items()}
    return value


def _bare(kind: Any) -> tuple[Any, Any]:
    """Return a type, and what else is said of its values."""
    if get_origin(kind) is Annotated:
        bare, said = get_args(kind)
        return bare, said
    return kind, _USUAL.get(kind)


def _base(kind: Any) -> Any:
    return dict if is_dataclass(kind) else get_origin(kind) or kind


def _words(kind: Any, value: Any) -> str:
    """Say what values of a type are; within which limits, where one is beyond them."""
    bare, said = _bare(kind)
    if get_origin(bare) is Literal:
        return " or ".join(map(repr, get_args(bare)))
    words, types = _KINDS[_base(bare)]
    if _base(bare) is tuple:
        return f"{words} of {len(get_args(bare))}"
    if isinstance(said, Length):
        return f"{words} of {said.length}"
    beyond = isinstance(value, types) and not isinstance(value, bool)
    return f"{words}{said}" if isinstance(said, Within) and beyond else words


def _fits(kind: Any, value: Any) -> bool:
    bare: Any
    bare, said = _bare(kind)
    if get_origin(bare) is Literal:
        return value in get_args(bare) and not isinstance(value, bool)
    base: Any = _base(bare)
    # Python takes True for the number 1.
    if not isinstance(value, _KINDS[base][1]) or (isinstance(value, bool) and bare is not bool):
        return False
    length = len(get_args(bare)) if base is tuple else None
    length = said.length if isinstance(said, Length) else length
    sized: Any = value
    return len(sized) == length if length is not None else said is None or sized in said


def _read_notes(kind: Any, value: Mapping[str, Any], where: str) -> Any:
    hints = _hints(kind, include_extras=True)
    found: dict[str, Any] = {}
    for each in fields(kind):
        # Null says as little as nothing.
        if each.name != _OTHER and value.get(each.name) is not None:
            place = _at(where, each.name)
            found[each.name] = _read(hints[each.name], value[each.name], place)
        elif each.default is MISSING and each.default_factory is MISSING:
            raise InputError(f"{_at(where, each.name)} is missing")
    other = {name: item for name, item in value.items() if name not in hints or name == _OTHER}
    read = kind(**found, other=other)
    read.check(where)
    return read


def _at(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name
