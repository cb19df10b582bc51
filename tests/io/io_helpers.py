"""Helpers of the tests of files: comparing tables, and strategies that draw them."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from elbmf.io import LabelledMatrix

ODD_CHARACTERS = st.characters(codec="utf-8", exclude_characters="\0")
NAMES = st.one_of(
    st.sampled_from(["a", "TP53", "0", "1", "2019", "NA", "", " x ", 'q"q', "a,b", "a;b", "true"]),
    st.sampled_from(["tab\there", "line\nfeed", "cr\rhere", "crlf\r\nhere", '"', "'", "é", "漢字"]),
    st.text(ODD_CHARACTERS, max_size=6),
)


def dense(table: LabelledMatrix) -> np.ndarray:
    return table.values.toarray()


def assert_same(found: LabelledMatrix, expected: LabelledMatrix, *, names: bool = True) -> None:
    assert isinstance(found.values, sparse.csr_array)
    assert found.values.has_canonical_format
    np.testing.assert_array_equal(dense(found), dense(expected))
    if names:
        assert found.row_names == expected.row_names
        assert found.column_names == expected.column_names


@st.composite
def tables(draw, *, names=NAMES, dtypes=(bool,), named=None, unique=False, missing=False):
    """Draw a table; `named` forces names on (True), off (False) or leaves it to chance.

    With `missing`, some cells are.
    """
    shape = draw(hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=6))
    dtype = np.dtype(draw(st.sampled_from(dtypes)))
    if dtype.kind == "b":
        elements = st.booleans()
    elif dtype.kind == "f":
        elements = st.floats(allow_nan=False, allow_infinity=False, width=dtype.itemsize * 8)
    else:
        elements = st.integers(0 if dtype.kind == "u" else -100, 100)
    values = draw(hnp.arrays(dtype, shape, elements=elements))
    if missing:
        values = np.where(draw(hnp.arrays(bool, shape)), np.nan, values.astype(float))
    lists = []
    for size in shape:
        has_names = draw(st.booleans()) if named is None else named
        one = st.lists(names, min_size=size, max_size=size, unique=unique)
        lists.append(draw(one) if has_names else None)
    return LabelledMatrix(sparse.csr_array(values), *lists)
