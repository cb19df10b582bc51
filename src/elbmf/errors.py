"""The errors this package raises on purpose.

Each message says what was expected, what came, where, and what to do.
"""

import errno
import os

__all__ = ["DiskFullError", "FileFormatError", "InputError", "MissingExtraError"]


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
        remedy = "Free some room, or" if full else "See that it can be written to, or"
        super().__init__(
            error.errno or errno.EIO,
            f"{os.fspath(folder)}: {what} could not be had there ({error.strerror or error}). "
            f"{remedy} use another folder: set the environment variable TMPDIR for scratch files.",
        )
