"""Results in the h5ad file of their data, and labels from it."""

import sys

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from elbmf.errors import DiskFullError, FileFormatError, InputError, MissingExtraError
from elbmf.io import SavedModel, model_in, read_labels, write_back
from elbmf.io.formats import h5ad
from elbmf.io.known import group_columns

pytestmark = pytest.mark.formats

ROWS, COLUMNS = [f"cell{i}" for i in range(6)], [f"gene{j}" for j in range(4)]
U = np.array([[1, 0], [1, 0], [1, 1], [0, 1], [0, 1], [0, 0]])
V = np.array([[1, 1, 0, 0], [0, 0, 1, 1]])


@pytest.fixture
def ad():
    return pytest.importorskip("anndata")


@pytest.fixture
def path(ad, tmp_path):
    obs = pd.DataFrame(
        {
            "kind": pd.Categorical(["T", "T", None, "B", "B", "B"]),
            "batch": pd.Categorical([1, 1, 1, 2, 2, 2]),
            "ill": [True, False, True, False, True, False],
            "donor": ["ann", "ann", "ann", "bob", "bob", "bob"],
            "note": ROWS,
            "depth": np.arange(6.0),
        },
        index=ROWS,
    )
    made = ad.AnnData(
        sparse.csr_matrix((U @ V).astype(np.float32)), obs=obs, var=pd.DataFrame(index=COLUMNS)
    )
    made.obsm["X_pca"], made.uns["log1p"] = np.eye(6, 3), {"base": 2.0}
    made.write_h5ad(tmp_path / "a.h5ad")
    return tmp_path / "a.h5ad"


@pytest.fixture
def model():
    history = {"epoch": [1, 2], "gap": [0.5, None]}
    notes = {"method": "elbmf", "parameters": {"n_components": 2, "refine": True, "tol": None}}
    notes |= {"bits_saved": [3.0, -1.5], "history": history, "measures": {"loss": 1}}
    return SavedModel(U, V, ROWS, COLUMNS, notes)


def test_a_result_is_written_beside_the_matrix(ad, path, model):
    before = ad.read_h5ad(path)
    write_back(path, model)
    after = ad.read_h5ad(path)
    np.testing.assert_array_equal(after.obsm["X_elbmf"], U)
    np.testing.assert_array_equal(after.varm["elbmf"], V.T)
    told = after.uns["elbmf"]
    assert (told["loss"], told["n_components"]) == (1, 2)
    assert told["params"] == {"method": "elbmf", "n_components": 2, "refine": True}
    assert told["components"]["bits_saved"].tolist() == [3.0, -1.5]
    found = model_in(after)
    assert found.info == model.info
    assert (found.U != model.U).nnz == (found.V != model.V).nnz == 0
    # All else is as it was.
    pd.testing.assert_frame_equal(after.obs, before.obs)
    assert (after.X != before.X).nnz == 0
    np.testing.assert_array_equal(after.obsm["X_pca"], before.obsm["X_pca"])
    assert after.uns["log1p"] == before.uns["log1p"]
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_a_result_replaces_one_of_its_name(ad, path, model):
    write_back(path, model)
    write_back(path, SavedModel(U[:, :1], V[:1], ROWS, COLUMNS), key="one")
    write_back(path, SavedModel(U[:, 1:], V[1:], ROWS, COLUMNS))
    after = ad.read_h5ad(path)
    np.testing.assert_array_equal(after.obsm["X_elbmf"], U[:, 1:])
    np.testing.assert_array_equal(after.obsm["X_one"], U[:, :1])
    assert "bits_saved" not in after.uns["elbmf"]["components"]


def test_a_result_of_other_cells_is_refused(path, model):
    whole = path.read_bytes()
    other = SavedModel(U, V, [*ROWS[:-1], "cell9"], COLUMNS)
    with pytest.raises(InputError, match=r"a\.h5ad: its rows are not those.*'cell9'"):
        write_back(path, other)
    with pytest.raises(InputError, match=r"a\.h5ad: has 4 columns, but the model has 3"):
        write_back(path, SavedModel(U, V[:, :3]))
    assert path.read_bytes() == whole


def test_a_failure_leaves_the_file(path, model, monkeypatch):
    whole = path.read_bytes()

    def fail(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(sys.modules["elbmf.io.write_back"], "_write", fail)
    with pytest.raises(DiskFullError, match="No space left"):
        write_back(path, model)
    assert path.read_bytes() == whole
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_what_is_no_h5ad_is_refused(tmp_path, path, model, monkeypatch):
    (tmp_path / "a.csv").write_text("a,b\n1,0\n")
    with pytest.raises(FileFormatError, match=r"a\.csv: .*h5ad.*format csv"):
        write_back(tmp_path / "a.csv", model)
    with pytest.raises(InputError, match="no such file"):
        write_back(tmp_path / "none.h5ad", model)
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(MissingExtraError, match=r"elbmf\[h5ad\]"):
        write_back(path, model)


def test_labels_are_columns_of_text_and_categories(path):
    found = read_labels(path)
    assert list(found) == ["kind", "batch", "ill", "donor", "note"]
    assert found["kind"] == dict(zip(ROWS, ["T", "T", "", "B", "B", "B"], strict=True))
    assert found["batch"]["cell5"] == "2"
    assert found["ill"]["cell0"] == "True"
    assert found["donor"]["cell3"] == "bob"
    assert group_columns(found) == ["kind", "batch", "ill", "donor"]


def test_labels_in_other_files_are_not_read(path, tmp_path):
    h5py = pytest.importorskip("h5py")
    path.rename(tmp_path / "other.h5ad")
    with h5py.File(path, "w") as file, h5py.File(tmp_path / "other.h5ad") as other:
        other.copy("obs", file)
        del file["obs/kind"], file["obs/donor"]
        file["obs/kind"] = h5py.ExternalLink("other.h5ad", "obs/kind")
        layout = h5py.VirtualLayout((6,), other["obs/note"].dtype)
        file["obs"].create_virtual_dataset("donor", layout)
    assert list(read_labels(path)) == ["batch", "ill", "note"]
    with h5py.File(path, "a") as file:
        del file["obs/_index"]
        file["obs/_index"] = h5py.ExternalLink("other.h5ad", "obs/_index")
    with pytest.raises(FileFormatError, match="no names of observations"):
        read_labels(path)
    with h5py.File(path, "a") as file:
        del file["obs"]
        file["obs"] = h5py.ExternalLink("other.h5ad", "obs")
    with pytest.raises(FileFormatError, match="no names of observations"):
        read_labels(path)


def test_files_without_labels(ad, path):
    made = ad.read_h5ad(path)
    made.obs = made.obs[["depth"]]
    made.write_h5ad(path)
    with pytest.raises(FileFormatError, match="obs has no column of text"):
        read_labels(path)
    made.obs["kind"] = "T"
    made.obs_names = ["a", "a", *ROWS[2:]]
    made.write_h5ad(path)
    with pytest.raises(FileFormatError, match="two observations 'a'"):
        read_labels(path)


def test_labels_of_old_files(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.h5ad", "w") as file:
        cells = [(b"c1", b"T", 3), (b"c2", b"B", 4)]
        file["obs"] = np.array(cells, [("index", "S4"), ("kind", "S1"), ("n", "i4")])
    found = h5ad.read_obs(tmp_path / "a.h5ad")
    assert found == (["c1", "c2"], {"kind": ["T", "B"]})
