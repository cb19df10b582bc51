"""Writing a result into the h5ad file that it was made from, beside its matrix."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np

from elbmf.errors import FileFormatError
from elbmf.io.annotated import KEY, check_is_of, kept_beside
from elbmf.io.files import writing
from elbmf.io.formats import check_content, format_of
from elbmf.io.formats.h5ad import axis_names, edited, inside, mark, opened
from elbmf.io.model import SavedModel
from elbmf.utils.atomic import atomic_file

__all__ = ["check_write_back", "write_back"]


def write_back(path: str | os.PathLike[str], model: SavedModel, *, key: str = KEY) -> None:
    """Write a model into the h5ad file that it was made from, as ``elbmf.tl.factorize`` keeps it.

    Parameters
    ----------
    path : path-like
        The file. A copy with the results takes its place; all else in it stays as it is.
    model : SavedModel
        Its rows are the observations of the file, and its columns the variables.
    key : str
        What the results are called: ``obsm["X_KEY"]``, ``varm[KEY]`` and ``uns[KEY]``, which are
        replaced if they are there.
    """
    source = Path(os.path.realpath(path))
    check_write_back(source)
    with opened(source) as file:
        names = [axis_names(source, file, axis) for axis in ("obs", "var")]
    check_is_of(model, names[0], names[1], f"{path}:")
    with writing(source), atomic_file(source) as copy:
        with open(source, "rb") as original:
            shutil.copyfileobj(original, copy)
        kept = kept_beside(model, key)
        with edited(copy, _bytes_of(kept)) as file:
            for where, entries in kept.items():
                group = _group(source, file, where)
                for name, value in entries.items():
                    if name in group:
                        del group[name]
                    _write(group, name, value)


def check_write_back(path: str | os.PathLike[str]) -> None:
    """Raise where a file is none that results can be written into."""
    chosen = format_of(Path(path))
    if chosen.name != "h5ad":
        raise FileFormatError(
            f"{path}: results can be written back into files of the format h5ad, this is one of "
            f"the format {chosen.name}. Make one first with elbmf convert."
        )
    check_content(Path(path), chosen)


def _group(path: Path, file: Any, name: str) -> Any:
    if name not in file:
        group = file.create_group(name)
        mark(group, "dict", "0.1.0")
        return group
    group = inside(file, name)
    if not hasattr(group, "keys"):
        raise FileFormatError(
            f"{path}: {name} is no group of its own, as AnnData from version 0.7 on writes it. "
            "Write the file again with a recent anndata."
        )
    return group


def _bytes_of(value: Any) -> int:
    """Return how many bytes notes and arrays have."""
    if isinstance(value, dict):
        return sum(map(_bytes_of, value.values()))
    return len(value.encode()) if isinstance(value, str) else int(np.asarray(value).nbytes)


def _write(group: Any, name: str, value: Any) -> None:
    """Write what notes are made of: numbers, text, arrays of numbers, and groups of these."""
    import h5py

    if isinstance(value, dict):
        inner = group.create_group(name)
        mark(inner, "dict", "0.1.0")
        for key, each in value.items():
            _write(inner, key, each)
    elif isinstance(value, str):
        mark(group.create_dataset(name, data=value, dtype=h5py.string_dtype()), "string", "0.2.0")
    elif isinstance(value, np.ndarray):
        packing = {"compression": "gzip"} if value.size else {}
        mark(group.create_dataset(name, data=value, **packing), "array", "0.2.0")
    else:
        mark(group.create_dataset(name, data=value), "numeric-scalar", "0.2.0")
