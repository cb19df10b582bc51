"""Cutting text into fields and numbering names, against slow and obvious twins."""

import csv
import io
import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elbmf.errors import FileFormatError
from elbmf.io.kernels import fields as kernels
from elbmf.io.kernels.naming import hash_slots
from elbmf.io.text.fields import Column, FieldReader, header_fields
from elbmf.io.text.naming import NameCodes, Span

KINDS = ["skip", "text", "whole", "decimal", "cell"]

# Where fields go wrong most often: no digits, other characters, delimiters, ends of lines.
numbers = ["0", "7", "42", "3.5", ".5", "5.", "-1", "1e3", "1.2.3", "9" * 15, "9" * 19, "1e999"]
pieces = st.sampled_from([*numbers, "", "x", "ü", " ", ":", "::", ",", "\t", "\r", "-", "nan"])
delimiters = st.sampled_from([",", "\t", "::", " ", None])


def slow_value(kind, field):
    """What a field is as the kind says; None where it is not of this kind."""
    if kind in ("skip", "text"):
        return field
    if kind == "whole":
        return int(field) if re.fullmatch(r"\d{1,15}", field) else None
    if kind == "cell" and not field:
        return "nothing"
    try:
        return float(field) if math.isfinite(float(field)) else None
    except ValueError:
        return None


def naive(text, delimiter, kinds):
    """Values by line, and the number of the first bad line if there is one."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    result = []
    for line in lines:
        whole = line.removesuffix("\r")
        fields = whole.split(delimiter)
        if delimiter is None:
            fields = [field for field in re.split("[ \t]+", whole) if field]
        if len(fields) != len(kinds) or not whole or "\r" in whole:
            return result, len(result)
        values = [slow_value(kind, field) for kind, field in zip(kinds, fields, strict=True)]
        if None in values:
            return result, len(result)
        result.append([value for value, kind in zip(values, kinds, strict=True) if kind != "skip"])
    return result, None


def split(text, delimiter, kinds, *, quoting=False, room=100):
    """The same by the kernel."""
    block = text.encode()
    numbered = [kind for kind in kinds if kind in ("whole", "decimal", "cell")]
    numbers = np.full((text.count("\n") + 1, len(numbered)), np.inf)
    spans = np.empty((kinds.count("text"), text.count("\n") + 1, 2), dtype=np.int64)
    unread = np.empty((max(room, len(numbered)), 3), dtype=np.int64)
    lines = begin = 0
    problem = kernels.FULL
    while problem == kernels.FULL:
        lines, begin, field, problem, skipped, _ = kernels.split_lines(
            np.frombuffer(block, dtype=np.uint8),
            begin,
            lines,
            np.frombuffer((delimiter or "").encode(), dtype=np.uint8),
            quoting,
            np.array([KINDS.index(kind) for kind in kinds]),
            numbers,
            spans,
            unread,
        )
        # What is no plain number is for the caller to read.
        for at, start, end in unread[:skipped].tolist():
            line, place = divmod(at, len(numbered))
            value = slow_value(numbered[place], block[start:end].decode())
            if value is None:
                lines, problem = line, kernels.NOT_WHOLE
                break
            numbers[line, place] = value
    result = []
    for line in range(lines):
        texts = iter(block[a:b].decode() for a, b in spans[:, line])
        values = iter(["nothing" if np.isnan(number) else number for number in numbers[line]])
        result.append(
            [next(texts if kind == "text" else values) for kind in kinds if kind != "skip"]
        )
    return result, None if problem == kernels.FINE else lines, begin, field


@st.composite
def texts(draw):
    """Lines that are mostly as they should be."""
    delimiter = draw(delimiters)
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=5))
    good = {"whole": ["0", "12", "9" * 15], "decimal": ["1", "3.5", "-0.25", "1e-3", "9" * 20]}
    good["cell"] = ["0", "1", "1", *good["decimal"]] + [""] * (delimiter is not None)
    between = delimiter or draw(st.sampled_from([" ", "\t", " \t "]))
    lines = [
        between.join(
            draw(pieces)
            if draw(st.integers(0, 30)) == 0
            else draw(st.sampled_from(good.get(kind, ["a", "bc", "é"])))
            for kind in kinds
        )
        + draw(st.sampled_from(["\n", "\n", "\n", "\r\n"] + [" \n"] * (delimiter is None)))
        for _ in range(draw(st.integers(0, 6)))
    ]
    text = "".join(lines)
    return (text.removesuffix("\n") if draw(st.booleans()) else text), delimiter, kinds


@given(case=texts())
def test_fields_are_those_of_splitting_lines(case):
    text, delimiter, kinds = case
    expected, bad = naive(text, delimiter, kinds)
    for room in (0, 1, 100):
        values, found_bad, _, _ = split(text, delimiter, kinds, room=room)
        assert (values, found_bad) == (expected, bad)


@given(case=st.tuples(st.lists(pieces, max_size=25).map("".join), delimiters))
def test_no_bytes_upset_it(case):
    text, delimiter = case
    expected, bad = naive(text, delimiter, ["whole", "text", "skip"])
    values, found_bad, begin, _ = split(text, delimiter, ["whole", "text", "skip"])
    assert (values, found_bad) == (expected, bad)
    assert 0 <= begin <= len(text.encode())


cells = st.text(st.sampled_from('ab"\t\n é'), max_size=4)


@given(
    st.integers(1, 4).flatmap(
        lambda width: st.lists(
            st.lists(cells, min_size=width, max_size=width), min_size=1, max_size=6
        )
    ),
    st.data(),
)
def test_quoted_fields_are_those_of_the_csv_module(rows, data):
    width = len(rows[0])
    wanted = data.draw(st.lists(st.booleans(), min_size=width, max_size=width))
    text = io.StringIO()
    csv.writer(text, delimiter="\t", quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
    kinds = ["text" if column else "skip" for column in wanted]
    values, bad, _, _ = split(text.getvalue(), "\t", kinds, quoting=True)
    assert bad is None
    found = [[field.replace('""', '"') for field in line] for line in values]
    assert found == [[c for c, keep in zip(row, wanted, strict=True) if keep] for row in rows]


@given(case=texts())
def test_numbers_in_quotes_are_those_without(case):
    text, delimiter, kinds = case
    lines = text.split("\n")
    marked = "\n".join(re.sub(r"(?<![^ \t,:])(-?[\d.]+)(?![^ \t,:\r])", r'"\1"', s) for s in lines)
    assert split(marked, delimiter, kinds, quoting=True)[:2] == split(text, delimiter, kinds)[:2]


@pytest.mark.parametrize(
    ("line", "field"),
    [
        ("1,2,x,4", 2),
        ("1,,3,4", 1),
        ("1,2,3", 2),
        ("1,2,3,4,5", 3),
        ("1,2,3,4.", 3),
        (f"1,2,{'9' * 16},4", 2),
    ],
)
def test_the_first_bad_field_is_told(line, field):
    before = "10,20,30,40\n"
    _, bad, begin, found_field = split(f"{before}{line}\n1,2,3,4\n", ",", ["whole"] * 4)
    assert (bad, begin, found_field) == (1, len(before), field)


@given(value=st.decimals(0, 10**12, places=3))
def test_decimals_are_the_nearest_floats(value):
    values, _, _, _ = split(f"{value}\n", ",", ["decimal"])
    assert values == [[float(value)]]


@given(
    batches=st.lists(st.lists(st.text("abü", min_size=1, max_size=5), max_size=30), max_size=6),
    many=st.booleans(),
)
def test_names_are_numbered_as_a_dict_does(batches, many):
    if many:  # beyond the room there is at first
        batches = [*batches, [f"{i}-{'x' * (i % 90)}" for i in range(5000)]]
    codes = NameCodes("file")
    expected = {}
    for batch in batches:
        encoded = [name.encode() for name in batch]
        ends = np.cumsum([len(name) for name in encoded]).astype(np.int64)
        bounds = np.column_stack([np.r_[0, ends][:-1], ends]).astype(np.int64).reshape(-1, 2)
        block = np.frombuffer(b"".join(encoded), dtype=np.uint8)
        found = codes.codes(Span(block, bounds, 1))
        assert found.tolist() == [expected.setdefault(name, len(expected)) for name in batch]
    assert codes.names == list(expected)
    assert len(codes) == len(expected)


def test_slots_lead_to_all_names():
    text = np.arange(100, dtype=np.uint8)
    slots = np.full(128, -1, dtype=np.int64)
    hash_slots(np.arange(101), text, 100, slots)
    assert sorted((slots[slots >= 0] & 0xFFFFFFFF).tolist()) == list(range(100))


COLUMNS = [Column("user", "whole"), Column("stars", "decimal"), Column("who", "text")]


def reader(line=1):
    return FieldReader("r.csv", b",", COLUMNS, "Fetch it again.", line)


def test_a_reader_goes_on_from_block_to_block():
    r = reader(line=2)
    values = r.read(b"1,2.5,ann\n3,4,bob\n")
    assert (values["user"].tolist(), values["stars"].tolist()) == ([1, 3], [2.5, 4])
    assert r.line == 4
    assert r.read(b"")["user"].size == 0
    assert r.read(b"5,1,cy\n\n\r\n")["user"].tolist() == [5]
    with pytest.raises(FileFormatError, match=r"^r.csv, line 7, field 1 \(user\): .*'x'\. Fetch"):
        r.read(b"x,1,cy\n")


@pytest.mark.parametrize(
    ("block", "message"),
    [
        (b"1,2,a\nx,2,a\n", r"line 2, field 1 \(user\): expected a whole number, found 'x'"),
        (b"1,2,a\n1,y,a\n", r"line 2, field 2 \(stars\): expected a number such as 3.5, found 'y'"),
        (b"1,2,\n", r"line 1, field 3 \(who\): expected a name, found nothing"),
        (
            b"1,2,a\n1,2\n3,4,a\n",
            r"line 2: expected 3 fields \(user, stars, who\) .* found 2: '1,2'",
        ),
        (b"1,2,a\n1,2", r"line 2: .*the last line: the file seems to be cut off"),
        (b"1,2,a,b\n", r"line 1: expected 3 fields .* found 4"),
        (b"1;2;a\n", r"line 1: .*found 1.*separated by semicolons"),
        (b"1\t2\ta\n", r"separated by tabs"),
        (b"\n1,2,a\n", r"line 1: .* found a blank line"),
        ("1,2,a\n".encode("utf-16"), r"line 1.*UTF-16"),
        (b"1234567890123456789,2,a\n", r"at most 15 digits"),
    ],
)
def test_errors_name_file_line_and_field(block, message):
    with pytest.raises(FileFormatError, match=f"^r.csv, .*{message}.*Fetch it again"):
        reader().read(block)


def test_names_that_are_no_text_are_told_with_their_line():
    codes = NameCodes("r.csv")
    names = reader(line=5).read(b"1,2,a\n1,2,\xff\xfe\xfa\n")["who"]
    with pytest.raises(FileFormatError, match=r"^r.csv, line 6: .*utf-8.*0xff.*\\xfe.*as UTF-8"):
        codes.codes(names)


def test_lines_are_counted_within_quotes():
    r = FieldReader("r.csv", b",", COLUMNS, "Fetch it again.", quoting=True)
    names = r.read(b'1,2,"a\nb"\n1,"2.5",c\n')["who"]
    assert [names.text(row) for row in (0, 1)] == [b"a\nb", b"c"]
    assert (names.line_of(1), r.line) == (3, 4)
    with pytest.raises(FileFormatError, match=r"line 6, field 1 \(user\): .* found 'x'"):
        r.read(b'1,2,"\n"\n"x",2,c\n')
    with pytest.raises(FileFormatError, match=r"line 5, field 3 .* not closed"):
        r.read(b'1,2,c\n1,2,"c\n')


def test_headers():
    assert header_fields("f", b'\xef\xbb\xbf"a",b\r\n', b",", ["b"]) == ["a", "b"]
    with pytest.raises(FileFormatError, match=r"f, line 1: .*a, c separated by ','.* without c"):
        header_fields("f", b"a,b\n", b",", ["a", "c"])
