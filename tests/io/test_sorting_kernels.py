"""Sorting keys and cutting lines of pairs, against slow and obvious twins."""

import csv
import io
from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from elbmf.io.cells import finite_number
from elbmf.io.kernels.pairs import split_pairs
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


def slow_pairs(text, fields):
    """The fields of the lines that are simple enough, and where the first begins that is not."""
    lines, at = [], 0
    while at < len(text):
        end = text.find("\n", at) + 1 or len(text)
        while text[at:end].count('"') % 2 and end < len(text):
            end = text.find("\n", end) + 1 or len(text)
        record = text[at:end]
        line = record.removesuffix("\n") if record.endswith("\n") else record
        line = line.removesuffix("\r") if record.endswith("\r\n") else line
        try:
            found = next(csv.reader(io.StringIO(line, newline=""), strict=True), [])
        except csv.Error:
            return lines, at
        if len(found) != fields or "" in found[:2] or '""' in line:
            return lines, at
        if any(c in field for field in line.split('"')[::2] for c in "\r\n"):
            return lines, at
        lines.append(found)
        at = end
    return lines, at


pieces = st.sampled_from(["a", "b", "17", "ü", '"x,y"', '"u\nv"', '"q\rq"', " ", "1", "0.5", "1e3"])
values = st.sampled_from(
    ["", "1", "0", "-2.5", "true", '"1"', "1e400", "1234567890123456789", " 1"]
)


@st.composite
def lines_of_pairs(draw):
    fields = draw(st.sampled_from([2, 3]))
    lines = draw(
        st.lists(
            st.tuples(pieces, pieces, values).map(lambda line: ",".join(line[:fields])), max_size=6
        )
    )
    ends = draw(st.lists(st.sampled_from(["\n", "\r\n"]), min_size=len(lines), max_size=len(lines)))
    odd = draw(
        st.sampled_from(["", "", "a\n", "a,b,1,2\n", ",b,\n", 'a,"b"x\n', 'a,"b""c"\n', "\n"])
    )
    text = "".join(line + end for line, end in zip(lines, ends, strict=True)) + odd
    if draw(st.booleans()):
        text = text.removesuffix("\n").removesuffix("\r")
    return text, fields


@given(case=lines_of_pairs())
def test_pairs_are_cut_as_the_csv_module_does(case):
    text, fields = case
    block = np.frombuffer(text.encode(), dtype=np.uint8)
    room = text.count("\n") + 1
    names = np.empty((2, room, 2), dtype=np.int64)
    numbers = np.full(room, np.inf)
    unread = np.empty((room, 3), dtype=np.int64)
    lines, at, skipped = split_pairs(block, 0, ord(","), fields == 3, names, numbers, unread)
    expected, stopped = slow_pairs(text, fields)
    assert lines == len(expected)
    assert at == len(text[:stopped].encode())
    told = {line: block[begin:end].tobytes().decode() for line, begin, end in unread[:skipped]}
    for line, record in enumerate(expected):
        for field in (0, 1):
            assert block[slice(*names[field, line])].tobytes().decode() == record[field]
        if fields == 3:
            if line in told:
                assert told[line] == record[2]
            else:
                assert numbers[line] == finite_number(record[2])


@pytest.mark.parametrize("text", ["1", "-2.5", "1e3", "12345678901234"])
def test_plain_values_are_read_at_once(text):
    block = np.frombuffer(f"a,b,{text}\n".encode(), dtype=np.uint8)
    arrays = np.empty((2, 2, 2), np.int64), np.empty(2), np.empty((2, 3), np.int64)
    assert split_pairs(block, 0, ord(","), True, *arrays) == (1, block.size, 0)
    assert arrays[1][0] == float(text)
