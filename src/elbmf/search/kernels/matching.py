"""Which components of two factorizations are alike."""

from elbmf.kernels.compiling import kernel
from elbmf.kernels.intrinsics import popcount

__all__ = ["match_components"]


@kernel(allocates=False)
def match_components(left, right, shared, match):
    """Match the components of two factorizations, those that share most of their cells first.

    ``left`` and ``right`` are pairs of component bits, ``shared`` a buffer of shape (k + 2, k).
    Let ``match[l]`` be the component of ``right`` for that of ``left``.
    """
    k = match.shape[0]
    sizes = shared[k:]
    for side in range(2):
        parent = left if side == 0 else right
        for l in range(k):
            rows, columns = 0, 0
            for y in range(parent[0].shape[1]):
                rows += popcount(parent[0][l, y])
            for w in range(parent[1].shape[1]):
                columns += popcount(parent[1][l, w])
            sizes[side, l] = float(rows) * columns
    taken = sizes[0]
    for l in range(k):
        for q in range(k):
            rows, columns = 0, 0
            for w in range(left[1].shape[1]):
                columns += popcount(left[1][l, w] & right[1][q, w])
            if columns:
                for y in range(left[0].shape[1]):
                    rows += popcount(left[0][l, y] & right[0][q, y])
            both = float(rows) * columns
            shared[l, q] = both / max(1.0, sizes[0, l] + sizes[1, q] - both)
    for l in range(k):
        match[l] = -1
        taken[l] = 0.0
    # First those that are each other's best match, then the rest in order.
    for mutual in (True, False):
        for l in range(k):
            if match[l] >= 0:
                continue
            best = -1
            for q in range(k):
                if taken[q] == 0.0 and (best < 0 or shared[l, q] > shared[l, best]):
                    best = q
            fits = True
            if mutual:
                for other in range(k):
                    fits = fits and (match[other] >= 0 or shared[other, best] <= shared[l, best])
            if fits:
                match[l] = best
                taken[best] = 1.0
