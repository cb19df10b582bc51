"""Parquet and h5ad files that other packages wrote, and ours read by them."""

import sys

import numpy as np
import pytest
from io_helpers import dense
from scipy import sparse

from elbmf.errors import FileFormatError, InputError, MissingExtraError
from elbmf.io import LabelledMatrix, read, write

VALUES = np.array([[1, 0, 2], [0, 3, 0]])
TABLE = LabelledMatrix(sparse.csr_array(VALUES), ["r1", "r2"], ["a", "b", "c"])


@pytest.fixture
def pa():
    pytest.importorskip("pyarrow.parquet")
    return pytest.importorskip("pyarrow")


@pytest.fixture
def pd():
    return pytest.importorskip("pandas")


@pytest.fixture
def ad():
    return pytest.importorskip("anndata")


@pytest.fixture
def h5py():
    return pytest.importorskip("h5py")


def save(pa, path, **columns):
    pa.parquet.write_table(pa.table(columns), path)
    return path


def test_parquet_wide(pa, tmp_path):
    path = save(pa, tmp_path / "a.parquet", x=[True, False], y=[False, True], z=[1.5, 0])
    found = read(path)
    np.testing.assert_array_equal(dense(found), [[1, 0, 1.5], [0, 1, 0]])
    assert found.row_names is None
    assert found.column_names == ["x", "y", "z"]


def test_parquet_names_in_a_first_column_of_text(pa, tmp_path):
    path = save(pa, tmp_path / "a.pq", n=["p", "q"], x=[1, 0], y=[0, 1], z=[1, 1])
    assert read(path).row_names == ["p", "q"]
    assert read(path).column_names == ["x", "y", "z"]


@pytest.mark.parametrize("index", [["p", "q"], [7, 9]])
def test_parquet_of_pandas(pd, pa, tmp_path, index):
    frame = pd.DataFrame(VALUES, index=index, columns=list("abc"))
    frame.to_parquet(tmp_path / "a.parquet")
    found = read(tmp_path / "a.parquet")
    np.testing.assert_array_equal(dense(found), VALUES)
    assert found.row_names == [str(name) for name in index]
    assert found.column_names == ["a", "b", "c"]


def test_parquet_of_pandas_without_index(pd, pa, tmp_path):
    pd.DataFrame(VALUES > 0, columns=list("abc")).to_parquet(tmp_path / "a.parquet")
    found = read(tmp_path / "a.parquet")
    assert found.row_names is None
    assert found.shape == (2, 3)


def test_parquet_is_read_by_pandas(pd, pa, tmp_path):
    write(tmp_path / "a.parquet", TABLE)
    frame = pd.read_parquet(tmp_path / "a.parquet").set_index("row")
    np.testing.assert_array_equal(frame.to_numpy(), VALUES)


@pytest.mark.parametrize(
    "columns",
    [
        {"who": ["b", "a", "b"], "what": ["x", "y", "x"]},
        {"who": ["b", "a", "b"], "what": [5, 7, 5]},
        {"who": [9, 4, 9], "what": [5, 7, 5]},
        {"who": ["b", "a", "b"], "what": ["x", "y", "x"], "much": [2.0, 3.0, 2.0]},
    ],
)
def test_parquet_pairs_are_detected(pa, tmp_path, columns):
    found = read(save(pa, tmp_path / "a.parquet", **columns))
    assert found.row_names == [str(name) for name in dict.fromkeys(columns["who"])]
    assert found.column_names == [str(name) for name in dict.fromkeys(columns["what"])]
    np.testing.assert_array_equal(dense(found) != 0, np.eye(2))


def test_parquet_categories_are_pairs(pa, tmp_path):
    who = pa.array(["b", "a"]).dictionary_encode()
    found = read(save(pa, tmp_path / "a.parquet", who=who, what=who))
    assert found.shape == (2, 2)


def test_parquet_two_binary_columns_are_wide(pa, tmp_path):
    path = save(pa, tmp_path / "a.parquet", x=[0, 1, 1], y=[1, 1, 0])
    assert read(path).shape == (3, 2)
    assert read(path).column_names == ["x", "y"]
    assert read(path, layout="pairs").row_names == ["0", "1"]


def test_parquet_several_row_groups(pa, tmp_path):
    values = np.random.default_rng(0).random((500, 4)) < 0.2
    columns = {f"c{j}": values[:, j] for j in range(4)}
    pa.parquet.write_table(pa.table(columns), tmp_path / "a.parquet", row_group_size=33)
    np.testing.assert_array_equal(dense(read(tmp_path / "a.parquet")), values)


@pytest.mark.parametrize(
    ("columns", "match"),
    [
        ({"x": ["p", None], "y": [0, 1], "z": [1, 1], "w": [1, 1]}, "'x', row 1.*missing"),
        ({"x": [1, 0], "y": ["p", "q"], "z": [1, 1], "w": [1, 1]}, "'y' is of type string"),
        ({"x": ["p", "p"], "y": ["q", "q"], "z": [1, 2]}, "different values"),
        ({"x": ["p", None], "y": ["q", "q"]}, "'x', row 1.*missing"),
    ],
)
def test_bad_parquet(pa, tmp_path, columns, match):
    with pytest.raises(FileFormatError, match=match):
        read(save(pa, tmp_path / "a.parquet", **columns))


@pytest.mark.parametrize("values", [[1, 0, None], [True, False, None], [1.0, 0.0, None]])
def test_parquet_null_is_a_missing_cell(pa, tmp_path, values):
    path = save(pa, tmp_path / "a.parquet", n=["p", "q", "r"], x=values, y=[1, 1, 0], z=[0, 0, 1])
    np.testing.assert_array_equal(dense(read(path)), [[1, 1, 0], [0, 1, 0], [np.nan, 0, 1]])
    path = save(pa, tmp_path / "a.parquet", who=["p", "q", "r"], what=["x"] * 3, value=values)
    np.testing.assert_array_equal(dense(read(path)), [[1], [0], [np.nan]])


def test_parquet_layouts_are_checked(pa, tmp_path):
    path = save(pa, tmp_path / "a.parquet", x=[1], y=[1], z=[1], w=[1])
    with pytest.raises(FileFormatError, match="2 columns"):
        read(path, layout="pairs")
    with pytest.raises(InputError, match="layout"):
        read(path, layout="long")
    with pytest.raises(InputError, match="layout"):
        write(path, TABLE, layout="auto")


@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.csc_matrix, np.asarray])
@pytest.mark.parametrize("layer", [None, "counts"])
def test_h5ad_of_anndata(ad, tmp_path, form, layer):
    matrix = form(VALUES.astype(np.float32))
    data = ad.AnnData(X=matrix if layer is None else matrix * 0)
    data.obs_names, data.var_names = ["r1", "r2"], ["a", "b", "c"]
    if layer is not None:
        data.layers[layer] = matrix
    data.write_h5ad(tmp_path / "a.h5ad")
    found = read(tmp_path / "a.h5ad", **({} if layer is None else {"layer": layer}))
    np.testing.assert_array_equal(dense(found), VALUES)
    assert found.row_names == ["r1", "r2"]
    assert found.column_names == ["a", "b", "c"]


@pytest.mark.parametrize("dtype", [bool, np.int64, np.float32])
def test_h5ad_is_read_by_anndata(ad, h5py, tmp_path, dtype):
    table = LabelledMatrix(sparse.csr_array(VALUES.astype(dtype)), ["r1", "é"], ["a", "b", "c"])
    write(tmp_path / "a.h5ad", table)
    data = ad.read_h5ad(tmp_path / "a.h5ad")
    np.testing.assert_array_equal(data.X.toarray(), VALUES.astype(dtype))
    assert list(data.obs_names) == ["r1", "é"]
    assert list(data.var_names) == ["a", "b", "c"]


def test_h5ad_of_old_versions(h5py, tmp_path):
    with h5py.File(tmp_path / "a.h5ad", "w") as file:
        csr = sparse.csr_array(VALUES)
        group = file.create_group("X")
        group.attrs["h5sparse_format"] = "csr"
        group.attrs["h5sparse_shape"] = VALUES.shape
        for part in ("data", "indices", "indptr"):
            group[part] = getattr(csr, part)
        for axis, names in (("obs", [b"r1", b"r2"]), ("var", [b"a", b"b", b"c"])):
            file[axis] = np.array([(name, 0) for name in names], [("index", "S4"), ("n", "i4")])
    found = read(tmp_path / "a.h5ad")
    np.testing.assert_array_equal(dense(found), VALUES)
    assert found.row_names == ["r1", "r2"]
    assert found.column_names == ["a", "b", "c"]


def test_h5ad_names_as_categories_and_nullable_strings(h5py, tmp_path):
    with h5py.File(tmp_path / "a.h5ad", "w") as file:
        file["X"] = VALUES
        file["obs/_index/codes"] = [1, 0]
        file["obs/_index/categories"] = ["p", "q"]
        file["var/names/values"] = ["a", "b", "c"]
        file["var/names/mask"] = [False] * 3
        file["var"].attrs["_index"] = "names"
    found = read(tmp_path / "a.h5ad")
    assert found.row_names == ["q", "p"]
    assert found.column_names == ["a", "b", "c"]


def test_bad_h5ad(h5py, tmp_path):
    path = tmp_path / "a.h5ad"
    with h5py.File(path, "w") as file:
        file["other"] = VALUES
        file["layers/counts"] = VALUES
    with pytest.raises(FileFormatError, match=r"no matrix X.*counts"):
        read(path)
    with pytest.raises(InputError, match=r"no layer 'x'.*counts"):
        read(path, layer="x")
    with h5py.File(path, "a") as file:
        file.create_group("X").attrs["encoding-type"] = "awkward"
    with pytest.raises(FileFormatError, match="awkward"):
        read(path)
    with h5py.File(path, "w") as file:
        file["X"] = np.arange(3)
    with pytest.raises(FileFormatError, match="1 dimensions"):
        read(path)
    with h5py.File(path, "w") as file:
        file["X"] = VALUES
        file["obs/_index"] = ["only one"]
    with pytest.raises(FileFormatError, match=r"a\.h5ad: .*2 rows.*got 1"):
        read(path)
    for words in (np.array([["yes", "no"]], object), np.array([[b"yes", b"no"]])):
        with h5py.File(path, "w") as file:
            file["X"] = words
        with pytest.raises(FileFormatError, match=r"a\.h5ad: expected boolean or real numbers"):
            read(path)


@pytest.mark.parametrize(("suffix", "package"), [(".parquet", "pyarrow"), (".h5ad", "h5py")])
def test_a_missing_extra_is_named(tmp_path, monkeypatch, suffix, package):
    path = tmp_path / f"a{suffix}"
    pytest.importorskip(package)
    write(path, TABLE)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=rf"elbmf\[{suffix[1:]}\]"):
        read(path)
    with pytest.raises(MissingExtraError, match=rf"elbmf\[{suffix[1:]}\]"):
        write(tmp_path / f"b{suffix}", TABLE)
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]
