"""Sizes of memory, as people write them and as they are written for people."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elbmf.errors import InputError
from elbmf.utils.sizes import bytes_of
from elbmf.utils.text import size_text


@pytest.mark.parametrize(
    ("text", "size"),
    [("300MB", 300_000_000), ("2GiB", 2 << 30), (" 1.5 kb ", 1500), ("7", 7), (1e6, 10**6)],
)
def test_sizes_as_people_write_them(text, size):
    assert bytes_of(text) == size


@pytest.mark.parametrize(
    "text", ["", "MB", "-3MB", "3 bananas", "0", 0, "0.1", float("nan"), "1e400"]
)
def test_what_is_no_size_is_told(text):
    with pytest.raises(InputError, match=r"size of memory.*; got"):
        bytes_of(text)


@given(st.integers(1, 10**14))
def test_sizes_are_written_to_three_digits(size):
    assert bytes_of(size_text(size)) == pytest.approx(size, rel=5e-3)
