"""The positions of ones, line by line: turning rows into columns, and finding those in common."""

from elbmf.kernels.compiling import kernel

__all__ = ["PADDING", "mark_common", "transpose_pattern"]

PADDING = 16
"""Entries that an array of indices must be longer than its last ``indptr``.

Kernels ask for the row of an index so many entries ahead of time (prefetch).
"""


@kernel(allocates=False)
def transpose_pattern(indptr, indices, cursor, out):
    """Scatter a row-wise pattern into its column-wise one.

    ``cursor`` holds where each column starts in ``out`` and is advanced to where it ends. The
    indices of every column come out in ascending order.
    """
    for row in range(indptr.shape[0] - 1):
        for e in range(indptr[row], indptr[row + 1]):
            column = indices[e]
            out[cursor[column]] = row
            cursor[column] += 1


@kernel(allocates=False)
def mark_common(indptr, indices, other_indptr, other_indices, marks):
    """Mark the entries of a row-wise pattern that another one has too.

    Both name the columns of each row in ascending order.
    """
    for row in range(indptr.shape[0] - 1):
        at = other_indptr[row]
        end = other_indptr[row + 1]
        for e in range(indptr[row], indptr[row + 1]):
            while at < end and other_indices[at] < indices[e]:
                at += 1
            if at < end and other_indices[at] == indices[e]:
                marks[e] = True
