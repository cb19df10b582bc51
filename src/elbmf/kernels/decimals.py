"""Decimal numbers in delimited text."""

import numpy as np

from elbmf.kernels.compiling import kernel

__all__ = ["decimal_fields", "parse_decimals"]

_TENS = 10.0 ** np.arange(23)
# Up to here a mantissa with one more digit is still an int64.
_MANTISSA_LIMIT = 10**17


@kernel()
def _decimal(text, at, size, delimiter):
    """Read a plain decimal up to a delimiter; return it, whether it is one, and where it ends."""
    negative = False
    if at < size and (text[at] == 45 or text[at] == 43):
        negative = text[at] == 45
        at += 1
    mantissa = np.int64(0)
    digits = 0
    decimals = 0
    good = True
    seen_point = False
    while at < size:
        c = text[at]
        if 48 <= c <= 57:
            good = good and mantissa < _MANTISSA_LIMIT
            mantissa = mantissa * 10 + (c - 48) if good else mantissa
            digits += 1
            if seen_point:
                decimals += 1
        elif c == 46 and not seen_point:
            seen_point = True
        else:
            break
        at += 1
    exponent = 0
    if at + 1 < size and digits and (text[at] == 101 or text[at] == 69):
        at += 1
        below = text[at] == 45
        if text[at] == 45 or text[at] == 43:
            at += 1
        places = 0
        while at < size and 48 <= text[at] <= 57 and places < 3:
            exponent = exponent * 10 + (text[at] - 48)
            places += 1
            at += 1
        if below:
            exponent = -exponent
        good = good and places > 0
    if at < size and text[at] != delimiter:
        good = False
        while at < size and text[at] != delimiter:
            at += 1
    power = exponent - decimals
    if not good or not digits or not -22 <= power <= 22:
        return 0.0, False, at
    value = mantissa / _TENS[-power] if power < 0 else mantissa * _TENS[power]
    return -value if negative else value, True, at


@kernel()
def parse_decimals(text, delimiter, values, unread):
    """Read the numbers of one line; return how many fields it has, and how many were not read.

    The fields of ``text`` are parted by the byte ``delimiter``. Plain decimals go to ``values``, as
    far as it is long: exactly rounded with up to 15 digits, and as good as that with more. Of other
    fields (missing values, many digits, large exponents, no numbers), ``unread`` is told the field,
    its start and its end.
    """
    size = text.shape[0]
    fields = 0
    skipped = 0
    at = 0
    while True:
        start = at
        value, good, at = _decimal(text, at, size, delimiter)
        if fields < values.shape[0]:
            if good:
                values[fields] = value
            else:
                unread[skipped, 0] = fields
                unread[skipped, 1] = start
                unread[skipped, 2] = at
                skipped += 1
        fields += 1
        if at >= size:
            return fields, skipped
        at += 1


@kernel()
def decimal_fields(text, places, values, unread):
    """Read the numbers at places of a text, like `parse_decimals`; return how many were not read.

    ``unread`` is told their lines.
    """
    skipped = 0
    for line in range(places.shape[0]):
        value, good, _ = _decimal(text, places[line, 0], places[line, 1], 0)
        values[line] = value
        if not good:
            unread[skipped] = line
            skipped += 1
    return skipped
