"""Saved models: what is kept, what can be read, and what goes wrong."""

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from io_helpers import NAMES
from scipy import sparse

from elbmf.errors import FileFormatError, InputError
from elbmf.io import ModelInfo, SavedModel, load_model, save_model
from strategies import examples

U = sparse.csr_array(np.array([[1, 0], [1, 1], [0, 0]], dtype=bool))
V = sparse.csr_array(np.array([[0, 1, 1, 0], [1, 0, 0, 0]], dtype=bool))
ROWS = ["patient,1", "patient\t2", "patient\\3"]
COLUMNS = ["TP53", "BRCA1", "line\nfeed", "é"]


@pytest.fixture
def model():
    return SavedModel(U, V, ROWS, COLUMNS, {"method": "palm", "measures": {"error": 3}})


def files(directory):
    return sorted(entry.name for entry in directory.iterdir())


def assert_same(found, expected):
    np.testing.assert_array_equal(found.U.toarray(), expected.U.toarray())
    np.testing.assert_array_equal(found.V.toarray(), expected.V.toarray())
    assert found.U.dtype == found.V.dtype == bool
    assert found.row_names == expected.row_names
    assert found.column_names == expected.column_names


@examples(40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_round_trip(tmp_path, data):
    rows, components, columns = (data.draw(st.integers(low, 5)) for low in (1, 0, 1))
    left = data.draw(hnp.arrays(bool, (rows, components)))
    right = data.draw(hnp.arrays(bool, (components, columns)))
    names = [
        data.draw(st.none() | st.lists(NAMES, min_size=size, max_size=size))
        for size in (rows, columns)
    ]
    saved = SavedModel(sparse.csr_array(left), sparse.csr_array(right), *names)
    save_model(tmp_path / "model", saved, overwrite=True, tsv=data.draw(st.booleans()))
    assert_same(load_model(tmp_path / "model"), saved)


def test_files_and_description(tmp_path, model):
    save_model(tmp_path / "m", model)
    assert files(tmp_path) == ["m"]
    assert files(tmp_path / "m") == ["factors.npz", "model.json"]
    description = json.loads((tmp_path / "m" / "model.json").read_text())
    assert description["format_version"] == 1
    assert description["shape"] == {"rows": 3, "components": 2, "columns": 4}
    assert load_model(tmp_path / "m").info == model.info
    with np.load(tmp_path / "m" / "factors.npz", allow_pickle=False) as archive:
        assert archive["shape"].tolist() == [3, 2, 4]
        assert archive["U_indices"].tolist() == [0, 0, 1]


def test_tables(tmp_path, model):
    save_model(tmp_path / "m", model, tsv=True)
    lines = {
        name: (tmp_path / "m" / f"{name}.tsv").read_text(encoding="utf-8").splitlines()
        for name in ("components", "rows", "columns")
    }
    assert lines["components"] == [
        "component\trow_count\tcolumn_count\trows\tcolumns",
        "0\t2\t2\tpatient\\,1,patient\\t2\tBRCA1,line\\nfeed",
        "1\t1\t1\tpatient\\t2\tTP53",
    ]
    assert lines["rows"] == [
        "row\tcomponents",
        "patient,1\t0",
        "patient\\t2\t0,1",
        "patient\\\\3\t",
    ]
    assert lines["columns"] == [
        "column\tcomponents",
        "TP53\t1",
        "BRCA1\t0",
        "line\\nfeed\t0",
        "é\t",
    ]


def test_margins_are_in_the_tables_in_the_order_of_the_components(tmp_path, model):
    A = np.array([[0, 1, 1, 0], [1, 1, 0, 0], [0, 0, 0, 1]])
    save_model(tmp_path / "m", model, tsv=True, margins=model.margins(A))
    rows, columns = (
        (tmp_path / "m" / f"{name}.tsv").read_text(encoding="utf-8").splitlines()
        for name in ("rows", "columns")
    )
    assert rows == [
        "row\tcomponents\tmargins",
        "patient,1\t0\t2",
        "patient\\t2\t0,1\t0,1",
        "patient\\\\3\t\t",
    ]
    assert columns == [
        "column\tcomponents\tmargins",
        "TP53\t1\t1",
        # Without the first component, it would be in the second.
        "BRCA1\t0\t1",
        "line\\nfeed\t0\t0",
        "é\t\t",
    ]


def test_components_are_readable(model):
    assert model.components() == [
        (["patient,1", "patient\t2"], ["BRCA1", "line\nfeed"]),
        (["patient\t2"], ["TP53"]),
    ]
    assert SavedModel(U, V).components()[0] == (["0", "1"], ["1", "2"])


def test_an_occupied_folder_is_an_error_unless_overwritten(tmp_path, model):
    target = tmp_path / "m"
    save_model(target, model, tsv=True)
    (target / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="overwrite=True"):
        save_model(target, model)
    smaller = SavedModel(U[:, :1], V[:1])
    save_model(target, smaller, overwrite=True)
    assert_same(load_model(target), smaller)
    # The tables of the previous model are gone, foreign files are not.
    assert files(target) == ["factors.npz", "model.json", "notes.txt"]
    assert files(tmp_path) == ["m"]


def test_an_empty_folder_is_used(tmp_path, model):
    (tmp_path / "m").mkdir()
    save_model(tmp_path / "m", model)
    assert_same(load_model(tmp_path / "m"), model)


def test_a_relative_name(tmp_path, model, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save_model("m", model)
    assert_same(load_model("m"), model)


def test_places_that_cannot_be_written(tmp_path, model, monkeypatch):
    with pytest.raises(InputError, match="does not exist"):
        save_model(tmp_path / "no" / "m", model)
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="is a file"):
        save_model(tmp_path / "file", model)

    def deny(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "mkdir", deny)
    with pytest.raises(InputError, match="permission denied"):
        save_model(tmp_path / "m", model)


def test_nothing_is_left_of_a_failed_save(tmp_path, model):
    model.info.other["oops"] = object()
    with pytest.raises(InputError, match=r"info\['oops'\].*object"):
        save_model(tmp_path / "m", model)
    assert files(tmp_path) == []
    del model.info.other["oops"]
    save_model(tmp_path / "m", model)
    model.info.other["oops"] = {1: 2}
    with pytest.raises(InputError, match="keys must be strings"):
        save_model(tmp_path / "m", model, overwrite=True)
    assert_same(load_model(tmp_path / "m"), model)


def test_notes_become_plain(tmp_path):
    notes = {"a": np.float64(0.5), "b": np.arange(2), "c": (1, None), "d": float("nan"), "e": True}
    save_model(tmp_path / "m", SavedModel(U, V, info=notes))
    assert load_model(tmp_path / "m").info.other == {
        "a": 0.5,
        "b": [0, 1],
        "c": [1, None],
        "d": None,
        "e": True,
    }


def test_factors_are_checked():
    with pytest.raises(InputError, match="number of components"):
        SavedModel(U, V[:1])
    with pytest.raises(InputError, match="only 0 and 1"):
        SavedModel(U * 0.5, V)
    with pytest.raises(InputError, match="row_names"):
        SavedModel(U, V, ["a"])


def test_loading_what_is_no_model(tmp_path):
    with pytest.raises(InputError, match="no such folder"):
        load_model(tmp_path / "m")
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="is a file"):
        load_model(tmp_path / "file")
    with pytest.raises(FileFormatError, match=r"no model\.json"):
        load_model(tmp_path)
    for text in ("{}", "[]", '{"format": "other"}'):
        (tmp_path / "model.json").write_text(text)
        with pytest.raises(FileFormatError, match="not the description"):
            load_model(tmp_path)


def test_loading_damaged_models(tmp_path, model):
    good = tmp_path / "good"
    save_model(good, model)
    bad = tmp_path / "bad"

    def fresh():
        shutil.rmtree(bad, ignore_errors=True)
        shutil.copytree(good, bad)
        return json.loads((bad / "model.json").read_text())

    fresh()
    text = (bad / "model.json").read_text()
    (bad / "model.json").write_text(text[: len(text) // 2])
    with pytest.raises(FileFormatError, match="not valid JSON, or cut off"):
        load_model(bad)
    description = fresh()
    (bad / "model.json").write_text(json.dumps(description | {"format_version": 99}))
    with pytest.raises(FileFormatError, match="expected format_version 1, found 99"):
        load_model(bad)
    fresh()
    (bad / "factors.npz").unlink()
    with pytest.raises(FileFormatError, match="missing"):
        load_model(bad)
    fresh()
    (bad / "factors.npz").write_bytes((bad / "factors.npz").read_bytes()[:-30])
    with pytest.raises(FileFormatError, match="SHA-256"):
        load_model(bad)


@pytest.mark.parametrize(
    ("info", "words"),
    [
        ("notes", "info must be an object, found 'notes'"),
        ({"data": "a.csv"}, "info.data must be an object, found 'a.csv'"),
        ({"warnings": "beware"}, "info.warnings must be a list, found 'beware'"),
        ({"warnings": ["a", 1]}, r"info.warnings\[1\] must be text, found 1"),
        ({"n_iter": True}, "info.n_iter must be a whole number, found True"),
        ({"seed": 1.5}, "info.seed must be a whole number or text, found 1.5"),
        ({"data": {"ones": "5"}}, "info.data.ones must be a whole number, found '5'"),
        ({"measures": {"loss": "low"}}, "info.measures.loss must be a number, found 'low'"),
        ({"stages": [{"stage": "search"}]}, r"info.stages\[0\].cost is missing"),
    ],
)
def test_notes_of_the_wrong_kind_are_refused(tmp_path, model, info, words):
    save_model(tmp_path / "model", model)
    path = tmp_path / "model" / "model.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"info": info}))
    with pytest.raises(FileFormatError, match=rf"model\.json: {words}"):
        load_model(tmp_path / "model")


OLD_MODELS = sorted((Path(__file__).parent / "models_0_1_0").iterdir())


@pytest.mark.parametrize("folder", OLD_MODELS, ids=lambda folder: folder.name)
def test_models_of_version_0_1_0_keep_all_that_they_note(folder, tmp_path):
    found = load_model(folder)
    save_model(tmp_path / "again", found)
    before, after = (
        json.loads((place / "model.json").read_text())["info"]
        for place in (folder, tmp_path / "again")
    )
    assert after == before
    assert found.info.other == found.info.data.other == {}


def test_what_models_of_version_0_1_0_note_is_typed():
    fitted, chosen, streamed, binarized = (
        load_model(OLD_MODELS[0].parent / name).info
        for name in ("fitted", "auto", "streamed", "zscored")
    )
    assert (fitted.method, fitted.seed, fitted.data.path) == ("elbmf", 1, "../people.csv")
    assert [each.stage for each in fitted.stages][:2] == ["rounding", "refinement"]
    assert fitted.measures["loss"] == 1
    assert (fitted.stream, fitted.rank_search) == (None, None)
    assert chosen.rank_search is not None
    assert chosen.rank_search.highest == 8
    assert streamed.stream is not None
    assert streamed.stream.rows == 12
    assert len(binarized.binarize_limits) == 8


def test_a_model_may_have_no_notes(tmp_path, model):
    save_model(tmp_path / "model", model)
    path = tmp_path / "model" / "model.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"info": None}))
    assert load_model(tmp_path / "model").info == ModelInfo()


def test_names_that_no_file_can_hold_are_refused(tmp_path):
    model = SavedModel(np.eye(2), np.eye(2), ["a", "b\ud800"], ["", "\0"])
    with pytest.raises(InputError, match=r"row_names: the name at position 1, 'b\\ud800'"):
        save_model(tmp_path / "model", model)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "changes",
    [
        {"U_indices": np.array([0, 0, 9])},
        {"U_indptr": np.array([0, 1])},
        {"shape": np.array([3, 2])},
        {"row_names_offsets": np.array([0, 1, 2, 999])},
        {"V_indices": np.array([None] * 3)},
        {"row_names_utf8": np.zeros(0, np.uint8), "row_names_offsets": np.zeros(1, np.int64)},
    ],
)
def test_loading_inconsistent_factors(tmp_path, model, changes):
    import hashlib

    save_model(tmp_path / "m", model)
    path = tmp_path / "m" / "factors.npz"
    with np.load(path) as archive:
        arrays = dict(archive)
    np.savez(path, **(arrays | changes))
    description = json.loads((tmp_path / "m" / "model.json").read_text())
    description["factors_sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    (tmp_path / "m" / "model.json").write_text(json.dumps(description))
    with pytest.raises(FileFormatError, match=r"factors\.npz"):
        load_model(tmp_path / "m")


@pytest.mark.parametrize("exists", [False, True])
def test_what_a_killed_process_left_is_removed(tmp_path, exists):
    model = SavedModel(np.eye(3, 2), np.eye(2, 4))
    if exists:
        save_model(tmp_path / "model", model)
    place = tmp_path / "model" / "model.json" if exists else tmp_path / "model"
    left = [place.with_name(f".{place.name}.{number:012x}.part") for number in (1, 2)]
    for folder in left:
        folder.mkdir()
        (folder / "factors.npz").write_text("half")
    os.utime(left[0], (0, 0))
    save_model(tmp_path / "model", model, overwrite=True)
    # The other one is young: somebody may be about to write to it.
    assert [folder.exists() for folder in left] == [False, True]
    assert load_model(tmp_path / "model").shape == (3, 2, 4)
