"""Kernels that look at lines from a file, beside their slow twins."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from elbmf.kernels.stored_lines import count_common, look_at_lines
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.matrix.stored_pattern import new_key
from strategies import boolean_arrays, examples

SMALL = st.integers(-2, 9)


def naive(starts, line, first, entries, length):
    """Return the first line in which something is wrong, or -1."""
    last = first + len(entries) - 1
    at = first
    while at < last:
        if line + 1 >= len(starts):
            return line
        run = [int(entries[e - first + 1]) for e in range(at, min(starts[line + 1], last))]
        if run:
            before = [int(entries[at - first])] if at > starts[line] else []
            pairs = zip((before + run)[:-1], (before + run)[1:], strict=True)
            if min(run) < 0 or max(run) >= length or any(b <= a for a, b in pairs):
                return line
            at += len(run)
        line += 1
    return -1


@given(
    starts=st.lists(SMALL, min_size=1, max_size=6),
    line=st.integers(0, 5),
    first=st.integers(0, 5),
    entries=st.lists(SMALL, min_size=1, max_size=9),
    length=st.integers(0, 9),
    dtype=st.sampled_from([np.int32, np.int64]),
)
@examples(150)
def test_whatever_starts_and_entries_are_the_first_wrong_line_is_found(
    starts, line, first, entries, length, dtype
):
    line = min(line, len(starts) - 1)
    given = np.array(starts), line, first, np.array(entries, dtype)
    total = np.zeros(1, np.uint64)
    found = look_at_lines(*given, length, new_key(), new_key(), total)
    assert found == naive(*given, length)


def total_of(A, axis, keys):
    starts, ones = A.lines(axis)
    total = np.zeros(1, np.uint64)
    for first in range(0, A.ones, 7):  # in pieces that end in the midst of lines
        line = int(np.searchsorted(starts, first, side="right")) - 1
        before = ones[max(first - 1, 0) : max(first, 1)]
        run = np.concatenate([before, ones[first : min(first + 7, A.ones)]])
        given = A.shape[1 - axis], keys[axis], keys[1 - axis], total
        assert look_at_lines(starts, line, first, run, *given) == -1
    return int(total[0])


@given(values=boolean_arrays(), data=st.data())
@examples(60)
def test_rows_and_columns_have_one_total_if_they_are_of_one_matrix(values, data):
    A, keys = BooleanMatrix.from_array(values), (new_key(), new_key())
    assert total_of(A, 0, keys) == total_of(A, 1, keys)
    i, j = (data.draw(st.integers(0, length - 1)) for length in values.shape)
    other = values.copy()
    other[i, j] = not other[i, j]
    assert total_of(BooleanMatrix.from_array(other), 0, keys) != total_of(A, 1, keys)


@given(values=boolean_arrays(), seed=st.integers(0, 9))
@examples(40)
def test_entries_in_common_are_counted(values, seed):
    other = np.random.default_rng(seed).random(values.shape) < 0.3
    one, two = (BooleanMatrix.from_array(each) for each in (values, other))
    assert count_common(*one.lines(0), *two.lines(0)) == (values & other).sum()
