"""Lines of whole numbers, which is what large files of sparse matrices are."""

import numpy as np

from elbmf.kernels.compiling import kernel

__all__ = ["whole_lines"]

_NEWLINE, _RETURN, _BLANK, _ZERO = 10, 13, 32, 48

# So many digits cannot be more than an int64 holds.
_MOST_DIGITS = 18


@kernel()
def whole_lines(block, numbers):
    """Read lines of digits with one blank between numbers; tell whether there is nothing else.

    Parameters
    ----------
    block : ndarray of uint8
        Whole lines. The last one may lack its line feed; each may have a carriage return before it.
    numbers : ndarray of int64, of shape (numbers of a line, lines of the block)
        Told the numbers.

    Returns
    -------
    bool
        Whether all lines were of that kind; if not, what ``numbers`` was told means nothing.
    """
    size = block.shape[0]
    last = numbers.shape[0] - 1
    at = 0
    for line in range(numbers.shape[1]):
        for field in range(last + 1):
            start = at
            value = np.int64(0)
            while at < size:
                # Unsigned, so that one comparison tells a digit.
                digit = np.uint8(block[at] - np.uint8(_ZERO))
                if digit > 9:
                    break
                value = value * 10 + digit
                at += 1
            if at == start or at - start > _MOST_DIGITS:
                return False
            numbers[field, line] = value
            if field < last:
                if at >= size or block[at] != _BLANK:
                    return False
                at += 1
        if at < size and block[at] == _RETURN:
            at += 1
        if at < size:
            if block[at] != _NEWLINE:
                return False
            at += 1
    return at == size
