"""MovieLens: which users gave which movies more than 3.5 stars."""

from __future__ import annotations

import csv
import os
from pathlib import PurePosixPath

from elbmf.errors import FileFormatError
from elbmf.io import LabelledMatrix
from elbmf.io.text.fields import Column, FieldReader, header_fields
from elbmf.io.text.lines import shown
from elbmf.paper.catalog.prepared import PreparedData
from elbmf.paper.sources.places import Place
from elbmf.paper.sources.ratings import (
    GREATEST_ID,
    Likes,
    Titles,
    check_range,
    lines_beside,
    movie_names,
)

__all__ = ["load"]

_RATINGS = ("ratings.dat", "ratings.csv", "u.data")
_MOVIES = ("movies.dat", "movies.csv", "u.item")
_ADVICE = "Give ratings.dat, ratings.csv or u.data as GroupLens publishes it, or download it again."
_COLUMNS = {"userId": "whole", "movieId": "whole", "rating": "decimal"}
_STARS = "a rating between 0 and 5 stars"
_ID = "an id, which is a whole number from 1 on"


def load(
    path: str | os.PathLike[str], *, threshold: float = 3.5, all_ids: bool = True
) -> PreparedData:
    """Read the ratings of any MovieLens data set.

    Parameters
    ----------
    path : path-like
        The zip archive as published, the folder it unpacks to, or the file of ratings in it:
        ratings.dat, ratings.csv or u.data.
    threshold : float, default=3.5
        A rating of more stars than this is a one.
    all_ids : bool, default=True
        Whether every id from 1 to the greatest has a row or column, as in Table 1 of the paper,
        or only the users and movies that have ratings.

    Returns
    -------
    PreparedData
        Rows are users, columns movies; these have titles as names and their genres as labels where
        the file of the movies lies beside the ratings.

    References
    ----------
    F. M. Harper and J. A. Konstan. The MovieLens Datasets: History and Context. ACM TiiS 5(4),
    2015.
    """
    place = Place(path)
    name = place.file or place.need("the ratings", *_RATINGS)[0]
    likes = _read_ratings(place, name, threshold)
    movies = _read_movies(place)
    if movies and all_ids:
        likes.occur(1, max(movies))
    values, users, ids = likes.matrix(all_rows=all_ids, all_columns=all_ids)
    titles, labels = movie_names(ids, movies, "genres")
    occurring = [likes.occurring(axis).size for axis in (0, 1)]
    notes = [
        f"{likes.ratings} ratings of {occurring[1]} movies by {occurring[0]} users, {likes.liked} "
        f"of them of more than {threshold:g} stars."
    ]
    if not movies:
        notes.append(f"No titles: none of {', '.join(_MOVIES)} lies beside the ratings.")
    table = LabelledMatrix(values, [str(user) for user in users.tolist()], titles)
    return PreparedData(table, {}, labels, notes)


def _read_ratings(place: Place, name: str, threshold: float) -> Likes:
    likes = Likes()
    file = place.label(name)
    with place.open(name) as stream:
        head = stream.readline()
        reader, has_header = _reader(file, head)
        if has_header:
            head, reader.line = b"", 2
        for first, values in reader.blocks(stream, head):
            check_range(reader, first, values, "userId", _ID)
            check_range(reader, first, values, "movieId", _ID)
            check_range(reader, first, values, "rating", _STARS, 0, 5)
            likes.add(values["userId"], values["movieId"], values["rating"] > threshold)
    if not likes.ratings:
        raise FileFormatError(f"{file}: has no ratings. {_ADVICE}")
    return likes


def _reader(file: str, head: bytes) -> tuple[FieldReader, bool]:
    """Tell the three kinds of files by the first line, and whether it is a header."""
    if not head.strip():
        raise FileFormatError(f"{file}, line 1: expected ratings, found nothing. {_ADVICE}")
    plain = [Column(name, kind) for name, kind in _COLUMNS.items()]
    plain.append(Column("timestamp"))
    for delimiter in (b"::", b"\t"):
        if delimiter in head:
            return FieldReader(file, delimiter, plain, _ADVICE), False
    if b"," in head:
        names = header_fields(file, head, b",", list(_COLUMNS))
        columns = [Column(name, _COLUMNS.get(name, "skip")) for name in names]
        return FieldReader(file, b",", columns, _ADVICE), True
    raise FileFormatError(
        f"{file}, line 1: expected userId, movieId, rating and timestamp separated by '::', tabs "
        f"or commas, found {shown(head.strip())}. {_ADVICE}"
    )


def _read_movies(place: Place) -> Titles:
    """Return title and genres by id; nothing where there is no such file."""
    file, lines = lines_beside(place, *_MOVIES)
    delimiter = {"movies.dat": "::", "u.item": "|"}.get(
        PurePosixPath(file).name.lower().removesuffix(".gz"), ","
    )
    # In the order of the flags in u.item.
    genres = [line.partition("|")[0] for line in lines_beside(place, "u.genre")[1] if "|" in line]
    movies: Titles = {}
    for number, line in enumerate(lines, 1):
        # Only the files with commas have a header, and quotes around titles.
        if not line.strip() or (delimiter == "," and number == 1):
            continue
        fields = next(csv.reader([line])) if delimiter == "," else line.split(delimiter)
        if len(fields) < 3 or not fields[0].isdecimal() or int(fields[0]) > GREATEST_ID:
            raise FileFormatError(
                f"{place.label(file)}, line {number}: expected the id, the title and the "
                f"genres of a movie separated by {delimiter!r}, found {shown(line)}. Download it "
                "again, or remove it: movies then have no titles."
            )
        kinds = fields[2]
        if delimiter == "|":
            flags = fields[len(fields) - len(genres) :]
            kinds = "|".join(g for g, flag in zip(genres, flags, strict=False) if flag == "1")
        movies[int(fields[0])] = (fields[1], kinds)
    return movies
