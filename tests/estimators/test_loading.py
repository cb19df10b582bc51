"""Fitted methods that are saved and loaded: the same as before, without a pickle."""

import json
import warnings
from dataclasses import asdict
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elbmf import (
    ELBMF,
    MinimalCover,
    Sofa,
    load,
    load_model,
    save_model,
    significance,
    stability,
)
from elbmf.cli.main import main
from elbmf.datasets import make_tiles
from elbmf.errors import FileFormatError, InputError
from elbmf.estimators import ESTIMATORS, METHODS
from elbmf.estimators import method as method_of
from elbmf.estimators.saving import saved_model
from elbmf.estimators.schedule_flags import flat_parameters
from elbmf.io.model_info import DataInfo
from elbmf.relaxation.regularizers import ELB
from elbmf.relaxation.schedules import Annealed, Printed
from entrants import BINARIZING, quickly
from strategies import boolean_arrays, examples

pytestmark = [
    pytest.mark.filterwarnings("ignore::elbmf.errors.DoubtfulComponentWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]

TILES = make_tiles((40, 30), 3, height=(5, 10), noise=0.05, random_state=0)
A = TILES.A.toarray().astype(int)

# What belongs to a run, or to a method alone.
OTHER = {"callback", "checkpoint", "checkpoint_every"}


def fitted(model):
    """Return what a fit has set, as values that compare."""
    found = {
        name: value
        for name, value in vars(model).items()
        if name.endswith("_") and not name.startswith("_")
    }
    for name in ("binarizer_", "saved_info_"):
        found.pop(name, None)
    found["cover_"] = asdict(model.cover_)
    found["noise_rates_"] = asdict(model.noise_rates_)
    # Files have null where a figure is not finite.
    found["history_"] = {
        name: np.where(np.isfinite(each), each, np.nan) for name, each in model.history_.items()
    }
    return found


def assert_same(model, again, beside=()):
    assert type(again) is type(model)
    before, after = fitted(model), fitted(again)
    for name in after:
        np.testing.assert_equal(after[name], before[name], err_msg=name)
    assert before.keys() - after.keys() <= {"posterior_", *beside}
    one, other = flat_parameters(model), flat_parameters(again)
    assert {name: one[name] for name in one.keys() - OTHER} == {
        name: other[name] for name in other.keys() - OTHER
    }


@pytest.mark.parametrize("name", METHODS)
def test_every_method_comes_back(name, tmp_path):
    model = quickly(method_of(name))(3, random_state=0).fit(A)
    model.save(tmp_path / "result")
    again = load(tmp_path / "result")
    own = {each for each in vars(model) if each not in vars(ELBMF(3).fit(A[:9]))}
    assert_same(model, again, own)
    np.testing.assert_array_equal(again.transform(A), model.transform(A))
    assert again.score(A) == model.score(A)
    np.testing.assert_array_equal(again.fit(A).membership_, model.membership_)


@given(
    X=boolean_arrays(st.integers(1, 20), st.integers(1, 20)),
    k=st.integers(1, 4),
    weight=st.sampled_from([1.0, 0.5, 3, np.inf, "auto"]),
    most=st.sampled_from([None, 1]),
)
@examples(15)
def test_any_result_comes_back(X, k, weight, most, tmp_path_factory):
    folder = tmp_path_factory.mktemp("any") / "result"
    made = partial(ELBMF, max_iter=10, effort=0.01, random_state=0, extra_weight=weight)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = made(k, max_components_per_row=most).fit(X)
    model.save(folder)
    again = load(folder)
    assert_same(model, again, {"n_changes_"})
    np.testing.assert_array_equal(again.transform(X), model.transform(X))


def test_a_cover_comes_back_with_its_proof(tmp_path):
    model = MinimalCover(random_state=0).fit(TILES.truth)
    model.save(tmp_path / "roles")
    again = load(tmp_path / "roles")
    assert_same(model, again)
    assert again.proved_ is True
    assert again.lower_bound_ == model.n_components_


@pytest.mark.parametrize(
    "given",
    [
        {"schedule": Printed(kappa=0.1, lam=0.3, rate=1.05)},
        {"schedule": Annealed(beta=0.5, dtype="float64")},
        {"regularizer": ELB("paper")},
        {"regularizer": "bowl"},
        {"time_limit": 0.2, "n_jobs": 1, "random_state": 3},
        {"extra_weight": np.inf, "min_rows": 2},
    ],
    ids=str,
)
def test_parameters_come_back(given, tmp_path):
    model = ELBMF(2, max_iter=10, effort=0.01, **given).fit(A)
    model.save(tmp_path / "result")
    assert_same(model, load(tmp_path / "result"))


def test_what_is_only_described_is_named(tmp_path):
    given = {"fixed_components": TILES.V[:1], "separate_columns": [(0, 29)]}
    model = ELBMF(2, max_iter=10, effort=0, random_state=0, **given).fit(A)
    model.save(tmp_path / "result")
    with pytest.warns(UserWarning, match="fixed_components, separate_columns cannot be read back"):
        again = load(tmp_path / "result")
    np.testing.assert_array_equal(again.transform(A), model.transform(A))
    assert again.fixed_components is None


@pytest.mark.parametrize("how", [*BINARIZING, "zscore:1:rows", "quantile:0.2", "nonzero", 0.7])
def test_values_are_read_as_before(how, tmp_path):
    X = np.random.default_rng(0).random((30, 20)) * (A[:30, :20] + 0.1)
    X[X < 0.05] = 0
    X[3, 4] = np.nan
    model = ELBMF(3, max_iter=10, effort=0, random_state=0, binarize=how).fit(X)
    model.save(tmp_path / "result")
    again = load(tmp_path / "result")
    new = np.random.default_rng(1).random((15, 20))
    np.testing.assert_array_equal(again.transform(new), model.transform(new))
    np.testing.assert_array_equal(again.fit(X).membership_, model.membership_)


class Odd:
    """A transformer of the user's own."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X % 2

    def get_params(self, deep=False):
        return {}


def test_a_transformer_of_the_user_is_refused(tmp_path):
    model = ELBMF(2, effort=0, binarize=Odd()).fit(A)
    with pytest.raises(InputError, match="own transformer, Odd"):
        model.save(tmp_path / "result")
    assert not (tmp_path / "result").exists()


def test_names_come_back(tmp_path):
    frame = pd.DataFrame(
        A, index=[f"=row, {i}\n😀" for i in range(40)], columns=[f'"{j}", ,' for j in range(30)]
    )
    model = ELBMF(3, effort=0, random_state=0).fit(frame)
    model.save(tmp_path / "result")
    again = load(tmp_path / "result")
    assert_same(model, again)
    assert again.sample_names_in_.tolist() == frame.index.tolist()
    np.testing.assert_array_equal(again.transform(frame), model.membership_)
    with pytest.raises(ValueError, match="feature names"):
        again.transform(frame[frame.columns[::-1]])
    model.fit(A)
    assert not hasattr(model, "sample_names_in_")


def test_weighted_fits_come_back(tmp_path):
    weight = np.arange(40) % 3 + 0.5
    model = ELBMF(3, effort=0, random_state=0).fit(A, sample_weight=weight)
    model.save(tmp_path / "result")
    again = load(tmp_path / "result")
    assert again.reconstruction_err_ == model.reconstruction_err_
    assert again.noise_rates_ == model.noise_rates_
    np.testing.assert_array_equal(again.transform(A), model.transform(A))


@pytest.mark.parametrize("method", [ELBMF, Sofa])
def test_streams_come_back_to_describe(method, tmp_path):
    model = method(3, random_state=0).partial_fit(A[:20]).partial_fit(A[20:])
    model.save(tmp_path / "result")
    again = load(tmp_path / "result")
    assert (again.n_rows_seen_, again.n_components_) == (40, model.n_components_)
    assert not hasattr(again, "membership_")
    np.testing.assert_array_equal(again.transform(A), model.transform(A))
    with pytest.raises(InputError, match="cannot continue a saved stream"):
        again.partial_fit(A)
    again.fit(A).partial_fit(A)


def test_the_command_line_and_python_read_each_other(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(A, [f"r{i}" for i in range(40)], [f"c{j}" for j in range(30)])
    frame.to_csv("data.csv")
    given = ["--seed", "0", "--effort", "0.1"]
    assert main(["fit", "data.csv", "-k", "3", "-o", "there", *given]) == 0
    model = ELBMF(3, effort=0.1, random_state=0).fit(frame)
    model.save("here", frame, tsv=True)
    there, here = load("there"), load("here")
    for each in (there, here):
        each.history_.pop("seconds")
    assert_same(there, here)
    np.testing.assert_array_equal(there.transform(frame), model.membership_)
    assert Path("here/components.tsv").read_text().count("\n") == 4
    for folder in ("there", "here"):
        assert main(["transform", folder, "data.csv", "-o", f"{folder}.csv"]) == 0
        capsys.readouterr()
        assert main(["info", folder, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["info"]["method"] == "elbmf"
    assert Path("here.csv").read_text() == Path("there.csv").read_text()
    one, other = load_model("here").info, load_model("there").info
    assert (one.measures, one.cover, one.data.ones) == (
        other.measures, other.cover, other.data.ones,
    )  # fmt: skip


def test_what_is_there_is_not_replaced_unasked(tmp_path):
    model = ELBMF(2, effort=0).fit(A)
    model.save(tmp_path / "result")
    with pytest.raises(InputError, match="result"):
        model.save(tmp_path / "result")
    model.save(tmp_path / "result", overwrite=True)


def test_what_cannot_be_loaded_says_why(tmp_path):
    with pytest.raises(InputError, match="no such folder"):
        load(tmp_path / "nowhere")
    ELBMF(2, effort=0).fit(A).save(tmp_path / "result")
    note = tmp_path / "result" / "model.json"
    text = note.read_text()
    note.write_text(text.replace('"method": "elbmf"', '"method": "ours"'))
    with pytest.raises(InputError, match=f"made by ours, which is none of {', '.join(ESTIMATORS)}"):
        load(tmp_path / "result")
    note.write_text(text.replace('"cells": 1200', '"cells": "many"'))
    with pytest.raises(FileFormatError, match=r"info\.cover\.cells must be a number"):
        load(tmp_path / "result")


@pytest.mark.parametrize("folder", sorted((Path(__file__).parents[1] / "io").glob("models_*/*")))
def test_results_of_earlier_versions_load(folder):
    saved = load_model(folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again = load(folder)
    np.testing.assert_array_equal(again.components_, saved.V.toarray())
    names = saved.column_names
    again.transform(pd.DataFrame(saved.V.toarray().astype(int), columns=names))


def test_what_is_noted_of_a_result_outlives_another_save(tmp_path):
    found = stability(A, ELBMF(2, effort=0, random_state=0), runs=2)
    notes = {"stability": found.info, "data": DataInfo(path="../data.npz", shape=[40, 30])}
    save_model(tmp_path / "one", saved_model(found.reference_, notes=notes))
    again = load(tmp_path / "one")
    assert again.saved_info_.stability == found.info
    (tmp_path / "ranks").mkdir()
    again.save(tmp_path / "ranks" / "model")
    info = load_model(tmp_path / "ranks" / "model").info
    # As a search over ranks leaves it
    assert load(tmp_path / "ranks").saved_info_ == info
    assert info.stability == found.info
    assert Path(info.data.path) == tmp_path / "data.npz"
    again.fit(A)
    assert not hasattr(again, "saved_info_")
    assert saved_model(again).info.stability is None


def test_what_weighted_lines_cost_outlives_another_save(tmp_path):
    model = ELBMF(2, effort=0, random_state=0).fit(A, sample_weight=np.arange(40) % 3 + 0.5)
    model.save(tmp_path / "one")
    again = load(tmp_path / "one")
    assert again.reconstruction_err_ == model.reconstruction_err_
    again.save(tmp_path / "other")
    one, other = (load_model(tmp_path / name).info for name in ("one", "other"))
    assert one == other
    with pytest.raises(InputError, match="had weights of rows or columns"):
        significance(A, again)


def test_only_the_data_of_a_fit_is_saved_with_it(tmp_path):
    frame = pd.DataFrame(A, [f"r{i}" for i in range(40)], [f"c{j}" for j in range(30)])
    model = ELBMF(2, effort=0, random_state=0).fit(frame)
    for other in (frame[::-1].to_numpy(), 1 - frame, frame[:-1]):
        with pytest.raises(InputError, match="what the estimator was fitted to"):
            model.save(tmp_path / "result", other)
    assert not (tmp_path / "result").exists()
    model.save(tmp_path / "result", frame)
    missing = np.random.default_rng(0).random(A.shape) < 0.2
    masked = ELBMF(2, effort=0, random_state=0).fit(A, missing=missing)
    with pytest.raises(InputError, match="the same missing cells"):
        masked.save(tmp_path / "masked", A)
    masked.save(tmp_path / "masked", A, missing=missing)
    info = load_model(tmp_path / "masked").info
    assert info.measures["loss"] == masked.reconstruction_err_
    assert info.data.missing == missing.sum()
