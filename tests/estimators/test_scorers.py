"""Scorers for searches over parameters: they find the number of tiles that were planted."""

import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from elbmf import ELBMF, GreConD
from elbmf.datasets import make_tiles
from elbmf.errors import InputError
from elbmf.estimators import description_length_scorer, held_out_scorer
from elbmf.ranks.criteria import Counts, count, description_length, description_length_of_rows

TILES = make_tiles((120, 80), 3, height=(20, 40), noise=0.02, random_state=0)
A = TILES.A.toarray().astype(int)


@pytest.fixture(scope="module")
def model():
    return ELBMF(3, effort=0.1, random_state=0).fit(A)


def test_a_grid_search_finds_the_planted_number_and_not_the_largest():
    scorers = {
        "bits": description_length_scorer,
        "held out": held_out_scorer,
        "score": lambda model, X, y=None: model.score(X),
    }
    ranks = [2, 3, 5]
    search = GridSearchCV(
        ELBMF(effort=0.1, random_state=0), {"n_components": ranks}, scoring=scorers, refit="bits",
        cv=3,
    ).fit(A)  # fmt: skip
    best = {name: ranks[int(search.cv_results_[f"mean_test_{name}"].argmax())] for name in scorers}
    assert best == {"bits": 3, "held out": 3, "score": 5}
    assert search.best_estimator_.n_components == 3


def test_rows_of_the_fit_take_the_bits_of_the_whole_description(model):
    U = model.transform(A)
    bits = description_length(A, U, model.components_)
    assert description_length_scorer(model, A) == pytest.approx(-bits / A.size)
    assert description_length_of_rows(count(A, U, model.components_), 120) == pytest.approx(bits)


def test_other_rows_bear_their_share_of_the_components():
    counts = Counts((10, 8), 80, 3, 2, rows=(4, 5), columns=(3, 2))
    one, half, none = (description_length_of_rows(counts, n) for n in (10, 20, 10**12))
    assert half == pytest.approx((one + none) / 2)
    assert none < half < one


def test_hidden_cells_are_told_from_the_others(model):
    share = 0.3
    hidden = np.zeros(A.size, bool)
    amount = int(min(share * A.size, A.sum()))
    hidden[np.random.default_rng(7).permutation(A.size)[:amount]] = True
    hidden = hidden.reshape(A.shape)
    told = (model.transform(A, missing=hidden).astype(int) @ model.components_) > 0
    expected = 1 - (told != A)[hidden].sum() / A[hidden].sum()
    assert held_out_scorer(model, A, share=share, random_state=7) == pytest.approx(expected)
    assert partial(held_out_scorer, share=share)(model, A) < 1
    assert held_out_scorer(model, TILES.truth) > held_out_scorer(model, A)


def test_the_last_step_of_a_pipeline_is_scored(model):
    pipeline = make_pipeline(FunctionTransformer(np.abs), model)
    for scorer in (description_length_scorer, held_out_scorer):
        assert scorer(pipeline, -A) == scorer(model, A)


def test_what_cannot_be_scored_says_why(model):
    with pytest.raises(InputError, match="a pipeline that ends with one; got FunctionTransformer"):
        held_out_scorer(FunctionTransformer(), A)
    with pytest.raises(InputError, match=r"share must be between 0 and 1; got 20"):
        held_out_scorer(model, A, share=20)
    with pytest.raises(NotFittedError):
        description_length_scorer(ELBMF(), A)


@pytest.mark.parametrize("scorer", [description_length_scorer, held_out_scorer])
def test_frames_are_scored_without_a_word(scorer):
    frame = pd.DataFrame(np.eye(6).repeat(2, axis=0), columns=[*"abcdef"])
    model = GreConD(2).fit(frame)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert scorer(model, frame) == scorer(GreConD(2).fit(frame.to_numpy()), frame.to_numpy())
