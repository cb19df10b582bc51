"""Saved results as the commands take them."""

import json
from pathlib import Path
from typing import Any

from elbmf.errors import FileFormatError
from elbmf.io import MODEL_FILES, SavedModel, load_model
from elbmf.io.files import reading, reason

__all__ = ["CHOSEN", "RANKS", "folder_of", "load", "ranks_of"]

CHOSEN = "model"
"""Where in its folder a search over ranks keeps the model it chose."""

RANKS = "ranks.json"
"""Where in its folder a search over ranks notes what it found."""


def folder_of(folder: str | Path) -> Path:
    """Return where the model of a folder is, be it a fit's or what a search over ranks chose."""
    inner = Path(folder) / CHOSEN
    has_own = any((Path(folder) / name).exists() for name in MODEL_FILES)
    return inner if not has_own and inner.is_dir() else Path(folder)


def load(folder: str | Path) -> SavedModel:
    """Load the model of a folder, be it a fit's or that which a search over ranks chose."""
    return load_model(folder_of(folder))


def ranks_of(folder: str | Path) -> dict[str, Any] | None:
    """Return what a search over ranks noted about the model of a folder, if it was one."""
    model = folder_of(folder)
    path = model.parent / RANKS
    if model.name != CHOSEN or not path.is_file():
        return None
    try:
        with reading(path):
            noted = json.loads(path.read_text(encoding="utf-8"))
        if not {"table", "criterion"} <= {*noted} or "rank" not in noted["table"]:
            raise ValueError("it has no table of ranks")
    except (ValueError, TypeError) as error:
        raise FileFormatError(
            f"{path}: is not what a search over ranks noted: {reason(error)}. Search again, or "
            "move it away."
        ) from error
    return dict(noted)
