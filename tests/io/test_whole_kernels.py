"""Lines of whole numbers, against Python's own way to cut and read them."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elbmf.io.kernels.whole import whole_lines
from strategies import examples


def naive(block, fields, lines):
    """Return the numbers of a block, None where it is not made of such lines only."""
    number = rb"[0-9]{1,18}"
    line = rb" ".join([number] * fields)
    ends = line + rb"\r?\n"
    if not re.fullmatch(rb"(?:" + ends + rb")*(?:" + line + rb"\r?)?", block):
        return None
    found = [list(map(int, each.split())) for each in block.split(b"\n") if each]
    return np.array(found, dtype=np.int64).reshape(-1, fields).T if len(found) == lines else None


@examples(200)
@given(
    lines=st.lists(st.lists(st.integers(0, 10**18), min_size=2, max_size=2), max_size=6),
    damage=st.sampled_from(["", "x", " ", "\n", "\r", "-", "9" * 18]),
    at=st.integers(0, 60),
    ends=st.sampled_from(["\n", "\r\n"]),
    whole=st.booleans(),
)
def test_whole_lines(lines, damage, at, ends, whole):
    text = ends.join(" ".join(map(str, line)) for line in lines) + (ends if whole and lines else "")
    block = (text[:at] + damage + text[at:]).encode()
    count = block.count(b"\n") + (not block.endswith(b"\n") and block != b"")
    found = np.empty((2, count), dtype=np.int64)
    expected = naive(block, 2, count)
    assert whole_lines(np.frombuffer(block, dtype=np.uint8), found) == (expected is not None)
    if expected is not None:
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("text", [b"1 2", b"1 2\n", b"007 2\r\n"])
def test_one_line(text):
    found = np.empty((2, 1), dtype=np.int64)
    assert whole_lines(np.frombuffer(text, dtype=np.uint8), found)
    assert found[1, 0] == 2
