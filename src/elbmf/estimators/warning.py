"""Warnings that point to the line of the user who called, however many wrappers lie between."""

import sys
import warnings

__all__ = ["warn_caller"]

# scikit-learn wraps methods (set_output), and calls them from pipelines and, by joblib, from
# searches: how many frames that makes differs from call to call.
_NOT_THE_CALLER = frozenset({"elbmf", "sklearn", "joblib"})


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Issue a warning at the innermost line outside of this package and scikit-learn."""
    # From Python 3.12 on, skip_file_prefixes of warnings.warn does the same.
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and _package(frame.f_globals) in _NOT_THE_CALLER:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _package(module_globals: dict[str, object]) -> str:
    return str(module_globals.get("__name__", "")).partition(".")[0]
