"""Putting keys in order: the steps of a sort that is larger than memory."""

import numpy as np

from elbmf.kernels.compiling import kernel

__all__ = ["count_bins", "group_keys", "radix_sort"]

# Bits that one pass of the sort looks at: so many places to write to at a time stay cached.
_DIGIT = 8
_DIGITS = 64 // _DIGIT
_RADIX = 1 << _DIGIT


@kernel()
def radix_sort(keys, values, spare_keys, spare_values):
    """Sort keys, and the values that belong to them, if there are any.

    Parameters
    ----------
    keys : ndarray of uint64
    values : ndarray of float64
        One for each key, or empty.
    spare_keys, spare_values : ndarray
        Room of the same size.

    Returns
    -------
    bool
        Whether the result is in the spare arrays rather than in the first ones.
    """
    n = keys.shape[0]
    counts = np.zeros((_DIGITS, _RADIX), dtype=np.int64)
    for e in range(n):
        key = keys[e]
        for d in range(_DIGITS):
            counts[d, key & np.uint64(_RADIX - 1)] += 1
            key >>= np.uint64(_DIGIT)
    in_spare = False
    for d in range(_DIGITS):
        shift = np.uint64(_DIGIT * d)
        if n == 0 or counts[d, (keys[0] >> shift) & np.uint64(_RADIX - 1)] == n:
            continue  # all keys agree in this digit
        at = 0
        for digit in range(_RADIX):
            at += counts[d, digit]
            counts[d, digit] = at - counts[d, digit]
        for e in range(n):
            digit = (keys[e] >> shift) & np.uint64(_RADIX - 1)
            to = counts[d, digit]
            counts[d, digit] = to + 1
            spare_keys[to] = keys[e]
            if values.shape[0]:
                spare_values[to] = values[e]
        keys, spare_keys = spare_keys, keys
        values, spare_values = spare_values, values
        in_spare = not in_spare
    return in_spare


@kernel()
def count_bins(keys, low, shift, counts):
    """Add to ``counts`` how many keys are in each bin, ``(key - low) >> shift``."""
    for e in range(keys.shape[0]):
        counts[(keys[e] - low) >> shift] += 1


@kernel()
def group_keys(keys, values, low, shift, part_of_bin, grouped_keys, grouped_values, ends):
    """Put the keys of each part next to each other, parts in order, keys in the order given.

    Parameters
    ----------
    keys, values : ndarray
        As in `radix_sort`.
    low, shift : uint64
        They give the bin of a key, as in `count_bins`.
    part_of_bin : ndarray of int64
        The part that each bin belongs to.
    grouped_keys, grouped_values : ndarray
        Where to write.
    ends : ndarray of int64
        Told where each part ends.
    """
    ends[:] = 0
    for e in range(keys.shape[0]):
        ends[part_of_bin[(keys[e] - low) >> shift]] += 1
    at = 0
    for part in range(ends.shape[0]):
        at += ends[part]
        ends[part] = at - ends[part]
    for e in range(keys.shape[0]):
        part = part_of_bin[(keys[e] - low) >> shift]
        to = ends[part]
        ends[part] = to + 1
        grouped_keys[to] = keys[e]
        if values.shape[0]:
            grouped_values[to] = values[e]
