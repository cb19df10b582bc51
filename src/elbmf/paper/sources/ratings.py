"""Ratings as zeros and ones: who likes what, by the ids in the files."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from elbmf.io.text.fields import FieldReader
from elbmf.paper.sources.places import Place
from elbmf.paper.sources.published import told_apart

__all__ = ["GREATEST_ID", "Likes", "Titles", "check_range", "lines_beside", "movie_names"]

Titles = dict[int, tuple[str, str]]
"""Of movies, by their ids: the title, and what else is known of it."""

# Ids are positions in an array, so that beyond this something else stands in their column.
GREATEST_ID = 1 << 28


def check_range(
    reader: FieldReader,
    first: int,
    values: dict[str, Any],
    name: str,
    expected: str,
    least: float = 1,
    most: float = GREATEST_ID,
) -> None:
    """Raise where a number is not in its range, as where columns are in another order.

    ``first`` is the line of the first number, ``expected`` is the range in words.
    """
    numbers = values[name]
    if numbers.size and not (numbers.min() >= least and numbers.max() <= most):
        bad = int(np.flatnonzero((numbers < least) | (numbers > most))[0])
        raise reader.bad_value(first + bad, name, f"{numbers[bad]:g}", expected)


class Likes:
    """Collects pairs of ids; memory is that of the pairs that are liked.

    Attributes
    ----------
    ratings : int
        Pairs seen so far, liked or not.
    liked : int
        Pairs that are liked.
    """

    def __init__(self) -> None:
        self.ratings = 0
        self.liked = 0
        self._seen = [np.zeros(1, dtype=np.bool_), np.zeros(1, dtype=np.bool_)]
        self._pairs: tuple[list[NDArray[np.int32]], ...] = ([], [])

    def add(
        self, rows: NDArray[np.int64], columns: NDArray[np.int64], liked: NDArray[np.bool_]
    ) -> None:
        """Add pairs of ids, which are at least 1."""
        if not rows.size:
            return
        self.ratings += rows.size
        self.liked += int(liked.sum())
        for axis, ids in enumerate((rows, columns)):
            self.occur(axis, int(ids.max()))
            self._seen[axis][ids] = True
            self._pairs[axis].append(ids[liked].astype(np.int32))

    def occur(self, axis: int, most: int) -> None:
        """Take note that ids go up to a number."""
        seen = self._seen[axis]
        if most >= seen.size:
            self._seen[axis] = np.zeros(max(most + 1, seen.size), dtype=np.bool_)
            self._seen[axis][: seen.size] = seen

    def occurring(self, axis: int) -> NDArray[np.int64]:
        """Return the ids of rows (0) or columns (1) that have ratings, ascending."""
        return np.flatnonzero(self._seen[axis])

    def matrix(
        self, *, all_rows: bool, all_columns: bool
    ) -> tuple[sparse.csr_array, NDArray[np.int64], NDArray[np.int64]]:
        """Return the matrix of what is liked, and the ids of its rows and columns.

        Parameters
        ----------
        all_rows, all_columns : bool
            Whether every id from 1 to the greatest has a row or column, or only those with
            ratings.
        """
        sides = []
        for axis, everything in enumerate((all_rows, all_columns)):
            seen = self._seen[axis]
            ids = np.arange(1, seen.size) if everything else self.occurring(axis)
            position = np.zeros(seen.size, dtype=np.int32)
            position[ids] = np.arange(ids.size, dtype=np.int32)
            pieces = self._pairs[axis]
            found = np.concatenate(pieces) if pieces else np.empty(0, dtype=np.int32)
            pieces.clear()
            sides.append((ids, position[found]))
        (row_ids, rows), (column_ids, columns) = sides
        ones = np.ones(rows.size, dtype=np.bool_)
        shape = (row_ids.size, column_ids.size)
        return sparse.csr_array((ones, (rows, columns)), shape=shape), row_ids, column_ids


def lines_beside(place: Place, *patterns: str) -> tuple[str, list[str]]:
    """Return the name and the lines of the first file that fits a pattern; none of no file."""
    found = place.find(*patterns)
    if not found:
        return "", []
    with place.open(found[0]) as stream:
        data = stream.read()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        # The older sets are in Latin-1, which no byte contradicts.
        text = data.decode("latin-1")
    return found[0], text.replace("\r\n", "\n").split("\n")


def movie_names(
    ids: NDArray[np.int64], titles: Titles, kind: str
) -> tuple[list[str], dict[str, list[str]]]:
    """Return names of movies, no two of them equal, and as labels their ids and what is known."""
    numbers = [str(each) for each in ids.tolist()]
    known = [titles.get(each, ("", "")) for each in ids.tolist()]
    labels = {"movie": numbers}
    if titles:
        labels[kind] = [label for _, label in known]
    return told_apart([title for title, _ in known], numbers), labels
