"""Decimal numbers in delimited text."""

import numpy as np

from elbmf.kernels.compiling import kernel

__all__ = ["MOST_DIGITS", "decimal", "parse_decimals", "whole"]

_TENS = 10.0 ** np.arange(23)

MOST_DIGITS = 18
"""A whole number of so many digits fits 64 bits."""

_PLUS, _MINUS, _POINT, _ZERO = 43, 45, 46, 48


@kernel()
def whole(text, at, value):
    """Read digits that follow those of a value; return what they make, and where they end.

    Which is meaningless with more than 18 digits.
    """
    while at < text.shape[0]:
        # Unsigned, so that one comparison tells a digit.
        digit = np.uint8(text[at] - np.uint8(_ZERO))
        if digit > 9:
            break
        value = value * 10 + digit
        at += 1
    return value, at


@kernel(inline="always")
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
    start = at
    mantissa, at = whole(text, at, np.int64(0))
    digits = at - start
    power = 0
    if at < size and text[at] == _POINT:
        point = at + 1
        mantissa, at = whole(text, point, mantissa)
        power = point - at
        digits -= power
    good = digits > 0
    if digits > MOST_DIGITS:
        # Zeros at the begin do not count.
        significant = digits
        while significant and (text[start] == _ZERO or text[start] == _POINT):
            significant -= text[start] == _ZERO
            start += 1
        good = significant <= MOST_DIGITS
    if at + 1 < size and (text[at] == 101 or text[at] == 69) and digits:
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
    good = good and -22 <= power <= 22
    value = 0.0
    if good:
        # Dividing whole numbers by one, too, saves a branch that is hard to foresee.
        value = mantissa / _TENS[-power] if power <= 0 else mantissa * _TENS[power]
    return -value if negative else value, good, at


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
