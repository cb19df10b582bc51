"""Random numbers that are computed from where they are used, not drawn one after the other.

So lines can be looked at in any order, in any thread, and the numbers are the same.
"""

import numpy as np

from elbmf.kernels.compiling import helper, kernel

__all__ = ["draw", "random_word", "to_unit_interval"]

# SplitMix64: the distance between two states, and the factors of its two rounds of mixing.
_DISTANCE = np.uint64(0x9E3779B97F4A7C15)
_FIRST_FACTOR = np.uint64(0xBF58476D1CE4E5B9)
_SECOND_FACTOR = np.uint64(0x94D049BB133111EB)


@kernel(inline="always")
def random_word(key, index):
    """Random word at a place of the sequence that a key stands for: that of SplitMix64."""
    word = key + _DISTANCE * (np.uint64(index) + np.uint64(1))
    word = (word ^ (word >> np.uint64(30))) * _FIRST_FACTOR
    word = (word ^ (word >> np.uint64(27))) * _SECOND_FACTOR
    return word ^ (word >> np.uint64(31))


@kernel(inline="always")
def to_unit_interval(word):
    """Make a number in [0, 1) of a random word."""
    return np.float64(word >> np.uint64(11)) * 2.0**-53


@helper(allocates=False)
def draw(random, below):
    """Draw a number from 0 to ``below``, exclusively.

    ``random`` holds the key of a sequence, and how many numbers were drawn of it.
    """
    word = random_word(random[0], random[1])
    random[1] += np.uint64(1)
    return np.int64((word >> np.uint64(1)) % np.uint64(below))
