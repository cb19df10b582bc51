"""Within a pipeline of scanpy: what it reads, what it makes, and what it does with results."""

import gzip
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from scipy.io import mmwrite

import elbmf
from elbmf.analysis.labels import component_labels
from elbmf.io import model_in, read

# Importing scanpy takes seconds: all that need it run in one process.
pytestmark = [pytest.mark.formats, pytest.mark.slow, pytest.mark.xdist_group("scanpy")]

KINDS = [*["Gene Expression"] * 9, "Antibody Capture", *["Gene Expression"] * 2]
SYMBOLS = [*(f"G{i}" for i in range(8)), "G0", "G1", "G0", "G7"]


@pytest.fixture(scope="module")
def sc():
    pytest.importorskip("scanpy")
    with warnings.catch_warnings():
        # Of the packages that it imports.
        warnings.simplefilter("ignore")
        import scanpy

        return scanpy


@pytest.fixture
def counts():
    return sparse.csc_matrix(np.random.default_rng(0).poisson(0.5, (12, 9)))


def cell_ranger_folder(path, counts):
    path.mkdir()
    mmwrite(path / "matrix.mtx", counts)
    (path / "matrix.mtx.gz").write_bytes(gzip.compress((path / "matrix.mtx").read_bytes()))
    (path / "matrix.mtx").unlink()
    lines = [
        f"ENSG{i}\t{name}\t{kind}\n"
        for i, (name, kind) in enumerate(zip(SYMBOLS, KINDS, strict=True))
    ]
    (path / "features.tsv.gz").write_bytes(gzip.compress("".join(lines).encode()))
    (path / "barcodes.tsv.gz").write_bytes(
        gzip.compress(b"".join(b"AAC%d-1\n" % i for i in range(9)))
    )
    return path


def cell_ranger_h5(path, counts):
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as file:
        group = file.create_group("matrix")
        for part in ("data", "indices", "indptr", "shape"):
            group[part] = getattr(counts, part)
        group["barcodes"] = np.array([f"AAC{i}-1" for i in range(9)], "S")
        group["features/id"] = np.array([f"ENSG{i}" for i in range(12)], "S")
        group["features/name"] = np.array(SYMBOLS, "S")
        group["features/feature_type"] = np.array(KINDS, "S")
        group["features/genome"] = np.array(["GRCh38"] * 12, "S")
    return path


def assert_same(found, cells):
    np.testing.assert_array_equal(found.values.toarray(), cells.X.toarray())
    assert found.row_names == list(cells.obs_names)
    assert found.column_names == list(cells.var_names)


@pytest.mark.parametrize(("names", "theirs"), [("symbol", "gene_symbols"), ("id", "gene_ids")])
@pytest.mark.parametrize("every", [False, True])
def test_folders_are_read_as_scanpy_does(sc, tmp_path, counts, names, theirs, every):
    path = cell_ranger_folder(tmp_path / "filtered_feature_bc_matrix", counts)
    expected = sc.read_10x_mtx(path, var_names=theirs, gex_only=not every)
    assert_same(read(path, names=names, all_features=every), expected)


@pytest.mark.filterwarnings("ignore:Variable names are not unique:UserWarning")
@pytest.mark.parametrize("every", [False, True])
def test_h5_files_are_read_as_scanpy_does(sc, tmp_path, counts, every):
    path = cell_ranger_h5(tmp_path / "a.h5", counts)
    expected = sc.read_10x_h5(path, gex_only=not every)
    expected.var_names_make_unique()
    assert_same(read(path, all_features=every), expected)


def test_a_pipeline_from_counts_to_a_file(sc, tmp_path):
    draw = np.random.default_rng(0)
    depth = draw.uniform(0.5, 2, 90)[:, None]
    mean = np.full((90, 30), 0.2)
    for kind in range(3):
        mean[30 * kind : 30 * kind + 30, 8 * kind : 8 * kind + 8] = 4
    X = sparse.csr_matrix(draw.poisson(mean * depth).astype(np.float32))
    cells = sc.AnnData(X)
    cells.obs["kind"] = np.repeat(["T", "B", "monocyte"], 30)
    cells.layers["counts"] = cells.X.copy()
    sc.pp.normalize_total(cells, target_sum=100)
    sc.pp.log1p(cells)
    elbmf.tl.factorize(cells, 3, binarize="zscore:0.7", effort=0.1, random_state=0)
    found = component_labels(model_in(cells), cells.obs["kind"])
    assert (found.best_nmi() > 0.8).all()
    # The logarithms may as well be ours.
    plain = cells.copy()
    plain.X = np.expm1(plain.X.toarray())
    elbmf.tl.factorize(plain, 3, binarize="log1p:zscore:0.7", effort=0.1, random_state=0)
    np.testing.assert_array_equal(plain.obsm["X_elbmf"], cells.obsm["X_elbmf"])
    for drawn in (
        elbmf.pl.factorization(cells),
        elbmf.pl.columns(cells),
        elbmf.pl.row_map(cells, color="kind"),
        elbmf.pl.nmi(cells, "kind"),
    ):
        assert elbmf.plots.figure_of(drawn).axes
    path = Path(tmp_path / "cells.h5ad")
    cells.write_h5ad(path)
    again = sc.read_h5ad(path)
    np.testing.assert_array_equal(again.obsm["X_elbmf"], cells.obsm["X_elbmf"])
    np.testing.assert_array_equal(again.varm["elbmf"], cells.varm["elbmf"])
    assert model_in(again).info == model_in(cells).info
