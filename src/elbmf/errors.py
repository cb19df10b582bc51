"""The errors this package raises on purpose.

Each message says what was expected, what came, where, and what to do.
"""

__all__ = ["FileFormatError", "InputError", "MissingExtraError"]


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
