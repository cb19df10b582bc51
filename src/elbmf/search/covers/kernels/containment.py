"""Which lines are contained in which, and what follows from that for covers."""

import numpy as np

from elbmf.kernels.compiling import kernel
from elbmf.kernels.intrinsics import popcount
from elbmf.kernels.sets import common, has, lowest

__all__ = ["contained_lines", "drop_dominated", "extend_bicliques"]


@kernel(allocates=False)
def contained_lines(lines, across, contained):
    """Find the other lines that each line contains.

    Parameters
    ----------
    lines : ndarray of uint64, of shape (n, words)
        The cells of each line, packed; no two are equal.
    across : ndarray of uint64, of shape (m, words)
        The same cells, by the lines that cross these.
    contained : ndarray of uint64, of shape (n, ceil(n / 64))
        Becomes the lines that each contains; all zero before.
    """
    for i in range(lines.shape[0]):
        # Whatever contains a line is in the smallest of those that cross it.
        rarest, fewest = -1, np.int64(lines.shape[0] + 1)
        for w in range(lines.shape[1]):
            word = lines[i, w]
            while word:
                j = 64 * w + lowest(word)
                word &= word - np.uint64(1)
                count = 0
                for y in range(across.shape[1]):
                    count += popcount(across[j, y])
                if count < fewest:
                    rarest, fewest = j, count
        for y in range(across.shape[1] if rarest >= 0 else 0):
            word = across[rarest, y]
            while word:
                other = 64 * y + lowest(word)
                word &= word - np.uint64(1)
                inside = other != i
                w = 0
                while inside and w < lines.shape[1]:
                    inside = lines[i, w] & ~lines[other, w] == 0
                    w += 1
                if inside:
                    contained[other, i >> 6] |= np.uint64(1) << np.uint64(i & 63)


@kernel(allocates=False)
def drop_dominated(required, required_across, contained, contained_across, kept):
    """Keep only ones than which none is harder to cover.

    One is harder than another if its row is contained in the other's row and its column in the
    other's column. It is enough to look at ones of the same row and of the same column.

    Parameters
    ----------
    required, required_across : ndarray of uint64
        The ones to cover, packed by rows and by columns.
    contained, contained_across : ndarray of uint64
        The rows that each row contains, and the columns that each column contains.
    kept : ndarray of uint64
        Becomes those to keep, packed by rows; all zero before.
    """
    for i in range(required.shape[0]):
        for w in range(required.shape[1]):
            word = required[i, w]
            while word:
                bit = lowest(word)
                word &= word - np.uint64(1)
                j = 64 * w + bit
                if not (
                    common(contained_across[j], required[i])
                    or common(contained[i], required_across[j])
                ):
                    kept[i, w] |= np.uint64(1) << np.uint64(bit)


@kernel(allocates=False)
def extend_bicliques(required, rows, columns, lines, across):
    """Extend bicliques until they cover all there is to cover; return how many ones they cannot.

    Parameters
    ----------
    required : ndarray of uint64
        The ones to cover, packed by rows.
    rows, columns : ndarray of uint64, of shape (k, words)
        Those of each biclique, changed in place.
    lines, across : ndarray of uint64
        The cells that may be covered, packed by rows and by columns.
    """
    left = 0
    for i in range(required.shape[0]):
        for w in range(required.shape[1]):
            word = required[i, w]
            while word:
                j = 64 * w + lowest(word)
                word &= word - np.uint64(1)
                place = -1
                for l in range(rows.shape[0]):
                    if has(rows[l], i) and has(columns[l], j):
                        place = l
                        break
                for l in range(rows.shape[0] if place < 0 else 0):
                    fits = True
                    for y in range(lines.shape[1]):
                        fits = fits and columns[l, y] & ~lines[i, y] == 0
                    for y in range(across.shape[1] if fits else 0):
                        fits = fits and rows[l, y] & ~across[j, y] == 0
                    if fits:
                        place = l
                        rows[l, i >> 6] |= np.uint64(1) << np.uint64(i & 63)
                        columns[l, j >> 6] |= np.uint64(1) << np.uint64(j & 63)
                        break
                left += place < 0
    return left
