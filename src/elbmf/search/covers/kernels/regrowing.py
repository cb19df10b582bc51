"""Covers that are taken apart in places and grown again.

Of many bicliques that grow, the one that covers most for each of its lines is taken, as a biclique
has to do with many lines where a line by itself covers just its own ones.

References
----------
R. Ruiz, T. Stützle. A simple and effective iterated greedy algorithm for the permutation flowshop
scheduling problem. European Journal of Operational Research 177(3), 2007.
"""

import numpy as np

from elbmf.kernels.compiling import helper, kernel
from elbmf.kernels.randomness import draw
from elbmf.kernels.sets import copy_into, has, lowest
from elbmf.search.covers.kernels.regrowth import ONE, count_alone, count_in, is_over, uniform
from elbmf.search.covers.kernels.surprising import grow_surprising, worth

__all__ = ["regrow"]

# Share of the bicliques that are taken out at a time, at most.
_SHARE_OUT = 0.4

# Of two bicliques that cover so many ones alone and none, the second is this much likelier to go.
_KEPT_FOR = 3.0

# How much chance every other biclique leaves to lines that fit less well.
_NOISE = 0.3


@helper(allocates=False)
def _take_out(growth, k):
    """Take some bicliques out, those rather that cover little alone; return how many are left."""
    scores = growth.scores
    for l in range(k):
        scores[l] = -np.log(uniform(growth.random)) * (_KEPT_FOR + count_alone(growth, l))
    out = max(2, np.int64(_SHARE_OUT * uniform(growth.random) * k))
    for _ in range(min(out, k)):
        least = 0
        for l in range(k):
            if scores[l] < scores[least]:
                least = l
        k = _remove(growth, least, k)
        scores[least] = scores[k]
        growth.state[0] += k
    return k


@helper(allocates=False)
def _remove(growth, l, k):
    """Take a biclique out; the last takes its place. Return how many are left."""
    count_in(growth, growth.rows[l], growth.columns[l], -1)
    copy_into(growth.rows[l], growth.rows[k - 1])
    copy_into(growth.columns[l], growth.columns[k - 1])
    return k - 1


@helper(allocates=False)
def _list_uncovered(growth):
    """List what is left to cover; return how much it is."""
    count = 0
    for i in range(growth.left.shape[0]):
        for w in range(growth.left.shape[1]):
            word = growth.left[i, w]
            while word:
                growth.uncovered[count, 0] = i
                growth.uncovered[count, 1] = 64 * w + lowest(word)
                word &= word - ONE
                count += 1
        growth.state[0] += growth.left.shape[1]
    return count


@helper(allocates=False)
def _cover_rest(growth, k, tries):
    """Add bicliques until all is covered; return how many there are, and whether it is."""
    pool, scores = growth.pool_rows.shape[0], growth.scores
    uncovered = growth.uncovered
    left = _list_uncovered(growth)
    while True:
        best = least = 0
        for p in range(pool):
            scores[p] = worth(growth, growth.pool_rows[p], growth.pool_columns[p])
        for attempt in range(tries):
            e = np.int64(0)
            while left:
                e = draw(growth.random, left)
                if has(growth.left[uncovered[e, 0]], uncovered[e, 1]):
                    break
                left -= 1
                uncovered[e, 0], uncovered[e, 1] = uncovered[left, 0], uncovered[left, 1]
            if left == 0:
                return k, True
            least = 0
            for p in range(pool):
                if scores[p] < scores[least]:
                    least = p
            rows, columns = growth.pool_rows[least], growth.pool_columns[least]
            i, j = uncovered[e, 0], uncovered[e, 1]
            grow_surprising(growth, i, j, rows, columns, _NOISE if attempt & 1 else 0.0)
            scores[least] = worth(growth, rows, columns)
        for p in range(pool):
            if scores[p] > scores[best]:
                best = p
        if k == growth.rows.shape[0] or is_over(growth):
            return k, False
        copy_into(growth.rows[k], growth.pool_rows[best])
        copy_into(growth.columns[k], growth.pool_columns[best])
        count_in(growth, growth.rows[k], growth.columns[k], 1)
        k += 1


@helper(allocates=False)
def _without_needless(growth, k):
    """Take out bicliques that cover nothing alone; return how many are left."""
    for l in range(k - 1, -1, -1):
        if count_alone(growth, l) == 0:
            k = _remove(growth, l, k)
    return k


@helper(allocates=False)
def _copy(target, source, k):
    for l in range(k):
        copy_into(target[l], source[l])


@kernel(allocates=False, error_model="numpy")
def regrow(growth, k, from_scratch, fewest, tries):
    """Cover the same by fewer bicliques, until there are as few as wanted, or it is over.

    Parameters
    ----------
    growth : Regrowth
        Of which the first ``k`` rows and columns need be set, and the same as the best; they must
        cover all. Nothing of it is counted yet.
    k : int
        How many there are.
    from_scratch : bool
        Whether to begin with none of them.
    fewest : int
        How many to be content with.
    tries : int
        How many bicliques grow before one is taken.
    """
    state = growth.state
    if from_scratch:
        k = 0
    for l in range(k):
        count_in(growth, growth.rows[l], growth.columns[l], 1)
    while not is_over(growth) and state[2] > fewest:
        k = _take_out(growth, k)
        k, covered = _cover_rest(growth, k, tries)
        if covered:
            k = _without_needless(growth, k)
        if covered and k <= state[2]:
            _copy(growth.best_rows, growth.rows, k)
            _copy(growth.best_columns, growth.columns, k)
            state[2] = k
        else:
            while k:
                k = _remove(growth, k - 1, k)
            k = state[2]
            _copy(growth.rows, growth.best_rows, k)
            _copy(growth.columns, growth.best_columns, k)
            for l in range(k):
                count_in(growth, growth.rows[l], growth.columns[l], 1)
    return state[2]
