"""Preparing data: from the files of an owner, or generated, to a folder of prepared data."""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from elbmf.paper.catalog.download import digest
from elbmf.paper.catalog.sets import DataSet, data_folder, get, loader_of
from elbmf.paper.catalog.standin import stand_in
from elbmf.paper.catalog.store import check_free, save_prepared

__all__ = ["prepare", "prepare_stand_in"]


def prepare(
    name: str,
    path: str | os.PathLike[str],
    folder: str | os.PathLike[str] | None = None,
    *,
    overwrite: bool = False,
    **options: Any,
) -> Path:
    """Read the files of a data set and write its matrix, names and labels into a folder.

    Parameters
    ----------
    name : str
        Name of the data set.
    path : path-like
        The file, archive or folder of the owner.
    folder : path-like, optional
        Where to write; `data_folder` by default.
    overwrite : bool
        Whether to replace what was prepared there before.
    **options
        Options of the loader.

    Returns
    -------
    Path
        The matrix, for `open_prepared`.
    """
    data_set, place = get(name), data_folder() if folder is None else Path(folder)
    check_free(place, data_set.name, overwrite=overwrite)
    data = loader_of(name)(path, **options)
    source = Path(path)
    made_of: dict[str, Any] = {"from": source.resolve().name}
    if source.is_file():
        made_of |= {"bytes": source.stat().st_size, "sha256": digest(source)}
    info = {**_told(data_set), "options": _all_options(name, options), "made_of": made_of}
    return save_prepared(place, data_set.name, data, info, overwrite=overwrite)


def prepare_stand_in(
    name: str,
    folder: str | os.PathLike[str] | None = None,
    *,
    scale: float = 1.0,
    random_state: int | None = None,
    overwrite: bool = False,
) -> Path:
    """Write a generated matrix of the shape, density and rank of a data set into a folder.

    Parameters
    ----------
    name : str
        Name of the data set; that of the matrix is followed by ``-standin``.
    folder : path-like, optional
        Where to write; `data_folder` by default.
    scale : float
        Factor for both the rows and the columns.
    random_state : int, optional
        Seed.
    overwrite : bool
        Whether to replace what was generated there before.

    Returns
    -------
    Path
        The matrix, for `open_prepared`.
    """
    data_set, place = get(name), data_folder() if folder is None else Path(folder)
    own = f"{data_set.name}-standin"
    check_free(place, own, overwrite=overwrite)
    shape = (data_set.rows, data_set.columns)
    data = stand_in(shape, data_set.density, data_set.rank, scale=scale, random_state=random_state)
    info = {"source": "generated", "stands_for": data_set.name, "scale": scale, "generated": True}
    return save_prepared(
        place, own, data, {**info, "paper": _told(data_set)["paper"]}, overwrite=overwrite
    )


def _told(data_set: DataSet) -> dict[str, Any]:
    """Return what ``NAME.json`` says of a data set."""
    return {
        "title": data_set.title,
        "source": data_set.source,
        "licence": data_set.access,
        "preparation": data_set.preparation,
        "paper": {
            "shape": [data_set.rows, data_set.columns],
            "ones": data_set.ones,
            "density": data_set.density,
            "rank": data_set.rank,
            "parameters": dict(data_set.parameters),
        },
    }


def _all_options(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a loader, given or not, as JSON can hold them: paths as text."""
    parameters = inspect.signature(loader_of(name)).parameters.values()
    options = {p.name: p.default for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY}
    return {
        option: os.fspath(value) if isinstance(value, os.PathLike) else value
        for option, value in {**options, **given}.items()
    }
