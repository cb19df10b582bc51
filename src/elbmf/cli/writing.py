"""Folders and files to write to: looked at before the work, so that no work is lost."""

import os
import shutil
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elbmf.errors import InputError
from elbmf.io import MODEL_FILES, Format, SavedModel, format_of, is_matrix_folder, save_model
from elbmf.io.records import check_records_format
from elbmf.utils.atomic import only_remains, try_writing

if TYPE_CHECKING:
    from elbmf.search.margins import Margins

__all__ = [
    "check_document",
    "check_folder",
    "check_other_file",
    "check_picture",
    "check_table",
    "save",
    "writable_format",
]


def check_other_file(output: Path, *inputs: str | Path) -> None:
    """Raise where a file to write is one of those that are read, by whatever name."""
    for source in inputs:
        with suppress(OSError):  # What does not exist is no other file.
            if os.path.samefile(output, source):
                raise InputError(
                    f"{output}: writing there would replace {source}, which is read. "
                    "Choose another name."
                )


def check_folder(
    folder: Path, *inputs: str, overwrite: bool, names: Iterable[str] = MODEL_FILES
) -> None:
    """Raise where a result could not be saved in a folder; nothing is made yet.

    It must not replace what is read by any of the names of files that it has, by default those of a
    model.
    """
    for name in names:
        check_other_file(folder / name, *inputs)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: is a file, expected the name of a folder. Choose another.")
    try:
        if folder.is_dir():
            try_writing(folder)
            if only_remains(folder):
                return
            if not overwrite:
                raise InputError(
                    f"{folder}: the folder exists and is not empty. Choose another, or pass "
                    "--overwrite to replace the result in it."
                )
        above = folder.absolute().parent
        while not above.exists():
            above = above.parent
        try_writing(above)
    except OSError as error:
        raise InputError(
            f"{folder}: the folder cannot be written ({error.strerror or error}). "
            "Choose another, or change its permissions."
        ) from error


def save(
    folder: Path,
    model: SavedModel,
    *,
    overwrite: bool,
    tsv: bool,
    margins: "Margins | None" = None,
    escape_formulas: bool = False,
) -> None:
    """Save a model; where that has become impossible, save it elsewhere and say where."""
    try:
        folder.absolute().parent.mkdir(parents=True, exist_ok=True)
        tables: dict[str, Any] = {
            "tsv": tsv,
            "margins": margins,
            "escape_formulas": escape_formulas,
        }
        save_model(folder, model, overwrite=overwrite, **tables)
    except (InputError, OSError) as error:
        above = Path(tempfile.mkdtemp(prefix="elbmf-"))
        rescued = above / folder.absolute().name
        try:
            save_model(rescued, model, **tables)
        except BaseException as another:
            shutil.rmtree(above, ignore_errors=True)
            raise (error if isinstance(another, InputError | OSError) else another) from None
        raise InputError(f"{error} The result is in {rescued} instead.") from error


def writable_format(path: Path, name: str | None = None) -> Format:
    """Return the format of a file to write, or raise where it cannot be written."""
    chosen = format_of(path, name)
    if chosen.write is None:
        raise InputError(f"{path}: files of the format {chosen.name} can only be read.")
    if chosen.folder and path.exists() and not is_matrix_folder(path):
        raise InputError(
            f"{path}: exists and is not a matrix folder; only these are replaced. Choose "
            "another name, or move it away."
        )
    _check_place(path, folder=chosen.folder)
    return chosen


def check_picture(path: Path, *inputs: str) -> None:
    """Raise where a picture could not be drawn into a file, or would replace what is read."""
    from elbmf import plots  # here, for few commands draw

    known = plots.suffixes()
    if path.suffix.removeprefix(".").lower() not in known:
        raise InputError(
            f"{path}: the suffix must say which kind of picture to draw: "
            f"{', '.join('.' + suffix for suffix in known)}."
        )
    _check_place(path)
    check_other_file(path, *inputs)


def check_document(path: Path, suffix: str, *inputs: str | Path, made: Path | None = None) -> None:
    """Raise where a document could not be written, or would replace what is read or made otherwise.

    It may be in a folder that will be made before.
    """
    if path.suffix.lower() != suffix:
        raise InputError(f"{path}: the name must end in {suffix}.")
    check_other_file(path, *inputs)
    if made is None or path.absolute().parent != made.absolute() or made.exists():
        _check_place(path)


def check_table(
    path: Path, *inputs: str, result: str | None = None, escape_formulas: bool = False
) -> None:
    """Raise where a table could not be written, or would replace what is read, or of a result."""
    check_records_format(path, escape_formulas=escape_formulas)
    _check_place(path)
    made = () if result is None else (Path(result) / name for name in MODEL_FILES)
    check_other_file(path, *inputs, *made)


def _check_place(path: Path, *, folder: bool = False) -> None:
    if path.is_dir() and not folder:
        raise InputError(f"{path}: is a folder, expected the name of a file to write.")
    if not path.absolute().parent.is_dir():
        raise InputError(f"{path}: the folder {path.parent} does not exist. Create it first.")
    if not os.access(path.absolute().parent, os.W_OK):
        raise InputError(f"{path}: the folder {path.parent} cannot be written (no permission).")
