"""Delimited text as bytes: lines are cut into fields, and numbers are read."""

import numpy as np

from elbmf.kernels.compiling import kernel

__all__ = [
    "CELL",
    "FINE",
    "FULL",
    "MOST_DIGITS",
    "NOT_WHOLE",
    "NUMBER",
    "OPEN_QUOTE",
    "OTHER_FIELDS",
    "SKIP",
    "STRAY_RETURN",
    "TEXT",
    "WHOLE",
    "decimal",
    "split_lines",
]

# What to do with a field.
SKIP, TEXT, WHOLE, NUMBER, CELL = range(5)

# Why a line was not read.
FINE, FULL, OTHER_FIELDS, NOT_WHOLE, OPEN_QUOTE, STRAY_RETURN = range(6)

MOST_DIGITS = 15
"""A whole number of so many digits is a float."""

_TAB, _NEWLINE, _RETURN, _BLANK, _QUOTE = 9, 10, 13, 32, 34
_PLUS, _MINUS, _POINT, _ZERO = 43, 45, 46, 48

_TENS = 10.0 ** np.arange(23)

# Up to here whole numbers are floats, and one multiplication by a power of ten up to 22 rounds
# them correctly. Up to 18 digits they are counted without overflow.
_EXACT = 1 << 53
_COUNTED = 18


@kernel(inline="always")
def _whole(text, at, value):
    """Read digits that follow those of a value; return what they make, and where they end."""
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

    It is correctly rounded. Numbers that need more care, for they have too many digits or large
    exponents, count as none.
    """
    size = text.shape[0]
    negative = False
    if at < size and (text[at] == _MINUS or text[at] == _PLUS):
        negative = text[at] == _MINUS
        at += 1
    start = at
    mantissa, at = _whole(text, at, np.int64(0))
    digits = at - start
    power = 0
    if at < size and text[at] == _POINT:
        point = at + 1
        mantissa, at = _whole(text, point, mantissa)
        power = point - at
        digits -= power
    good = digits > 0
    if digits > _COUNTED:
        # Zeros at the begin do not count.
        while text[start] == _ZERO or text[start] == _POINT:
            digits -= text[start] == _ZERO
            start += 1
            if start == at:
                break
        good = digits <= _COUNTED
    good = good and mantissa <= _EXACT
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


@kernel(inline="always")
def _is_delimiter(block, at, delimiter):
    """Whether a delimiter begins at a position; one without bytes stands for any blanks."""
    if delimiter.shape[0] == 0:
        return at < block.shape[0] and (block[at] == _BLANK or block[at] == _TAB)
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
def _stops(delimiter):
    """Return for each byte whether a field may end at it: it begins a delimiter or a line end."""
    stops = np.zeros(256, dtype=np.bool_)
    stops[_NEWLINE] = stops[_RETURN] = True
    if delimiter.shape[0]:
        stops[delimiter[0]] = True
    else:
        stops[_BLANK] = stops[_TAB] = True
    return stops


@kernel(inline="always")
def _field_end(block, at, delimiter, stops):
    """Return where the next delimiter, line feed or carriage return is, or the block ends."""
    size = block.shape[0]
    while True:
        while at < size and not stops[block[at]]:
            at += 1
        if (
            at >= size
            or delimiter.shape[0] < 2
            or block[at] != delimiter[0]
            or _is_delimiter(block, at, delimiter)
        ):
            return at
        at += 1


@kernel(inline="always")
def _closing_quote(block, at):
    """Return where the quote is that closes a field, or -1, and whether quotes are doubled."""
    size = block.shape[0]
    doubled = False
    while at < size:
        if block[at] == _QUOTE:
            if at + 1 == size or block[at + 1] != _QUOTE:
                return at, doubled
            doubled = True
            at += 1
        at += 1
    return -1, doubled


@kernel()
def split_lines(block, at, line, delimiter, quoting, kinds, numbers, texts, unread):
    """Cut lines into fields and read those that are wanted, up to a line that cannot be read.

    A line ends with a line feed, which a carriage return may precede, or with the block.

    Parameters
    ----------
    block : ndarray of uint8
        Whole lines.
    at : int
        Where the first line begins.
    line : int
        How many lines have been read before.
    delimiter : ndarray of uint8
        What stands between two fields: one byte or more; none for any number of blanks and tabs.
    quoting : bool
        Whether a field may be in double quotes, and then contain delimiters, line ends and doubled
        quotes.
    kinds : ndarray of int64
        For each field of a line: `SKIP`, `TEXT`, `WHOLE` (decimal digits), `NUMBER`, or `CELL`, a
        number or nothing.
    numbers : ndarray of float64, of shape (lines at most, fields that are none of the first two)
        Told the numbers; NaN where a `CELL` is empty.
    texts : ndarray of int64, of shape (fields that are `TEXT`, lines at most, 2)
        Told where the texts begin and end, without quotes around them.
    unread : ndarray of int64, of shape (at least as many as a line has numbers, 3)
        Told of each number that `decimal` does not read: where it belongs in ``numbers``, seen as
        one list, and where the field begins and ends.

    Returns
    -------
    line : int
        How many lines have been read.
    at : int
        Where the line begins that was not read; the size of the block when there is none.
    field : int
        Which of its fields is bad.
    problem : int
        Why it was not read: `FINE` at the end of the block, `FULL` where ``unread`` may not have
        room for it, and what may be wrong with it.
    skipped : int
        How many entries of ``unread`` were written.
    doubled : bool
        Whether quotes are doubled in a text.
    """
    size = block.shape[0]
    last = kinds.shape[0] - 1
    per_line = numbers.shape[1]
    by_blanks = delimiter.shape[0] == 0
    by_byte = delimiter.shape[0] == 1
    byte = delimiter[0] if by_byte else np.uint8(_NEWLINE)
    stops = _stops(delimiter)
    skipped = 0
    doubled = False
    while at < size:
        begin = at
        if skipped + per_line > unread.shape[0]:
            return line, begin, 0, FULL, skipped, doubled
        while by_blanks and _is_delimiter(block, at, delimiter):
            at += 1
        following = _line_end(block, at)
        if following >= 0:
            return line, begin, 0, OTHER_FIELDS, skipped, doubled
        n = 0
        t = 0
        field = 0
        while field <= last:
            while (
                # What nearly all cells of tables are: one digit and the delimiter.
                by_byte
                and kinds[field] >= NUMBER
                and field < last
                and at + 1 < size
                and block[at + 1] == byte
                and np.uint8(block[at] - np.uint8(_ZERO)) <= 9
            ):
                numbers[line, n] = block[at] - np.uint8(_ZERO)
                n += 1
                field += 1
                at += 2
            kind = kinds[field]
            quoted = quoting and at < size and block[at] == _QUOTE
            if quoted:
                at += 1
            start = at
            number = np.nan
            good = False
            if kind >= WHOLE and at < size:
                if kind == WHOLE:
                    value, at = _whole(block, at, np.int64(0))
                    number = np.float64(value)
                    good = 0 < at - start <= MOST_DIGITS
                else:
                    number, good, at = decimal(block, at)
                if quoted and good:
                    good = at < size and block[at] == _QUOTE
                    at += 1
            following = -1
            if good and not _is_delimiter(block, at, delimiter):
                following = _line_end(block, at)
                good = following >= 0
            if not good:
                # A text, or a number that is none, or not a plain one.
                if quoted:
                    end, twice = _closing_quote(block, start)
                    if end < 0:
                        return line, begin, field, OPEN_QUOTE, skipped, doubled
                    doubled = doubled or (twice and kind == TEXT)
                    at = end + 1
                else:
                    end = at = _field_end(block, start, delimiter, stops)
                if kind == TEXT:
                    texts[t, line, 0] = start
                    texts[t, line, 1] = end
                    t += 1
                elif kind == WHOLE:
                    return line, begin, field, NOT_WHOLE, skipped, doubled
                elif kind >= NUMBER:
                    number = np.nan
                    if end > start or kind == NUMBER:
                        unread[skipped, 0] = line * per_line + n
                        unread[skipped, 1] = start
                        unread[skipped, 2] = end
                        skipped += 1
                following = _line_end(block, at)
                if following < 0 and not _is_delimiter(block, at, delimiter):
                    problem = STRAY_RETURN if block[at] == _RETURN else OPEN_QUOTE
                    return line, begin, field, problem, skipped, doubled
            if kind >= WHOLE:
                numbers[line, n] = number
                n += 1
            if by_blanks:
                while _is_delimiter(block, at, delimiter):
                    at += 1
                following = _line_end(block, at)
            if (following < 0) != (field < last):
                return line, begin, field, OTHER_FIELDS, skipped, doubled
            at = following if following >= 0 else at + delimiter.shape[0]
            field += 1
        line += 1
    return line, size, 0, FINE, skipped, doubled
