"""Decimal numbers in delimited text."""

import numpy as np

from elbmf.kernels.compiling import kernel

__all__ = ["decimal", "parse_decimals"]

_TENS = 10.0 ** np.arange(23)
# Up to here a mantissa with one more digit is still an int64.
_MANTISSA_LIMIT = 10**17

_PLUS, _MINUS, _POINT, _ZERO = 43, 45, 46, 48


@kernel()
def decimal(text, at):
    """Read a plain decimal; return it, whether it is one, and where it ends.

    It is exactly rounded with up to 15 digits, and as good as that with more. Numbers of 19 digits
    or with large exponents, which need more care, count as none.
    """
    size = text.shape[0]
    negative = False
    if at < size and (text[at] == _MINUS or text[at] == _PLUS):
        negative = text[at] == _MINUS
        at += 1
    mantissa = np.int64(0)
    good = True
    start = at
    point = -1
    while at < size:
        # Unsigned, so that one comparison tells a digit.
        digit = np.uint8(text[at] - np.uint8(_ZERO))
        if digit <= 9:
            good = good and mantissa < _MANTISSA_LIMIT
            mantissa = mantissa * 10 + digit if good else mantissa
        elif text[at] == _POINT and point < 0:
            point = at
        else:
            break
        at += 1
    digits = at - start - (point >= 0)
    power = point + 1 - at if point >= 0 else 0
    if at + 1 < size and digits and (text[at] == 101 or text[at] == 69):
        at += 1
        below = text[at] == _MINUS
        if below or text[at] == _PLUS:
            at += 1
        exponent = 0
        places = 0
        while at < size and 48 <= text[at] <= 57 and places < 3:
            exponent = exponent * 10 + (text[at] - _ZERO)
            places += 1
            at += 1
        power += -exponent if below else exponent
        good = good and places > 0
    if not good or not digits or not -22 <= power <= 22:
        return 0.0, False, at
    value = mantissa / _TENS[-power] if power < 0 else mantissa * _TENS[power]
    return -value if negative else value, True, at


@kernel()
def parse_decimals(text, delimiter, values, unread):
    """Read the numbers of one line; return how many fields it has, and how many were not read.

    The fields of ``text`` are parted by the byte ``delimiter``. What `decimal` reads goes to
    ``values``, as far as it is long. Of other fields (missing values, many digits, large exponents,
    no numbers), ``unread`` is told the field, its start and its end.
    """
    size = text.shape[0]
    fields = 0
    skipped = 0
    at = 0
    while True:
        start = at
        value, good, at = decimal(text, at)
        while at < size and text[at] != delimiter:
            good = False
            at += 1
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
