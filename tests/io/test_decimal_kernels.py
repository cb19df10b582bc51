"""Numbers in delimited text."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elbmf.io.kernels.decimals import decimal, parse_decimals

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


@given(st.one_of(plain, odd), st.text("x,;é", max_size=2), st.sampled_from(["", "7,"]))
def test_a_number_ends_where_no_more_belongs_to_it(text, rest, before):
    block = np.frombuffer(f"{before}{text}{rest}".encode(), dtype=np.uint8)
    value, good, end = decimal(block, len(before))
    assert len(before) <= end <= len(before) + len(text)
    if good:
        read = block[len(before) : end].tobytes().decode()
        assert value == pytest.approx(float(read), rel=1e-15)
