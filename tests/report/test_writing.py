"""Reports from Python: models and estimators, data of every kind, the file itself."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError
from unpacked import lines_of, unpacked

from elbmf import ELBMF, GreConD, RankSearch
from elbmf.datasets import make_tiles
from elbmf.errors import InputError
from elbmf.estimators.saving import saved_model
from elbmf.io import LabelledMatrix, SavedModel, load_model, save_model
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.report import page, write_report, writing


@pytest.fixture
def written(monkeypatch, tmp_path):
    """Write a report and return what it says; the page is the document itself."""
    monkeypatch.setattr(page, "render", json.dumps)

    def write(*arguments, **options):
        write_report(tmp_path / "report.html", *arguments, **options)
        return json.loads((tmp_path / "report.html").read_text())

    return write


@pytest.fixture(scope="module")
def tiles():
    return make_tiles((40, 30), 3, height=(10, 15), noise=0.05, random_state=0).A.toarray()


@pytest.fixture(scope="module")
def fitted(tiles):
    return ELBMF(n_components=3, max_iter=50, random_state=0).fit(tiles)


def test_the_page_is_one_file(fitted, tiles, tmp_path):
    write_report(tmp_path / "report.html", fitted, tiles, title="<script>")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert text.lower().startswith("<!doctype html>")
    assert "<script></" not in text
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_arrays_sparse_matrices_and_frames_say_the_same(fitted, tiles, written):
    said = written(fitted, tiles)
    assert written(fitted, sparse.csr_array(tiles)) == said
    assert written(fitted, BooleanMatrix.from_array(tiles)) == said
    assert written(fitted, LabelledMatrix(sparse.csr_array(tiles))) == said
    assert said["summary"]["measures"]["loss"] == fitted.reconstruction_err_
    assert [each["bits_saved"] for each in said["components"]] == pytest.approx(
        fitted.bits_saved_, abs=0.06
    )
    fit = "ELBMF(n_components=3, random_state=0, max_iter=50).fit(X)"
    assert f"\nmodel = {fit}\n" in said["recipe"]["code"]


def test_names_of_a_frame_are_shown(tiles, written):
    frame = pd.DataFrame(
        tiles,
        index=[f"person {at}" for at in range(40)],
        columns=[f"thing {at}" for at in range(30)],
    )
    model = GreConD(n_components=2).fit(frame)
    labels = pd.Series(["a", "b"] * 20, name="group")
    said = written(model, frame, labels=labels)
    assert unpacked(said["rows"]["names"]) == list(frame.index)
    assert unpacked(said["columns"]["names"]) == list(frame.columns)
    assert said["labels"]["title"] == "group"
    assert said["summary"]["method"] == "GreConD"
    saved = saved_model(model, BooleanMatrix.from_array(tiles), list(frame.index))
    assert written(saved, frame)["rows"] == said["rows"]
    by_name = labels.set_axis(frame.index)[::-1]
    assert written(model, frame, labels=by_name)["labels"] == said["labels"]
    for each in (saved, model):
        turned = written(each, frame.iloc[::-1, ::-1])
        assert turned["rows"] == said["rows"]
        assert turned["components"] == said["components"]
        with pytest.raises(InputError, match=r"The data: its rows .* Missing: 'person 0'"):
            written(each, frame.rename({"person 0": "somebody"}))


def test_saved_models_read_data_as_they_did(written):
    generator = np.random.default_rng(0)
    values = generator.random((40, 12))
    for binarize in (0.5, "quantile:0.8", "zscore"):
        model = ELBMF(2, max_iter=20, effort=0, binarize=binarize, random_state=0).fit(values)
        said = written(model, values)
        assert said["summary"]["measures"]["loss"] == model.reconstruction_err_
        assert said["recipe"]["parameters"]["binarize"] == str(binarize)
        again = written(saved_model(model), values)
        assert again["summary"]["measures"] == said["summary"]["measures"]


def test_a_saved_model_says_what_its_estimator_says(fitted, tiles, written, tmp_path):
    A = BooleanMatrix.from_array(tiles)
    save_model(tmp_path / "model", saved_model(fitted, A))
    loaded = load_model(tmp_path / "model")
    said, expected = written(loaded, tiles), written(fitted, tiles)
    assert said["components"] == expected["components"]
    assert said["recipe"]["parameters"] == expected["recipe"]["parameters"]
    assert said["trace"] == expected["trace"]


def test_without_data(fitted, written):
    said = written(fitted)
    assert said["summary"]["measures"]["loss"] == fitted.reconstruction_err_
    assert said["matrix"]["missed"] is None
    assert any("not at hand" in text for text in said["summary"]["warnings"])


def test_a_search_over_ranks_shows_its_curve(tiles, written):
    search = RankSearch(GreConD(), max_components=4).fit(tiles)
    rank = written(search, tiles)["summary"]["rank"]
    assert rank["chosen"]
    assert rank["curve"]["ranks"] == [0, 1, 2, 3, 4]
    automatic = GreConD("auto").fit(tiles)
    assert written(automatic, tiles)["summary"]["rank"]["chosen"]


def test_rows_are_described_by_the_components_of_a_stream(tiles, written):
    model = ELBMF(n_components=3, max_iter=30, random_state=0)
    for low in (0, 20):
        model.partial_fit(tiles[low : low + 20])
    frame = pd.DataFrame(tiles, index=[f"person {at}" for at in range(40)])
    said = written(model, frame)
    assert any("not those that the model" in text for text in said["summary"]["warnings"])
    described = model.transform(tiles)
    for line, holders, _ in lines_of(said["rows"]):
        assert holders == np.flatnonzero(described[line]).tolist()
    assert unpacked(said["rows"]["names"])[3] == "person 3"
    assert any("stream" in text for text in written(model)["summary"]["warnings"])
    with pytest.raises(InputError, match="7 columns"):
        written(saved_model(model), np.zeros((4, 7)))


@pytest.mark.parametrize(
    ("model", "data", "words"),
    [("nothing", None, "got str"), (None, np.zeros((7, 30)), "40 rows; got 7")],
)
def test_what_does_not_go_together_is_refused(fitted, written, model, data, words):
    with pytest.raises(InputError, match=words):
        written(fitted if model is None else model, data)


def test_an_estimator_must_be_fitted(written):
    with pytest.raises(NotFittedError):
        written(ELBMF(n_components=2))


def test_a_page_that_is_too_large_is_made_again_with_less(monkeypatch, written):
    generator = np.random.default_rng(0)
    names = [generator.bytes(60).hex() for _ in range(300)]
    model = SavedModel(generator.random((300, 9)) < 0.3, np.eye(9, 20), names)
    monkeypatch.setattr(writing, "MOST_PAGE_BYTES", 60_000)
    monkeypatch.setattr(page, "render", lambda said: json.dumps(said) + " " * 10_000)
    said = written(model, generator.random((300, 20)) < 0.3)
    assert len(json.dumps(said)) + 10_000 <= 60_000


def test_a_report_is_written_whole_or_not_at_all(fitted, tiles, monkeypatch, tmp_path):
    target = tmp_path / "report.html"
    target.write_text("before")

    def fail(_):
        raise RuntimeError("no page")

    monkeypatch.setattr(page, "render", fail)
    with pytest.raises(RuntimeError, match="no page"):
        write_report(target, fitted, tiles)
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
    assert target.read_text() == "before"
    monkeypatch.undo()
    with pytest.raises(InputError, match="does not exist"):
        write_report(tmp_path / "nowhere" / "report.html", fitted, tiles)
    with pytest.raises(InputError, match="is a folder"):
        write_report(tmp_path, fitted, tiles)
