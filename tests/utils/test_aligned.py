"""Arrays at cache lines."""

import numpy as np
import pytest

from elbmf.utils.aligned import aligned_empty, aligned_zeros


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(3, 8), (1000, 24), (2, 5, 8)])
def test_aligned_arrays_begin_at_a_cache_line(dtype, shape):
    for make in (aligned_empty, aligned_zeros):
        array = make(shape, dtype)
        assert array.shape == shape
        assert array.dtype == dtype
        assert array.flags.c_contiguous
        assert array.ctypes.data % 64 == 0
    assert not aligned_zeros(shape, dtype).any()
