"""Readers of MovieLens, Netflix and STRING, on small files as their owners publish them."""

import gzip
import io
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elbmf.errors import FileFormatError, InputError
from elbmf.io import read, write
from elbmf.io.files import watching
from elbmf.paper.sources import movielens, netflix, string
from elbmf.paper.sources.published import told_apart

RATINGS = [(1, 2, 5.0), (1, 5, 3.5), (2, 2, 4.0), (4, 5, 4.5), (4, 1, 0.5)]
ML = {
    "ratings.dat": "".join(f"{u}::{m}::{s:g}::838985046\n" for u, m, s in RATINGS),
    "ratings.csv": "userId,movieId,rating,timestamp\n"
    + "".join(f"{u},{m},{s},838985046\r\n" for u, m, s in RATINGS),
    "u.data": "".join(f"{u}\t{m}\t{s:g}\t838985046\n" for u, m, s in RATINGS),
}
MOVIES = {
    "ratings.dat": (
        "movies.dat",
        "2::Amélie: a (2001)::Comedy|Romance\n5::Heat::Crime\n7::No::X\n",
    ),
    "ratings.csv": (
        "movies.csv",
        'movieId,title,genres\n2,"Amélie: a (2001)",Comedy|Romance\n5,Heat,Crime\n7,No,X\n',
    ),
    "u.data": ("u.item", "2|Amélie: a (2001)|x||u|0|1|1\n5|Heat|x||u|1|0|0\n7|No|x||u|0|0|0\n"),
}
NETFLIX = {
    1: "1:\n6,4,2005-09-06\n9,3,2005-05-13\n",
    2: "2:\n",
    3: "3:\n9,5,2005-10-19\n30,1,2004-01-01\n",
}
TITLES = "1,2003,Dinosaur Planet\n2,NULL,Isle of Man\x85, TT\n3,1997,Caract\xe8re\n"
HEADER = "protein1 protein2 neighborhood fusion experimental database combined_score\n"
STRING = (
    HEADER
    + "9606.B 9606.A 0 0 128 0 154\n"
    + "9606.A 9606.B 0 0 128 0 154\n"
    + "9606.A 9606.C 0 0 0 7 151\n"
)
INFO = "#string_protein_id\tpreferred_name\tprotein_size\tannotation\n9606.A\tARF5\t1\tx\n"


def liked(data):
    return np.argwhere(data.matrix.values.toarray()).tolist()


@pytest.mark.parametrize("name", ML)
@pytest.mark.parametrize("place", ["file", "folder", "zip", "outer folder", "gzip"])
def test_movielens(tmp_path, name, place):
    movies, text = MOVIES[name]
    encoding = "latin-1" if name == "u.data" else "utf-8"
    files = {name: ML[name].encode(), movies: text.encode(encoding)}
    if name == "u.data":
        files["u.genre"] = b"Crime|0\nComedy|1\nRomance|2\n"
    folder = tmp_path / "ml-10M100K"
    folder.mkdir()
    for file, content in files.items():
        (folder / file).write_bytes(content)
    path = {"file": folder / name, "folder": folder, "outer folder": tmp_path}.get(place)
    if place == "zip":
        path = tmp_path / "ml-10m.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("__MACOSX/ratings.dat", "nothing")
            for file, content in files.items():
                archive.writestr(f"ml-10M100K/{file}", content)
    elif place == "gzip":
        path = folder / f"{name}.gz"
        path.write_bytes(gzip.compress(ML[name].encode()))
    data = movielens.load(path)
    # Every id up to the greatest, of users with ratings and movies with titles.
    assert data.matrix.shape == (4, 7)
    assert liked(data) == [[0, 1], [1, 1], [3, 4]]
    assert data.matrix.row_names == ["1", "2", "3", "4"]
    assert data.matrix.column_names == ["1", "Amélie: a (2001)", "3", "4", "Heat", "6", "No"]
    kinds = ["", "Comedy|Romance", "", "", "Crime", "", "" if name == "u.data" else "X"]
    assert data.column_labels == {"movie": list("1234567"), "genres": kinds}
    assert data.notes == ["5 ratings of 3 movies by 3 users, 3 of them of more than 3.5 stars."]


def test_movielens_options(tmp_path):
    path = tmp_path / "ratings.dat"
    path.write_text(ML["ratings.dat"])
    data = movielens.load(path, threshold=3, all_ids=False)
    assert data.matrix.row_names == ["1", "2", "4"]
    assert data.matrix.column_names == ["1", "2", "5"]
    assert liked(data) == [[0, 1], [0, 2], [1, 1], [2, 2]]
    assert data.column_labels == {"movie": ["1", "2", "5"]}
    assert "No titles" in data.notes[1]
    everything = movielens.load(path, threshold=0).matrix
    assert everything.shape == (4, 5)
    assert everything.values.nnz == len(RATINGS)


def test_a_pair_rated_twice_is_one_one(tmp_path):
    path = tmp_path / "ratings.dat"
    path.write_text("1::1::5::3\n1::1::4::3\n1::1::1::3\n")
    values = movielens.load(path).matrix.values
    assert values.dtype == bool
    assert values.toarray().tolist() == [[True]]


def test_movielens_of_many_blocks_is_what_a_dict_says(tmp_path, monkeypatch):
    monkeypatch.setattr("elbmf.io.files._BLOCK_BYTES", 100)
    generator = np.random.default_rng(0)
    lines = generator.integers(1, 40, (500, 2))
    stars = generator.integers(1, 11, 500) / 2
    path = tmp_path / "ratings.dat"
    path.write_text(
        "".join(f"{u}::{m}::{s:g}::1\n" for (u, m), s in zip(lines, stars, strict=True))
    )
    expected = np.zeros(lines.max(axis=0), dtype=bool)
    expected[tuple(lines[stars > 3.5].T - 1)] = True
    np.testing.assert_array_equal(movielens.load(path).matrix.values.toarray(), expected)


def netflix_files(folder, layout):
    folder.mkdir(exist_ok=True)
    (folder / "movie_titles.csv").write_bytes(TITLES.encode("latin-1"))
    texts = {f"mv_{movie:07d}.txt": text for movie, text in NETFLIX.items()}
    if layout == "combined":
        (folder / "combined_data_1.txt").write_text(NETFLIX[1] + NETFLIX[2])
        (folder / "combined_data_2.txt").write_text(NETFLIX[3].replace("\n", "\r\n"))
        return folder
    if layout == "training_set":
        (folder / "training_set").mkdir()
        for name, text in texts.items():
            (folder / "training_set" / name).write_text(text)
        return folder
    path = folder / ("archive.zip" if layout == "zip" else layout)
    if layout == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("combined_data_1.txt", "".join(NETFLIX.values()))
            archive.writestr("movie_titles.csv", TITLES.encode("latin-1"))
        return path
    with tarfile.open(path, "w:gz" if layout.endswith("gz") else "w") as archive:
        for name, text in texts.items():
            member = tarfile.TarInfo(f"training_set/{name}")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    return path


@pytest.mark.parametrize(
    "layout", ["combined", "training_set", "zip", "training_set.tar", "training_set.tar.gz"]
)
def test_netflix(tmp_path, layout):
    data = netflix.load(netflix_files(tmp_path / "nf", layout))
    assert data.matrix.row_names == ["Dinosaur Planet", "Isle of Man\x85, TT", "Caractère"]
    assert data.matrix.column_names == ["6", "9", "30"]
    assert liked(data) == [[0, 0], [2, 1]]
    assert data.row_labels == {"movie": ["1", "2", "3"], "year": ["2003", "", "1997"]}
    assert data.notes == ["4 ratings of 2 movies by 3 customers, 2 of them of more than 3.5 stars."]


def test_netflix_sections_across_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr("elbmf.io.files._BLOCK_BYTES", 64)
    generator = np.random.default_rng(0)
    expected = generator.integers(0, 6, (20, 30))
    text = "".join(
        f"{movie}:\n"
        + "".join(f"{c + 1},{stars},2005-01-01\n" for c, stars in enumerate(line) if stars)
        for movie, line in enumerate(expected, 1)
    )
    (tmp_path / "combined_data_1.txt").write_text(text)
    data = netflix.load(tmp_path / "combined_data_1.txt", threshold=2)
    np.testing.assert_array_equal(data.matrix.values.toarray(), expected > 2)
    assert "No titles" in data.notes[1]


@pytest.mark.parametrize("place", ["file", "folder", "gzip"])
def test_string(tmp_path, place):
    name = "9606.protein.links.detailed.v11.5.txt"
    path = tmp_path / name
    if place == "gzip":
        path = tmp_path / f"{name}.gz"
        path.write_bytes(gzip.compress(STRING.encode()))
    else:
        path.write_text(STRING)
    (tmp_path / "9606.protein.info.v11.5.txt.gz").write_bytes(gzip.compress(INFO.encode()))
    data = string.load(tmp_path if place == "folder" else path)
    assert data.matrix.row_names == data.matrix.column_names == ["ARF5", "9606.B", "9606.C"]
    assert data.row_labels == data.column_labels == {"protein": ["9606.A", "9606.B", "9606.C"]}
    assert liked(data) == [[0, 1], [1, 0]]
    assert data.notes == ["3 links of 3 proteins, 2 of them with experimental above 0."]


def test_string_evidence(tmp_path):
    path = tmp_path / "9606.protein.links.full.v11.5.txt"
    path.write_text(STRING.replace(" experimental ", " experiments "))
    assert liked(string.load(path)) == [[0, 1], [1, 0]]
    assert liked(string.load(path, evidence="combined_score")) == [[0, 1], [0, 2], [1, 0]]
    assert liked(string.load(path, evidence="combined_score", above=151)) == [[0, 1], [1, 0]]
    with pytest.raises(InputError, match=r"no column 'homology'; scores it has: neighborhood, "):
        string.load(path, evidence="homology")


def test_string_with_several_files_of_links(tmp_path):
    for organism in (9606, 10090):
        (tmp_path / f"{organism}.protein.links.detailed.v11.5.txt").write_text(STRING)
    with pytest.raises(InputError, match=r"several files of links: 10090.*Name one"):
        string.load(tmp_path)


def test_names_that_come_twice_are_told_apart():
    assert told_apart(["a", "b", "a", ""], list("1234")) == ["a [1]", "b", "a [3]", "4"]
    assert told_apart(["a", "a", "a [1]"], list("123")) == ["a [1]", "a [2]", "a [1] (2)"]


@given(names=st.lists(st.sampled_from(["a", "b", "a (2)", "a (3)"]), max_size=9))
def test_without_ids_names_that_come_again_are_numbered(names):
    distinct = told_apart(names)
    assert len(set(distinct)) == len(names)
    for place, (new, old) in enumerate(zip(distinct, names, strict=True)):
        assert new == old or new.startswith(f"{old} (")
        assert (new == old) == (old not in names[:place])


FORMATS = {
    "ratings.dat": (movielens.load, ML["ratings.dat"]),
    "ratings.csv": (movielens.load, ML["ratings.csv"]),
    "u.data": (movielens.load, ML["u.data"]),
    "combined_data_1.txt": (netflix.load, NETFLIX[1] + NETFLIX[3]),
    "mv_0000001.txt": (netflix.load, NETFLIX[1]),
    "9606.protein.links.detailed.v11.5.txt": (string.load, STRING),
}
DELIMITERS = {
    "ratings.dat": "::",
    "ratings.csv": ",",
    "u.data": "\t",
    "combined_data_1.txt": ",",
    "mv_0000001.txt": ",",
    "9606.protein.links.detailed.v11.5.txt": " ",
}
every_format = pytest.mark.parametrize("name", FORMATS)


def refused(name, content, folder):
    """The message with which a file is refused; it names the file and says what to do."""
    load, _ = FORMATS[name.removesuffix(".gz")]
    path = folder / name
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        load(path)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert message.endswith(".")
    return message


@every_format
def test_cut_off_in_a_line(tmp_path, name):
    _, text = FORMATS[name]
    cut = text.rstrip().rpartition(DELIMITERS[name])[0]
    message = refused(name, cut.encode(), tmp_path)
    assert f"line {text.count(chr(10))}: expected" in message
    assert "cut off" in message


@every_format
def test_utf_16(tmp_path, name):
    message = refused(name, FORMATS[name][1].encode("utf-16"), tmp_path)
    assert "line 1" in message


@every_format
def test_bytes_that_are_no_text(tmp_path, name):
    _, text = FORMATS[name]
    lines = text.encode().splitlines(keepends=True)
    lines[-1] = b"\xfc\xff" + lines[-1]
    message = refused(name, b"".join(lines), tmp_path)
    assert f"line {len(lines)}" in message
    assert "\\xfc\\xff" in message


@every_format
def test_other_delimiter(tmp_path, name):
    _, text = FORMATS[name]
    message = refused(name, text.replace(DELIMITERS[name], ";").encode(), tmp_path)
    assert f"separated by {DELIMITERS[name]!r}" in message or "'::', tabs or commas" in message


@every_format
def test_one_line_with_another_delimiter(tmp_path, name):
    _, text = FORMATS[name]
    lines = text.splitlines(keepends=True)
    lines[-1] = lines[-1].replace(DELIMITERS[name], ";")
    message = refused(name, "".join(lines).encode(), tmp_path)
    assert f"line {len(lines)}: expected" in message
    assert "separated by semicolons" in message


@every_format
@pytest.mark.parametrize("content", [b"", b"\n", b"\n\n\n"])
def test_empty(tmp_path, name, content):
    refused(name, content, tmp_path)


@every_format
def test_damaged_gzip(tmp_path, name):
    whole = gzip.compress(FORMATS[name][1].encode() * 50)
    assert "damaged or cut off" in refused(f"{name}.gz", whole[: len(whole) // 2], tmp_path)
    flipped = bytearray(whole)
    flipped[-6] ^= 0xFF  # the checksum
    assert "damaged or cut off" in refused(f"{name}.gz", bytes(flipped), tmp_path)


@pytest.mark.parametrize("load", [movielens.load, netflix.load])
@pytest.mark.parametrize("damage", ["cut off", "flipped", "no archive", "encrypted"])
def test_damaged_zip(tmp_path, load, damage):
    path = tmp_path / "data.zip"
    name = "ratings.dat" if load is movielens.load else "combined_data_1.txt"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, FORMATS[name][1] * 30)
    content = bytearray(path.read_bytes())
    if damage == "cut off":
        content = content[: len(content) // 2]
    elif damage == "flipped":
        content[70] ^= 0xFF
    elif damage == "no archive":
        content = bytearray(b"hello")
    else:
        for header, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
            content[content.index(header) + at] |= 1
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match=r"^.*data.zip.*: (the archive|the compressed)"):
        load(path)


def test_damaged_tar(tmp_path):
    path = netflix_files(tmp_path, "training_set.tar")
    path.write_bytes(path.read_bytes()[:700])
    with pytest.raises(FileFormatError, match=r"training_set.tar.*damaged or cut off|line"):
        netflix.load(path)
    path.write_bytes(b"x" * 2000)
    with pytest.raises(FileFormatError, match=r"training_set.tar: the archive is damaged"):
        netflix.load(path)


@pytest.mark.parametrize(
    ("name", "text", "parts"),
    [
        ("ratings.dat", "1::2::838985046::5\n", ["line 1, field 3 (rating)", "0 and 5 stars"]),
        ("ratings.dat", "1::2::5::3\n0::2::5::3\n", ["line 2, field 1 (userId)", "found 0"]),
        ("ratings.dat", "1::2::5::3\n1::999999999::5::3\n", ["line 2, field 2 (movieId)"]),
        ("ratings.dat", "1::2::5::3\n1::Heat::5::3\n", ["line 2, field 2 (movieId)", "'Heat'"]),
        ("ratings.csv", "user,movie,stars\n1,2,3\n", ["line 1", "header", "without userId"]),
        ("ratings.csv", "1,2,3,4\n", ["line 1", "header"]),
        ("ratings.csv", "userId,movieId,rating\n", ["has no ratings"]),
        ("u.data", "1\t2\t5\n", ["line 1: expected 4 fields", "found 3"]),
        ("combined_data_1.txt", "6,4,2005-09-06\n", ["line 1", "such as '17:'", "6,4,2005"]),
        ("combined_data_1.txt", "x:\n6,4,2005-09-06\n", ["line 1", "'x:'"]),
        ("combined_data_1.txt", "1:\n6,4,2005:09:06\n", ["line 2", "'6,4,2005:09:06'"]),
        ("combined_data_1.txt", "1:\n6,4,2005\n2:\n6,9,2005\n", ["line 4, field 2 (rating)"]),
        ("combined_data_1.txt", "1:\n4,2005-09-06,6\n", ["line 2, field 2 (rating)"]),
        ("combined_data_1.txt", "1:\n2:\n", ["has no ratings"]),
        ("mv_0000001.txt", "1:\n1::2::5::8\n", ["line 2"]),
        ("9606.protein.links.detailed.v11.5.txt", "a b 4\n", ["line 1", "protein1, protein2"]),
        ("9606.protein.links.detailed.v11.5.txt", HEADER, ["no links"]),
        (
            "9606.protein.links.detailed.v11.5.txt",
            HEADER + "a b 0 0 x 0 1\n",
            ["line 2, field 5 (experimental)", "'x'"],
        ),
        (
            "9606.protein.links.detailed.v11.5.txt",
            "protein1 protein2 combined_score\na b 4\n",
            ["no column 'experimental'", "combined_score", "detailed"],
        ),
    ],
)
def test_wrong_columns(tmp_path, name, text, parts):
    message = refused(name, text.encode(), tmp_path)
    for part in parts:
        assert part in message


@pytest.mark.parametrize(
    ("load", "files", "message"),
    [
        (movielens.load, {"a.txt": "x"}, r"expected the ratings \(ratings.dat or .* found a.txt"),
        (netflix.load, {"a.txt": "x"}, r"combined_data_\*.txt or mv_\*.txt"),
        (string.load, {}, r"found nothing"),
        (
            movielens.load,
            {"ratings.dat": ML["ratings.dat"], "movies.dat": "1::x::y\nzwei::x::y\n"},
            r"movies.dat, line 2: expected the id",
        ),
        (
            netflix.load,
            {"combined_data_1.txt": NETFLIX[1], "movie_titles.csv": "1,2,a\nb\n"},
            r"movie_titles.csv, line 2: expected the id, the year",
        ),
        (
            string.load,
            {"9606.protein.links.v12.0.txt": STRING, "9606.protein.info.v12.0.txt": "a\tb\nc\n"},
            r"info.v12.0.txt, line 2: .*separated by a tab",
        ),
    ],
)
def test_wrong_folders_and_companions(tmp_path, load, files, message):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=message):
        load(tmp_path)


@pytest.mark.parametrize("load", [movielens.load, netflix.load, string.load])
def test_no_such_file(tmp_path, load):
    with pytest.raises(InputError, match="no such file"):
        load(tmp_path / "nowhere.zip")


def test_reading_is_watched(tmp_path):
    path = netflix_files(tmp_path, "zip")
    seen = []
    with watching(lambda *told: seen.append(told)):
        netflix.load(path)
    assert (path, path.stat().st_size) in {(told[0], told[2]) for told in seen}
    assert all(0 <= done <= size for _, done, size in seen)
    seen.clear()
    netflix.load(path)
    assert seen == []


def test_what_is_read_can_be_written(tmp_path):
    path = netflix_files(tmp_path / "nf", "combined")
    table = netflix.load(path).matrix
    write(tmp_path / "a.npz", table)
    again = read(Path(tmp_path / "a.npz"))
    assert again.row_names == table.row_names
    assert (again.values != table.values).nnz == 0
