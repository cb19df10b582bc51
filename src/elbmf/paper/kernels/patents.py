"""Tables of patents: their numbers, the symbols of groups, and links between groups.

A patent is known by letters and a number: the letters say what kind it is, and utility patents have
none. A group is known by its symbol, as in ``A01B 1/02``.
"""

import numpy as np

from elbmf.kernels.compiling import kernel

__all__ = [
    "CODES_PER_CLASS",
    "CODES_PER_SECTION",
    "CODES_PER_SUBCLASS",
    "NUMBER_BITS",
    "mark_links",
    "patent_keys",
    "symbol_codes",
]

NUMBER_BITS = 27
CODES_PER_SUBCLASS = 10_000
CODES_PER_CLASS = 26 * CODES_PER_SUBCLASS
CODES_PER_SECTION = 100 * CODES_PER_CLASS


@kernel()
def _letter(c):
    """Return 1 to 26 for a letter of either case, 0 for any other byte."""
    if 65 <= c <= 90:
        return c - 64
    if 97 <= c <= 122:
        return c - 96
    return 0


@kernel()
def patent_keys(text, places, keys):
    """Read the numbers of patents, such as ``10000000``, ``D345393`` and ``RE28671``.

    Into ``keys`` go whole numbers that are equal for equal patents, and −1 for what is none. Those
    of utility patents are their number.
    """
    for line in range(places.shape[0]):
        at = places[line, 0]
        end = places[line, 1]
        kind = np.int64(0)
        letters = 0
        while at < end and letters < 2 and _letter(text[at]):
            kind = kind * 27 + _letter(text[at])
            letters += 1
            at += 1
        number = np.int64(0)
        good = at < end
        while at < end:
            good = good and 48 <= text[at] <= 57
            if not good:
                break
            number = number * 10 + (text[at] - 48)
            good = number < 1 << NUMBER_BITS
            at += 1
        keys[line] = (kind << NUMBER_BITS) + number if good else -1


@kernel()
def symbol_codes(text, places, codes):
    """Read the main groups in symbols of groups, such as ``A01B1/02`` or ``A01B 1/02``.

    Into ``codes`` go whole numbers: section, class, subclass and main group, each of which can be
    had by dividing; −1 for an empty symbol, −2 for what is none.
    """
    for line in range(places.shape[0]):
        at = places[line, 0]
        end = places[line, 1]
        if at == end:
            codes[line] = -1
            continue
        codes[line] = -2
        if end - at < 5:
            continue
        section = _letter(text[at])
        tens = np.int64(text[at + 1]) - 48
        units = np.int64(text[at + 2]) - 48
        subclass = _letter(text[at + 3])
        if not (section and subclass and 0 <= tens <= 9 and 0 <= units <= 9):
            continue
        at += 4
        while at < end and text[at] == 32:
            at += 1
        group = np.int64(0)
        digits = 0
        while at < end and 48 <= text[at] <= 57 and digits < 5:
            group = group * 10 + (text[at] - 48)
            digits += 1
            at += 1
        if not 1 <= digits <= 4 or (at < end and text[at] != 47):
            continue
        codes[line] = (
            (section - 1) * CODES_PER_SECTION
            + (10 * tens + units) * CODES_PER_CLASS
            + (subclass - 1) * CODES_PER_SUBCLASS
            + group
        )


@kernel()
def _place(key, direct, patents):
    """Return where a patent is among the sorted ones, or −1."""
    if key < 0:
        return -1
    if key < direct.shape[0]:
        return direct[key] - 1
    low = 0
    high = patents.shape[0]
    while low < high:
        middle = (low + high) // 2
        if patents[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low if low < patents.shape[0] and patents[low] == key else -1


@kernel()
def mark_links(citing, cited, direct, patents, offsets, groups, links):
    """Mark in ``links`` which groups cite which; return how many citations are between known ones.

    ``citing`` and ``cited`` are keys, one of each for a citation. The groups of the patent at place
    p of the sorted ``patents`` are ``groups[offsets[p]:offsets[p + 1]]``; ``direct`` has p + 1 for
    each small key, and 0 for those without a patent. ``links`` are packed bits.
    """
    used = 0
    for e in range(citing.shape[0]):
        p = _place(citing[e], direct, patents)
        if p < 0:
            continue
        q = _place(cited[e], direct, patents)
        if q < 0:
            continue
        used += 1
        for i in range(offsets[p], offsets[p + 1]):
            row = groups[i]
            for j in range(offsets[q], offsets[q + 1]):
                column = groups[j]
                bit = np.uint8(1) << np.uint8(column & 7)
                # Most are marked already, and what is not written need not leave the cache.
                if not links[row, column >> 3] & bit:
                    links[row, column >> 3] |= bit
    return used
