"""Sorting keys, against slow and obvious twins."""

from itertools import chain

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from elbmf.io.kernels.sorting import count_bins, group_keys, radix_sort

keys = hnp.arrays(
    np.uint64,
    st.integers(0, 40),
    elements=st.one_of(st.integers(0, 5), st.integers(0, 2**64 - 1)),
)


@given(keys=keys, valued=st.booleans())
def test_keys_are_sorted_and_values_go_along(keys, valued):
    values = np.arange(keys.size if valued else 0, dtype=float)
    order = np.argsort(keys, kind="stable")
    expected = keys[order]
    spare = np.empty_like(keys), np.empty_like(values)
    in_spare = radix_sort(keys, values, *spare)
    found, along = spare if in_spare else (keys, values)
    np.testing.assert_array_equal(found, expected)
    if valued:
        np.testing.assert_array_equal(along, order)


@given(data=st.data(), valued=st.booleans())
def test_keys_are_counted_and_grouped(data, valued):
    low, shift = data.draw(st.integers(0, 2**40)), data.draw(st.integers(0, 20))
    bins = data.draw(st.lists(st.integers(0, 7), max_size=30))
    inside = data.draw(st.integers(0, 2**shift - 1))
    keys = np.array([low + (each << shift) + inside for each in bins], dtype=np.uint64)
    counts = np.zeros(8, dtype=np.int64)
    count_bins(keys, np.uint64(low), np.uint64(shift), counts)
    assert counts.tolist() == [bins.count(each) for each in range(8)]
    part_of_bin = np.sort(data.draw(hnp.arrays(np.int64, 8, elements=st.integers(0, 3))))
    values = np.arange(keys.size if valued else 0, dtype=float)
    grouped_keys, grouped_values = np.empty_like(keys), np.empty_like(values)
    ends = np.empty(4, dtype=np.int64)
    group_keys(
        keys,
        values,
        np.uint64(low),
        np.uint64(shift),
        part_of_bin,
        grouped_keys,
        grouped_values,
        ends,
    )
    parts = [[e for e, each in enumerate(bins) if part_of_bin[each] == part] for part in range(4)]
    assert ends.tolist() == np.cumsum([len(part) for part in parts]).tolist()
    order = list(chain(*parts))
    np.testing.assert_array_equal(grouped_keys, keys[order])
    if valued:
        np.testing.assert_array_equal(grouped_values, order)
