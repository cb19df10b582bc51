"""Slabs: every line once, work shared evenly."""

import numpy as np
from hypothesis import given

from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.relaxation.slabs import cut
from strategies import boolean_arrays


@given(A=boolean_arrays())
def test_slabs_hold_every_line_once_along_the_longer_side(A):
    matrix = cut(BooleanMatrix.from_array(A))
    assert matrix.n_streamed == max(A.shape)
    assert matrix.n_resident == min(A.shape)
    assert matrix.ones == A.sum()
    edges = [(slab.start, slab.stop) for slab in matrix.slabs]
    assert [line for start, stop in edges for line in range(start, stop)] == list(
        range(matrix.n_streamed)
    )
    for slab in matrix.slabs:
        blocks = list(slab.blocks(8))
        assert blocks[0][0] == 0
        assert blocks[-1][1] == slab.stop - slab.start
        assert max(high - low for low, high in blocks) <= slab.lines_at_once(8)


def test_slabs_share_the_work_evenly():
    generator = np.random.default_rng(0)
    A = generator.random((9000, 400)) < np.linspace(0, 0.24, 9000)[:, None]
    matrix = cut(BooleanMatrix.from_array(A))
    ones = [A[slab.start : slab.stop].sum() for slab in matrix.slabs]
    assert len(ones) > 1
    assert max(ones) < 1.3 * min(ones)


def test_slabs_share_the_work_of_reweighed_cells_too():
    generator = np.random.default_rng(0)
    A = generator.random((9000, 400)) < 0.01
    mask = generator.random((9000, 400)) < np.linspace(0, 0.5, 9000)[:, None]
    matrix = cut(BooleanMatrix.from_array(A, missing=mask))
    missing = [mask[slab.start : slab.stop].sum() for slab in matrix.slabs]
    assert len(missing) > 1
    assert max(missing) < 1.3 * min(missing)
