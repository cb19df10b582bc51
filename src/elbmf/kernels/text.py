"""Delimited text as bytes: lines are cut into fields, numbers are read, names are numbered."""

import numpy as np

from elbmf.kernels.compiling import kernel

__all__ = [
    "DECIMAL",
    "EMPTY",
    "FINE",
    "NO_NUMBER",
    "SKIP",
    "TEXT",
    "TOO_FEW",
    "TOO_LARGE",
    "TOO_MANY",
    "WHOLE",
    "hash_slots",
    "number_names",
    "split_lines",
]

# What to do with a field.
SKIP, WHOLE, DECIMAL, TEXT = range(4)

# What may be wrong with one.
FINE, TOO_FEW, TOO_MANY, NO_NUMBER, TOO_LARGE, EMPTY = range(6)

_NEWLINE, _RETURN, _POINT, _ZERO = 10, 13, 46, 48

# A whole number of so many digits fits 64 bits.
_MOST_DIGITS = 18

# Digits beyond this many are beyond what a float holds.
_MANTISSA = 10**17

# FNV-1a.
_BASIS = np.uint64(0xCBF29CE484222325)
_PRIME = np.uint64(0x100000001B3)


@kernel(inline="always")
def _is_delimiter(block, at, delimiter):
    if at + delimiter.shape[0] > block.shape[0]:
        return False
    for i in range(delimiter.shape[0]):
        if block[at + i] != delimiter[i]:
            return False
    return True


@kernel(inline="always")
def _line_end(block, at):
    """Return where the next line starts if a line ends at a position, else -1."""
    if at >= block.shape[0]:
        return at
    if block[at] == _NEWLINE:
        return at + 1
    if block[at] == _RETURN:
        if at + 1 >= block.shape[0]:
            return at + 1
        if block[at + 1] == _NEWLINE:
            return at + 2
    return -1


@kernel()
def split_lines(block, delimiter, kinds, wholes, decimals, spans):
    """Cut lines into fields and read those that are wanted.

    A line ends with a line feed, which a carriage return may precede, or with the block.

    Parameters
    ----------
    block : ndarray of uint8
        Whole lines.
    delimiter : ndarray of uint8
        What stands between two fields: one byte or more.
    kinds : ndarray of int64
        For each field of a line: `SKIP`, `WHOLE` (decimal digits), `DECIMAL` (digits that may have
        a point among them; read to within a unit in the last place) or `TEXT`.
    wholes : ndarray of int64, of shape (fields that are `WHOLE`, lines at most)
    decimals : ndarray of float64, of shape (fields that are `DECIMAL`, lines at most)
    spans : ndarray of int64, of shape (fields that are `TEXT`, lines at most, 2)
        Where to write the values, and for texts their begin and end.

    Returns
    -------
    lines : int
        How many lines were read.
    position : int
        Where the first bad field begins; the size of the block when there is none.
    field : int
        Which field of its line that is.
    problem : int
        What is wrong: `FINE`, `TOO_FEW` or `TOO_MANY` fields, `NO_NUMBER`, `TOO_LARGE` or `EMPTY`.
    """
    size = block.shape[0]
    last = kinds.shape[0] - 1
    at = 0
    line = 0
    while at < size:
        w = 0
        d = 0
        t = 0
        for field in range(last + 1):
            kind = kinds[field]
            start = at
            if kind in (WHOLE, DECIMAL):
                value = np.int64(0)
                divisor = 1.0
                digits = 0
                while at < size:
                    # Unsigned, so that one comparison tells a digit.
                    digit = np.uint8(block[at] - np.uint8(_ZERO))
                    if digit > 9:
                        break
                    value = value * 10 + digit
                    at += 1
                digits = at - start
                if digits > _MOST_DIGITS:
                    return line, start, field, TOO_LARGE
                if kind == DECIMAL and at < size and block[at] == _POINT:
                    at += 1
                    while at < size:
                        digit = np.uint8(block[at] - np.uint8(_ZERO))
                        if digit > 9:
                            break
                        if value < _MANTISSA:
                            value = value * 10 + digit
                            divisor *= 10.0
                        digits += 1
                        at += 1
                if digits == 0:
                    empty = at == start and (
                        _line_end(block, at) >= 0 or _is_delimiter(block, at, delimiter)
                    )
                    # A line without anything has too few fields rather than an empty one.
                    if empty and (field > 0 or _is_delimiter(block, at, delimiter)):
                        return line, start, field, EMPTY
                    return line, start, field, TOO_FEW if empty else NO_NUMBER
                if kind == WHOLE:
                    wholes[w, line] = value
                    w += 1
                else:
                    decimals[d, line] = value / divisor
                    d += 1
                following = _line_end(block, at)
                if following < 0 and not _is_delimiter(block, at, delimiter):
                    return line, start, field, NO_NUMBER
            else:
                while at < size and block[at] != _NEWLINE:
                    if block[at] == delimiter[0] and _is_delimiter(block, at, delimiter):
                        break
                    at += 1
                end = at
                following = -1
                if at >= size or block[at] == _NEWLINE:
                    following = min(at + 1, size)
                    if end > start and block[end - 1] == _RETURN:
                        end -= 1
                if kind == TEXT:
                    if end == start:
                        if following >= 0 and field == 0:
                            return line, start, field, TOO_FEW
                        return line, start, field, EMPTY
                    spans[t, line, 0] = start
                    spans[t, line, 1] = end
                    t += 1
            if field < last:
                if following >= 0:
                    return line, at, field + 1, TOO_FEW
                at += delimiter.shape[0]
            elif following < 0:
                return line, at + delimiter.shape[0], field + 1, TOO_MANY
            else:
                at = following
        line += 1
    return line, size, 0, FINE


@kernel(inline="always")
def _hash(block, begin, end):
    code = _BASIS
    for i in range(begin, end):
        code = (code ^ np.uint64(block[i])) * _PRIME
    return code ^ (code >> np.uint64(32))


@kernel(inline="always")
def _equals(block, begin, end, text, other, other_end):
    if end - begin != other_end - other:
        return False
    for i in range(end - begin):
        if block[begin + i] != text[other + i]:
            return False
    return True


@kernel()
def hash_slots(hashes, count, slots):
    """Enter the first ``count`` names by their hashes into ``slots``, all -1.

    The number of slots is a power of two and at least twice ``count``.
    """
    mask = np.uint64(slots.shape[0] - 1)
    for code in range(count):
        slot = hashes[code] & mask
        while slots[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = code


@kernel()
def number_names(block, spans, first, line, codes, slots, hashes, bounds, text, lines, count):
    """Replace names by numbers, a new one for each name that was not seen before.

    Parameters
    ----------
    block : ndarray of uint8
        Holds the names.
    spans : ndarray of int64, of shape (names, 2)
        Where each begins and ends.
    first : int
        With which name to begin.
    line : int
        The line of the first of all ``spans``.
    codes : ndarray of int64
        Where to write the numbers.
    slots : ndarray of int32
        Hash table of numbers, -1 where it is empty; its size is a power of two and at least twice
        that of ``hashes``.
    hashes, bounds, text, lines : ndarray
        Of each name known: its hash, where it ends in ``text`` (the entry before is where it
        begins), its bytes, and the line it first came in. Added to.
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
    last = -1
    for i in range(first, spans.shape[0]):
        begin = spans[i, 0]
        end = spans[i, 1]
        # Files are often sorted: the same name again needs no hash.
        if last >= 0 and _equals(block, begin, end, text, bounds[last], bounds[last + 1]):
            codes[i] = last
            continue
        code = _hash(block, begin, end)
        slot = code & mask
        found = slots[slot]
        while found >= 0 and not (
            hashes[found] == code
            and _equals(block, begin, end, text, bounds[found], bounds[found + 1])
        ):
            slot = (slot + np.uint64(1)) & mask
            found = slots[slot]
        if found < 0:
            used = bounds[count]
            if count == hashes.shape[0] or used + end - begin > text.shape[0]:
                return i, count
            found = count
            slots[slot] = found
            hashes[found] = code
            lines[found] = line + i
            for j in range(end - begin):
                text[used + j] = block[begin + j]
            bounds[found + 1] = used + end - begin
            count += 1
        codes[i] = found
        last = found
    return spans.shape[0], count
