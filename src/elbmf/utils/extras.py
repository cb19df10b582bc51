"""Packages that only some of what this one does needs."""

import importlib
from typing import Any

from elbmf.errors import MissingExtraError

__all__ = ["optional_module"]


def optional_module(module: str, *, extra: str, purpose: str) -> Any:
    """Import a module of an optional dependency, or say which extra installs it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtraError(module.partition(".")[0], extra, purpose) from error
