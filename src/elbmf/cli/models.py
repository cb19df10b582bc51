"""Saved results as the commands take them."""

from pathlib import Path

from elbmf.io import MODEL_FILES, SavedModel, load_model

__all__ = ["CHOSEN", "load"]

CHOSEN = "model"
"""Where in its folder a search over ranks keeps the model it chose."""


def load(folder: str | Path) -> SavedModel:
    """Load the model of a folder, be it a fit's or that which a search over ranks chose."""
    inner = Path(folder) / CHOSEN
    has_own = any((Path(folder) / name).exists() for name in MODEL_FILES)
    return load_model(inner if not has_own and inner.is_dir() else folder)
