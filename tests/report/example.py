"""A small report with everything in it, and what the tests know of it."""

from documents import document, factors

N, M, K = 60, 40, 4
A, U, V = factors(N, M, K)
# A row and a column that no component holds.
U[7], V[:, 9] = False, False
ROWS = [f"sample {row:02d}" for row in range(N)]
COLUMNS = [f"gene-{column:02d}" for column in range(M)]
LABELS = [f"kind {'ABC'[row % 3]}" for row in range(N)]


def full(**changes):
    return document(A, U, V, row_names=ROWS, column_names=COLUMNS, labels=LABELS, **changes)


def order_of(memberships):
    return sorted(range(len(memberships)), key=lambda line: tuple(~memberships[line]))
