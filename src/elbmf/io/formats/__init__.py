"""The registry of file formats, and finding the one a file has.

A new format is a file of its own next to this one, and one line in `BUILT_IN`; its options are
those of the functions that read and write it, and become flags of the command line.
"""

from __future__ import annotations

from pathlib import Path

from elbmf.errors import FileFormatError, InputError
from elbmf.io.files import first_bytes
from elbmf.io.formats.format import Format
from elbmf.io.formats.matrix_folder import MATRIX_FOLDER, is_matrix_folder
from elbmf.io.text.lines import UTF16_MARKS
from elbmf.utils.late import imported

__all__ = ["FORMATS", "check_content", "format_of"]

# The command line reads this list without importing anything.
BUILT_IN = (
    "elbmf.io.formats.delimited:CSV",
    "elbmf.io.formats.delimited:TSV",
    "elbmf.io.formats.matrix_market:MATRIX_MARKET",
    "elbmf.io.formats.fimi:FIMI",
    "elbmf.io.formats.rmp:RMP",
    "elbmf.io.formats.numpy_files:NPZ",
    "elbmf.io.formats.numpy_files:NPY",
    "elbmf.io.formats.parquet:PARQUET",
    "elbmf.io.formats.excel:EXCEL",
    "elbmf.io.formats.h5ad:H5AD",
    "elbmf.io.formats.tenx:TENX_FOLDER",
    "elbmf.io.formats.tenx:TENX_H5",
    "elbmf.io.formats.matrix_folder:MATRIX_FOLDER",
)

FORMATS: tuple[Format, ...] = tuple(map(imported, BUILT_IN))

# Only named in messages: what people give by mistake.
_FOREIGN_CONTENT = {
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"%PDF": "a PDF document",
    b"PK\x03\x04": "a ZIP archive (which spreadsheets and npz files are, too)",
    b"\xd0\xcf\x11\xe0": "an old Office document",
    b"BZh": "a bzip2 archive",
    b"\xfd7zXZ": "an xz archive",
    b"\x28\xb5\x2f\xfd": "a Zstandard archive",
    **dict.fromkeys(UTF16_MARKS, "UTF-16 text (save it as UTF-8)"),
    b"\x80\x04\x95": "a Python pickle (which is never opened, because it can run code)",
}


_OTHER = "Give the folder, or name the format of the file."


def format_of(path: Path, name: str | None = None) -> Format:
    """Return the format that is named, or else that of what a folder has in it, or of a suffix.

    The file need not exist.
    """
    if name is not None:
        for candidate in FORMATS:
            if candidate.name == name.lower():
                return candidate
        raise InputError(f"there is no file format {name!r}. Known formats: {_listing()}.")
    for candidate in FORMATS:
        if any((path / mark).is_file() for mark in candidate.marks):
            return candidate
    lowered = path.name.lower()
    plain = lowered.removesuffix(".gz")
    for candidate in FORMATS:
        if plain.endswith(candidate.suffixes):
            if plain != lowered and not candidate.text:
                raise InputError(
                    f"{path}: only text formats may be gzipped, {candidate.name} may not. "
                    f"Use the name {path.name[:-3]!r} and an uncompressed file."
                )
            return candidate
    raise InputError(
        f"{path}: the suffix {Path(plain).suffix!r} belongs to no known format. "
        f"Rename the file or name the format. Known formats: {_listing()}."
    )


def check_content(path: Path, chosen: Format) -> None:
    """Raise where a file is missing, empty, or visibly of another format than the chosen one."""
    if path.is_dir():
        other = is_matrix_folder(path) and chosen is not MATRIX_FOLDER
        if chosen.folder and not other:
            return  # what is in it is looked at when it is opened
        if other:
            raise FileFormatError(
                f"{path}: expected a {'folder' if chosen.folder else 'file'} of the format "
                f"{chosen.name}, found a folder of the "
                f"format {MATRIX_FOLDER.name}. Name that format, or let the folder end in "
                f"{MATRIX_FOLDER.suffixes[0]}."
            )
    head, gzipped = first_bytes(path)
    if chosen.folder:
        content = "gzip-compressed data" if gzipped else _recognised(head) or "something else"
        raise FileFormatError(
            f"{path}: expected a folder of the format {chosen.name}, found a file whose content is "
            f"{content}. {'Make a folder of it with elbmf convert.' if chosen.write else _OTHER}"
        )
    if gzipped and not chosen.text:
        raise FileFormatError(
            f"{path}: expected a file of the format {chosen.name}, found gzip-compressed data. "
            "Decompress it first (gunzip)."
        )
    if chosen.magic:
        matches = head.startswith(chosen.magic)
    elif "encoding" in chosen.read_options and head.startswith(UTF16_MARKS):
        matches = True
    else:
        matches = _recognised(head) is None and b"\0" not in head
    if not matches:
        content = _recognised(head) or ("binary data" if b"\0" in head else "something else")
        raise FileFormatError(
            f"{path}: expected a file of the format {chosen.name} ({chosen.description}), "
            f"but its content is {content}. Name the right format or give the right file."
        )


def _recognised(head: bytes) -> str | None:
    for candidate in FORMATS:
        if candidate.magic and head.startswith(candidate.magic):
            return f"of the format {candidate.name} ({candidate.description})"
    for magic, description in _FOREIGN_CONTENT.items():
        if head.startswith(magic):
            return description
    return None


def _listing() -> str:
    return ", ".join(f"{known.name} ({' '.join(known.suffixes)})" for known in FORMATS)
