"""Matrix Market, numpy and FIMI files that others wrote, and what is wrong with some."""

import gzip
import pickle

import numpy as np
import pytest
from io_helpers import dense
from scipy import sparse
from scipy.io import mmwrite

from elbmf.errors import FileFormatError, InputError
from elbmf.io import LabelledMatrix, files, read, write

EYE = np.eye(3, dtype=bool)


def from_text(tmp_path, name, text):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read(path)


@pytest.mark.parametrize("field", ["pattern", "integer", "real"])
@pytest.mark.parametrize("symmetry", ["general", "symmetric"])
def test_matrix_market(tmp_path, field, symmetry):
    values = np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]])
    mmwrite(tmp_path / "a.mtx", sparse.coo_matrix(values), field=field, symmetry=symmetry)
    found = read(tmp_path / "a.mtx")
    np.testing.assert_array_equal(dense(found), values)
    assert found.values.dtype.kind == {"pattern": "b", "integer": "i", "real": "f"}[field]


def test_matrix_market_array(tmp_path):
    mmwrite(tmp_path / "a.mtx", np.arange(6.0).reshape(2, 3))
    np.testing.assert_array_equal(dense(read(tmp_path / "a.mtx")), np.arange(6).reshape(2, 3))


HEAD = "%%MatrixMarket matrix coordinate integer general\n"


@pytest.mark.parametrize(
    "text",
    [
        HEAD,
        HEAD + "3 3 2\n1 1 1\n",
        HEAD + "3 3 1\n4 1 1\n",
        HEAD + "3 3 1\n0 1 1\n",
        HEAD + "3 3 1\n1 1 x\n",
        HEAD + "a b c\n",
        "%%MatrixMarket nonsense\n1 1 1\n1 1 1\n",
        "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 1\n",
        "1 1 1\n1 1 1\n",
    ],
)
def test_bad_matrix_market(tmp_path, text):
    with pytest.raises(FileFormatError, match=r"a\.mtx"):
        from_text(tmp_path, "a.mtx", text)


def test_sizes_beyond_all_memory_are_an_error_of_the_file(tmp_path):
    texts = (
        HEAD + "99999999999999 99999999999999 1\n1 1 1\n",
        HEAD + "3 3 24999999999999\n1 1 1\n",
        "%%MatrixMarket matrix array integer general\n99999999 99999999\n1\n",
    )
    for number, text in enumerate(texts):
        for suffix, data in (("", text.encode()), (".gz", gzip.compress(text.encode()))):
            path = tmp_path / f"{number}.mtx{suffix}"
            path.write_bytes(data)
            with pytest.raises(FileFormatError, match=r"announces \d{8,} .* can back at most"):
                read(path)


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "dia"])
@pytest.mark.parametrize("container", [sparse.csr_matrix, sparse.csr_array])
def test_npz_of_scipy(tmp_path, kind, container):
    sparse.save_npz(tmp_path / "a.npz", container(EYE * 2.0).asformat(kind))
    np.testing.assert_array_equal(dense(read(tmp_path / "a.npz")), EYE * 2)


def test_npz_of_numpy(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, values=EYE, row_names=np.array(["a", "b", "c"]), threshold=np.arange(2))
    found = read(path)
    np.testing.assert_array_equal(dense(found), EYE)
    assert found.row_names == ["a", "b", "c"]
    np.savez(path, first=EYE, second=~EYE)
    with pytest.raises(FileFormatError, match=r"first.*second.*key"):
        read(path)
    np.testing.assert_array_equal(dense(read(path, key="second")), ~EYE)
    with pytest.raises(InputError, match=r"third.*first, second"):
        read(path, key="third")
    np.savez(path, first=np.arange(3))
    with pytest.raises(FileFormatError, match="found 0"):
        read(path)


def test_npz_with_indices_out_of_range(tmp_path):
    path = tmp_path / "a.npz"
    good = sparse.csr_array(EYE)
    parts = {"data": good.data, "indptr": good.indptr, "shape": good.shape, "format": b"csr"}
    np.savez(path, indices=np.array([0, 1, 99]), **parts)
    with pytest.raises(FileFormatError, match=r"a\.npz"):
        read(path)


class Explosive:
    def __reduce__(self):
        return (pytest.fail, ("unpickled",))


@pytest.mark.parametrize("suffix", [".npy", ".npz"])
def test_objects_are_never_unpickled(tmp_path, suffix):
    path = tmp_path / f"a{suffix}"
    array = np.empty((2, 2), dtype=object)
    array[:] = Explosive()
    (np.save if suffix == ".npy" else np.savez)(path, array)
    with pytest.raises(FileFormatError, match="never unpickled"):
        read(path)


def test_pickles_are_refused(tmp_path):
    for suffix in (".csv", ".npy", ".npz"):
        with pytest.raises(FileFormatError, match="pickle"):
            from_text(tmp_path, f"a{suffix}", pickle.dumps(list(range(50))))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [bool, np.uint8, np.float16, np.float64, np.longdouble])
def test_npy(tmp_path, order, dtype):
    values = np.array([[0, 2, 0], [1, 0, 0]]).astype(dtype, order=order)
    np.save(tmp_path / "a.npy", values)
    np.testing.assert_array_equal(dense(read(tmp_path / "a.npy")), values)


@pytest.mark.parametrize("array", [np.arange(3), np.zeros((2, 2, 2)), np.array([["a", "b"]])])
def test_bad_npy(tmp_path, array):
    np.save(tmp_path / "a.npy", array)
    with pytest.raises(FileFormatError, match="expected an array"):
        read(tmp_path / "a.npy")


def test_fimi_sorts_items_by_number(tmp_path):
    found = from_text(tmp_path, "a.dat", "10 2\n\n2 2  30 \n")
    assert found.column_names == ["2", "10", "30"]
    np.testing.assert_array_equal(dense(found), [[1, 1, 0], [0, 0, 0], [1, 0, 1]])
    assert found.row_names is None
    assert found.values.dtype == bool


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("1 2", (1, 2)),
        ("1 2\r\n3\r\n", (2, 3)),
        ("\n1\n\n", (3, 1)),
        ("milk bread\nmilk\n", (2, 2)),
    ],
)
def test_fimi_lines(tmp_path, text, shape):
    assert from_text(tmp_path, "a.fimi", text).shape == shape


def test_fimi_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_BLOCK_BYTES", 5)
    rng = np.random.default_rng(1)
    values = rng.random((60, 9)) < 0.3
    write(tmp_path / "a.dat", LabelledMatrix(values))
    np.testing.assert_array_equal(dense(read(tmp_path / "a.dat")), values)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("1 2\n3,4 5\n", "line 2.*table"),
        ("a;b\n1;0\n", "line 1.*table"),
        ("0 1 0\n1 1 0\n", "table of cells"),
        ("1 2\r3 4\r", "line feed"),
        (b"caf\xe9 1\n", "UTF-8"),
        (b"1 2\x00\x01", "binary"),
    ],
)
def test_bad_fimi(tmp_path, text, match):
    with pytest.raises(FileFormatError, match=match):
        from_text(tmp_path, "a.dat", text)


@pytest.mark.parametrize("names", [["a b", "c"], ["", "c"], ["a,b", "c"], ["c", "c"]])
def test_names_that_are_no_items(tmp_path, names):
    with pytest.raises(InputError):
        write(tmp_path / "a.dat", LabelledMatrix(np.eye(2), None, names))


def test_fimi_holds_only_ones(tmp_path):
    with pytest.raises(InputError, match="Binarise"):
        write(tmp_path / "a.dat", LabelledMatrix(2 * np.eye(2)))


def test_gzip_without_end(tmp_path):
    whole = gzip.compress(b"1 2 3\n" * 1000)
    with pytest.raises(FileFormatError, match="damaged or cut off"):
        from_text(tmp_path, "a.dat.gz", whole[:-20])
