"""Draws the pictures of the pages before they are read, those that are older than their scripts."""

import importlib
import sys
from pathlib import Path
from typing import Any

from elbmf.plots import save

_MODULES = ("pictures.method", "pictures.rivals")


def draw(app: Any) -> None:
    """Write every picture to ``_pictures`` beside the pages."""
    source = Path(app.srcdir)
    sys.path.insert(0, str(source))
    target = source / "_pictures"
    target.mkdir(exist_ok=True)
    newest = max(path.stat().st_mtime for path in (source / "pictures").glob("*.py"))
    for module in _MODULES:
        pictures = importlib.import_module(module).PICTURES
        for name, function in pictures.items():
            path = target / f"{name}.svg"
            if not path.exists() or path.stat().st_mtime < newest:
                save(function(), path)


def setup(app: Any) -> dict[str, bool]:
    """Draw when the build begins."""
    app.connect("builder-inited", draw)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
