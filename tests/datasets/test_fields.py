"""Fields of delimited text, and numbers in them."""

import csv
import io
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elbmf.kernels.decimals import decimal_fields, parse_decimals
from elbmf.kernels.fields import BLANKS, hash_fields, locate_fields

plain = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.decimals(-1000, 1000, places=4).map(str),
    st.integers(-(10**12), 10**12).map(str),
    st.sampled_from(["+1.5", ".5", "5.", "-0", "1e5", "1E-05", "0.000", "1e+22", "007"]),
)
odd = st.sampled_from(
    ["", "NA", "nan", "-", ".", "e5", "1e", "1e999", "1.2.3", " 1", "1 ", "inf", "x"]
)


@given(st.lists(st.one_of(plain, odd), min_size=1, max_size=20), st.integers(0, 3))
def test_each_field_is_read_or_told(texts, too_many):
    line = "\t".join(texts)
    values = np.full(max(len(texts) - too_many, 0), np.inf)
    unread = np.empty((values.size, 3), dtype=np.int64)
    fields, skipped = parse_decimals(np.frombuffer(line.encode(), np.uint8), 9, values, unread)
    assert fields == len(texts)
    told = {field: line[start:end] for field, start, end in unread[:skipped].tolist()}
    for field, text in enumerate(texts[: values.size]):
        if field in told:
            assert told[field] == text
        else:
            assert values[field] == pytest.approx(float(text), rel=1e-15)
            digits = sum(character.isdigit() for character in text.lower().partition("e")[0])
            if digits <= 15:
                assert values[field] == float(text)
                assert math.copysign(1, values[field]) == math.copysign(1, float(text))


@given(st.lists(st.decimals(-1000, 1000, places=6).map(str), min_size=1))
def test_usual_numbers_are_all_read(texts):
    values = np.empty(len(texts))
    unread = np.empty((len(texts), 3), dtype=np.int64)
    line = np.frombuffer(",".join(texts).encode(), np.uint8)
    assert parse_decimals(line, 44, values, unread) == (len(texts), 0)
    assert values.tolist() == [float(text) for text in texts]


@given(st.lists(st.one_of(plain, odd), min_size=1, max_size=20))
def test_numbers_at_places_are_the_same(texts):
    line = np.frombuffer(",".join(texts).encode(), np.uint8)
    values, at_places = np.zeros(len(texts)), np.zeros(len(texts))
    unread = np.empty((len(texts), 3), dtype=np.int64)
    _, skipped = parse_decimals(line, 44, values, unread)
    ends = np.cumsum([len(text) + 1 for text in texts]) - 1
    places = np.column_stack([ends - [len(text) for text in texts], ends])
    lines = np.empty(len(texts), dtype=np.int64)
    assert decimal_fields(line, places, at_places, lines) == skipped
    assert lines[:skipped].tolist() == unread[:skipped, 0].tolist()
    np.testing.assert_array_equal(at_places, values)


cells = st.text(st.sampled_from('ab"\t\n é'), max_size=4)


@given(
    st.integers(1, 4).flatmap(
        lambda width: st.lists(
            st.lists(cells, min_size=width, max_size=width), min_size=1, max_size=6
        )
    ),
    st.data(),
)
def test_fields_are_where_the_csv_module_finds_them(rows, data):
    width = len(rows[0])
    wanted = data.draw(st.lists(st.integers(0, width - 1), unique=True).map(sorted))
    text = io.StringIO()
    csv.writer(text, delimiter="\t", quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
    raw = np.frombuffer(text.getvalue().encode(), dtype=np.uint8)
    places = np.empty((text.getvalue().count("\n"), len(wanted), 2), dtype=np.int64)
    lines, bad, found = locate_fields(raw, 9, width, np.array(wanted, dtype=np.int64), places)
    assert (lines, bad, found) == (len(rows), -1, width)
    for line, row in enumerate(rows):
        for at, column in enumerate(wanted):
            start, end = places[line, at]
            assert raw[start:end].tobytes().decode().replace('""', '"') == row[column]


words = st.text(st.sampled_from("ab,é"), min_size=1, max_size=3)
blanks = st.text(st.sampled_from(" \t"), min_size=1, max_size=3)


@given(
    st.lists(st.lists(words, min_size=2, max_size=2), min_size=1, max_size=6),
    blanks,
    st.booleans(),
    st.sampled_from(["\n", "\r\n", " \n"]),
)
def test_fields_between_blanks_are_where_split_finds_them(rows, between, indented, end):
    text = end.join(" " * indented + between.join(row) for row in rows)
    raw = np.frombuffer(text.encode(), dtype=np.uint8)
    places = np.empty((len(rows), 2, 2), dtype=np.int64)
    assert locate_fields(raw, BLANKS, 2, np.arange(2), places) == (len(rows), -1, 2)
    found = [[raw[start:stop].tobytes().decode() for start, stop in line] for line in places]
    assert found == rows
    flat = places.reshape(-1, 2)
    hashes = np.empty(len(flat), dtype=np.uint64)
    hash_fields(raw, flat, hashes)
    names = [name for row in rows for name in row]
    for a, first in enumerate(names):
        assert [code == hashes[a] for code in hashes] == [name == first for name in names]
