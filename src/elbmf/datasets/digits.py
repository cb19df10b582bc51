"""Handwritten digits, the data set that comes with scikit-learn, as a 0/1 matrix."""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn import datasets

__all__ = ["load_digits"]


def load_digits() -> tuple[sparse.csr_array, list[str], NDArray[np.int64]]:
    """Load 1797 images of 8×8 pixels; a pixel is one where the ink is at least half as dark.

    Returns
    -------
    A : sparse array of bool, of shape (1797, 64)
    column_names : list of str
        ``pixel_ROW_COLUMN``.
    labels : ndarray of int, of shape (1797,)
        The digit of each image.
    """
    digits = datasets.load_digits()
    names = [f"pixel_{row}_{column}" for row in range(8) for column in range(8)]
    return sparse.csr_array(digits.data >= 8), names, digits.target
