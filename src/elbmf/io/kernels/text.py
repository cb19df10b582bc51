"""Delimited text as bytes: lines are cut into fields, and numbers are read."""

import numpy as np

from elbmf.io.kernels.decimals import MOST_DIGITS, decimal, whole
from elbmf.kernels.compiling import kernel

__all__ = [
    "DECIMAL",
    "EMPTY",
    "FINE",
    "NO_NUMBER",
    "OPEN_QUOTE",
    "OPTIONAL",
    "SKIP",
    "TEXT",
    "TOO_FEW",
    "TOO_LARGE",
    "TOO_MANY",
    "WHOLE",
    "cut_line",
    "split_lines",
]

# What to do with a field.
SKIP, WHOLE, DECIMAL, TEXT, OPTIONAL = range(5)

# What may be wrong with one.
FINE, TOO_FEW, TOO_MANY, NO_NUMBER, TOO_LARGE, EMPTY, OPEN_QUOTE = range(7)

_TAB, _NEWLINE, _RETURN, _BLANK, _QUOTE = 9, 10, 13, 32, 34


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
def _past_blanks(block, at, delimiter):
    """Return where the blanks at a position end, where these are what stands between fields."""
    if delimiter.shape[0] == 0:
        while _is_delimiter(block, at, delimiter):
            at += 1
    return at


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
    stops[_NEWLINE] = True
    if delimiter.shape[0]:
        stops[delimiter[0]] = True
    else:
        stops[_BLANK] = True
        stops[_TAB] = True
    return stops


@kernel(inline="always")
def _closing_quote(block, at):
    """Return where the quote is that closes a field, or -1."""
    size = block.shape[0]
    while at < size:
        if block[at] == _QUOTE:
            # A quote within a field is doubled.
            if at + 1 == size or block[at + 1] != _QUOTE:
                return at
            at += 1
        at += 1
    return -1


@kernel(inline="always")
def _field_end(block, at, delimiter, stops):
    """Return where the next delimiter or line feed is, or the block ends."""
    size = block.shape[0]
    while True:
        while at < size and not stops[block[at]]:
            at += 1
        if (
            delimiter.shape[0] < 2
            or at >= size
            or block[at] == _NEWLINE
            or _is_delimiter(block, at, delimiter)
        ):
            return at
        at += 1


@kernel(inline="always")
def _without_return(block, start, at):
    """Return the end of a field that is followed by what is at a position."""
    if at > start and block[at - 1] == _RETURN and (at == block.shape[0] or block[at] == _NEWLINE):
        return at - 1
    return at


@kernel()
def cut_line(block, at, delimiter, quoting, bounds):
    """Find the fields of the line that begins at a position.

    Parameters
    ----------
    block, delimiter, quoting
        As in `split_lines`.
    at : int
        Where the line begins.
    bounds : ndarray of int64, of shape (fields at most, 2)
        Told where each field begins and ends.

    Returns
    -------
    fields : int
        How many the line has; one whose quote is not closed is the last.
    end : int
        Where the line ends.
    """
    size = block.shape[0]
    stops = _stops(delimiter)
    fields = 0
    at = _past_blanks(block, at, delimiter)
    while delimiter.shape[0] or _line_end(block, at) < 0:
        quoted = quoting and at < size and block[at] == _QUOTE
        start = at + 1 if quoted else at
        if quoted:
            end = _closing_quote(block, start)
            end = size if end < 0 else end
            at = _field_end(block, end, delimiter, stops)
        else:
            at = _field_end(block, start, delimiter, stops)
            end = _without_return(block, start, at)
        if fields < bounds.shape[0]:
            bounds[fields, 0] = start
            bounds[fields, 1] = end
        fields += 1
        at = _past_blanks(block, at, delimiter)
        if _line_end(block, at) >= 0:
            break
        at += delimiter.shape[0]
    return fields, at


@kernel()
def split_lines(block, delimiter, quoting, kinds, wholes, decimals, spans, unread):
    """Cut lines into fields and read those that are wanted.

    A line ends with a line feed, which a carriage return may precede, or with the block.

    Parameters
    ----------
    block : ndarray of uint8
        Whole lines.
    delimiter : ndarray of uint8
        What stands between two fields: one byte or more; none for any number of blanks and tabs.
    quoting : bool
        Whether a field may be in double quotes, and then contain delimiters, line ends and doubled
        quotes; what follows up to the next delimiter is left out.
    kinds : ndarray of int64
        For each field of a line: `SKIP`, `WHOLE` (decimal digits), `DECIMAL`, `TEXT`, or `OPTIONAL`
        (a text that may be empty).
    wholes : ndarray of int64, of shape (fields that are `WHOLE`, lines at most)
    decimals : ndarray of float64, of shape (fields that are `DECIMAL`, lines at most)
    spans : ndarray of int64, of shape (fields that are `TEXT` or `OPTIONAL`, lines at most, 2)
        Where to write the values, and for texts their begin and end.
    unread : ndarray of int64, of shape (lines at most · fields that are `DECIMAL`, 5)
        Told of each `DECIMAL` field that `decimal` does not read: its line, which field it is,
        where the line begins, and where the field begins and ends.

    Returns
    -------
    lines : int
        How many lines were read.
    begin : int
        Where the first bad line begins; the size of the block when there is none.
    field : int
        Which of its fields is bad.
    problem : int
        What is wrong: `FINE`, `TOO_FEW` or `TOO_MANY` fields, `NO_NUMBER`, `TOO_LARGE`, `EMPTY` or
        `OPEN_QUOTE`.
    skipped : int
        How many entries of ``unread`` were written.
    """
    size = block.shape[0]
    last = kinds.shape[0] - 1
    stops = _stops(delimiter)
    by_blanks = delimiter.shape[0] == 0
    at = 0
    line = 0
    skipped = 0
    while at < size:
        begin = at
        at = _past_blanks(block, at, delimiter)
        w = 0
        d = 0
        t = 0
        for field in range(last + 1):
            kind = kinds[field]
            quoted = quoting and at < size and block[at] == _QUOTE
            start = at + 1 if quoted else at
            at = start
            good = False
            following = -1
            if kind == WHOLE:
                value, at = whole(block, at, np.int64(0))
                if at - start > MOST_DIGITS:
                    return line, begin, field, TOO_LARGE, skipped
                good = at > start
                wholes[w, line] = value
                w += 1
            elif kind == DECIMAL:
                number, good, at = decimal(block, at)
                decimals[d, line] = number
                d += 1
            if good and quoted:
                good = at < size and block[at] == _QUOTE
                at += 1
            if good and not _is_delimiter(block, at, delimiter):
                following = _line_end(block, at)
                good = following >= 0
            if not good:
                # A text, or a number that is none, or not a plain one.
                if quoted:
                    end = _closing_quote(block, start)
                    if end < 0:
                        return line, begin, field, OPEN_QUOTE, skipped
                    at = _field_end(block, end, delimiter, stops)
                else:
                    at = _field_end(block, start, delimiter, stops)
                    end = _without_return(block, start, at)
                following = at + 1 if at >= size or block[at] == _NEWLINE else -1
                if kind != SKIP and end == start:
                    if field == 0 and following >= 0 and not quoted:
                        return line, begin, field, TOO_FEW, skipped
                    if kind != OPTIONAL:
                        return line, begin, field, EMPTY, skipped
                if kind == WHOLE:
                    return line, begin, field, NO_NUMBER, skipped
                if kind == DECIMAL:
                    unread[skipped, 0] = line
                    unread[skipped, 1] = field
                    unread[skipped, 2] = begin
                    unread[skipped, 3] = start
                    unread[skipped, 4] = end
                    skipped += 1
                elif kind != SKIP:
                    spans[t, line, 0] = start
                    spans[t, line, 1] = end
                    t += 1
            if by_blanks:
                at = _past_blanks(block, at, delimiter)
                following = _line_end(block, at)
            if field < last:
                if following >= 0:
                    return line, begin, field + 1, TOO_FEW, skipped
                at += delimiter.shape[0]
            elif following < 0:
                return line, begin, field + 1, TOO_MANY, skipped
            else:
                at = following
        line += 1
    return line, size, 0, FINE, skipped
