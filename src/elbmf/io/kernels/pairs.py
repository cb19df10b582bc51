"""Lines of pairs as bytes: a row, a column and perhaps a value."""

from elbmf.io.kernels.decimals import decimal
from elbmf.kernels.compiling import kernel

__all__ = ["split_pairs"]

_NEWLINE, _RETURN, _QUOTE = 10, 13, 34

# A number in so few characters is read exactly.
_EXACT = 15


@kernel()
def split_pairs(block, at, delimiter, valued, names, values, unread):
    """Cut lines into the names of a row and a column and, perhaps, a value.

    Names may be in double quotes, and then contain delimiters and line ends. It stops at the first
    line that is not so simple: one with other fields, an empty name, a quote within quotes or after
    them, or a carriage return that ends no line.

    Parameters
    ----------
    block : ndarray of uint8
        Whole lines.
    at : int
        Where the first line begins.
    delimiter : int
        The byte between two fields.
    valued : bool
        Whether there are three fields.
    names : ndarray of int64, of shape (2, lines at most, 2)
        Told where the names of rows and of columns begin and end.
    values : ndarray of float64
        Told the values that are plain numbers, such as 1 or 3.5.
    unread : ndarray of int64, of shape (lines at most, 3)
        Told of the other values: the line, and where the value begins and ends.

    Returns
    -------
    lines : int
        How many lines were read.
    at : int
        Where it stopped.
    skipped : int
        How many entries of ``unread`` were written.
    """
    size = block.shape[0]
    last = 2 if valued else 1
    lines = 0
    skipped = 0
    while at < size:
        begin = at
        for field in range(last + 1):
            if at < size and block[at] == _QUOTE:
                at += 1
                start = at
                while at < size and block[at] != _QUOTE:
                    at += 1
                end = at
                at += 1
                if at > size:
                    return lines, begin, skipped
            else:
                start = at
                while at < size:
                    byte = block[at]
                    if byte in (delimiter, _NEWLINE, _RETURN):
                        break
                    at += 1
                end = at
            if field < last:
                if at >= size or block[at] != delimiter:
                    return lines, begin, skipped
                at += 1
            elif at < size:
                if block[at] == _RETURN:
                    at += 1
                    if at == size:
                        return lines, begin, skipped
                if block[at] != _NEWLINE:
                    return lines, begin, skipped
                at += 1
            if field < 2:
                if end == start:
                    return lines, begin, skipped
                names[field, lines, 0] = start
                names[field, lines, 1] = end
            else:
                number, good, stop = decimal(block, start)
                if good and stop == end and end - start <= _EXACT:
                    values[lines] = number
                else:
                    unread[skipped, 0] = lines
                    unread[skipped, 1] = start
                    unread[skipped, 2] = end
                    skipped += 1
        lines += 1
    return lines, at, skipped
