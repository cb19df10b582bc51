"""The Netflix Prize: which customers gave which movies more than 3.5 stars."""

from __future__ import annotations

import os
import tarfile
from collections.abc import Callable
from functools import partial
from pathlib import PurePosixPath
from typing import IO

import numpy as np

from elbmf.errors import FileFormatError
from elbmf.io import LabelledMatrix
from elbmf.io.files import line_blocks, open_bytes
from elbmf.io.text.fields import Column, FieldReader
from elbmf.io.text.lines import shown
from elbmf.paper.catalog.prepared import PreparedData
from elbmf.paper.sources.places import Place, archive_errors
from elbmf.paper.sources.ratings import Likes, Titles, check_range, lines_beside, movie_names

__all__ = ["load"]

_TITLES = ("movie_titles.csv", "movie_titles.txt")
_ADVICE = "Give the files of the Netflix Prize as they are published, or download them again."
_COLUMNS = [Column("customer", "whole"), Column("rating", "whole"), Column("date")]
_COLON = ord(":")
_MOST_MOVIES = 1 << 24


def load(path: str | os.PathLike[str], *, threshold: float = 3.5) -> PreparedData:
    """Read the ratings of the Netflix Prize.

    Parameters
    ----------
    path : path-like
        The folder or zip archive with combined_data_1.txt to combined_data_4.txt, as on Kaggle, or
        with mv_0000001.txt and so on, as in the original; training_set.tar, also gzipped; or one
        such text file alone.
    threshold : float, default=3.5
        A rating of more stars than this is a one.

    Returns
    -------
    PreparedData
        Rows are movies, those without ratings too, columns the customers that occur. Movies have
        their titles as names and the year as label where movie_titles.csv or .txt lies beside the
        ratings.

    References
    ----------
    J. Bennett and S. Lanning. The Netflix Prize. KDD Cup and Workshop, 2007.
    """
    place = Place(path)
    likes = Likes()
    _read_each(place, partial(_read_sections, likes, threshold))
    if not likes.ratings:
        raise FileFormatError(f"{path}: has no ratings. {_ADVICE}")
    titles = _read_titles(place)
    values, movies, customers = likes.matrix(all_rows=True, all_columns=False)
    names, labels = movie_names(movies, titles, "year")
    notes = [
        f"{likes.ratings} ratings of {likes.occurring(0).size} movies by {customers.size} "
        f"customers, {likes.liked} of them of more than {threshold:g} stars."
    ]
    if not titles:
        notes.append(f"No titles: neither {' nor '.join(_TITLES)} lies beside the ratings.")
    table = LabelledMatrix(values, names, [str(customer) for customer in customers.tolist()])
    return PreparedData(table, labels, {}, notes)


def _read_each(place: Place, read: Callable[[str, IO[bytes]], None]) -> None:
    """Call a function with the name and the stream of each file of ratings."""
    lowered = place.path.name.lower()
    if place.file is not None and lowered.removesuffix(".gz").endswith((".tar", ".tgz")):
        with (
            archive_errors(place.path),
            open_bytes(place.path) as raw,
            tarfile.open(fileobj=raw, mode="r|") as archive,
        ):
            for member in archive:
                inside = archive.extractfile(member) if member.isfile() else None
                if inside is not None and PurePosixPath(member.name).name.startswith("mv_"):
                    read(f"{place.path}/{member.name}", inside)
        return
    patterns = ("combined_data_*.txt", "mv_*.txt")
    names = [place.file] if place.file else place.need("the ratings", *patterns)
    for name in names:
        with place.open(name) as stream:
            read(place.label(name), stream)


def _read_sections(likes: Likes, threshold: float, file: str, stream: IO[bytes]) -> None:
    """Read a file in which a line such as ``17:`` begins a movie, and its ratings follow."""
    fields = FieldReader(file, b",", _COLUMNS, _ADVICE)
    movie = 0

    def add(block: bytes) -> None:
        first = fields.line
        values = fields.read(block)
        customers, stars = values["customer"], values["rating"]
        if customers.size and not movie:
            raise _bad_section(file, first, block.partition(b"\n")[0])
        check_range(fields, first, values, "customer", "an id from 1 on")
        check_range(fields, first, values, "rating", "1 to 5 stars", 1, 5)
        likes.add(np.full(customers.size, movie), customers, stars > threshold)

    for block in line_blocks(stream):
        begin = 0
        for colon in np.flatnonzero(np.frombuffer(block, dtype=np.uint8) == _COLON).tolist():
            start = block.rfind(b"\n", 0, colon) + 1
            if start < begin:
                raise _bad_section(file, fields.line - 1, block[start : colon + 9])
            add(block[begin:start])
            begin = block.find(b"\n", colon) + 1 or len(block)
            line = block[start:begin].strip()
            if not line[:-1].isdigit() or not 0 < int(line[:-1]) < _MOST_MOVIES:
                raise _bad_section(file, fields.line, line)
            movie = int(line[:-1])
            likes.occur(0, movie)
            fields.line += 1
        add(block[begin:])


def _bad_section(file: str, line: int, found: bytes) -> FileFormatError:
    return FileFormatError(
        f"{file}, line {line}: expected the id of a movie followed by a colon, such as '17:', "
        f"found {shown(found.strip())}. {_ADVICE}"
    )


def _read_titles(place: Place) -> Titles:
    """Return title and year by the id of the movie; nothing where there is no such file."""
    file, lines = lines_beside(place, *_TITLES)
    titles: Titles = {}
    for number, line in enumerate(lines, 1):
        # Titles have commas, too.
        movie, _, rest = line.partition(",")
        year, comma, title = rest.partition(",")
        if not line.strip():
            continue
        if not movie.isdecimal() or not comma:
            raise FileFormatError(
                f"{place.label(file)}, line {number}: expected the id, the year and the title "
                f"of a movie, separated by commas, found {shown(line)}. Download it again, or "
                "remove it: movies then have no titles."
            )
        titles[int(movie)] = (title, "" if year == "NULL" else year)
    return titles
