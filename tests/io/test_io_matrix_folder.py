"""Matrix folders: from every format, in little memory, the same matrix as reading it whole."""

from __future__ import annotations

import csv
import errno
import gzip
import io
import re

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given
from hypothesis import strategies as st
from io_helpers import tables
from scipy import sparse

from elbmf.errors import DiskFullError, FileFormatError, InputError
from elbmf.io import FORMATS, FolderTable, LabelledMatrix, convert, read, spill, to_folder, write
from elbmf.io.spill import Spill, keys_of, positions, sort_spill
from elbmf.matrix.array_files import ArrayWriter
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.matrix.on_disk import DiskMatrix
from strategies import examples

SETTINGS = examples(15, suppress_health_check=[HealthCheck.function_scoped_fixture])
TINY = LabelledMatrix(sparse.csr_array(np.eye(3, dtype=bool)), ["a", "b", "c"], ["x", "y", "z"])


@pytest.fixture
def little_memory(monkeypatch):
    """Room for a few entries only, so that all that is cut is cut, again and again."""
    monkeypatch.setattr(convert, "_LEAST", 3)
    monkeypatch.setattr(convert, "_BESIDE", 10**9)
    monkeypatch.setattr(convert, "_ENTRIES", 4)
    monkeypatch.setattr(convert, "_LINES", 2)
    monkeypatch.setattr(spill, "_AT_ONCE", 5)
    monkeypatch.setattr(spill, "_MOST_PARTS", 3)
    monkeypatch.setattr(spill, "_BIN_BITS", 2)


def assert_stored(A: DiskMatrix, table: LabelledMatrix, binarize=None, *, names=True):
    """Both sides, the missing cells and the names are those of a table."""
    expected = BooleanMatrix.from_array(table.values, binarize)
    assert A.shape == expected.shape
    assert A.ones == expected.ones
    for pattern, other in ((A, expected), (A.missing, expected.missing)):
        assert (pattern is None) == (other is None)
        if pattern is not None:
            for side in (0, 1):
                for found, wanted in zip(pattern.lines(side), other.lines(side), strict=True):
                    np.testing.assert_array_equal(found, wanted)
                    assert found.dtype == wanted.dtype
    if names:
        assert (A.names(0), A.names(1)) == (table.row_names, table.column_names)
    A.verify()


NAMES = st.sampled_from(["a", "b", "0", "1", "07", "7", "ü", "a,b", 'q"q', "li\nne", " ", "ab" * 9])
VALUES = ["1", "0", "NA", "", "true", "1.0", " 1"]


@st.composite
def pair_files(draw):
    """Draw the text of a file of pairs, its options, and its lines."""
    valued = draw(st.booleans())
    lines = draw(st.lists(st.tuples(NAMES, NAMES), min_size=1, max_size=12))
    if valued:
        chosen = {line: draw(st.sampled_from(VALUES)) for line in lines}
        lines = [(*line, chosen[line]) for line in lines]
        assume(any(value.strip() for *_, value in lines))
    delimiter = draw(st.sampled_from([",", "\t"]))
    stream = io.StringIO()
    ends = draw(st.sampled_from(["\n", "\r\n"]))
    quoting = draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
    writer = csv.writer(stream, delimiter=delimiter, lineterminator=ends, quoting=quoting)
    header = draw(st.booleans())
    if header:
        writer.writerow(["user", "item", "value"][: len(lines[0])])
    writer.writerows(lines)
    options = {"layout": "pairs", "header": header, "delimiter": delimiter}
    return stream.getvalue(), options, lines


@SETTINGS
@given(case=pair_files(), zipped=st.booleans())
def test_pairs(tmp_path, little_memory, case, zipped):
    text, options, lines = case
    path = tmp_path / ("p.csv.gz" if zipped else "p.csv")
    path.write_bytes(gzip.compress(text.encode()) if zipped else text.encode())
    A = to_folder(path, tmp_path / "p.matrix", **options)
    assert_stored(A, read(path, **options))
    rows, columns = (list(dict.fromkeys(line[field] for line in lines)) for field in (0, 1))
    assert (A.names(0), A.names(1)) == (rows, columns)
    ones = {line[:2] for line in lines if len(line) == 2 or line[2] in ("1", "true", "1.0", " 1")}
    found = A.to_csr().tocoo()
    assert {(rows[i], columns[j]) for i, j in zip(found.row, found.col, strict=True)} == ones


def test_pairs_of_several_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr("elbmf.io.files._BLOCK_BYTES", 100)
    generator = np.random.default_rng(0)
    pairs = (30 * generator.random((500, 2)) ** 2).astype(int)
    text = "".join(f'user{i}\t"item {j}"\n' if i % 3 else f"user{i}\tit\n" for i, j in pairs)
    (tmp_path / "p.tsv").write_text(text)
    A = to_folder(tmp_path / "p.tsv", tmp_path / "p.matrix", layout="pairs")
    assert_stored(A, read(tmp_path / "p.tsv", layout="pairs"))


@SETTINGS
@given(table=tables(names=st.text("abü", max_size=3), unique=True, missing=True))
@pytest.mark.parametrize(
    "known", [known for known in FORMATS if known.write], ids=lambda known: known.name
)
def test_every_format(tmp_path, little_memory, table, known):
    values = np.clip(np.nan_to_num(table.values.toarray(), nan=2), 0, 2)
    values = np.where(values == 2, np.nan if known.keeps_missing else 0, values)
    table = LabelledMatrix(sparse.csr_array(values), table.row_names, table.column_names)
    path = tmp_path / f"t{known.suffixes[0]}"
    options = {}
    if known.name in ("csv", "tsv"):
        options = {"header": table.column_names is not None, "layout": "wide"}
        options["row_names"] = table.row_names is not None
    elif known.name == "parquet":
        options = {"layout": "wide"}
    elif known.name == "fimi":
        table = LabelledMatrix(table.values, None, [f"i{j}" for j in range(table.shape[1])])
    elif known.name == "rmp":
        named = table.row_names and [f"u {name}" for name in table.row_names]
        table = LabelledMatrix(table.values, named, [f"p{j}" for j in range(table.shape[1])])
    write(path, table, **({"layout": "wide"} if "layout" in known.write_options else {}))
    try:
        expected = read(path, **options)
    except FileFormatError as error:  # of texts that are no tables
        with pytest.raises(FileFormatError, match=re.escape(str(error))):
            to_folder(path, tmp_path / "s.matrix", **options)
        return
    if 0 in expected.shape:
        with pytest.raises(InputError, match="the matrix is empty"):
            to_folder(path, tmp_path / "s.matrix", **options)
        return
    assert_stored(to_folder(path, tmp_path / "s.matrix", **options), expected)


SPARSE = sparse.coo_array(
    (np.array([1.0, 2, 0.5, np.nan, 0.5, 3]), ([0, 1, 2, 0, 2, 1], [1, 0, 2, 2, 2, 0])), (3, 4)
)


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr"])
@pytest.mark.parametrize("binarize", [0.0, 2.5, "nonzero", "positive"])
def test_sparse_npz(tmp_path, little_memory, kind, binarize):
    sparse.save_npz(tmp_path / "a.npz", SPARSE.asformat(kind))
    A = to_folder(tmp_path / "a.npz", tmp_path / "a.matrix", binarize=binarize)
    threshold = binarize if isinstance(binarize, float) else 0.0
    assert_stored(A, read(tmp_path / "a.npz"), threshold)


@pytest.mark.parametrize("kind", ["csr", "csc"])
def test_sparse_with_repeated_entries(tmp_path, kind):
    """As scipy has it, they add up; also half a one and another half."""
    halves = sparse.csr_array(
        (np.array([0.5, 0.5, 1]), np.array([1, 1, 0]), np.array([0, 2, 3])), (2, 2)
    )
    if kind == "csc":
        halves = halves.T
    sparse.save_npz(tmp_path / "a.npz", halves)
    assert_stored(to_folder(tmp_path / "a.npz", tmp_path / "a.matrix"), read(tmp_path / "a.npz"))


@pytest.mark.parametrize("symmetry", ["general", "symmetric", "skew-symmetric"])
@pytest.mark.parametrize("field", ["pattern", "integer", "real"])
def test_matrix_market(tmp_path, symmetry, field):
    value = "" if field == "pattern" else " 2"
    missing = "3 2 nan\n" if field == "real" and symmetry == "general" else f"3 2{value}\n"
    text = f"%%MatrixMarket matrix coordinate {field} {symmetry}\n% remark\n3 3 3\n"
    (tmp_path / "a.mtx").write_text(f"{text}2 1{value}\n\n3 1{value}\n{missing}")
    A = to_folder(tmp_path / "a.mtx", tmp_path / "a.matrix", binarize=1)
    assert_stored(A, read(tmp_path / "a.mtx"), 1)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("1 4\n", r"line 3, field 2 \(column\): expected a number from 1 to 3, found 4"),
        ("1 x\n", r"line 3, field 2 \(column\): expected a whole number"),
        ("1 1\n2 2\n", "expected 1 entries, as line 2 says, found 2"),
    ],
)
def test_damaged_matrix_market(tmp_path, lines, message):
    text = f"%%MatrixMarket matrix coordinate pattern general\n3 3 1\n{lines}"
    (tmp_path / "a.mtx").write_text(text)
    with pytest.raises(FileFormatError, match=message):
        to_folder(tmp_path / "a.mtx", tmp_path / "a.matrix")


@pytest.mark.parametrize("order", ["C", "F"])
def test_npy(tmp_path, monkeypatch, order):
    monkeypatch.setattr("elbmf.io.entries.CELLS_AT_ONCE", 7)
    cells = np.random.default_rng(0).integers(0, 3, (9, 5))
    np.save(tmp_path / "a.npy", np.asarray(cells, order=order))
    A = to_folder(tmp_path / "a.npy", tmp_path / "a.matrix", binarize=1)
    assert_stored(A, read(tmp_path / "a.npy"), 1)


@pytest.mark.parametrize("numbers", [True, False])
def test_parquet_pairs(tmp_path, little_memory, numbers):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    rows, columns = [5, 3, 5, 5, 9], [7, 7, 2, 7, 0]
    named = [list(map(str, each)) for each in (rows, columns)]
    table = {"r": rows, "c": columns} if numbers else dict(zip("rc", named, strict=True))
    parquet.write_table(pyarrow.table({**table, "v": [1, 0, None, 1, 1]}), tmp_path / "a.parquet")
    A = to_folder(tmp_path / "a.parquet", tmp_path / "a.matrix")
    assert_stored(A, read(tmp_path / "a.parquet"))
    assert A.names(0) == ["5", "3", "9"]


@pytest.mark.parametrize("kind", ["csr", "csc", "dense"])
def test_h5ad(tmp_path, kind):
    h5py = pytest.importorskip("h5py")
    values = SPARSE.tocsr().toarray()
    with h5py.File(tmp_path / "a.h5ad", "w") as file:
        if kind == "dense":
            file["X"] = values
        else:
            stored = sparse.csr_array(values).asformat(kind)
            group = file.create_group("X")
            group.attrs["encoding-type"] = f"{kind}_matrix"
            group.attrs["shape"] = values.shape
            for part in ("data", "indices", "indptr"):
                group[part] = getattr(stored, part)
    A = to_folder(tmp_path / "a.h5ad", tmp_path / "a.matrix", binarize=0.5)
    assert_stored(A, read(tmp_path / "a.h5ad"), 0.5)


def test_values_that_are_learned(tmp_path):
    cells = np.random.default_rng(0).random((20, 4))
    np.save(tmp_path / "a.npy", cells)
    A = to_folder(tmp_path / "a.npy", tmp_path / "a.matrix", binarize="quantile:0.25")
    assert A.ones == 20
    with pytest.raises(InputError, match="turns every zero"):
        to_folder(tmp_path / "a.npy", tmp_path / "a.matrix", binarize=-1.0)


@pytest.mark.parametrize("text", ["a\tb\na\tb\nc\tb\n", "a\tb\t1\na\tb\t1\nc\tb\t1\n"])
def test_a_pair_that_comes_twice_is_one(tmp_path, text):
    (tmp_path / "p.tsv").write_text(text)
    A = to_folder(tmp_path / "p.tsv", tmp_path / "p.matrix", layout="pairs")
    assert (A.shape, A.ones) == ((2, 1), 2)


@pytest.mark.parametrize("binarize", [None, 0])
def test_a_pair_with_different_values(tmp_path, little_memory, binarize):
    values = "1110" if binarize is None else "3334"
    text = "".join(f"r{i}\tc{i}\t{value}\n" for i, value in enumerate(values[:3]))
    (tmp_path / "p.tsv").write_text(f"{text}r1\tc1\t{values[3]}\n")
    with pytest.raises(FileFormatError, match=r"the pair \('r1', 'c1'\) comes with different"):
        to_folder(tmp_path / "p.tsv", tmp_path / "p.matrix", layout="pairs", binarize=binarize)
    assert [each.name for each in tmp_path.iterdir()] == ["p.tsv"]


def test_the_same_pair_very_often(tmp_path, little_memory):
    (tmp_path / "p.tsv").write_text("a\tb\n" * 100 + "a\tc\n" + "a\tb\n" * 100)
    A = to_folder(tmp_path / "p.tsv", tmp_path / "p.matrix", layout="pairs")
    assert (A.shape, A.ones) == ((1, 2), 2)


def test_text_that_is_no_table_is_taken_for_pairs(tmp_path):
    (tmp_path / "p.tsv").write_text("17\t3\n5\t4\n17\t4\n")
    A = to_folder(tmp_path / "p.tsv", tmp_path / "p.matrix", layout="auto")
    assert A.names(0) == ["17", "5"]
    for number, text in enumerate(["0\t1\n1\t1\n", "5\tNA\n1\t7\n", "a\tb\tc\td\n0\t1\t1\t0\n"]):
        (tmp_path / "w.tsv").write_text(text)
        options = {"layout": "auto", "binarize": 0}
        A = to_folder(tmp_path / "w.tsv", tmp_path / f"{number}.matrix", **options)
        assert A.names(0) is None


def test_values_that_are_not_boolean(tmp_path):
    (tmp_path / "p.tsv").write_text("a\tb\t1\na\tc\t5\n")
    with pytest.raises(InputError, match=r"p\.tsv: Expected .* got 5 at row 0, column 1"):
        to_folder(tmp_path / "p.tsv", tmp_path / "p.matrix", layout="pairs")


@given(
    entries=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 2**32 - 1)), max_size=60),
    repeats=st.integers(1, 30),
    capacity=st.integers(1, 20),
)
@SETTINGS
def test_sorting_on_disk(tmp_path, little_memory, entries, repeats, capacity):
    entries = entries + entries[:1] * repeats
    aside = Spill(tmp_path / "entries")
    for start in range(0, len(entries), 7):
        some = np.array(entries[start : start + 7], dtype=np.int64)
        aside.append(keys_of(some[:, 0], some[:, 1]), np.ones(len(some)) if start else None)

    def merge(found):
        keys, first = np.unique(found[0], return_index=True)
        return keys, found[1][first] if found[1].size else found[1]

    found = []
    for keys, values in sort_spill(aside, 10, capacity, merge):
        assert keys.size <= max(capacity, 1)
        assert np.all(values == 1)
        found += zip(*(each.tolist() for each in positions(keys)), strict=True)
    assert found == sorted(set(entries))
    assert not any(tmp_path.iterdir())


def test_memory_does_not_grow_with_the_file(tmp_path, monkeypatch):
    most = []
    original = spill._in_memory

    def noted(*args):
        result = original(*args)
        most.append(result[0].size)
        return result

    monkeypatch.setattr(spill, "_in_memory", noted)
    rows, columns = np.random.default_rng(0).integers(0, 400, (2, 150_000))
    lines = (f"{i}\t{j}\n" for i, j in zip(rows.tolist(), columns.tolist(), strict=True))
    (tmp_path / "p.tsv").write_text("".join(lines))
    options = {"layout": "pairs", "memory_limit": "1MB"}
    A = to_folder(tmp_path / "p.tsv", tmp_path / "p.matrix", **options)
    assert len(most) > 10
    assert max(most) <= convert._LEAST
    assert_stored(A, read(tmp_path / "p.tsv", layout="pairs"))


@pytest.mark.parametrize(
    ("kind", "method"), [(Spill, "append"), (ArrayWriter, "write"), (ArrayWriter, "close")]
)
def test_a_full_disk_leaves_nothing(tmp_path, monkeypatch, kind, method):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    write(tmp_path / "a.npz", TINY)
    monkeypatch.setattr(kind, method, full)
    with pytest.raises(DiskFullError, match=r"no room for a\.matrix \(No space left on device\)"):
        to_folder(tmp_path / "a.npz", tmp_path / "a.matrix")
    assert [each.name for each in tmp_path.iterdir()] == ["a.npz"]


def test_what_is_interrupted_leaves_what_was_there(tmp_path, monkeypatch):
    write(tmp_path / "a.npz", TINY)
    to_folder(tmp_path / "a.npz", tmp_path / "a.matrix")

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(convert, "sort_spill", interrupted)
    with pytest.raises(KeyboardInterrupt):
        to_folder(tmp_path / "a.npz", tmp_path / "a.matrix")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.matrix", "a.npz"]
    assert_stored(DiskMatrix(tmp_path / "a.matrix"), TINY)


def test_a_truncated_file_is_told_with_its_line(tmp_path):
    generator = np.random.default_rng(0)
    pairs = generator.integers(0, 10**6, (20_000, 2))
    text = "".join(f"{i}\t{j}\n" for i, j in pairs)
    packed = gzip.compress(text.encode())
    (tmp_path / "p.tsv.gz").write_bytes(packed[: len(packed) // 2])
    with pytest.raises(FileFormatError, match=r"cut off .* line \d{4,5} is the last whole") as told:
        to_folder(tmp_path / "p.tsv.gz", tmp_path / "p.matrix", layout="pairs")
    line = int(str(told.value).split("line ")[1].split()[0])
    assert 9_000 < line < 11_000
    assert [each.name for each in tmp_path.iterdir()] == ["p.tsv.gz"]


def test_files_zipped_one_after_the_other(tmp_path):
    parts = [gzip.compress(b"a\tb\n"), gzip.compress(b"c\td\n"), b"\0" * 100]
    (tmp_path / "p.tsv.gz").write_bytes(b"".join(parts))
    assert to_folder(tmp_path / "p.tsv.gz", tmp_path / "p.matrix", layout="pairs").ones == 2


def test_folders_of_others_are_refused(tmp_path):
    write(tmp_path / "a.npz", TINY)
    (tmp_path / "b.matrix").mkdir()
    (tmp_path / "b.matrix" / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match="is not a matrix folder"):
        to_folder(tmp_path / "a.npz", tmp_path / "b.matrix")
    with pytest.raises(InputError, match="is not a matrix folder"):
        write(tmp_path / "b.matrix", TINY)
    assert (tmp_path / "b.matrix" / "mine.txt").exists()


def test_too_many_lines_are_refused(tmp_path):
    text = "%%MatrixMarket matrix coordinate pattern general\n1 5000000000 1\n1 4999999999\n"
    (tmp_path / "a.mtx").write_text(text)
    with pytest.raises(FileFormatError, match=r"announces 5000000000 columns.* at most 1048576"):
        to_folder(tmp_path / "a.mtx", tmp_path / "a.matrix")


def test_a_folder_is_read_when_asked(tmp_path, monkeypatch):
    write(tmp_path / "a.matrix", TINY)
    read_names = DiskMatrix.names
    monkeypatch.setattr(DiskMatrix, "names", None)
    table = read(tmp_path / "a.matrix")
    assert isinstance(table, FolderTable)
    assert (table.shape, table.n_missing) == ((3, 3), 0)
    monkeypatch.setattr(DiskMatrix, "names", read_names)
    assert table.row_names == ["a", "b", "c"]
    assert table.column_labels() == ["x", "y", "z"]
    np.testing.assert_array_equal(table.values.toarray(), TINY.values.toarray())
    write(tmp_path / "a.csv", table)
    assert_stored(table.stored, read(tmp_path / "a.csv"))


def test_a_folder_keeps_missing_cells(tmp_path):
    table = LabelledMatrix(np.array([[1, np.nan], [0, 1]]))
    write(tmp_path / "a.matrix", table)
    np.testing.assert_array_equal(
        read(tmp_path / "a.matrix").values.toarray(), [[1, np.nan], [0, 1]]
    )
    with pytest.raises(InputError, match="zeros and ones"):
        write(tmp_path / "b.matrix", LabelledMatrix(np.array([[1, 3], [0, 1]])))


def test_a_file_in_place_of_a_folder(tmp_path):
    (tmp_path / "a.matrix").write_text("0,1\n")
    with pytest.raises(FileFormatError, match="expected a folder of the format folder"):
        read(tmp_path / "a.matrix")
