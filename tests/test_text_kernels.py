"""Cutting text into fields and numbering names, against slow and obvious twins."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elbmf.errors import FileFormatError
from elbmf.io.fields import Column, FieldReader, NameCodes, Span, header_fields
from elbmf.kernels import text as kernels

KINDS = ["skip", "whole", "decimal", "text"]
PATTERNS = {"whole": r"\d{1,18}", "decimal": r"\d{1,18}(\.\d*)?|\.\d+", "text": "(?s).+"}

# Where fields go wrong most often: no digits, other characters, delimiters, ends of lines.
numbers = ["0", "7", "42", "3.5", ".5", "5.", "-1", "1e3", "1.2.3", "9" * 18, "9" * 19]
pieces = st.sampled_from([*numbers, "", "x", "ü", " ", ":", "::", ",", "\t", "\r"])
delimiters = st.sampled_from([",", "\t", "::", " "])


def naive(text, delimiter, kinds):
    """Values by line, and the number of the first bad line if there is one."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    result = []
    for line in lines:
        fields = line.removesuffix("\r").split(delimiter)
        if len(fields) != len(kinds):
            return result, len(result)
        values = []
        for kind, field in zip(kinds, fields, strict=True):
            if kind == "skip":
                continue
            if not re.fullmatch(PATTERNS[kind], field):
                return result, len(result)
            values.append({"whole": int, "decimal": float, "text": str}[kind](field))
        result.append(values)
    return result, None


def split(text, delimiter, kinds):
    """The same by the kernel."""
    block = text.encode()
    data = np.frombuffer(block, dtype=np.uint8)
    room = text.count("\n") + 1
    wholes = np.empty((kinds.count("whole"), room), dtype=np.int64)
    decimals = np.empty((kinds.count("decimal"), room))
    spans = np.empty((kinds.count("text"), room, 2), dtype=np.int64)
    lines, position, field, problem = kernels.split_lines(
        data,
        np.frombuffer(delimiter.encode(), dtype=np.uint8),
        np.array([KINDS.index(kind) for kind in kinds]),
        wholes,
        decimals,
        spans,
    )
    result = []
    for line in range(lines):
        queues = {
            "whole": iter(wholes[:, line].tolist()),
            "decimal": iter(decimals[:, line].tolist()),
            "text": iter(block[a:b].decode() for a, b in spans[:, line]),
        }
        result.append([next(queues[kind]) for kind in kinds if kind != "skip"])
    return result, None if problem == kernels.FINE else lines, position, field


@st.composite
def texts(draw):
    """Lines that are mostly as they should be."""
    delimiter = draw(delimiters)
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=5))
    good = {"whole": ["0", "12", "9" * 18], "decimal": ["1", "3.5", "0.25"]}
    lines = [
        delimiter.join(
            draw(pieces)
            if draw(st.integers(0, 30)) == 0
            else draw(st.sampled_from(good.get(kind, ["a", "bc", "é"])))
            for kind in kinds
        )
        + draw(st.sampled_from(["\n", "\n", "\n", "\r\n"]))
        for _ in range(draw(st.integers(0, 6)))
    ]
    text = "".join(lines)
    return (text.removesuffix("\n") if draw(st.booleans()) else text), delimiter, kinds


@given(case=texts())
def test_fields_are_those_of_splitting_lines(case):
    text, delimiter, kinds = case
    expected, bad = naive(text, delimiter, kinds)
    values, found_bad, _, _ = split(text, delimiter, kinds)
    assert (values, found_bad) == (expected, bad)


@given(case=st.tuples(st.lists(pieces, max_size=25).map("".join), delimiters))
def test_no_bytes_upset_it(case):
    text, delimiter = case
    expected, bad = naive(text, delimiter, ["whole", "text", "skip"])
    values, found_bad, position, _ = split(text, delimiter, ["whole", "text", "skip"])
    assert (values, found_bad) == (expected, bad)
    assert 0 <= position <= len(text.encode()) + 2


@pytest.mark.parametrize(
    ("line", "position", "field"),
    [
        ("1,2,x,4", 4, 2),
        ("1,,3,4", 2, 1),
        ("1,2,3", 5, 3),
        ("1,2,3,4,5", 8, 4),
        ("1,2,3,4.", 6, 3),
        (f"1,2,{'9' * 19},4", 4, 2),
    ],
)
def test_the_first_bad_field_is_told(line, position, field):
    before = "10,20,30,40\n"
    _, bad, found, found_field = split(f"{before}{line}\n1,2,3,4\n", ",", ["whole"] * 4)
    assert (bad, found - len(before), found_field) == (1, position, field)


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
    codes = NameCodes("file", "row")
    expected = {}
    for batch in batches:
        encoded = [name.encode() for name in batch]
        ends = np.cumsum([len(name) for name in encoded]).astype(np.int64)
        bounds = np.column_stack([np.r_[0, ends][:-1], ends]).astype(np.int64).reshape(-1, 2)
        block = np.frombuffer(b"".join(encoded), dtype=np.uint8)
        found = codes.codes(Span(block, bounds, 1))
        assert found.tolist() == [expected.setdefault(name, len(expected)) for name in batch]
    assert codes.names() == list(expected)
    assert len(codes) == len(expected)


def test_slots_lead_to_all_names():
    hashes = np.arange(0, 800, 8, dtype=np.uint64)  # all collide
    slots = np.full(256, -1, dtype=np.int32)
    kernels.hash_slots(hashes, 100, slots)
    assert sorted(slots[slots >= 0].tolist()) == list(range(100))


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
        (b"1234567890123456789,2,a\n", r"at most 18 digits"),
    ],
)
def test_errors_name_file_line_and_field(block, message):
    with pytest.raises(FileFormatError, match=f"^r.csv, .*{message}.*Fetch it again"):
        reader().read(block)


def test_names_that_are_no_text_are_told_with_their_line():
    codes = NameCodes("r.csv", "protein")
    codes.codes(reader(line=5).read(b"1,2,a\n1,2,\xff\xfe\xfa\n")["who"])
    with pytest.raises(FileFormatError, match=r"^r.csv, line 6: the name of a protein.*UTF-8"):
        codes.names()


def test_headers():
    assert header_fields("f", b'\xef\xbb\xbf"a",b\r\n', b",", ["b"]) == ["a", "b"]
    with pytest.raises(FileFormatError, match=r"f, line 1: .*a, c separated by ','.* without c"):
        header_fields("f", b"a,b\n", b",", ["a", "c"])
