"""Names as bytes: numbered in the order in which they first come."""

import numpy as np

from elbmf.kernels.compiling import kernel
from elbmf.kernels.intrinsics import load_word, prefetch

__all__ = ["hash_slots", "number_names"]

# 2⁶⁴ over the golden ratio: multiples of it are spread evenly.
_ODD = np.uint64(0x9E3779B97F4A7C15)

# Where a slot has the number of a name.
_CODE = np.int64(0xFFFFFFFF)

# Names that are looked up together.
_AT_ONCE = 32


@kernel(inline="always")
def _word(block, at, end):
    """Return up to eight bytes, from a position to an end, as one number."""
    left = end - at
    if at + 8 <= block.shape[0]:
        word = load_word(block, at)
        return word if left >= 8 else word & ((np.uint64(1) << np.uint64(8 * left)) - np.uint64(1))
    word = np.uint64(0)
    for i in range(left):
        word |= np.uint64(block[at + i]) << np.uint64(8 * i)
    return word


@kernel(inline="always")
def _hash(block, begin, end):
    code = np.uint64(end - begin)
    for at in range(begin, end, 8):
        code = (code ^ _word(block, at, end)) * _ODD
        code ^= code >> np.uint64(32)
    return code


@kernel(inline="always")
def _equals(block, begin, end, text, other, other_end):
    if end - begin != other_end - other:
        return False
    for i in range(0, end - begin, 8):
        if _word(block, begin + i, end) != _word(text, other + i, other_end):
            return False
    return True


@kernel(inline="always")
def _entry(key, code):
    """Return what a slot holds: bits of the hash that do not say which slot it is, and the code."""
    return np.int64(((key >> np.uint64(33)) << np.uint64(32)) | np.uint64(code))


@kernel()
def hash_slots(bounds, text, count, slots):
    """Enter the first ``count`` names into ``slots``, all -1; arguments as in `number_names`."""
    mask = np.uint64(slots.shape[0] - 1)
    for code in range(count):
        key = _hash(text, bounds[code], bounds[code + 1])
        slot = key & mask
        while slots[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = _entry(key, code)


@kernel()
def number_names(block, spans, first, codes, slots, bounds, text, count):
    """Replace names by numbers, a new one for each name that was not seen before.

    Parameters
    ----------
    block : ndarray of uint8
        Holds the names.
    spans : ndarray of int64, of shape (names, 2)
        Where each begins and ends.
    first : int
        With which name to begin.
    codes : ndarray of int64
        Where to write the numbers.
    slots : ndarray of int64
        Hash table, -1 where it is empty, else the number of a name and some bits of its hash; its
        size is a power of two and at least twice as many as there is room for names.
    bounds, text : ndarray
        Of each name known: where it ends in ``text`` (the entry before is where it begins), and its
        bytes. Added to.
    count : int
        How many names are known.

    Returns
    -------
    done : int
        Where it stopped: at the end, or at a new name for which there is no room.
    count : int
        How many names are known now.
    """
    mask = np.uint64(slots.shape[0] - 1)
    again = np.empty(_AT_ONCE, dtype=np.bool_)
    keys = np.empty(_AT_ONCE, dtype=np.uint64)
    for start in range(first, spans.shape[0], _AT_ONCE):
        names = min(_AT_ONCE, spans.shape[0] - start)
        # What the table knows of a name lies anywhere in memory. It is asked for well before it is
        # needed, for many names at a time: first the slot, then what the slot leads to.
        for k in range(names):
            i = start + k
            begin, end = spans[i, 0], spans[i, 1]
            # Files are often sorted: the same name again needs no hash.
            again[k] = i > first and _equals(
                block, begin, end, block, spans[i - 1, 0], spans[i - 1, 1]
            )
            if not again[k]:
                keys[k] = _hash(block, begin, end)
                prefetch(slots, np.int64(keys[k] & mask))
        for k in range(names):
            if not again[k]:
                found = slots[keys[k] & mask]
                if found >= 0:
                    prefetch(bounds, found & _CODE)
        for k in range(names):
            if not again[k]:
                found = slots[keys[k] & mask]
                if found >= 0:
                    prefetch(text, bounds[found & _CODE])
        for k in range(names):
            i = start + k
            if again[k]:
                codes[i] = codes[i - 1]
                continue
            begin, end = spans[i, 0], spans[i, 1]
            slot = keys[k] & mask
            found = slots[slot]
            while found >= 0:
                code = found & _CODE
                if found == _entry(keys[k], code) and _equals(
                    block, begin, end, text, bounds[code], bounds[code + 1]
                ):
                    break
                slot = (slot + np.uint64(1)) & mask
                found = slots[slot]
            if found < 0:
                used = bounds[count]
                if count == bounds.shape[0] - 1 or used + end - begin > text.shape[0]:
                    return i, count
                found = _entry(keys[k], count)
                slots[slot] = found
                for j in range(end - begin):
                    text[used + j] = block[begin + j]
                bounds[count + 1] = used + end - begin
                count += 1
            codes[i] = found & _CODE
    return spans.shape[0], count
