"""Numbers in delimited text."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elbmf.io.kernels.fields import decimal

plain = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.decimals(-1000, 1000, places=4).map(str),
    st.integers(-(10**12), 10**12).map(str),
    st.integers(-(10**25), 10**25).map(str),
    st.sampled_from(["+1.5", ".5", "5.", "-0", "1e5", "1E-05", "0.000", "1e+22", "007"]),
    st.sampled_from(["0" * 30, "0" * 30 + "1", "0." + "0" * 20 + "1", "." + "0" * 25]),
)
odd = st.sampled_from(
    ["", "NA", "nan", "-", ".", "e5", "1e", "1e999", "1.2.3", " 1", "1 ", "inf", "x"]
)


def read(text, before=""):
    """What the kernel makes of a text that begins with a number: it, and what is left."""
    block = np.frombuffer(f"{before}{text}".encode(), dtype=np.uint8)
    value, good, end = decimal(block, len(before.encode()))
    return (value if good else None), block[end:].tobytes().decode()


@given(st.one_of(plain, odd), st.text("x,;é", max_size=2), st.sampled_from(["", "7,"]))
def test_a_number_is_the_nearest_float_and_ends_where_no_more_belongs_to_it(text, rest, before):
    value, left = read(text + rest, before)
    assert (text + rest).endswith(left)
    assert left.endswith(rest)
    if value is not None:
        expected = float((text + rest).removesuffix(left))
        assert value == expected
        assert np.signbit(value) == np.signbit(expected)


@given(st.one_of(st.decimals(-1000, 1000, places=6), st.integers(-(2**53), 2**53)).map(str))
def test_usual_numbers_are_all_read(text):
    assert read(text) == (float(text), "")


@pytest.mark.parametrize("text", ["", "NA", "-", ".", "e5", "1e,", "9" * 19, "9007199254740993"])
def test_what_is_no_plain_number_is_left_to_others(text):
    assert read(text)[0] is None
