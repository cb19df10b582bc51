"""Looking at lines that come from a file, before other kernels take them at their word."""

import numpy as np

from elbmf.kernels.compiling import helper, kernel

__all__ = ["count_common", "look_at_lines"]


@helper(allocates=False)
def spread(number, key):
    """Return 32 bits that nobody can foresee without the key: any bits, and two odd factors."""
    x = (np.uint32(number) ^ key[0]) * key[1]
    x = (x ^ (x >> np.uint32(15))) * key[2]
    return np.uint32(x ^ (x >> np.uint32(16)))


@kernel(allocates=False)
def look_at_lines(starts, line, first, entries, length, of_lines, of_entries, total):
    """Look at a run of entries of lines: they must ascend within each line, below a length.

    Nothing is relied on: not that lines start where they should, nor that there are as many.

    Parameters
    ----------
    starts : ndarray of int64
        Where each line starts, and the last ends.
    line : int
        That of the first entry.
    first : int
        Place of the first entry.
    entries : ndarray of integers
        The entry before the first, whatever it is where there is none, and these.
    length : int
        What entries must be below.
    of_lines, of_entries : (uint32, uint32, uint32)
        Keys for lines and for their entries, as `spread` takes them.
    total : ndarray of uint64, of length 1
        Is increased by a number that depends on which entry is in which line, and not on the order
        in which they come: the entries of a matrix by columns make the same number as those by
        rows, if the keys are exchanged, too.

    Returns
    -------
    int
        The first line in which something is wrong, or -1.
    """
    at = first
    stop = first + entries.shape[0] - 1
    shift = first - 1
    whole = np.uint64(0)
    while at < stop:
        if line + 1 >= starts.shape[0]:
            return line
        end = min(starts[line + 1], stop)
        if at < end:
            run = entries[at - shift : end - shift]
            if run[0] < 0 or run[run.shape[0] - 1] >= length:
                return line
            if at > starts[line] and run[0] <= entries[at - shift - 1]:
                return line
            stray = False
            sum = np.uint64(spread(run[0], of_entries))
            for e in range(1, run.shape[0]):
                stray |= run[e] <= run[e - 1]
                sum += np.uint64(spread(run[e], of_entries))
            if stray:
                return line
            whole += sum * np.uint64(spread(line, of_lines))
            at = end
        line += 1
    total[0] += whole
    return -1


@kernel(allocates=False)
def count_common(starts, entries, other_starts, other_entries):
    """Count the entries that two patterns have in common, both in ascending order in each line."""
    count = 0
    for line in range(starts.shape[0] - 1):
        at = starts[line]
        end = starts[line + 1]
        for e in range(other_starts[line], other_starts[line + 1]):
            while at < end and entries[at] < other_entries[e]:
                at += 1
            if at < end and entries[at] == other_entries[e]:
                count += 1
    return count
