"""Rows and columns that messages name: by name, where they have names."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from elbmf.errors import InputError, Line, Setting
from elbmf.utils.text import shortened

__all__ = ["naming_lines"]

_LONGEST = 60


@contextmanager
def naming_lines(
    names: Callable[[], tuple[Sequence[Any] | None, Sequence[Any] | None]],
) -> Iterator[None]:
    """Let errors that are raised within name rows and columns by the names that they have.

    ``names`` is asked for those of rows and columns only then.
    """
    try:
        yield
    except InputError as error:
        lines = [part for part in error.parts if isinstance(part, Line) and part.name is None]
        if not lines:
            raise
        known = names()

        def named(part: str | Setting | Line) -> str | Setting | Line:
            own = known[part.axis] if isinstance(part, Line) else None
            if own is None or not isinstance(part, Line):
                return part
            return Line(part.axis, part.place, shortened(str(own[part.place]), _LONGEST))

        raise InputError(*map(named, error.parts)) from None
