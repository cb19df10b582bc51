"""How a text table is laid out: its delimiter, whether it has a header and a column of row names.

The rules, for what the caller leaves on "auto". They look at the first lines of the file; a
*text* is a cell that is neither a number, true, false, yes or no, nor a sign for a missing value.
Missing values speak neither for names nor against them: among cells of only 0 and 1 there may be
some.

The first column holds row names when one of these is so:

1. the first line has one field less than all others (it names only the data columns);
2. below the first line, the column holds text, and is text throughout or has no repeats (so that
   one stray text in a column of numbers is reported, not taken for a name);
3. below the first line, its cells are quoted and the last cells of the lines are not, and not
   because of decimal commas;
4. the first cell of the file is empty beside texts; or is empty or one of the words in
   `INDEX_WORDS`, above distinct numbers that are not just 0 and 1;
5. it counts 0, 1, 2, ... or 1, 2, 3, ... over at least three lines, beside cells of only 0 and 1.

The first line is a header when one of these is so for its cells, without that of the row names:

1. it has one field less than all others;
2. one of them is text (a missing value alone never makes a header: it is data);
3. its last cell is quoted and that of the next line is not;
4. the cell above the row names is empty and not quoted, or one of the words in `INDEX_WORDS`;
5. they are at least three distinct whole numbers, not just 0 and 1, above cells of only 0 and 1
   (numeric ids, years);
6. they are at least five whole numbers, each one more than the one before;
7. they are at least two years in order, above other cells beside row names.

A header of two numbers such as ``0,1`` is thus taken for data; force it with ``header=True``.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

from elbmf.errors import FileFormatError, InputError, Setting
from elbmf.io.text.lines import (
    DELIMITERS,
    CellError,
    DelimitedText,
    is_missing,
    is_number,
    is_text,
    parse_cell,
)
from elbmf.io.text.numerals import looks_numeric, readings

__all__ = [
    "INDEX_WORDS",
    "AmbiguousHeaderError",
    "Record",
    "detect_header",
    "detect_pairs_header",
    "detect_row_names",
    "find_delimiter",
    "first_records",
    "guess_delimiter",
    "only_pairs",
    "stands_alone",
]

_SAMPLE_RECORDS = 50
_SAMPLE_CHARACTERS = 1 << 20

INDEX_WORDS = frozenset(
    {"id", "ids", "index", "key", "name", "names", "row", "rows", "rowname", "rownames", "row_name"}
    | {"row_names", "row_id", "rowid", "unnamed: 0"}
)

_PAIR_WORDS = INDEX_WORDS | frozenset(
    {"i", "j", "from", "to", "source", "target", "variable", "label", "col", "cols"}
    | {"column", "item", "user", "customer", "gene", "patient", "sample", "feature", "cell"}
    | {"object", "attribute", "transaction", "product", "role", "permission", "document", "word"}
    | {"term", "subject", "movie", "tag", "group", "department", "entitlement", "privilege"}
    | {"right", "account", "login", "person", "resource", "utilisateur", "droit", "benutzer"}
    | {"recht", "berechtigung", "rolle", "rôle", "usuario", "permiso"}
)

# A first line that is alone shows only in so many pairs that others are not.
_FEWEST_PAIRS = 20
_CHARACTERS_OF_PAIRS = 1 << 20


@dataclass(frozen=True)
class Record:
    """One line of a table, or several where a quoted field contains line ends.

    Parameters
    ----------
    line : int
        Number of its first line in the file, from 1.
    fields : list of str
        Its fields, without quotes.
    first_quoted, last_quoted : bool
        Whether the first and the last field stand in quotes.
    """

    line: int
    fields: list[str]
    first_quoted: bool = False
    last_quoted: bool = False


def first_records(text: DelimitedText, block: bytes) -> list[Record]:
    """Return the first records of a file, of which a block of lines is the begin."""
    lines = _sample_lines(text.decode(block, 1))
    sample = list(text.records("".join(lines), 1))
    starts = [line for line, _ in sample[1:]] + [len(lines) + 1]
    return [
        Record(
            line,
            fields,
            first_quoted=lines[line - 1].startswith('"'),
            last_quoted=lines[following - 2].rstrip("\r\n").endswith('"'),
        )
        for (line, fields), following in zip(sample, starts, strict=True)
    ]


def _sample_lines(text: str) -> list[str]:
    """Return the first lines of a text: whole records, at least two, unless they are huge."""
    lines: list[str] = []
    size = quotes = 0
    for line in io.StringIO(text):
        complete = quotes % 2 == 0
        if (
            complete
            and len(lines) >= 2
            and (size > _SAMPLE_CHARACTERS or len(lines) >= _SAMPLE_RECORDS)
        ):
            break
        lines.append(line)
        size += len(line)
        quotes += line.count('"')
    return lines


def guess_delimiter(text: str, preferred: str) -> str:
    """Return the delimiter that cuts the first lines of a text into equally many fields.

    What the format of the file suggests is kept unless another one fits and this does not.
    """
    lines = _sample_lines(text)
    candidates = [preferred, *(other for other in DELIMITERS if other != preferred)]
    cut = {each: _cut(lines, each) for each in candidates}
    even = [each for each in candidates if _is_even(cut[each])]
    if len(even) > 1:
        # Of `7,5;3`, a cut at the comma leaves fields that are no numbers.
        return max(even, key=lambda each: (_share_of_numbers(cut[each]), _is_even(cut[each])))
    if even:
        return even[0]
    # One line has a slip, or several: most are cut alike where it is the right one.
    return max(candidates, key=lambda each: (_most_alike(cut[each]), lines[-1].count(each)))


def find_delimiter(
    text: DelimitedText, line: int, block: bytes, delimiter: str = "auto"
) -> tuple[int, bytes]:
    """Find out the delimiter of a text, by its first lines, unless it is said.

    Returns what is left of the lines after one that only tells the delimiter, as spreadsheets
    understand it: ``sep=;``.
    """
    told = _SEPARATOR.match(block)
    if told is not None:
        block = block[told.end() :]
        line += 1
        text.delimiter = told[1].decode()
    elif delimiter == "auto":
        decoded = text.decode(block, line)
        text.delimiter = guess_delimiter(decoded, text.delimiter)
        if text.delimiter == ",":
            _check_single_column(text, decoded, line)
    if delimiter != "auto":
        text.delimiter = delimiter
    return line, block


def _check_single_column(text: DelimitedText, decoded: str, line: int) -> None:
    """Raise where lines may be a column of decimal commas, or names of rows and whole numbers."""
    first, *below = _sample_lines(decoded)
    commas = any("," in each for each in below) and "," not in first
    if commas and all(looks_numeric(each) for each in below if each.strip()):
        raise FileFormatError(
            f"{text.path}, line {line + 1}: {below[0].strip()!r} may be a number with a decimal "
            "comma or two fields, as the line above has no comma. Pass ",
            Setting("delimiter", ";"),
            " for the former, ",
            Setting("delimiter", ","),
            " for the latter.",
        )


_SEPARATOR = re.compile(rb'"?sep=([,;\t|])"?\r?\n(?=.)', re.IGNORECASE | re.DOTALL)


def _cut(lines: Iterable[str], delimiter: str) -> list[list[str]]:
    """Cut some lines into fields; nothing where their quotes do not allow it."""
    try:
        return list(islice(csv.reader(iter(lines), delimiter=delimiter, strict=True), 20))
    except csv.Error:
        return []


def _is_even(records: list[list[str]]) -> int:
    """Whether all records have as many fields (2), or the first lacks one (1), or neither (0)."""
    widths = list(map(len, records)) or [0]
    others = set(widths[1:]) or {widths[0]}
    if len(others) > 1 or max(others) < 2:
        return 0
    # A header may lack the field above the row names.
    return {0: 2, 1: 1}.get(max(others) - widths[0], 0)


def _share_of_numbers(records: list[list[str]]) -> float:
    """Return how many of the fields below the first line are numbers, or missing."""
    count, numbers, known = 0, 0, dict[str, bool]()
    for fields in records[1:] or records:
        for field in fields:
            if field not in known:
                known[field] = is_missing(field) or is_number(field)
            numbers += known[field]
        count += len(fields)
    return numbers / max(count, 1)


def _most_alike(records: list[list[str]]) -> int:
    """Return how many records have the same number of fields, and more than one."""
    widths = Counter(len(fields) for fields in records if len(fields) > 1)
    return max(widths.values(), default=0)


class AmbiguousHeaderError(InputError):
    """The first line has text among repeated 0/1 cells, above a 0/1 table: names, or a slip."""

    def __init__(self, text: str) -> None:
        super().__init__(
            f"the first line has {text!r} beside cells that are 0 or 1, so it could be names or "
            "data with a mistake in it. Set ",
            Setting("header", True),
            " if it holds column names; else correct that cell",
        )


def _header_is_one_short(sample: Sequence[Record]) -> bool:
    width = len(sample[0].fields)
    return len(sample) > 1 and all(len(record.fields) == width + 1 for record in sample[1:])


def detect_row_names(sample: Sequence[Record]) -> bool:
    """Apply the rules for row names to the first records of a file."""
    if _header_is_one_short(sample):
        return True
    below = sample[1:] or sample
    column = [record.fields[0] for record in below if record.fields]
    if not column or max(len(record.fields) for record in sample) < 2:
        return False
    distinct = len(set(column)) == len(column)
    texts = [is_text(cell) for cell in column]
    if all(texts) or (any(texts) and distinct):
        return True
    if all(record.first_quoted and not record.last_quoted for record in below):
        # A decimal comma needs quotes where commas separate fields.
        return not all("," in cell and looks_numeric(cell) for cell in column)
    if len(sample) > 1 and _corner_names_index(sample[0].fields, column):
        return True
    return any(map(_counts_up_beside_binary, (sample, sample[1:])))


def _corner_names_index(first: Sequence[str], column: Sequence[str]) -> bool:
    corner = first[0].strip().lower() if first else "0"
    if not corner and any(map(is_text, first)):
        return True
    if (corner and corner not in INDEX_WORDS) or not all(map(is_number, column)):
        return False
    numbers = set(map(_number, column))
    return len(numbers) == len(column) and not numbers <= {0, 1}


def _counts_up_beside_binary(records: Sequence[Record]) -> bool:
    return (
        len(records) >= 3
        and _is_run([record.fields[0] for record in records if record.fields], starts=(0, 1))
        and _is_binary(record.fields[1:] for record in records)
    )


def detect_header(sample: Sequence[Record], *, row_names: bool) -> bool:
    """Apply the rules for a header to the first records of a file."""
    if _header_is_one_short(sample):
        return True
    skipped = 1 if row_names else 0
    first, below = sample[0].fields[skipped:], sample[1:]
    if any(map(is_text, first)):
        rows = [record.fields[skipped:] for record in below]
        binary_cells = [cell for cell in first if is_number(cell) and _is_binary([[cell]])]
        repeated = len(set(binary_cells)) < len(binary_cells)
        # Names are rarely given twice, and never to so many columns.
        if below and repeated and _is_binary(rows) and not sample[0].last_quoted:
            raise AmbiguousHeaderError(next(filter(is_text, first)))
        return True
    if not below:
        return False
    if sample[0].last_quoted and not below[0].last_quoted:
        return True
    corner = sample[0].fields[0].strip().lower()
    if row_names and (corner in INDEX_WORDS or (not corner and not sample[0].first_quoted)):
        return True
    if any(map(is_missing, first)):
        return False
    binary = _is_binary(record.fields[skipped:] for record in below)
    return (
        (binary and _are_ids(first))
        or (len(first) >= 5 and _is_run(first))
        or (row_names and _are_years(first) and not any(_are_years(r.fields[1:]) for r in below))
    )


def detect_pairs_header(sample: Sequence[Record]) -> bool:
    """Whether the first line of a table of (row, column[, value]) entries is a header.

    It is when its value is not a number while the next is; when the row or the column is text
    above numbers only; when both row and column are usual titles (row, column, user, item,
    patient, gene, ...; also ending in ``_id`` or ``_name``); or when one of them is, and neither
    comes again below it.
    """
    first, below = sample[0].fields, sample[1:]
    if len(first) < 2:
        return False
    if len(first) == 3 and not is_number(first[2]):
        return is_text(first[2]) or sample[0].last_quoted
    for position in (0, 1):
        cells = [record.fields[position] for record in below if len(record.fields) > position]
        if cells and is_text(first[position]) and all(map(is_number, cells)):
            return True
    titles = [_is_title(cell) for cell in first[:2]]
    again = [cell in _column(below, at) for at, cell in enumerate(first[:2])]
    return all(titles) or (any(titles) and bool(below) and not any(again))


def stands_alone(text: DelimitedText, block: bytes) -> bool:
    """Whether of many pairs only the first shares neither its row nor its column with another.

    Then it is no pair, but a header in words that are not usual.
    """
    head = block[:_CHARACTERS_OF_PAIRS]
    head = head if len(head) == len(block) else head[: head.rfind(b"\n") + 1]
    try:
        records = [fields for _, fields in text.records(text.decode(head, 1), 1)]
    except InputError:
        # A line that is cut, or bad; it is named where it is read.
        return False
    if len(records) <= _FEWEST_PAIRS or any(len(fields) < 2 for fields in records):
        return False
    counts = [Counter(fields[at] for fields in records) for at in (0, 1)]
    alone = [all(counts[at][fields[at]] == 1 for at in (0, 1)) for fields in records]
    # Where lines are cut off, the last of them may have lost what they share.
    return alone[0] and sum(alone) <= 1 + len(records) // 100


def _column(records: Sequence[Record], at: int) -> set[str]:
    return {record.fields[at] for record in records if len(record.fields) > at}


def only_pairs(sample: Sequence[Record]) -> bool:
    """Whether records can be (row, column[, value]) entries and no table of zeros and ones."""
    names = [record.fields[:2] for record in sample]
    return (
        all(len(record.fields) in (2, 3) for record in sample)
        and not any(is_missing(name) for both in names for name in both)
        and not _is_binary([column] for _, column in names[1:] or names)
    )


def _is_title(cell: str) -> bool:
    word = cell.strip().lower()
    return {word, word.removesuffix("s")} & _PAIR_WORDS != set() or word.endswith(
        ("_id", "_name", " id", " name")
    )


def _is_binary(rows: Iterable[Sequence[str]]) -> bool:
    """Whether all cells that are not missing are 0 or 1 (or true, false, yes or no)."""
    seen: set[str] = set()
    for cells in rows:
        seen.update(cells)
    return all(is_missing(cell) or (is_number(cell) and _number(cell) in (0, 1)) for cell in seen)


def _number(cell: str) -> float:
    """Return what a number is, or may be."""
    try:
        return parse_cell(cell)
    except CellError:
        return next(iter(readings(cell.strip()).values()))


def _whole_numbers(cells: Sequence[str]) -> list[int] | None:
    try:
        return [int(cell) for cell in cells]
    except ValueError:
        return None


def _are_ids(cells: Sequence[str]) -> bool:
    numbers = _whole_numbers(cells)
    if numbers is None or len(numbers) < 3:
        return False
    return len(set(numbers)) == len(numbers) and not set(numbers) <= {0, 1}


def _are_years(cells: Sequence[str]) -> bool:
    """Whether cells are at least two years, each after the one before."""
    numbers = _whole_numbers(cells)
    if numbers is None or len(numbers) < 2 or not 1900 <= numbers[0] <= numbers[-1] <= 2100:
        return False
    return all(before < after for before, after in pairwise(numbers))


def _is_run(cells: Sequence[str], starts: tuple[int, ...] | None = None) -> bool:
    numbers = _whole_numbers(cells)
    if not numbers or (starts is not None and numbers[0] not in starts):
        return False
    return numbers == list(range(numbers[0], numbers[0] + len(numbers)))
