"""Putting cells into the rows of a sparse matrix, or taking them out."""

import numpy as np

from elbmf.kernels.compiling import kernel

__all__ = ["merge_cells"]


@kernel()
def merge_cells(indptr, indices, first_row, m, cells, keep_common, merged_indptr, merged):
    """Merge ascending cells, i·m + j for column j of row i, into consecutive rows of a matrix.

    What is in the rows and among the cells stays if ``keep_common``, and goes otherwise. The
    pattern of the merged rows, which start anew at 0, is written to the last two arguments.
    """
    nothing = np.int64(m)
    count, c = 0, 0
    for i in range(indptr.shape[0] - 1):
        start = (first_row + i) * m
        e, end = indptr[i], indptr[i + 1]
        column = np.int64(indices[e]) if e < end else nothing
        cell = min(cells[c] - start, nothing) if c < cells.shape[0] else nothing
        while column < nothing or cell < nothing:
            merged[count] = min(column, cell)
            count += column != cell or keep_common
            of_row, of_cells = column <= cell, cell <= column
            if of_row:
                e += 1
                column = np.int64(indices[e]) if e < end else nothing
            if of_cells:
                c += 1
                cell = min(cells[c] - start, nothing) if c < cells.shape[0] else nothing
        merged_indptr[i + 1] = count
