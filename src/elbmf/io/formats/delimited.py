"""The formats csv and tsv: wide tables or pairs, with or without names.

What is left on "auto" is found out by the rules in `elbmf.io.text.layout`. The lines are cut and
their cells read by `elbmf.io.text.fields`, a few megabytes at a time.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import chain, compress, islice
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np
from scipy import sparse

from elbmf.errors import FileFormatError, InputError, Setting
from elbmf.io.chosen import Choice, chosen_columns, chosen_fields, names_chosen, of_chosen_columns
from elbmf.io.collected import collected
from elbmf.io.entries import (
    Ending,
    Entries,
    EntryStream,
    dense_entries,
    table_entries,
)
from elbmf.io.files import open_bytes
from elbmf.io.formats.delimited_pairs import PairReader, pair_lines
from elbmf.io.formats.format import Format, options_of
from elbmf.io.table import CsrBuilder, LabelledMatrix, compact
from elbmf.io.text.fields import Column, FieldReader
from elbmf.io.text.layout import (
    AmbiguousHeaderError,
    Record,
    detect_header,
    detect_pairs_header,
    detect_row_names,
    find_delimiter,
    first_records,
    only_pairs,
    stands_alone,
)
from elbmf.io.text.lines import (
    DelimitedText,
    cell_text,
    check_delimiter,
    check_encoding,
    is_number,
    is_text,
    parse_cell,
    quoted,
    utf8_stream,
)
from elbmf.io.text.numerals import CellError, Numerals, check_marks

__all__ = [
    "CSV",
    "TSV",
    "WideReader",
    "begin_wide",
    "holds_pairs",
    "stream_delimited",
    "stream_lines",
    "wide_lines",
    "write_delimited",
]

_LAYOUTS = ("wide", "pairs")

# So many columns of words are named at once.
_MOST_WORDED = 5

# The title above the names of rows, unless a column is called so.
_CORNER = "row"
_AUTO = "auto"


def stream_delimited(
    preferred: str,
    path: Path,
    *,
    header: bool | Literal["auto"] = "auto",
    row_names: bool | Literal["auto"] = "auto",
    layout: str = "wide",
    delimiter: str = "auto",
    encoding: str = "auto",
    decimal: str = "auto",
    thousands: str = "auto",
    marks: str = "",
    columns: Choice = None,
    drop: Choice = None,
) -> EntryStream:
    """Stream a delimited text file.

    Parameters
    ----------
    preferred : str
        The delimiter that the format suggests.
    path : Path
        The file, gzipped or not.
    header : bool or "auto"
        Whether the first line names the columns.
    row_names : bool or "auto"
        Whether the first field of each line names the row. Wide tables only; pairs always do.
    layout : {"wide", "pairs", "auto"}
        One field per column, or one line ``row,column[,value]`` per entry; "auto" takes a file
        for pairs that would be no 0/1 table: lines of 2 or 3 fields, the second not 0/1.
    delimiter : str
        One ASCII character; "auto" takes that of the format unless the first lines are evenly cut
        by another of comma, semicolon and tab only, or better.
    encoding : str
        Encoding of the names; "auto" is UTF-8, UTF-16 where the first bytes say so, or that of
        Windows in Western Europe where UTF-8 cannot be.
    decimal : str
        The decimal mark, "." or ","; "auto" takes that which the numbers themselves tell.
    thousands : str
        The mark between thousands: ".", ",", "'", "space" or "none".
    marks : str
        Texts that are 1 in a wide table, in any case, with commas between, such as "x"; empty cells
        are then 0, not missing.
    columns, drop : str or sequence of str
        Names of columns to read, or to leave out; see `elbmf.io.chosen`.
    """
    options = {"header": header, "row_names": row_names, "layout": layout, "delimiter": delimiter}
    options |= {"encoding": encoding, "decimal": decimal, "thousands": thousands, "marks": marks}
    with _opened(preferred, path, **options, columns=columns, drop=drop) as (reader, blocks):
        return (yield from _entries(path, reader, blocks))


def _entries(
    path: Path, reader: WideReader | PairReader, blocks: Iterator[tuple[int, bytes]]
) -> EntryStream:
    if isinstance(reader, WideReader) or not any(reader.choice.values()):
        for line, block in blocks:
            yield reader.entries(line, block)
        return reader.ending()
    # Which columns a choice means is known when all names are.
    choice, reader.choice = reader.choice, {}
    table = collected(path, _entries(path, reader, blocks))
    return (yield from table_entries(of_chosen_columns(table, **choice)))


def holds_pairs(chosen: Format, path: Path, **options: Any) -> bool:
    """Whether to take a file of one of these formats for pairs, with ``layout="auto"``."""
    preferred = "," if chosen is CSV else "\t"
    options = _OPTIONS | options | {"layout": _AUTO}
    with _opened(preferred, path, **options) as (reader, _):
        return isinstance(reader, PairReader)


_OPTIONS = options_of(stream_delimited)


@contextmanager
def _opened(
    preferred: str, path: Path, **options: Any
) -> Iterator[tuple[WideReader | PairReader, Iterator[tuple[int, bytes]]]]:
    """Open a file; gives its reader, and its blocks below the header with their first lines."""
    _check_options(options)
    with open_bytes(path) as raw:
        stream, options["encoding"] = utf8_stream(raw, path, options["encoding"])
        blocks = DelimitedText(path, preferred, options["encoding"]).blocks(stream)
        line, block = next(blocks, (1, b""))
        if not block:
            raise FileFormatError(f"{path}: holds blank lines only, expected a table.")
        reader, line, block = _begin(preferred, path, line, block, options)
        yield reader, chain([(line, block)] if block else [], blocks)


def stream_lines(path: Path, line: int, block: bytes, **options: Any) -> EntryStream:
    """Stream lines of text that are in memory already, of which the first has some number."""
    _check_options(options := _OPTIONS | options)
    reader, line, block = _begin(",", path, line, block, options)
    return (yield from _entries(path, reader, iter([(line, block)] if block else [])))


def _begin(
    preferred: str, path: Path, line: int, block: bytes, options: dict[str, Any]
) -> tuple[WideReader | PairReader, int, bytes]:
    """Find out how a file is laid out; gives its reader, and what is left after a header."""
    text = DelimitedText(path, preferred, options["encoding"])
    line, block = find_delimiter(text, line, block, options["delimiter"])
    numerals = Numerals(text.delimiter, options["decimal"], options["thousands"], options["marks"])
    layout = options["layout"]
    sample = first_records(text, block)
    header, row_names = options["header"], options["row_names"]
    reader: WideReader | PairReader
    if layout == "pairs" or (layout == _AUTO and only_pairs(sample)):
        choice = {name: options[name] for name in ("columns", "drop")}
        if header == _AUTO:
            header = _detect_pairs_header(text, sample, block, **choice)
        reader = PairReader(text, sample[0].fields, numerals, header=header, **choice)
    else:
        row_names = detect_row_names(sample) if row_names == _AUTO else row_names
        try:
            header = detect_header(sample, row_names=row_names) if header == _AUTO else header
        except AmbiguousHeaderError as error:
            raise FileFormatError(f"{path}, line {line}: ", *error.parts, ".") from None
        choice = {name: options[name] for name in ("columns", "drop")}
        reader = WideReader(text, sample, numerals, header=header, row_names=row_names, **choice)
    if header:
        lines = sample[1].line - 1 if len(sample) > 1 else block.count(b"\n") + 1
        rest = block.split(b"\n", lines)
        line, block = line + lines, rest[-1] if len(rest) > lines else b""
    return reader, line, block


def _detect_pairs_header(
    text: DelimitedText, sample: list[Record], block: bytes, columns: Choice, drop: Choice
) -> bool:
    """Whether a file of pairs has a header; what only its names tell is said."""
    first = sample[0].fields
    fields, *left = chosen_fields(first, columns, drop)
    # What is said of fields names them by the titles of a header.
    if left != [columns, drop] and len(fields) in (2, 3) and (len(first) > 3 or not left[0]):
        return len(first) > 3 or bool(columns) or detect_pairs_header(sample)
    if len(first) > 3:
        return left != [columns, drop]
    header = detect_pairs_header(sample)
    if not header and len(first) == 2 and stands_alone(text, block):
        header = True
        warnings.warn(
            f"{text.path}: line 1 is taken for a header, as {first[0]!r} and {first[1]!r} do not "
            "come again below. If it is a pair, say so with --no-header, or header=False.",
            stacklevel=2,
        )
    return header


def begin_wide(
    preferred: str, path: Path, line: int, block: bytes, **options: Any
) -> tuple[WideReader, int, bytes]:
    """Find out how a wide table is laid out whose lines come bit by bit, from the first of them.

    Returns what reads the lines of data, and what is left of these lines after a header.
    """
    options = _OPTIONS | options | {"layout": "wide"}
    _check_options(options)
    reader, line, block = _begin(preferred, path, line, block, options)
    assert isinstance(reader, WideReader)
    return reader, line, block


def _check_options(options: dict[str, Any]) -> None:
    _check_choice("header", options["header"], (True, False, _AUTO))
    _check_choice("row_names", options["row_names"], (True, False, _AUTO))
    _check_choice("layout", options["layout"], (*_LAYOUTS, _AUTO))
    check_encoding(options["encoding"])
    check_marks(options["decimal"], options["thousands"])
    check_delimiter(options["delimiter"])


class WideReader:
    """Reads the blocks of a wide table: one line per row, one field per column."""

    def __init__(
        self,
        text: DelimitedText,
        sample: list[Record],
        numerals: Numerals,
        *,
        header: bool,
        row_names: bool,
        columns: Choice = None,
        drop: Choice = None,
    ) -> None:
        first = sample[0].fields
        one_short = (
            header and row_names and len(sample) > 1 and (len(sample[1].fields) == len(first) + 1)
        )
        self.text = text
        count = len(first) + one_short - row_names
        titles = None
        if header:
            titles = first if one_short or not row_names else first[1:]
        self.row_names: list[str] = []
        if count == 0:
            raise FileFormatError(
                f"{text.path}: found a single column, taken for row names, and no data. "
                f"Lines are cut at {text.delimiter!r}; name the right delimiter, or pass ",
                Setting("row_names", False),
                ".",
            )
        # Columns without a title of their own, in which no line has had anything so far: what a
        # delimiter too many in every line looks like.
        named = [] if titles is None or one_short else titles
        labels = list(map(str, range(count))) if titles is None else titles
        title = [first[0]] if header and row_names and not one_short else []
        kept = [True] * count
        if columns or drop:
            try:
                kept = chosen_columns(labels, columns, drop, title)
            except InputError as error:
                raise error.within(f"{text.path}: ") from error
        self.named_rows = row_names and not (title and title[0] in names_chosen(drop, title)[0])
        self.columns = sum(kept)
        # A column that is left out of a table without titles leaves a gap in their numbers.
        has_names = titles is not None or not all(kept)
        self.column_names = list(compress(labels, kept)) if has_names else None
        self._titles, self._shift = titles or [], int(row_names)
        # Where there are words only, the lines may be pairs with more about them.
        cells_below = {cell for record in sample[1:] for cell in record.fields[int(row_names) :]}
        self._only_words = any(map(is_text, cells_below)) and not any(map(is_number, cells_below))
        self._first_titles = first
        # For advice: the first lines of data, and what is left out already.
        self._sample, self._numerals = sample[int(header) :], numerals
        self._dropped = [drop] if isinstance(drop, str) else list(drop or ())
        words = {cell.strip().lower() for cell in cells_below if is_text(cell)}
        # One mark beside empty cells is how people draw who has what.
        self._mark = min(words) if self._only_words and len(words) == 1 else None
        self._marked = bool(numerals.ones)
        # Where in a line the cells are, and of these those that may all be empty.
        self._at = [at + row_names for at in compress(range(count), kept)]
        self._blank_columns = [
            column
            for column, at in enumerate(self._at)
            if not (named and named[at - row_names].strip())
        ]
        kinds = [Column("the name of the row", "optional" if self.named_rows else "skip")]
        cells = [
            Column("" if titles is None else f"column {name!r}", "cell" if keep else "skip")
            for name, keep in zip(labels, kept, strict=True)
        ]
        self._fields = FieldReader(
            str(text.path),
            text.delimiter.encode(),
            [*kinds[: int(row_names)], *cells],
            self._advice,
            quoting=True,
            numerals=numerals,
        )
        self._rows = 0

    def batch(self, first_line: int, block: bytes) -> sparse.csr_array:
        """Return the matrix of a block of lines, of which nothing is kept."""
        builder = CsrBuilder(self.columns)
        if block:
            builder.add(self.cells(first_line, block))
            self.ending()
            self.row_names.clear()
        built = builder.build()
        return sparse.csr_array((compact(built.data), built.indices, built.indptr), built.shape)

    def entries(self, first_line: int, block: bytes) -> Entries:
        """Return the entries of a block of lines that begins at a given line of the file."""
        first_row = self._rows
        return dense_entries(self.cells(first_line, block), first_row)

    def ending(self) -> Ending:
        """Return shape and names, when all blocks were read."""
        if self._rows == 0:
            raise FileFormatError(
                f"{self.text.path}: found a header and no line of data below it. If the first "
                "line is data, pass ",
                Setting("header", False),
                ".",
            )
        if self._blank_columns:
            raise FileFormatError(
                f"{self.text.path}: field {self._at[min(self._blank_columns)] + 1} has no "
                "title and is empty in every line. Remove the extra delimiter, or write NA "
                "where values are missing."
            )
        names = self.row_names if self.named_rows else None
        return Ending((self._rows, self.columns), names, self.column_names, untyped=True)

    def cells(self, first_line: int, block: bytes) -> np.ndarray:
        """Return the cells of a block as a dense array, NaN where they are missing."""
        block = self.text.utf8(block, first_line)
        self._fields.line = first_line
        fields = self._fields.cut(block)
        cells = fields.numbers
        if self._marked:
            # What says that it is missing was refused.
            cells[np.isnan(cells)] = 0
            self._blank_columns = []
        self._check_blanks(first_line, block, np.isnan(cells))
        if self.named_rows:
            self.row_names += [name.decode() for name in fields.texts[0]]
        self._rows += cells.shape[0]
        return cells

    def _check_blanks(self, first_line: int, block: bytes, missing: np.ndarray) -> None:
        """Raise where a line has nothing, and take note of columns that have."""
        empty = missing[:, self._blank_columns].all(axis=0)
        self._blank_columns = np.array(self._blank_columns)[empty].tolist()
        if not self._blank_columns and not missing.all(axis=1).any():
            return
        # Only the text tells what is empty from what says that it is missing.
        for line, fields in self.text.records(block.decode(), first_line):
            if not any(map(str.strip, fields)):
                raise FileFormatError(
                    f"{self.text.path}, line {line}: all fields are empty. Remove the line, "
                    "or write NA where values are missing."
                )
            self._blank_columns = [
                column for column in self._blank_columns if not fields[self._at[column]].strip()
            ]

    def _advice(self, field: int | None, text: str) -> tuple[str | Setting, ...]:
        if field is None:
            return (
                "Complete or remove the line; a field that contains the delimiter must stand in "
                "quotes.",
            )
        advice = (
            "Cells must be 0 or 1, true or false, yes or no, or numbers; empty or NA where a value "
            "is missing."
        )
        if is_text(text) and field == 0:
            told = Setting("row_names", True)
            return (f"{advice} If the first column holds row names, pass ", told, ".")
        if is_text(text) and not self._titles:
            told = Setting("header", True)
            return (f"{advice} If the first line is a header, pass ", told, ".")
        if self._mark is not None and text.strip().lower() == self._mark:
            told = Setting("marks", self._mark)
            return (
                f"{advice} If that is a 1 and an empty cell a 0, pass ",
                told,
                ".",
            )
        if is_text(text) and self._only_words:
            titles = f"{self._first_titles[0]},{self._first_titles[-1]}"
            told = Setting("columns", titles)
            return (
                f"{advice} No column has numbers. If each line has a pair, such as a person and a "
                "permission, pass ",
                Setting("layout", "pairs"),
                *((" ", told) if len(self._first_titles) > 2 else ()),
                ".",
            )
        if is_text(text):
            named = self._without_numbers(field)
            what = "columns that do" if len(named) > 1 else "a column that does"
            told = Setting("drop", ",".join([*self._dropped, *named]))
            return (
                f"{advice} Write 1 and 0 for other words; leave out {what} not belong, such as a "
                "diagnosis: ",
                told,
                ".",
            )
        return (advice,)

    def _without_numbers(self, field: int) -> list[str]:
        """Return the titles of the column of a text, and of some more with text in the sample."""
        others = [at for at in self._at if at != field and any(map(self._is_word, self._cells(at)))]
        found = sorted([field, *others[: _MOST_WORDED - 1]])
        titles = [self._titles[at - self._shift] for at in found]
        # A comma parts names.
        plain = not any("," in title for title in titles)
        return titles if plain else [self._titles[field - self._shift]]

    def _cells(self, at: int) -> Iterator[str]:
        return (each.fields[at] for each in self._sample if at < len(each.fields))

    def _is_word(self, cell: str) -> bool:
        try:
            parse_cell(cell, self._numerals)
        except CellError:
            return is_text(cell)
        return False


def wide_lines(table: LabelledMatrix, delimiter: str) -> Iterator[str]:
    """Yield the lines of a wide table, the header first where columns have names."""
    rows, columns = table.shape
    if rows == 0 or columns == 0:
        raise InputError(
            f"a matrix of shape {rows} x {columns} cannot be written as a text table, which needs "
            "at least one row and one column. Write it as npz."
        )
    names = None if table.row_names is None else quoted(table.row_names, delimiter)
    if table.column_names is not None:
        fields = quoted(table.column_names, delimiter)
        corner = '""' if _CORNER in table.column_names else _CORNER
        yield delimiter.join(fields if names is None else [corner, *fields]) + "\n"
    values = table.values
    # One row of zeros, in which the cells that are not zero are set and then reset.
    cells = ["0"] * columns
    binary = values.dtype == bool
    texts = ["1"] * values.nnz if binary else list(map(cell_text, values.data.tolist()))
    indices, bounds = values.indices.tolist(), values.indptr.tolist()
    for row in range(rows):
        stored = range(bounds[row], bounds[row + 1])
        for entry in stored:
            cells[indices[entry]] = texts[entry]
        line = delimiter.join(cells) + "\n"
        yield line if names is None else names[row] + delimiter + line
        for entry in stored:
            cells[indices[entry]] = "0"


def write_delimited(
    preferred: str,
    stream: IO[bytes],
    table: LabelledMatrix,
    *,
    layout: str = "wide",
    delimiter: str = "auto",
) -> None:
    """Write a delimited text file in UTF-8, with a header and row names where there are names.

    With the layout "pairs", there is one line ``row,column[,value]`` per entry that is not zero.
    """
    _check_choice("layout", layout, _LAYOUTS)
    separator = preferred if check_delimiter(delimiter) == "auto" else delimiter
    lines: Iterator[str] = (wide_lines if layout == "wide" else pair_lines)(table, separator)
    while chunk := "".join(islice(lines, 256)):
        stream.write(chunk.encode())


def _check_choice(option: str, value: object, choices: tuple[object, ...]) -> None:
    # 1 and 0 equal True and False, and are not meant.
    if not any(
        value is choice or (isinstance(value, str) and value == choice) for choice in choices
    ):
        allowed = ", ".join(map(repr, choices))
        raise InputError(f"{option} must be one of {allowed}, got {value!r}.")


_HELP = {
    "layout": "wide (a table) or pairs (a row and a column per line)",
    "header": "the first line names the columns",
    "row_names": "the first field of a line names the row",
    "delimiter": "what separates fields of a line",
    "columns": "names of columns to read, all others being left out",
    "drop": "names of columns to leave out",
    "encoding": "encoding of text (default: found out, mostly utf-8)",
    "decimal": "decimal mark of numbers, . or , (default: found out)",
    "thousands": "mark between thousands: . , ' space or none (default: found out)",
    "marks": "what is a 1 in a table where empty cells are 0, such as x",
}

CSV = Format(
    name="csv",
    suffixes=(".csv",),
    description="comma-separated table or pairs",
    stream=partial(stream_delimited, ","),
    write=partial(write_delimited, ","),
    text=True,
    option_help=_HELP,
)
TSV = Format(
    name="tsv",
    suffixes=(".tsv", ".tab", ".txt"),
    description="tab-separated table or pairs",
    stream=partial(stream_delimited, "\t"),
    write=partial(write_delimited, "\t"),
    text=True,
    option_help=_HELP,
)
