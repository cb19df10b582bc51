"""Saved models with wrong content and right checksums: told, or read, and never more."""

import hashlib
import json
import shutil

import numpy as np
import pytest

from elbmf.errors import FileFormatError
from elbmf.io import SavedModel, load_model, save_model
from forging import forge_model

INFO = {
    "method": "elbmf",
    "parameters": {"n_components": 2, "extra_weight": 1.5, "max_components_per_row": None},
    "seed": 7,
    "data": {"file": "a.csv", "shape": [4, 3], "ones": 5, "missing": 0, "path": "../a.csv"},
    "measures": {"loss": 2, "precision": None},
    "cover": {"cells": 12, "ones": 5, "covered": 4, "hits": 4},
    "stability": {
        "runs": 2,
        "resample": "rows:0.5",
        "stability": 0.5,
        "components": [{"recurrence": 0.5, "found_in": 1, "rows": [1], "columns": [1, 0.5]}] * 2,
        "consensus": [[1, None], [None, 1]],
    },
    "stages": [{"stage": "rounding", "cost": 3}],
    "bits_saved": [3.5, 1],
    "run_losses": [3, 4],
    "history": {"gap": [0.5, 0.1]},
    "binarize_limits": [0.5, None, 1],
    "seconds": 0.5,
}


@pytest.fixture
def folder(tmp_path):
    U, V = np.eye(4, 2), np.eye(2, 3)
    model = SavedModel(U, V, [*"abcd"], [*"xyz"], json.loads(json.dumps(INFO)))
    save_model(tmp_path / "good", model)
    return tmp_path / "good"


@pytest.mark.parametrize("seed", range(5))
def test_forgeries_are_told_or_read(folder, tmp_path, seed):
    told = []
    for turn in range(60):
        shutil.rmtree(tmp_path / "bad", ignore_errors=True)
        shutil.copytree(folder, tmp_path / "bad")
        forge_model(np.random.default_rng([seed, turn]), tmp_path / "bad")
        try:
            found = load_model(tmp_path / "bad")
        except FileFormatError as error:
            told.append(str(error))
            continue
        assert found.info.extra_weight > 0
        assert found.info.price >= 1
        found.components()
        save_model(tmp_path / "again", found, tsv=True, overwrite=True)
        assert load_model(tmp_path / "again").shape == found.shape
    assert told
    assert all(str(tmp_path / "bad") in each and "\n" not in each for each in told)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("data", {"shape": [4]}, "info.data.shape must be a list of 2, found [4]"),
        ("data", {"shape": [4, -3]}, "info.data.shape[1] must be a whole number from 0 on"),
        ("parameters", {"extra_weight": "x"}, "info.parameters.extra_weight must be a number or"),
        ("parameters", {"extra_weight": 0}, "must be a number above 0 or text, found 0"),
        ("parameters", {"max_components_per_row": []}, "max_components_per_row must be a whole"),
        ("run_losses", [1 << 64], "info.run_losses[0] must be a whole number that 64 bits can"),
        ("stability", {**INFO["stability"], "consensus": [[1], [2, 3]]}, "as many columns as rows"),
        ("cover", {**INFO["cover"], "hits": 6}, "info.cover has counts that no matrix has"),
        ("cover", {**INFO["cover"], "cells": 3}, "info.cover has counts that no matrix has"),
        ("history", {"gap": "x"}, "info.history.gap must be a list, found 'x'"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(folder, name, value, said):
    path = folder / "model.json"
    description = json.loads(path.read_text())
    description["info"][name] = value
    path.write_text(json.dumps(description))
    with pytest.raises(FileFormatError) as error:
        load_model(folder)
    assert said in str(error.value)


def test_the_shape_is_that_of_the_factors(folder):
    path = folder / "model.json"
    description = json.loads(path.read_text())
    description["shape"]["columns"] = 4
    path.write_text(json.dumps(description))
    with pytest.raises(FileFormatError, match=r"their shape is not what model\.json says"):
        load_model(folder)


@pytest.mark.parametrize(
    ("array", "values"),
    [
        ("V_indptr", [0, 3, 0]),
        ("V_indptr", [0, -1, 2]),
        ("V_indptr", [0, 2]),
        ("V_indptr", [1, 1, 2]),
        ("V_indptr", [0, 1, 1]),
        ("V_indices", [0, 3]),
        ("U_indices", [0, -1]),
    ],
)
def test_index_arrays_that_do_not_fit(folder, array, values):
    path = folder / "factors.npz"
    with np.load(path) as archive:
        arrays = dict(archive)
    arrays[array] = np.array(values, arrays[array].dtype)
    np.savez(path, **arrays)
    note = json.loads((folder / "model.json").read_text())
    note["factors_sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    (folder / "model.json").write_text(json.dumps(note))
    with pytest.raises(FileFormatError, match=rf"factors.npz.*{array}"):
        load_model(folder)
