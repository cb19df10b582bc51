"""Small files that were made to break a reader, and once did: each is refused in one line, always.

Reading and converting to a matrix folder have to say the same.
"""

import gzip
import re
import struct
import sys
import zipfile

import numpy as np
import pytest
from io_helpers import dense
from scipy import sparse

from elbmf.errors import FileFormatError
from elbmf.io import LabelledMatrix, apart, entries, files, read, to_folder, write
from elbmf.io.formats.h5ad import read_obs
from mutations import damages, disagreement, good_files

EYE = np.eye(3, dtype=np.int8)
HEAD = b"%%MatrixMarket matrix coordinate pattern general\n"


def refused(path, match):
    """Both ways refuse a file, in the same line, and leave nothing."""
    with pytest.raises(FileFormatError, match=match) as told:
        read(path)
    assert "\n" not in str(told.value)
    assert str(path) in str(told.value)
    before = sorted(path.parent.iterdir())
    with pytest.raises(FileFormatError, match=f"^{re.escape(str(told.value))}$"):
        to_folder(path, path.with_name("converted.matrix"))
    assert sorted(path.parent.iterdir()) == before


def both(path, **options):
    """Return what both ways read, which is the same."""
    found = read(path, **options)
    A = to_folder(path, path.with_name("converted.matrix"), binarize="nonzero", **options)
    np.testing.assert_array_equal(A.to_csr().toarray(), dense(found) != 0)
    assert (A.names(0), A.names(1)) == (found.row_names, found.column_names)
    return found


@pytest.mark.parametrize(
    ("text", "match"),
    [
        (HEAD + b"3 3 3\n1 1\n1 2\0", "line 4"),
        (HEAD.replace(b"coordinate", b"coordinat") + b"3 3 1\n1 1\n" * 300, "line 1: expected"),
        (HEAD.replace(b"general", b"") + b"3 3 1\n1 1\n", "line 1: expected"),
        (HEAD.replace(b"pattern", b"pattern pattern") + b"3 3 1\n1 1\n", "line 1: expected"),
        (HEAD.replace(b"coordinate", b"array") + b"3 3\n" + b"1\n" * 9, "line 1: expected"),
        (HEAD.replace(b"general", b"symmetric") + b"2 3 1\n1 3\n", "as many rows as columns"),
        (HEAD + b"3 3 1_0\n1 1\n", "line 2: expected the numbers of rows, columns and entries"),
        (HEAD + b"3 3 -1\n", "line 2: expected the numbers"),
        (HEAD + b"3 3 1\n1.5 1\n", "line 3, field 1"),
        (HEAD.replace(b"pattern", b"integer") + b"3 3 1\n1 1 1.5\n", "line 3.*a whole number"),
        (
            HEAD + b"1" + b"0" * 18 + b" 3 1\n1 1\n",
            r"announces 1000000000000000000 rows; a file of",
        ),
        (HEAD + b"3 3000000000 1\n1 1\n", "announces 3000000000 columns"),
        (HEAD + b"9" * 20 + b" 3 1\n1 1\n", "announces 99999999999999999999 rows"),
        (HEAD + b"3 3 999999999999\n1 1\n", "announces 3999999999996 bytes of entries"),
    ],
)
def test_matrix_market(tmp_path, text, match):
    path = tmp_path / "a.mtx"
    path.write_bytes(text)
    refused(path, match)


@pytest.mark.parametrize("symmetry", ["general", "symmetric", "skew-symmetric"])
@pytest.mark.parametrize("field", ["integer", "real"])
def test_matrix_market_that_lists_all_cells(tmp_path, symmetry, field):
    values = np.array([[0, 2, 0], [2, 1, 3], [0, 3, 4]])
    stored = np.concatenate([values[j:, j] for j in range(3)])
    if symmetry == "general":
        stored = values.T.ravel()
    elif symmetry == "skew-symmetric":
        values = np.tril(values, -1) - np.tril(values, -1).T
        stored = np.concatenate([values[j + 1 :, j] for j in range(3)])
    lines = "".join(f"{value}\n" for value in stored.tolist())
    path = tmp_path / "a.mtx"
    path.write_text(f"%%MatrixMarket matrix array {field} {symmetry}\n% remark\n3 3\n{lines}")
    found = both(path)
    np.testing.assert_array_equal(dense(found), values)
    assert found.values.dtype.kind == field[0].replace("r", "f")
    path.write_text(path.read_text() + "1\n")
    refused(path, rf"expected {stored.size} entries, as line 3 says, found {stored.size + 1}")


@pytest.mark.parametrize("text", [b"0," * 600, b'0,1\n"' + b"0,1\n" * 300])
def test_lines_without_end(tmp_path, monkeypatch, text):
    monkeypatch.setattr(files, "_LONGEST_LINE", 1000)
    monkeypatch.setattr(files, "_BLOCK_BYTES", 10)
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(text))
    refused(path, "lines of text, found one of more than 1000 bytes")


def test_sizes_that_a_file_backs(tmp_path, monkeypatch):
    """Few entries in many rows and columns are fine in a file of some size, and so are names."""
    monkeypatch.setattr(entries, "_TOLD", (100, 1))
    shape = (3, 2000)
    path = tmp_path / "a.npz"
    sparse.save_npz(path, sparse.random_array(shape, density=0.2, rng=0))
    assert both(path).shape == shape
    sparse.save_npz(path, sparse.csr_array(([1.0], ([0], [1999])), shape))
    if path.stat().st_size < 1000:
        refused(path, "announces 2000 columns")
    named = LabelledMatrix(sparse.csr_array(shape), None, [f"c{j}" for j in range(2000)])
    write(path, named)
    assert both(path).shape == shape


def save(path, **arrays):
    """Save arrays as npz."""
    np.savez(path, **arrays)
    return path


SPARSE = {"format": b"csr", "shape": (3, 3), "data": np.ones(3), "indices": [0, 1, 2]}
COO = {"format": b"coo", "shape": (3, 3)}
FOUR = np.array([0, 1, 2, 3])


@pytest.mark.parametrize(
    ("arrays", "match"),
    [
        (SPARSE | {"indptr": np.zeros(0, int)}, "4 numbers in indptr, found 0"),
        (SPARSE | {"indptr": FOUR[:3]}, "4 numbers in indptr, found 3"),
        (SPARSE | {"indptr": FOUR, "shape": (-1, 3)}, r"rows and columns, found \(-1, 3\)"),
        (SPARSE | {"indptr": FOUR, "shape": (3, 3, 3)}, r"found \(3, 3, 3\)"),
        (SPARSE | {"indptr": FOUR, "shape": (3, 10**15)}, "announces 1000000000000000 columns"),
        (SPARSE | {"indptr": FOUR, "format": np.arange(3)}, "kinds csr, csc, coo, bsr, dia"),
        (SPARSE | {"indptr": FOUR, "format": b"lil"}, "found the format 'lil'"),
        (SPARSE | {"indptr": FOUR, "indices": np.arange(4)}, "3 in data"),
        (SPARSE | {"indptr": FOUR, "indices": np.array([0, 1, 3])}, "from 0 to 2, found column 3"),
        (SPARSE | {"indptr": FOUR, "indices": np.ones(3)}, "whole numbers in indices"),
        (SPARSE | {"indptr": FOUR + 1}, "begin with 0, found 1"),
        (SPARSE | {"indptr": np.array([0, 2, 1, 3])}, "indptr to ascend"),
        (SPARSE | {"indptr": FOUR, "data": np.array(["a"] * 3)}, "type <U1"),
        (SPARSE | {"indptr": FOUR, "row_names": np.array(["a", "b"])}, "3 rows of .*, got 2"),
        (COO | {"row": [0, 1], "col": [0], "data": [1, 1]}, "2 in row, 1 in col, 2 in data"),
        (COO | {"row": [0], "col": [0, 1], "data": [1, 1]}, "1 in row, 2 in col, 2 in data"),
        (COO | {"row": [0, 1], "col": [0, 1], "data": [1]}, "1 in data"),
        (COO | {"row": [0, -1], "col": [0, 1], "data": [1, 1]}, "found row -1"),
        ({"x": np.zeros((0, 3)), "y": np.zeros((2, 2))}, "found 2 such arrays"),
    ],
)
def test_npz(tmp_path, arrays, match):
    refused(save(tmp_path / "a.npz", **arrays), match)


@pytest.mark.parametrize(
    ("name", "match"),
    [
        ("\0b", r"row_names: the name at position 1, '\\x00b'"),
        ("\ud800", "row_names: the name at position 1, '.ud800'"),
        (b"\x72\0\0\xff", "row_names has characters that do not exist"),
    ],
)
def test_names_that_are_no_text(tmp_path, name, match):
    names = np.array(["a", "b", "c"], "U2")
    names.view(np.uint32)[2] = 0
    if isinstance(name, bytes):
        names.view(np.uint32)[2] = int.from_bytes(name, "little")
    else:
        names[1] = name
    refused(save(tmp_path / "a.npz", **SPARSE | {"indptr": FOUR, "row_names": names}), match)


def test_a_name_with_nul_far_below(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text("a\tb\n" * 2000 + "a\tc\0d\n")
    with pytest.raises(FileFormatError, match=r"line 2001: .* found the name 'c\\x00d'"):
        read(path, layout="pairs")


def test_entries_that_scipy_leaves_out(tmp_path):
    """Sparse matrices may have room for more entries than they have."""
    path = save(tmp_path / "a.npz", **SPARSE | {"indptr": np.array([0, 1, 1, 1])})
    np.testing.assert_array_equal(dense(both(path)), np.diag([1, 0, 0]))


def test_archives_of_other_things(tmp_path):
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("notes.txt", "no array")
    refused(path, "found 0 such arrays")
    sparse.save_npz(path, sparse.csr_array(EYE))
    whole = path.read_bytes()
    directory = whole.index(b"PK\x01\x02")
    for at, value in ((6, 99), (8, 1), (10, 77)):  # version, encryption, compression
        local = at - 2
        damaged = bytearray(whole)
        damaged[local : local + 2] = damaged[directory + at : directory + at + 2] = struct.pack(
            "<H", value
        )
        path.write_bytes(damaged)
        refused(path, "not a valid npz file")


def npy(header, cells=b""):
    text = header.encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + cells


@pytest.mark.parametrize(
    ("header", "match"),
    [
        ("{'descr': '<f8', 'fortran_order': False, 'shape': (0, 1000000000000000)}", "announces"),
        ("{'descr': '<f8', 'fortran_order': False, 'shape': (-1, 3)}", r"shape \(-1, 3\)"),
        ("{'descr': '<f8', 'fortran_order': False, 'shape': (99999, 99999999)}", "announces"),
        ("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)}", "fewer cells"),
        ("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3", "not a valid npy file"),
        ("{'descr': '<f8\n', 'fortran", "not a valid npy file"),
        ("(" * 90, "not a valid npy file"),
    ],
)
def test_npy(tmp_path, header, match):
    path = tmp_path / "a.npy"
    path.write_bytes(npy(header))
    refused(path, match)


def test_npy_of_version_3(tmp_path):
    path = tmp_path / "a.npy"
    with path.open("wb") as file:
        np.lib.format.write_array(file, EYE, version=(3, 0))
    np.testing.assert_array_equal(dense(both(path)), EYE)


def test_entries_that_come_twice_add_up_without_overflow(tmp_path):
    coo = {"row": [1, 0, 1, 2], "col": [1, 0, 1, 2], "data": np.array([200, 1, 56, 0], np.uint8)}
    path = save(tmp_path / "a.npz", **COO | coo)
    found = both(path)
    np.testing.assert_array_equal(dense(found), np.diag([1, 256, 0]))
    assert found.values.dtype == np.int64
    coo["data"] = np.array([True, True, True, False])
    assert both(save(path, **COO | coo)).values.dtype == bool


@pytest.mark.formats
def test_nested_notes_in_parquet(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    noted = {"pandas": '{"index_columns": ' + "[" * 50_000}
    table = pyarrow.table({"x": [1, 0], "y": [0, 1]}).replace_schema_metadata(noted)
    parquet.write_table(table, tmp_path / "a.parquet")
    refused(tmp_path / "a.parquet", "not a valid parquet file")


@pytest.fixture
def h5py():
    return pytest.importorskip("h5py")


@pytest.fixture
def cells(h5py, tmp_path):
    """A h5ad file without names, to be changed."""
    path = tmp_path / "a.h5ad"
    with h5py.File(path, "w") as file:
        file["X"] = EYE
    return path


@pytest.mark.formats
@pytest.mark.parametrize(
    ("codes", "match"),
    [
        ([0, -1, 1], "obs/_index: the name at position 1 is missing"),
        ([0, 2, 1], "codes of 2 categories, .* found 2 at position 1"),
        ([0, -2, 1], "found -2 at position 1"),
        ([0, 1], "one name for each of the 3 rows"),
    ],
)
def test_h5ad_with_codes_of_no_category(h5py, cells, codes, match):
    with h5py.File(cells, "a") as file:
        file["obs/_index/codes"] = np.array(codes, np.int8)
        file["obs/_index/categories"] = ["first", "second"]
    refused(cells, match)


@pytest.mark.formats
def test_h5ad_with_names_that_are_hidden(h5py, cells):
    with h5py.File(cells, "a") as file:
        file["var/_index/values"] = ["a", "b", "c"]
        file["var/_index/mask"] = [False, True, False]
    refused(cells, "var/_index: the name at position 1 is missing")


@pytest.mark.formats
def test_labels_of_no_category(h5py, cells):
    with h5py.File(cells, "a") as file:
        file["obs/_index"] = ["a", "b", "c"]
        file["obs/tissue/codes"] = np.array([0, -1, 1], np.int8)
        file["obs/tissue/categories"] = ["first", "second"]
        file["obs/far"] = h5py.ExternalLink("/etc/hostname", "/")
    assert read_obs(cells) == (["a", "b", "c"], {"tissue": ["first", "", "second"]})
    with h5py.File(cells, "a") as file:
        file["obs/tissue/codes"][2] = 2
    with pytest.raises(FileFormatError, match=r"codes of 2 categories, .* found 2 at position 2"):
        read_obs(cells)


@pytest.mark.formats
@pytest.mark.parametrize("kind", ["text", "records", "references"])
def test_h5ad_of_no_numbers(h5py, cells, kind):
    with h5py.File(cells, "a") as file:
        del file["X"]
        if kind == "text":
            file["X"] = np.array([[b"1", b"0"]])
        elif kind == "records":
            file["X"] = np.zeros((2, 2), [("a", "i4"), ("b", "f8")])
        else:
            file.create_dataset("X", (2, 2), h5py.ref_dtype)
    refused(cells, "expected boolean or real numbers in X")


@pytest.mark.formats
@pytest.mark.parametrize("name", ["X", "obs", "obs/_index", "var/_index/codes", "layers/other"])
@pytest.mark.parametrize("way", ["link", "soft link", "storage", "virtual"])
def test_h5ad_that_leads_elsewhere(h5py, tmp_path, cells, name, way):
    """Other files are not opened, be they there or not."""
    secret = tmp_path / "secret.h5"
    with h5py.File(secret, "w") as file:
        file["X"] = file["codes"] = file["other"] = 7 * EYE
        file["obs/_index"] = file["_index"] = ["s", "e", "c"]
    with h5py.File(cells, "a") as file:
        file["var/_index/categories"] = ["a", "b", "c"]
        file["var/_index/codes"] = np.arange(3)
        if name in file:
            del file[name]
        last = name.rpartition("/")[2]
        if way == "link":
            file[name] = h5py.ExternalLink(str(secret), "obs" if last == "obs" else last)
        elif way == "soft link":
            file["aside"] = h5py.ExternalLink(str(secret), "/")
            file[name] = h5py.SoftLink(f"/aside/{last}")
        elif way == "storage":
            external = [(str(secret), 0, h5py.h5f.UNLIMITED)]
            file.create_dataset(name, (3, 3), "i1", external=external)
        else:
            layout = h5py.VirtualLayout((3, 3), "i1")
            layout[:] = h5py.VirtualSource(str(secret), "X", (3, 3))
            file.create_virtual_dataset(name, layout)
    if name == "X":
        refused(cells, "has no matrix X")
    elif name == "layers/other":
        with pytest.raises(FileFormatError, match="expected 'other' in the group '/layers'"):
            read(cells, layer="other")
    elif name == "var/_index/codes":
        refused(cells, "stored in an unknown way")
    else:
        assert both(cells).row_names is None


@pytest.mark.formats
@pytest.mark.parametrize(
    ("shape", "match"),
    [((3, 10**12), "1000000000000 columns"), ((10**12, 3), "1000000000000 rows")],
)
@pytest.mark.parametrize("dense_form", [True, False])
def test_h5ad_of_more_than_there_is(h5py, cells, shape, match, dense_form):
    with h5py.File(cells, "a") as file:
        del file["X"]
        if dense_form:
            file.create_dataset("X", shape, "i1", chunks=(1, 1))
        else:
            group = file.create_group("X")
            group.attrs.update({"encoding-type": "csr_matrix", "shape": shape})
            for part, size in (("indptr", shape[0] + 1), ("indices", 0), ("data", 0)):
                group.create_dataset(part, (size,), "i4", chunks=(1000,), maxshape=(None,))
    refused(cells, f"announces {match}")


@pytest.mark.formats
def test_h5ad_of_cells_that_are_nowhere(h5py, cells):
    with h5py.File(cells, "a") as file:
        del file["X"]
        file.create_dataset("X", (10**6, 10**6), "i1", chunks=(1000, 1000))
    refused(cells, "announces 1000000000000 bytes of entries")


@pytest.mark.formats
@pytest.mark.skipif(sys.platform != "linux", reason="no fork here")
def test_h5ad_that_has_no_end(h5py, cells, monkeypatch):
    """HDF5 goes round and round in a heap of text whose lengths are wrong."""
    with h5py.File(cells, "a") as file:
        file["obs/_index"] = [f"row{i}" for i in range(3)]
        file["var/_index"] = ["a", "b", "c"]
    content = cells.read_bytes()
    length = content.index(b"row0") - 8
    cells.write_bytes(content[:length] + b"\0" + content[length:])
    monkeypatch.setattr(apart, "_SECONDS", 0)
    refused(cells, "not a valid h5ad file")


@pytest.mark.formats
@pytest.mark.parametrize("part", ["indptr", "indices", "data"])
def test_h5ad_that_lacks_entries(h5py, cells, part):
    stored = sparse.csr_array(EYE)
    with h5py.File(cells, "a") as file:
        del file["X"]
        group = file.create_group("X")
        group.attrs.update({"encoding-type": "csr_matrix", "shape": (3, 3)})
        for each in ("indptr", "indices", "data"):
            group[each] = getattr(stored, each)[: 2 if each == part else None]
    refused(cells, "expected (4 numbers|arrays of one length)")


def test_reading_and_converting_agree_on_damaged_files(tmp_path):
    """Some hundred damages to all formats; `mutations` makes any number of them."""
    found = []
    good = tmp_path / "good"
    good.mkdir()
    for number, path in enumerate(good_files(good)):
        assert disagreement(path) is None
        for content in damages(path.read_bytes(), 12, seed=number):
            bad = tmp_path / path.name
            bad.write_bytes(content)
            if (said := disagreement(bad)) is not None:
                found.append((path.name, said, content[:200]))
    assert found == []
    assert {each.name for each in tmp_path.iterdir()} >= {"good", "converted.matrix"}
