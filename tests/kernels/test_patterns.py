"""Positions of ones, against slow twins."""

import numpy as np
from hypothesis import given

from elbmf.kernels import patterns
from elbmf.matrix.boolean_matrix import BooleanMatrix
from strategies import masked_arrays


@given(case=masked_arrays())
def test_common_entries_are_marked(case):
    A, other = case
    pattern, other_pattern = (BooleanMatrix.from_array(X) for X in case)
    marks = np.zeros(pattern.ones, dtype=bool)
    patterns.mark_common(
        pattern.indptr, pattern.indices, other_pattern.indptr, other_pattern.indices, marks
    )
    np.testing.assert_array_equal(marks, other[A])
