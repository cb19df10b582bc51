"""The recipe in Python, as the page shows it: run as it stands, it makes the same result."""

import contextlib
import io
from pathlib import Path

import numpy as np
import pytest

from elbmf.cli.main import main
from elbmf.datasets import make_tiles
from elbmf.io import LabelledMatrix, load_model, write
from elbmf.report.limits import Limits
from elbmf.report.recipe import recipe_of

ROWS, COLUMNS = [f"row, {at}" for at in range(30)], [f"c{at}" for at in range(20)]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder to work in, with a folder of data."""
    monkeypatch.chdir(tmp_path)
    Path("data").mkdir()


def table():
    made = make_tiles((30, 20), 3, height=(8, 10), noise=0.05, random_state=0)
    return LabelledMatrix(made.A.astype(float), ROWS, COLUMNS)


def code_after(*arguments):
    """Fit on the command line, and return the recipe and what was saved."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        assert main(["fit", *map(str, arguments), "-k", "3", "--seed", "1", "-o", "result"]) == 0
    model = load_model("result")
    return recipe_of(model.info, Limits())["code"], model


def run(code):
    """Run the recipe in a process of its own, so to say: it knows nothing but what it imports."""
    printed = io.StringIO()
    namespace = {"__name__": "recipe"}
    with contextlib.redirect_stdout(printed):
        exec(code, namespace)
    return namespace["model"], printed.getvalue().splitlines()


def check(code, model):
    again, printed = run(code)
    assert float(printed[0]) == again.reconstruction_err_
    np.testing.assert_array_equal(again.components_, model.V.toarray())
    np.testing.assert_array_equal(again.membership_, model.U.toarray())
    assert printed[1:] == [repr(columns) for _, columns in model.components()]
    return again.reconstruction_err_


def test_of_csv_with_options():
    write("data/people.csv", table(), delimiter=";")
    code, model = code_after("data/people.csv", "--delimiter", ";", "--max-iter", 50)
    assert "read('data/people.csv', delimiter=';')" in code
    assert check(code, model) == model.info.measures["loss"]


def test_of_npz_with_weights_and_no_names():
    write("data/people.npz", LabelledMatrix(table().values))
    Path("weights.tsv").write_text("row\tweight\n3\t4\n", encoding="utf-8")
    code, model = code_after("data/people.npz", "--row-weights", "weights.tsv", "--max-iter", 50)
    assert check(code, model) == model.info.weighted.loss


@pytest.mark.formats
def test_of_h5ad_with_a_layer_and_binarize():
    anndata = pytest.importorskip("anndata")
    import pandas as pd

    values = table().values.toarray() * np.linspace(2, 5, 20) + np.arange(30)[:, None] / 40
    names = pd.DataFrame(index=ROWS), pd.DataFrame(index=COLUMNS)
    anndata.AnnData(np.zeros((30, 20)), *names, layers={"counts": values}).write_h5ad("data/a.h5ad")
    code, model = code_after(
        "data/a.h5ad", "--layer", "counts", "--binarize", "zscore:1", "--max-iter", 50
    )
    assert "layer='counts'" in code
    assert "binarize='zscore:1'" in code
    assert check(code, model) == model.info.measures["loss"]


def test_of_a_matrix_folder():
    write("data/people.matrix", table())
    code, model = code_after("data/people.matrix", "--max-iter", 50)
    assert check(code, model) == model.info.measures["loss"]


def test_there_is_none_where_a_part_is_not_known():
    write("data/people.csv", table())
    Path("keep.csv").write_text("name,c0,c1\nfirst,1,1\n", encoding="utf-8")
    code, _ = code_after("data/people.csv", "--keep", "keep.csv", "--max-iter", 50)
    assert code is None
