"""Importing when first used, so that the command line need not wait for what it does not need."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

__all__ = ["imported", "late_names"]


def imported(place: Any) -> Any:
    """Return what ``"module:name"`` or ``"module"`` stands for; anything but text as it is."""
    if not isinstance(place, str):
        return place
    module, _, name = place.partition(":")
    found = import_module(module)
    return getattr(found, name) if name else found


def late_names(
    package: str, places: Callable[[], Mapping[str, Any]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package whose names are imported when used.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    places : callable
        Gives for each name the place, as for `imported`. It is asked each time, for tables grow.
    """

    def find(name: str) -> Any:
        known = places()
        if name not in known:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return imported(known[name])

    def names() -> list[str]:
        return sorted({*vars(import_module(package)), *places()})

    return find, names
