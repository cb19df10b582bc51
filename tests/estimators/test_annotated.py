"""AnnData in place of a matrix: its values, its names, its layers, and results beside it."""

import re
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import elbmf
from elbmf import ELBMF, RankSearch, loss_bound, stability
from elbmf.analysis.labels import component_labels
from elbmf.errors import InputError
from elbmf.estimators import METHODS, method
from elbmf.estimators.reading import matrix_of
from elbmf.estimators.saving import saved_model
from elbmf.io import LabelledMatrix, from_anndata, model_in, read, write
from elbmf.plots.subject import Subject

pytestmark = pytest.mark.formats

QUICK = {"max_iter": 20, "effort": 0, "random_state": 0}
COUNTS = np.random.default_rng(0).poisson(0.2, (30, 12)).astype(np.float32)
COUNTS[:12, :6] += 3
COUNTS[8:25, 5:10] += 3
SEEN = (COUNTS > 0).astype(np.float32)


@pytest.fixture
def ad():
    return pytest.importorskip("anndata")


@pytest.fixture
def cells(ad):
    """Counts, a sparse and a dense layer of zeros and ones, and labels with gaps."""
    names = pd.Index([f"cell{i}" for i in range(30)]), pd.Index([f"gene{j}" for j in range(12)])
    kinds = ["T"] * 8 + [None] * 4 + ["B"] * 18
    obs = pd.DataFrame({"kind": pd.Categorical(kinds)}, index=names[0])
    made = ad.AnnData(sparse.csr_matrix(COUNTS), obs=obs, var=pd.DataFrame(index=names[1]))
    made.layers["seen"] = sparse.csc_matrix(SEEN)
    made.layers["dense"] = SEEN.copy()
    return made


@pytest.mark.parametrize("layer", ["seen", "dense"])
@pytest.mark.parametrize("name", METHODS)
def test_every_method_takes_one(cells, name, layer):
    known = method(name)
    parameters = {"random_state": 0} | ({"max_iter": 20} if "max_iter" in vars(known()) else {})
    model, plain = (known(2, **parameters) for _ in range(2))
    plain.fit(SEEN)
    U = model.fit_transform(cells, layer=layer)
    assert (plain.membership_ == U).all()
    assert (model.components_ == plain.components_).all()
    assert model.feature_names_in_.tolist() == list(cells.var_names)
    assert model.sample_names_in_.tolist() == list(cells.obs_names)
    # All of these read the layer that was fitted.
    assert (model.transform(cells) == plain.transform(SEEN)).all()
    assert model.score(cells) == plain.score(SEEN)


def test_x_is_read_where_no_layer_is_said(cells):
    model = ELBMF(2, binarize=0, **QUICK).fit(cells)
    assert model.layer_ is None
    assert (model.membership_ == ELBMF(2, binarize=0, **QUICK).fit(COUNTS).membership_).all()
    model.fit(COUNTS)
    assert not hasattr(model, "layer_")


def test_views_and_files_are_read_alike(ad, cells, tmp_path):
    model = ELBMF(2, **QUICK).fit(cells, layer="seen")
    some = cells[5:20]
    assert some.is_view
    assert (model.transform(some) == model.transform(cells)[5:20]).all()
    assert some.is_view
    cells.X, cells.layers["seen"] = cells.layers["seen"].tocsr(), cells.X
    cells.write_h5ad(tmp_path / "sparse.h5ad")
    cells.X = cells.X.toarray()
    cells.write_h5ad(tmp_path / "dense.h5ad")
    for name in ("sparse", "dense"):
        backed = ad.read_h5ad(tmp_path / f"{name}.h5ad", backed="r")
        found = ELBMF(2, **QUICK).fit(backed)
        backed.file.close()
        assert (found.membership_ == model.membership_).all()


def test_frames_tell_genes_and_shares(cells):
    model = ELBMF(2, **QUICK).fit(cells, layer="seen")
    frame = model.components_frame(cells)
    assert (frame["covered"] > 0).all()
    assert set(frame["column_names"][0]) <= set(cells.var_names)
    members = model.members_frame("columns", cells)
    assert members["column"].isin(cells.var_names).all()
    assert (members["share"] > 0.5).all()


def test_searches_bounds_and_stability_take_one(cells):
    search = RankSearch(ELBMF(**QUICK), 2).fit(cells, layer="seen")
    of_cells, of_turned = (
        component_labels(search, each.obs["kind"]) for each in (cells, cells[::-1])
    )
    assert (of_cells.overlap == of_turned.overlap).all()
    assert search.score(cells) == search.score(from_anndata(cells, layer="seen"))
    found = loss_bound(from_anndata(cells, layer="seen"), 1, time_limit=2, random_state=0)
    assert found.at_least == loss_bound(SEEN, 1, time_limit=2, random_state=0).at_least
    stable = stability(cells, ELBMF(2, **QUICK), runs=1, layer="seen")
    assert stable.reference_.feature_names_in_.tolist() == list(cells.var_names)


def test_counts_are_an_error_that_names_cells_and_layers(cells):
    with pytest.raises(
        InputError, match=r"row 'cell0'.*binarize=.*fit\(adata, layer=NAME\); it has seen, dense"
    ):
        ELBMF(2).fit(cells)
    model = ELBMF(2, **QUICK).fit(SEEN)
    with pytest.raises(InputError, match=r"This is X, as in the fit\.") as told:
        model.transform(cells)
    assert "layer=" not in str(told.value)
    with pytest.raises(InputError, match=r"no layer 'bin'.*seen, dense"):
        ELBMF(2).fit(cells, layer="bin")
    with pytest.raises(InputError, match="layer='seen' is for an AnnData"):
        ELBMF(2).fit(SEEN, layer="seen")
    cells.X = None
    with pytest.raises(InputError, match=r"no matrix X.*seen, dense"):
        ELBMF(2).fit(cells)
    with pytest.raises(InputError, match="Expected an AnnData; got ndarray"):
        from_anndata(SEEN)


@pytest.mark.parametrize("layer", ["seen", "dense"])
def test_other_genes_are_refused(cells, layer):
    model = ELBMF(2, **QUICK).fit(cells, layer=layer)
    with pytest.raises(InputError, match="columns"):
        model.transform(cells[:, :4])
    cells.var_names = [*cells.var_names[:-1], "other"]
    with pytest.raises(InputError, match=r"Missing: 'gene11'; Unknown to the model: 'other'"):
        model.transform(cells)


@pytest.mark.parametrize("layer", ["seen", "dense"])
def test_genes_in_another_order_are_known_by_name(cells, layer, tmp_path):
    model = ELBMF(2, **QUICK).fit(cells, layer=layer)
    expected, missing = model.transform(cells), np.zeros((30, 12))
    missing[:, :3] = 1
    without = model.transform(cells, missing)
    turned, mask = cells[:, ::-1], missing[:, ::-1]
    np.testing.assert_array_equal(model.transform(turned), expected)
    np.testing.assert_array_equal(model.transform(turned, mask), without)
    np.testing.assert_array_equal(model.transform(from_anndata(turned, layer=layer)), expected)
    path = tmp_path / "turned.matrix"
    write(path, LabelledMatrix(SEEN[:, ::-1], list(cells.obs_names), list(turned.var_names)))
    np.testing.assert_array_equal(model.transform(read(path)), expected)
    # A data frame is as scikit-learn has it.
    frame = turned.to_df(layer)
    with pytest.raises(ValueError, match="same order"):
        model.transform(frame)


@pytest.mark.parametrize("form", ["estimator", "saved"])
def test_data_beside_a_model_is_put_in_its_order(cells, form):
    fitted = ELBMF(2, binarize="positive", **QUICK).fit(cells)
    model = fitted if form == "estimator" else saved_model(fitted)
    expected, missing = Subject.of(model, cells), np.zeros((30, 12))
    missing[0] = 1
    turned = cells[::-1, ::-1]
    for data in (turned, from_anndata(turned), turned.to_df()):
        found = Subject.of(model, data)
        assert found.row_names == expected.row_names
        assert (found.A.to_csr() != expected.A.to_csr()).nnz == 0
        found, known = matrix_of(model, data, missing[::-1]), matrix_of(model, cells, missing)
        assert (found.to_csr() != known.to_csr()).nnz == 0
        assert (found.missing.to_csr() != known.missing.to_csr()).nnz == 0
    assert fitted.components_frame(turned).equals(fitted.components_frame(cells))
    cells.obs_names = [*cells.obs_names[:-1], "other"]
    with pytest.raises(InputError, match="Unknown to the model: 'other'"):
        Subject.of(model, cells)


def test_a_saved_model_knows_the_layer(cells, tmp_path):
    model = ELBMF(2, **QUICK).fit(cells, layer="seen")
    model.save(tmp_path / "result", cells)
    again = elbmf.load(tmp_path / "result")
    assert (again.transform(cells) == model.membership_).all()
    assert elbmf.load_model(tmp_path / "result").info.data.options == {"layer": "seen"}


@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.csc_matrix])
def test_a_large_sparse_matrix_stays_sparse(ad, form):
    side = 10_000
    draw = np.random.default_rng(0)
    ones = (np.ones(20_000, dtype=np.float32), draw.integers(side, size=(2, 20_000)))
    X = form(ones, shape=(side, side))
    X.data[:] = 1
    cells = ad.AnnData(X)
    model = ELBMF(1, init="random", **QUICK | {"max_iter": 2})
    plain = _most_memory(lambda: model.fit(X).transform(X))
    annotated = _most_memory(lambda: model.fit(cells).transform(cells))
    # A dense copy would take 400 MB more, or 100 MB as bytes.
    assert annotated < plain + 10e6


def _most_memory(work):
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_factorize_keeps_what_fit_finds(cells):
    model = ELBMF(2, **QUICK).fit(cells, layer="seen")
    before = cells.copy()
    assert elbmf.tl.factorize(cells, 2, layer="seen", **QUICK) is None
    np.testing.assert_array_equal(cells.obsm["X_elbmf"], model.membership_)
    np.testing.assert_array_equal(cells.varm["elbmf"], model.components_.T)
    told = cells.uns["elbmf"]
    assert told["loss"] == model.reconstruction_err_
    assert told["params"]["layer"] == "seen"
    assert told["params"]["max_iter"] == 20
    assert told["components"]["rows"].tolist() == model.membership_.sum(axis=0).tolist()
    assert told["components"]["columns"].tolist() == model.components_.sum(axis=1).tolist()
    assert told["components"]["bits_saved"].tolist() == model.bits_saved_.tolist()
    copied = elbmf.tl.factorize(
        before, 1, layer="seen", method="grecond", key_added="one", copy=True
    )
    assert copied.obsm["X_one"].shape == (30, 1)
    assert copied.uns["one"]["params"]["method"] == "grecond"
    assert not before.uns


def test_results_survive_a_file(ad, cells, tmp_path):
    elbmf.tl.factorize(cells, 2, binarize="log1p:zscore:0.5", **QUICK)
    cells.write_h5ad(tmp_path / "cells.h5ad")
    again = ad.read_h5ad(tmp_path / "cells.h5ad")
    for where in ("obsm", "varm"):
        for name, value in getattr(cells, where).items():
            assert getattr(again, where)[name].dtype == value.dtype
            np.testing.assert_array_equal(getattr(again, where)[name], value)
    one, other = model_in(cells), model_in(again)
    assert one.info == other.info
    assert one.info.history
    assert (one.U != other.U).nnz == (one.V != other.V).nnz == 0
    # The limits of the fit tell the ones of other cells.
    assert other.binarizer().limits_.size == 12


def test_a_selection_has_the_result_of_its_cells(cells):
    elbmf.tl.factorize(cells, 2, layer="seen", **QUICK)
    found = model_in(cells[3:9, :5])
    assert found.shape == (6, 2, 5)
    assert found.row_names == list(cells.obs_names[3:9])
    with pytest.raises(InputError, match="no factorization 'two'"):
        model_in(cells, "two")
    with pytest.raises(InputError, match="Expected an AnnData"):
        model_in(SEEN)


def test_what_cannot_be_factorized_is_said(cells):
    with pytest.raises(InputError, match="Expected an AnnData; got ndarray"):
        elbmf.tl.factorize(SEEN)
    with pytest.raises(InputError, match=re.escape("no method 'svd'. Methods: elbmf")):
        elbmf.tl.factorize(cells, method="svd")


@pytest.mark.parametrize(
    "kind", [lambda x: x, lambda x: x.astype("string"), lambda x: x.astype(object)]
)
def test_labels_with_gaps_are_columns_of_a_data_frame(cells, kind):
    elbmf.tl.factorize(cells, 2, layer="seen", **QUICK)
    labels = kind(cells.obs["kind"])
    plain = [None if pd.isna(label) else label for label in labels]
    U = cells.obsm["X_elbmf"]
    for model in (U, model_in(cells), ELBMF(2, **QUICK).fit(cells, layer="seen")):
        found, expected = component_labels(model, labels), component_labels(U, plain)
        assert found.classes == expected.classes == ["B", "T"]
        np.testing.assert_array_equal(found.nmi, expected.nmi)
        assert found.class_sizes.tolist() == [18, 8]


@pytest.mark.parametrize("name", elbmf.pl.__all__)
def test_pictures_are_those_of_plots(cells, name, tmp_path):
    pytest.importorskip("matplotlib")
    elbmf.tl.factorize(cells, 2, layer="seen", key_added="two", **QUICK)
    path = tmp_path / "sets.gmt"
    path.write_text("first\tof them\tgene0\tgene1\tgene2\n")
    more = {"nmi": {"color": "kind"}, "enrichment": {"sets": path}}
    drawn = getattr(elbmf.pl, name)(cells, **more.get(name, {}), key="two")
    assert elbmf.plots.figure_of(drawn).axes


def test_pictures_take_colours_and_options(cells):
    pytest.importorskip("matplotlib")
    elbmf.tl.factorize(cells, 2, layer="seen", **QUICK)
    ax = elbmf.pl.row_map(cells, color="kind")
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert {"B", "T"} <= set(texts)
    assert len(elbmf.pl.columns(cells, components=[1])) == 1
    data, _, _ = elbmf.pl.factorization(cells, color="kind")
    assert "rows strip" in [ax.get_gid() for ax in data.child_axes]
    assert elbmf.pl.data(cells, color="kind").child_axes
    with pytest.raises(InputError, match=r"color must be the name of one column.*\['kind'\]"):
        elbmf.pl.data(cells, color=["kind"])
    with pytest.raises(InputError, match=r"no column 'type'\. It has 'kind'"):
        elbmf.pl.row_map(cells, color="type")


def test_pictures_of_what_the_data_is_no_longer_are_warned_of(cells):
    pytest.importorskip("matplotlib")
    cells.X = SEEN.copy()
    elbmf.tl.factorize(cells, 2, **QUICK)
    elbmf.pl.data(cells)
    elbmf.pl.data(cells[:20])
    cells.X = 1 - SEEN
    ones = int(SEEN.sum())
    with pytest.warns(UserWarning, match=f"X has {360 - ones} ones, but had {ones} when"):
        elbmf.pl.factorization(cells)


@pytest.mark.parametrize("key", ["elbmf", "two"])
def test_what_is_kept_beside_a_matrix_is_a_fit_again(cells, key, tmp_path):
    how = {"binarize": "log1p:zscore:0.5", **QUICK}
    elbmf.tl.factorize(cells, 2, key_added=key, **how)
    fitted, model = ELBMF(2, **how).fit(cells), elbmf.load(cells, key=key)
    assert model.components_frame(cells[::-1]).equals(fitted.components_frame(cells))
    assert (model.transform(cells[:5, ::-1]) == fitted.transform(cells[:5])).all()
    assert "<b>ELBMF</b>: 2 components" in model._repr_html_()
    model.save(tmp_path / "result")
    assert elbmf.load(tmp_path / "result").reconstruction_err_ == fitted.reconstruction_err_
    assert repr(model_in(cells, key)) == "<SavedModel of 30×12 cells, 2 components, elbmf>"
    with pytest.raises(InputError, match=r"selection, 9 rows × 12 columns, of .* 30 × 12"):
        elbmf.load(cells[:9], key=key)
    with pytest.raises(InputError, match="no factorization 'three'"):
        elbmf.load(cells, key="three")
