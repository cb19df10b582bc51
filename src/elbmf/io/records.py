"""Tables of results, one record per line: csv, tsv, json and parquet, told by the suffix."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any

from elbmf.errors import InputError
from elbmf.io.files import replacing
from elbmf.io.formats.parquet import opened_parquet, pyarrow_modules
from elbmf.io.long_tables import check_escaping
from elbmf.io.plain import json_text
from elbmf.io.text.lines import harmless

__all__ = ["check_records_format", "read_parquet_records", "write_records"]

Records = Sequence[dict[str, Any]]

_PARQUET = "writing parquet files"


def _write_text(delimiter: str, stream: IO[bytes], records: Records) -> None:
    text = io.TextIOWrapper(stream, encoding="utf-8", newline="")
    writer = csv.DictWriter(text, list(records[0]), delimiter=delimiter, lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    text.flush()
    text.detach()


def _write_json(stream: IO[bytes], records: Records) -> None:
    stream.write(json_text(list(records)).encode())


def _write_parquet(stream: IO[bytes], records: Records) -> None:
    pyarrow, parquet = pyarrow_modules(_PARQUET)
    parquet.write_table(pyarrow.Table.from_pylist(list(records)), stream)


_WRITERS: dict[str, Callable[[IO[bytes], Records], None]] = {
    ".csv": partial(_write_text, ","),
    ".tsv": partial(_write_text, "\t"),
    ".json": _write_json,
    ".parquet": _write_parquet,
}


def check_records_format(path: Path, *, escape_formulas: bool = False) -> None:
    """Raise where a suffix does not say how to write records, or that needs a missing package."""
    if escape_formulas:
        check_escaping(path.suffix.lower().removeprefix("."))
    if path.suffix.lower() not in _WRITERS:
        raise InputError(
            f"{path}: the suffix must say which kind of table to write: {', '.join(_WRITERS)}."
        )
    if path.suffix.lower() == ".parquet":
        pyarrow_modules(_PARQUET)


def write_records(path: Path, records: Records, *, escape_formulas: bool = False) -> None:
    """Write records to a file, which is replaced as a whole or not touched at all.

    There is at least one, and all have the same keys; None is a value that is not known. In csv and
    tsv, a single quote before text that begins like a formula may be asked for.
    """
    check_records_format(path, escape_formulas=escape_formulas)
    if escape_formulas:
        records = [
            {key: harmless(each) if isinstance(each, str) else each for key, each in record.items()}
            for record in records
        ]
    with replacing(path, compress=False) as stream:
        _WRITERS[path.suffix.lower()](stream, records)


def read_parquet_records(path: Path) -> list[dict[str, Any]]:
    """Read records from a parquet file."""
    with opened_parquet(path) as (_, file):
        return file.read().to_pylist()
