"""Rows and columns of two matrices are compared in one way."""

import numpy as np
import pytest

from elbmf.io.matching import DifferentLinesError, check_same_lines, line_order


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [((2, None), (2, None)), ((2, ["a", "b"]), (2, None)), ((2, ["a", "b"]), (2, ["a", "b"]))],
)
def test_the_same(theirs, ours):
    assert line_order("rows", theirs, ours) is None
    check_same_lines("rows", theirs, ours)


def test_another_order():
    theirs, ours = (3, ["c", "a", "b"]), (3, ["a", "b", "c"])
    np.testing.assert_array_equal(line_order("columns", theirs, ours), [1, 2, 0])
    with pytest.raises(DifferentLinesError, match=r"another order .*: column 0 is 'c', not 'a'"):
        check_same_lines("columns", theirs, ours)


@pytest.mark.parametrize(
    ("theirs", "ours", "message"),
    [
        ((1, None), (2, None), "^has 1 rows, but x has 2.$"),
        ((1, ["a"]), (2, ["a", "b"]), "but x has 2. Missing: 'b'.$"),
        ((2, ["a", "c"]), (2, ["a", "b"]), "not those of x. Missing: 'b'; Unknown to x: 'c'.$"),
        ((5, list("abcde")), (5, list("vwxyz")), "Missing: 'v', 'w', 'x' and 2 more;"),
        ((2, ["b", "a"]), (2, ["a", "a"]), "Unknown to x: 'b'"),
        (
            (3, ["a", "a", "b"]),
            (3, ["a", "b", "a"]),
            "row 1 is 'a', not 'b'; .*names occur more than once",
        ),
    ],
)
def test_others(theirs, ours, message):
    for compare in (line_order, check_same_lines):
        with pytest.raises(DifferentLinesError, match=message):
            compare("rows", theirs, ours, "x")
