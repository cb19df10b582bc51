"""The errors this package raises on purpose.

Each message says what was expected, what came, where, and what to do.
"""

import errno
import os

__all__ = [
    "DeviceMemoryError",
    "DiskFullError",
    "FileFormatError",
    "InputError",
    "MissingExtraError",
]


class InputError(ValueError):
    """The data or a parameter cannot be used as given."""


class FileFormatError(InputError):
    """A file is empty, truncated, or not of the format it claims to be."""


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
            f"{purpose} needs the package {package!r}, which is not installed. "
            f"Install it with: pip install 'elbmf[{extra}]'",
            name=package,
        )


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
    """

    def __init__(self, folder: str | os.PathLike[str], what: str, error: OSError) -> None:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        remedy = "Free some room there" if full else "See that it can be written to"
        super().__init__(
            error.errno or errno.EIO,
            f"{os.fspath(folder)}: there is no room for {what} ({error.strerror or error}). "
            f"{remedy}, or work in another folder.",
        )


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
            f"device={device!r} has no room for {what} (torch says: {first.rstrip('.')}). Take "
            "fewer components, see that nothing else has its memory, or leave the device out: the "
            "epochs then run in the memory of this machine, or within a memory_limit that you set."
        )
