"""Prepared data in a folder: ``NAME.npz`` is the matrix, the files beside it say what it is.

``NAME.json`` tells where the data is from and how it was made, ``NAME.rows.tsv.gz`` and
``NAME.cols.tsv.gz`` hold the names of rows and columns in a column ``id`` and their labels, if any,
in further ones. Every command reads the matrix, with its names, as it reads any file.
"""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from scipy import sparse

from elbmf.errors import FileFormatError, InputError, Setting
from elbmf.io import LabelledMatrix, read, write
from elbmf.io.files import open_bytes, replacing, writing
from elbmf.io.plain import json_text
from elbmf.io.side_tables import ID, SIDES, read_side, write_side
from elbmf.io.table import compact
from elbmf.paper.catalog.prepared import PreparedData
from elbmf.paper.catalog.sets import data_folder

__all__ = [
    "check_free",
    "find",
    "open_prepared",
    "prepared_info",
    "prepared_sets",
    "save_prepared",
]

_MATRIX, _INFO = ".npz", ".json"


def prepared_sets(folders: Iterable[str | os.PathLike[str]] | None = None) -> dict[str, Path]:
    """Return the data sets that lie prepared in folders.

    Parameters
    ----------
    folders : iterable of path-like, optional
        Where to look; `data_folder` by default. Folders that do not exist have none.

    Returns
    -------
    dict of str to Path
        Names in alphabetical order, and the matrix of each, for `open_prepared`. Of a name that
        several folders have, that of the first.

    Examples
    --------
    >>> from elbmf.paper.catalog import open_prepared, prepared_sets
    >>> for name, path in prepared_sets(["no such folder"]).items():
    ...     data = open_prepared(path)
    """
    found: dict[str, Path] = {}
    for folder in [data_folder()] if folders is None else map(Path, folders):
        for info in folder.glob(f"*{_INFO}"):
            matrix = info.with_suffix(_MATRIX)
            if matrix.is_file():
                found.setdefault(info.stem, matrix)
    return dict(sorted(found.items()))


def find(name: str, folders: Iterable[str | os.PathLike[str]] | None = None) -> Path:
    """Return the matrix of a prepared data set.

    Parameters
    ----------
    name : str
        Name of the data set.
    folders : iterable of path-like, optional
        Where to look; `data_folder` by default.

    Raises
    ------
    InputError
        When none of the folders has it.
    """
    places = [data_folder()] if folders is None else [Path(folder) for folder in folders]
    known = prepared_sets(places)
    if name not in known:
        close = difflib.get_close_matches(name, known, n=3)
        hint = f" Did you mean {' or '.join(close)}?" if close else ""
        raise InputError(
            f"{name!r} is not prepared in {', '.join(map(str, places))}.{hint} "
            f"'elbmf data show {name}' says how to get and prepare it."
        )
    return known[name]


def open_prepared(path: str | os.PathLike[str]) -> PreparedData:
    """Read a prepared data set: matrix, names, labels and notes.

    Parameters
    ----------
    path : path-like
        The matrix, ``NAME.npz``; the suffix may be left out.

    Returns
    -------
    PreparedData
        Names are those in the matrix, or else in the tables beside it; labels are the columns of
        these tables other than ``id``.

    See Also
    --------
    prepared_sets : What there is.
    find : Where one is, by its name.
    """
    base = _base(path)
    matrix = read(_beside(base, _MATRIX))
    values = sparse.csr_array(matrix.values)
    values = sparse.csr_array((compact(values.data), values.indices, values.indptr), values.shape)
    names: list[list[str] | None] = [matrix.row_names, matrix.column_names]
    labels: list[dict[str, list[str]]] = [{}, {}]
    for axis, suffix in enumerate(SIDES):
        side = _beside(base, suffix)
        if side.is_file():
            table = read_side(side, matrix.shape[axis])
            ids = table.pop(ID, None)
            names[axis] = names[axis] or ids
            labels[axis] = table
    notes = prepared_info(base).get("notes", [])
    return PreparedData(LabelledMatrix(values, *names), labels[0], labels[1], list(notes))


def prepared_info(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return what ``NAME.json`` beside a matrix says; nothing where there is no such file."""
    file = _beside(_base(path), _INFO)
    if not file.is_file():
        return {}
    with open_bytes(file) as stream:
        try:
            info = json.loads(stream.read())
        except ValueError as error:
            raise FileFormatError(f"{file}: not a JSON file: {error}.") from error
    if not isinstance(info, dict):
        raise FileFormatError(f"{file}: expected a JSON object, found {type(info).__name__}.")
    return info


def check_free(folder: Path, name: str, *, overwrite: bool) -> Path:
    """Return where the matrix of a data set goes, or raise where it cannot be written.

    The folder need not exist.
    """
    path = _beside(folder / name, _MATRIX)
    above = folder.absolute()
    while not above.exists():
        above = above.parent
    if not above.is_dir() or not os.access(above, os.W_OK):
        raise InputError(
            f"{folder}: cannot be written: {above} is no folder or may not be changed. Choose "
            "another folder."
        )
    if path.exists() and not overwrite:
        raise InputError(
            f"{path}: exists already. Choose another folder, or pass ",
            Setting("overwrite", True),
            " to replace it.",
        )
    return path


def save_prepared(
    folder: str | os.PathLike[str],
    name: str,
    data: PreparedData,
    info: Mapping[str, Any] | None = None,
    *,
    overwrite: bool = False,
) -> Path:
    """Write a prepared data set into a folder, which is made if need be.

    Parameters
    ----------
    folder : path-like
        Where to write.
    name : str
        Name of the data set.
    data : PreparedData
        What to write.
    info : mapping, optional
        What else ``NAME.json`` is to say; it always has name, shape, ones, density and notes.
    overwrite : bool
        Whether to replace a data set of the same name.

    Returns
    -------
    Path
        The matrix.
    """
    place = Path(folder)
    path = check_free(place, name, overwrite=overwrite)
    base = place / name
    with writing(place):
        place.mkdir(parents=True, exist_ok=True)
    # What there is without NAME.json is not a prepared set: no state between counts as one.
    for suffix in (_INFO, *SIDES):
        with writing(path):
            _beside(base, suffix).unlink(missing_ok=True)
    matrix = data.matrix
    write(path, matrix)
    sides = (
        (matrix.row_names, matrix.row_labels(), data.row_labels),
        (matrix.column_names, matrix.column_labels(), data.column_labels),
    )
    for suffix, (names, ids, labels) in zip(SIDES, sides, strict=True):
        if names is not None or labels:
            write_side(_beside(base, suffix), {ID: ids, **labels})
    rows, columns = matrix.shape
    ones = int(matrix.values.nnz)
    told = {
        "name": name,
        **(info or {}),
        "shape": [rows, columns],
        "ones": ones,
        "density": ones / max(rows * columns, 1),
        "notes": data.notes,
    }
    with replacing(_beside(base, _INFO), compress=False) as stream:
        stream.write(json_text(told, indent=1).encode())
    return path


def _base(path: str | os.PathLike[str]) -> Path:
    given = Path(path)
    return given.with_suffix("") if given.suffix == _MATRIX else given


def _beside(base: Path, suffix: str) -> Path:
    return base.with_name(base.name + suffix)
