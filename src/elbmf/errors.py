"""The errors this package raises on purpose.

Each message says what was expected, what came, where, and what to do.
"""

import errno
import os
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

__all__ = [
    "CONTROLS",
    "ClusterError",
    "DeviceMemoryError",
    "DiskFullError",
    "DoubtfulComponentWarning",
    "FileFormatError",
    "InputError",
    "Line",
    "MissingExtraError",
    "NewerVersionError",
    "NothingToLearnWarning",
    "OtherWorkError",
    "Placeholder",
    "Setting",
    "differing",
    "parts_of",
    "visible",
    "worded",
]

CONTROLS = (*range(0x20), *range(0x7F, 0xA0), 0x061C, 0x200E, 0x200F)
CONTROLS += (0x2028, 0x2029, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
"""Characters that a terminal obeys or takes for a line end, or that turn the direction of text."""

_ESCAPES = {code: repr(chr(code))[1:-1] for code in CONTROLS}
_ESCAPES_IN_LINES = {code: _ESCAPES[code] for code in CONTROLS if chr(code) not in "\t\n"}


def visible(text: str, *, lines: bool = False) -> str:
    r"""Return a text in which nothing is obeyed by what shows it: names are data.

    `CONTROLS` are written as Python does.

    Parameters
    ----------
    text : str
        A name, or what has names in it.
    lines : bool
        Whether line ends and tabs are our own, and stay.

    Examples
    --------
    >>> from elbmf.errors import visible
    >>> print(visible("a name" + chr(27) + "[2J"))
    a name\x1b[2J
    """
    return text.translate(_ESCAPES_IN_LINES if lines else _ESCAPES)


class Placeholder(str):
    """What stands for a value in a message, such as SECONDS; it is shown without quotes."""

    __slots__ = ()
    __repr__ = str.__str__


@dataclass(frozen=True)
class Setting:
    """A parameter that a message names: ``header=False`` in Python, a flag on the command line.

    Parameters
    ----------
    name : str
        The parameter.
    value : object, optional
        What to set it to, or what it is set to; without one, only the name is shown.
    """

    name: str
    value: Any = ...

    def __str__(self) -> str:
        return self.name if self.value is ... else f"{self.name}={self.value!r}"


@dataclass(frozen=True)
class Line:
    """A row (axis 0) or a column (axis 1) that a message names.

    By its number, counted from 0, unless its name is known where the error passes: see
    `elbmf.utils.naming.naming_lines`.
    """

    axis: int
    place: int
    name: str | None = None

    def __str__(self) -> str:
        shown = self.place if self.name is None else repr(self.name)
        return f"{('row', 'column')[self.axis]} {shown}"


class DoubtfulComponentWarning(UserWarning):
    """Some components of a fit may be chance: one row, one column, or no bits saved."""


class NothingToLearnWarning(UserWarning):
    """All cells of the data are missing, or all that are known are ones."""


class InputError(ValueError):
    """The data or a parameter cannot be used as given.

    Parameters
    ----------
    *parts : str, Setting or Line
        The message, in pieces: text, and the parameters, rows and columns that it names, so that
        they can be shown as what the user types and knows.
    """

    def __init__(self, *parts: str | Setting | Line) -> None:
        super().__init__(visible("".join(map(str, parts)), lines=True))
        self.parts = parts

    def within(self, where: str) -> Self:
        """Return the same error, whose message begins with where it is."""
        error = type(self).__new__(type(self))
        vars(error).update(vars(self))
        InputError.__init__(error, where, *self.parts)
        return error


class FileFormatError(InputError):
    """A file is empty, truncated, or not of the format it claims to be."""


class NewerVersionError(FileFormatError):
    """A file is of a version that this program is too old for."""

    def __init__(self, path: str | os.PathLike[str], found: int, known: int) -> None:
        super().__init__(
            f"{os.fspath(path)}: has version {found}, which is newer than this program knows "
            f"({known}). Install a newer elbmf."
        )


class ClusterError(RuntimeError):
    """A cluster is not there, or has lost what cannot be made again."""


class MissingExtraError(ImportError):
    """An optional dependency is needed for what was asked.

    Parameters
    ----------
    package : str
        The package that could not be imported.
    extra : str
        The extra of elbmf that installs it.
    purpose : str
        What the package is needed for, e.g. ``"reading parquet files"``.
    """

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs the package {package!r}, which is not installed. Install it with: "
            f"pip install {shlex.join(_packages_of(extra) or [package])} (that is elbmf[{extra}])",
            name=package,
        )


def _packages_of(extra: str) -> list[str]:
    """Return what an extra installs, as pip takes it from wherever this package came.

    There is nothing to be had by the name of this one where it was installed from a checkout.
    """
    from importlib import metadata  # It takes a while, and is for this message alone.

    try:
        required = metadata.requires("elbmf") or []
    except metadata.PackageNotFoundError:
        return []
    found: list[str] = []
    for line in required:
        wanted, _, condition = line.partition(";")
        if re.search(rf"extra == ['\"]{re.escape(extra)}['\"]", condition):
            nested = re.fullmatch(r"elbmf\[(.*)\]", wanted.strip())
            if nested is None:
                found.append(wanted.strip())
            for each in nested[1].split(",") if nested else ():
                found += _packages_of(each.strip())
    return list(dict.fromkeys(found))


class DiskFullError(OSError):
    """There is no room on a disk, or it cannot be written to.

    Parameters
    ----------
    folder : path
        Where there is none.
    what : str
        What was to be written.
    error : OSError
        What the system said.

    Attributes
    ----------
    NUMBERS : tuple of int
        Errors of the system that mean that there is no room.
    """

    NUMBERS: ClassVar[tuple[int, ...]] = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

    def __init__(self, folder: str | os.PathLike[str], what: str, error: OSError) -> None:
        full = error.errno in self.NUMBERS
        remedy = "Free some room there" if full else "See that it can be written to"
        super().__init__(
            error.errno or errno.EIO,
            f"{os.fspath(folder)}: there is no room for {what} ({error.strerror or error}). "
            f"{remedy}, or work in another folder.",
        )

    def __str__(self) -> str:
        return str(self.args[1])


class DeviceMemoryError(MemoryError):
    """There is no room on a device of torch.

    Parameters
    ----------
    device : str
        Where there is none.
    what : str
        What it was to hold.
    said : str
        What torch said.
    """

    def __init__(self, device: str, what: str, said: str) -> None:
        first, *_ = said.strip().splitlines() or ["no reason given"]
        super().__init__(
            f"The device {device!r} has no room for {what} (torch says: {first.rstrip('.')}). Take "
            "fewer components, see that nothing else has its memory, or leave the device out: the "
            "epochs then run in the memory of this machine, or within a memory_limit that you set."
        )


class OtherWorkError(InputError):
    """A folder that is to be gone on from has been begun with other data or parameters.

    Parameters
    ----------
    folder : path
        Which folder.
    differing : list of str
        Names of what is not the same.

    Attributes
    ----------
    holds, remedy : str
        What is in the folder, and what to do about it.
    """

    holds: ClassVar[str]
    remedy: ClassVar[str]

    def __init__(self, folder: str | os.PathLike[str], differing: list[str]) -> None:
        super().__init__(
            f"{os.fspath(folder)}: has {self.holds} (other {', '.join(differing)}). {self.remedy}"
        )
        self.differing = differing


def parts_of(error: BaseException) -> tuple[str | Setting | Line, ...]:
    """Return the pieces of a message, for another message to take up."""
    return getattr(error, "parts", None) or (str(error),)


def worded(error: BaseException, write: Callable[[Setting], str]) -> str:
    """Return the message of an error, with its parameters written in a way of one's own."""
    return "".join(
        write(part) if isinstance(part, Setting) else str(part) for part in parts_of(error)
    )


def differing(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return the names under which two notes of data and parameters are not the same."""
    return sorted(key for key in {*before, *now} if before.get(key) != now.get(key))
