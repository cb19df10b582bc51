"""What a file format is: a name, suffixes, and the functions that stream and write it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from elbmf.errors import InputError
from elbmf.io.entries import EntryStream
from elbmf.io.table import LabelledMatrix

__all__ = ["Format", "options_of"]


@dataclass(frozen=True)
class Format:
    """A file format.

    Parameters
    ----------
    name : str
        The name by which it is asked for.
    suffixes : tuple of str
        File name endings, with the dot, in lower case; the first is the usual one.
    description : str
        One line for listings.
    stream : callable
        ``stream(path, **options) -> EntryStream``, which reads it: into memory and to disk. Its
        keyword-only parameters are the options.
    write : callable or None
        ``write(stream, table, **options)``, or None where the format is only read. Where it is a
        folder, ``write(path, table, **options)``, which replaces it as a whole or not at all.
    opened : callable or None
        ``opened(path) -> LabelledMatrix``, where a matrix can be used without being read.
    text : bool
        Whether it is text; text may be gzipped.
    magic : tuple of bytes
        Beginnings of which every such file has one; empty where there is none.
    keeps_names : bool
        Whether a written file holds the names of rows and columns.
    keeps_missing : bool
        Whether a written file can tell missing cells from zeros.
    folder : bool
        Whether it is a folder of files.
    marks : tuple of str
        Names of files by which a folder is told, whatever it is called; it has one of them.
    option_help : mapping of str to str
        What each option does, for the help of the command line.
    """

    name: str
    suffixes: tuple[str, ...]
    description: str
    stream: Callable[..., EntryStream]
    write: Callable[..., None] | None = None
    opened: Callable[[Path], LabelledMatrix] | None = None
    text: bool = False
    magic: tuple[bytes, ...] = ()
    keeps_names: bool = True
    keeps_missing: bool = True
    folder: bool = False
    marks: tuple[str, ...] = ()
    option_help: Mapping[str, str] = field(default_factory=dict)

    @property
    def read_options(self) -> dict[str, Any]:
        """Options of reading and their defaults."""
        return options_of(self.stream)

    @property
    def write_options(self) -> dict[str, Any]:
        """Options of writing and their defaults."""
        return {} if self.write is None else options_of(self.write)

    def check_options(self, given: Mapping[str, Any], *, action: str) -> None:
        """Raise where an option does not belong to this format; the action is "read" or "write"."""
        known = self.read_options if action == "read" else self.write_options
        unknown = [option for option in given if option not in known]
        if unknown:
            has = ", ".join(known) if known else "none"
            raise InputError(
                f"{', '.join(map(repr, unknown))} is not an option to {action} the format "
                f"{self.name!r}. Options it has: {has}."
            )


def options_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the keyword-only parameters of a function and their defaults."""
    parameters = inspect.signature(function).parameters.values()
    return {p.name: p.default for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY}
