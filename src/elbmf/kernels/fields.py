"""Fields of delimited text: where they are, and which are the same."""

import numpy as np

from elbmf.kernels.compiling import kernel

__all__ = ["BLANKS", "hash_fields", "locate_fields"]

BLANKS = 0
"""The delimiter of fields that are parted by any number of blanks and tabs."""


@kernel()
def _blank(c):
    return c == 32 or c == 9


@kernel()
def locate_fields(text, delimiter, fields, wanted, places):
    """Find where the wanted fields of each line are, without the quotes around them.

    Parameters
    ----------
    text : array of uint8
        Whole lines. Fields may be in double quotes, and then contain delimiters, line ends and
        doubled quotes.
    delimiter : int
        The byte between fields, or `BLANKS`.
    fields : int
        How many fields each line has.
    wanted : array of int
        Numbers of fields, ascending.
    places : array of int, of shape (lines, wanted, 2)
        Told the start and the end of each.

    Returns
    -------
    lines : int
        How many were read: all, or those before the bad one.
    bad : int
        Where a line begins that has another number of fields or an open quote, or −1.
    found : int
        How many fields that line has; −1 for an open quote.
    """
    size = text.shape[0]
    by_blanks = delimiter == BLANKS
    lines = 0
    at = 0
    while at < size:
        begin = at
        field = 0
        next_wanted = 0
        while True:
            if by_blanks:
                while at < size and (_blank(text[at]) or text[at] == 13):
                    at += 1
                if at >= size or text[at] == 10:
                    break
            if at < size and text[at] == 34:
                start = at + 1
                at = start
                while at < size and not (text[at] == 34 and (at + 1 == size or text[at + 1] != 34)):
                    at += 2 if text[at] == 34 else 1
                if at >= size:
                    return lines, begin, -1
                end = at
                at += 1
            else:
                start = at
                end = -1
            while at < size and text[at] != 10 and text[at] != delimiter:
                if by_blanks and _blank(text[at]):
                    break
                at += 1
            if end < 0:
                end = at
                if end > start and text[end - 1] == 13 and (at == size or text[at] == 10):
                    end -= 1
            if next_wanted < wanted.shape[0] and field == wanted[next_wanted]:
                places[lines, next_wanted, 0] = start
                places[lines, next_wanted, 1] = end
                next_wanted += 1
            field += 1
            if at >= size or text[at] == 10:
                break
            at += 1
        at += 1
        if field != fields:
            return lines, begin, field
        lines += 1
    return lines, -1, fields


@kernel()
def hash_fields(text, places, hashes):
    """Give equal numbers to equal fields, and different ones to different fields, all but surely.

    Of a hundred thousand names, two get the same of the 2⁶⁴ numbers once in four billion times.
    """
    for line in range(places.shape[0]):
        # FNV-1a, its bits mixed once more.
        code = np.uint64(0xCBF29CE484222325)
        for at in range(places[line, 0], places[line, 1]):
            code = (code ^ np.uint64(text[at])) * np.uint64(0x100000001B3)
        code ^= code >> np.uint64(32)
        code *= np.uint64(0xD6E8FEB86659FD93)
        hashes[line] = code ^ (code >> np.uint64(32))
