"""Arrays that begin at a cache line.

Rows of whole vector registers then never straddle two lines; numpy itself promises 16 bytes only,
which makes every other load of a kernel a double one.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["aligned_empty", "aligned_zeros"]

_LINE = 64


def aligned_empty(shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """Return an uninitialised C-contiguous array at a cache line."""
    dtype = np.dtype(dtype)
    size = math.prod(shape) * dtype.itemsize
    memory = np.empty(size + _LINE, dtype=np.uint8)
    start = -memory.ctypes.data % _LINE
    return memory[start : start + size].view(dtype).reshape(shape)


def aligned_zeros(shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """Return a C-contiguous array of zeros at a cache line."""
    array = aligned_empty(shape, dtype)
    array[...] = 0
    return array
