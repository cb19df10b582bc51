"""Limits, fixed components, what must and must not be: never violated, or an error says why."""

import pickle
import time

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import naive
from constrained import broken, constrained
from elbmf import ELBMF, MinimalCover, RankSearch
from elbmf.datasets import make_tiles
from elbmf.errors import InputError
from strategies import examples

pytestmark = pytest.mark.filterwarnings("ignore:n_components=:UserWarning")

TILES = make_tiles((60, 40), 5, height=(6, 15), noise=0.05, random_state=2).A.toarray() > 0
OTHER = {"rows": "columns", "columns": "rows"}
QUICK = {"max_iter": 20, "effort": 0.01, "random_state": 0}


def fits_or_names(model, A, missing, names, **weights):
    """Fit, or see that the error names two wishes; return whether there is a fit."""
    message = ""
    try:
        model.fit(A, missing=missing, **weights)
    except InputError as error:
        message = str(error)
    if "contradict" in message or "together" in message:
        assert sum(name in message for name in names) >= 1 + ("max_loss" not in message), message
    elif message:
        assert any(name in message for name in names), message
    return not message


@given(case=constrained(), extra_weight=st.sampled_from([0.5, 1.0, 3.0, np.inf]))
@examples(400)
def test_a_fit_keeps_to_all_of_them_or_says_which_two_it_cannot(case, extra_weight):
    A, missing, k, wishes = case
    model = ELBMF(k, extra_weight=extra_weight, **wishes, **QUICK)
    if not fits_or_names(model, A, missing, (*wishes, "extra_weight", "n_components")):
        return
    U, V = model.membership_, model.components_
    assert not broken(U, V, A, missing, from_below=extra_weight == np.inf, **wishes)
    most = wishes.get("max_components_per_row", k)
    assert model.transform(A).sum(axis=1).max() <= most


@given(
    case=constrained(), seed=st.integers(0, 2**32 - 1), extra_weight=st.sampled_from([1, np.inf])
)
@examples(150)
def test_limits_count_lines_and_not_their_weights(case, seed, extra_weight):
    A, missing, k, wishes = case
    generator = np.random.default_rng(seed)
    rows, columns = (generator.integers(1, 4, length) for length in A.shape)
    given = {"sample_weight": rows, "feature_weight": columns}
    model = ELBMF(k, extra_weight=extra_weight, **wishes, **QUICK)
    if not fits_or_names(model, A, missing, (*wishes, "extra_weight", "n_components"), **given):
        return
    U, V = model.membership_, model.components_
    assert not broken(U, V, A, missing, from_below=extra_weight == np.inf, **wishes)
    wrong = (naive.boolean_product(U, V) != A) & ~missing
    assert model.reconstruction_err_ == (np.outer(rows, columns) * wrong).sum()
    cover = MinimalCover(effort=0.001, random_state=0, **wishes)
    if fits_or_names(cover, A, missing, (*wishes, "extra_weight"), **given):
        U, V = cover.membership_, cover.components_
        assert not broken(U, V, A, missing, from_below=True, **wishes)
        assert cover.reconstruction_err_ == 0


@given(
    case=constrained(),
    max_loss=st.sampled_from([0, 0, 2, 20]),
    time_limit=st.sampled_from([None, None, 0]),
)
@examples(200)
def test_so_does_a_cover(case, max_loss, time_limit):
    A, missing, _, wishes = case
    given = {"max_loss": max_loss, "effort": 0.001, "time_limit": time_limit, "random_state": 0}
    model = MinimalCover(**given, **wishes)
    if not fits_or_names(model, A, missing, (*wishes, "extra_weight")):
        return
    assert not broken(model.membership_, model.components_, A, missing, from_below=True, **wishes)
    assert model.reconstruction_err_ <= max_loss
    assert model.lower_bound_ <= model.components_.shape[0]


def test_without_any_time_a_cover_within_limits_is_made_line_by_line():
    noisy = TILES ^ (np.random.default_rng(0).random(TILES.shape) < 0.1)
    model = MinimalCover(max_components_per_row=1, time_limit=0, random_state=0).fit(noisy)
    assert model.reconstruction_err_ == 0
    assert model.membership_.sum(axis=1).max() == 1
    assert model.n_components_ == len(np.unique(noisy[noisy.any(axis=1)], axis=0))


@pytest.mark.parametrize(("limit", "axis"), [("max_rows", 0), ("max_columns", 1)])
def test_line_by_line_components_are_no_larger_than_they_may_be(limit, axis):
    A = TILES.repeat(3, axis=axis)
    model = MinimalCover(**{limit: 2}, time_limit=0, random_state=0).fit(A)
    assert model.reconstruction_err_ == 0
    assert not broken(model.membership_, model.components_, A, False, **{limit: 2})


def test_thousands_of_components_end_soon_after_the_limit():
    rows = np.unique(np.random.default_rng(0).random((3000, 60)) < 0.5, axis=0)
    one_each = MinimalCover(max_components_per_row=1, time_limit=1, random_state=0)
    one_each.fit(rows[:20])  # which compiles
    began, message = time.perf_counter(), ""
    try:
        assert one_each.fit(rows).reconstruction_err_ == 0
        assert one_each.n_components_ == len(rows)
    except InputError as error:  # on a machine that is busy
        message = str(error)
    assert time.perf_counter() - began < 8
    assert not message or "Give it more time" in message


def test_a_cover_that_takes_longer_says_so():
    message = (
        r"within time_limit=0 that leave so few .* max_loss=0 .* keep to max_columns=1, .* Give"
    )
    narrow = {"max_columns": 1, "max_components_per_row": 2}
    with pytest.raises(InputError, match=message):
        MinimalCover(**narrow, time_limit=0).fit(TILES)


def test_components_of_few_rows_are_left_out():
    noisy = TILES ^ (np.random.default_rng(0).random(TILES.shape) < 0.1)
    quick = {"effort": 0.1, "random_state": 0}
    assert ELBMF(12, **quick).fit(noisy).membership_.sum(axis=0).min() < 8
    model = ELBMF(12, min_rows=8, **quick).fit(noisy)
    sizes = model.membership_.sum(axis=0)
    assert ((sizes == 0) | (sizes >= 8)).all()


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("limits", [{"min_columns": 2}, {"min_columns": 3, "min_rows": 5}])
def test_single_lines_make_room_for_what_limits_allow(limits, axis):
    # In such data, what covers no zero and most ones are single lines, which are not allowed.
    A = np.random.default_rng(axis).random((400, 30)) < 0.2
    if axis:
        limits = {f"min_{side}": limits.get(f"min_{other}", 1) for side, other in OTHER.items()}
    model = ELBMF(4, extra_weight=np.inf, **limits, **QUICK).fit(A.T if axis else A)
    assert model.components_.any(axis=1).all()
    assert model.membership_.any(axis=0).all()


def test_others_are_found_around_fixed_components():
    plain = ELBMF(5, random_state=0).fit(TILES)
    fixed = plain.components_[[3, 1]]
    model = ELBMF(5, fixed_components=fixed, random_state=0).fit(TILES)
    assert np.array_equal(model.components_[:2], fixed)
    assert model.reconstruction_err_ <= 1.02 * plain.reconstruction_err_
    both = ELBMF(5, fixed_components=(plain.membership_[:, [3]], fixed[:1]), random_state=0)
    U = both.fit_transform(sparse.csr_array(TILES))
    assert np.array_equal(U[:, 0], plain.membership_[:, 3])


def test_fixed_components_of_little_use_do_no_harm():
    tiles = make_tiles((150, 100), 12, height=(15, 40), noise=0.05, random_state=0).A.toarray() > 0
    fixed = ELBMF(3, random_state=5, effort=0.1).fit(tiles).components_
    without = ELBMF(9, random_state=0).fit(tiles)
    model = ELBMF(12, fixed_components=fixed, random_state=0).fit(tiles)
    assert np.array_equal(model.components_[:3], fixed)
    assert model.reconstruction_err_ <= without.reconstruction_err_


def test_all_components_may_be_fixed():
    fixed = ELBMF(5, random_state=0).fit(TILES).components_
    model = ELBMF(5, fixed_components=fixed, random_state=0).fit(TILES)
    assert np.array_equal(model.components_, fixed)
    assert model.reconstruction_err_ <= TILES.sum()


def test_the_rank_is_no_less_than_what_is_fixed():
    noise = np.random.default_rng(0).random((30, 20)) < 0.3
    fixed = np.eye(3, 20, dtype=bool)
    model = ELBMF("auto", fixed_components=fixed, **QUICK).fit(noise)
    assert np.array_equal(model.components_[:3], fixed)
    search = RankSearch(ELBMF(fixed_components=fixed, **QUICK), max_components=6).fit(noise)
    assert search.n_components_ >= 3
    assert min(search.table_["rank"][1:]) >= 3
    every = RankSearch(ELBMF(min_rows=3, **QUICK), max_components=4).fit(noise).best_estimator_
    assert not broken(every.membership_, every.components_, noise, False, min_rows=3)


def test_columns_are_separated_by_name():
    frame = pd.DataFrame(np.ones((6, 3), int), columns=["pay", "approve", "mail"])
    model = ELBMF(2, separate_columns=[("pay", "approve")], random_state=0).fit(frame)
    assert not (model.components_[:, 0] & model.components_[:, 1]).any()
    assert model.reconstruction_err_ == 0


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_same_seed_same_bits(n_jobs):
    wishes = {"max_columns": 4, "max_components_per_row": 2, "min_rows": 3}
    found = [
        ELBMF(4, n_jobs=jobs, random_state=3, effort=0.1, **wishes).fit(TILES)
        for jobs in (n_jobs, 2)
    ]
    assert np.array_equal(found[0].membership_, found[1].membership_)
    assert np.array_equal(found[0].components_, found[1].components_)


def test_a_fit_that_is_ended_keeps_to_them_too():
    model = ELBMF(6, max_columns=3, callback=lambda report: report.iteration >= 5, random_state=0)
    model.fit(TILES)
    assert model.stop_reason_ == "callback"
    assert not broken(model.membership_, model.components_, TILES, False, max_columns=3)
    late = ELBMF(6, max_columns=3, time_limit=0, random_state=0).fit(TILES)
    assert not broken(late.membership_, late.components_, TILES, False, max_columns=3)


def test_a_resumed_fit_has_the_same_constraints(tmp_path):
    wishes = {
        "fixed_components": TILES[[TILES.sum(axis=1).argmax()]],
        "forbidden_cells": sparse.csr_array(TILES & (TILES < 0)),
    }
    kept = {"checkpoint": tmp_path / "kept", "checkpoint_every": 1, **QUICK}
    first = ELBMF(3, **wishes, **kept).fit(TILES)
    again = ELBMF(3, **wishes, **kept).fit(TILES)
    assert np.array_equal(first.components_, again.components_)
    assert pickle.loads(pickle.dumps(first)).transform(TILES).shape == (60, 3)


ONES = np.ones((4, 3), int)


@pytest.mark.parametrize(
    ("wishes", "message"),
    [
        ({"min_rows": 3, "max_rows": 2}, "min_rows=3 and max_rows=2 contradict each other"),
        ({"min_columns": 4}, "min_columns=4 asks for more columns than the 3"),
        (
            {"forbidden_cells": ONES, "required_cells": ONES},
            "forbidden_cells and required_cells .* row 0 and column 0",
        ),
        (
            {"required_cells": ONES, "extra_weight": np.inf},
            "required_cells and extra_weight=inf contradict .* row 0 and column 1 is a zero",
        ),
        ({"fixed_components": np.eye(3)}, "fixed_components and n_components=2 .* 3 are fixed"),
        ({"fixed_components": np.zeros((1, 3))}, "component 0 has no columns"),
        ({"fixed_components": ONES[:1], "max_columns": 2}, "max_columns=2 .* 0 has 3 columns"),
        ({"fixed_components": [[1, 0, 0]], "min_columns": 2}, "min_columns=2 .* has 1 column"),
        (
            {"fixed_components": ONES[:2], "max_components_per_column": 1},
            "max_components_per_column=1 contradict .* column 0 is in 2 components",
        ),
        (
            {"fixed_components": (ONES[:, :1], ONES[:1]), "max_rows": 3},
            "max_rows=3 contradict .* component 0 has 4 rows",
        ),
        (
            {"fixed_components": (ONES[:, :1], ONES[:1]), "forbidden_cells": ONES},
            "fixed_components and forbidden_cells .* row 0 and column 0",
        ),
        (
            {"fixed_components": (ONES[:, :1], ONES[:1]), "extra_weight": np.inf},
            "fixed_components and extra_weight=inf .* row 0 and column 1",
        ),
        (
            {"fixed_components": ONES[:1], "separate_columns": [(0, 2)]},
            "separate_columns contradict .* column 0 and column 2 are both in component 0",
        ),
        ({"fixed_components": np.ones((1, 2))}, "a column for each of the 3 columns .* got 2"),
        ({"fixed_components": (np.ones((1, 1)), ONES[:1])}, r"must be of shape \(4, 1\)"),
        ({"fixed_components": [[1, 2, 0]]}, "fixed_components must be 0/1"),
        ({"forbidden_cells": np.ones((2, 2))}, "forbidden_cells must have the shape .* 4×3"),
        ({"required_cells": 2 * ONES}, "required_cells must be a 0/1 mask; got 2"),
        ({"separate_columns": [(1, 1)]}, "pairs column 1 with itself"),
        ({"separate_columns": [(0, 3)]}, "names the column 3, which the data does not have"),
        ({"separate_columns": ["ab"]}, r"takes pairs of columns; got \['ab'\]"),
        ({"separate_columns": [("a", "b")]}, "names the column 'a'"),
        ({"separate_columns": [0, 1]}, r"takes pairs of columns; got \[0\]"),
        ({"separate_columns": [(None, 1)]}, "names the column None"),
        ({"separate_columns": [(0, 1.5)]}, "names the column 1.5"),
        ({"separate_columns": [(0, True)]}, "names the column True"),
        ({"fixed_components": (ONES,)}, r"must be V, or a pair \(U, V\); got a tuple of 1"),
    ],
)
def test_what_cannot_be(wishes, message):
    A = np.array([[1, 0, 1], [1, 1, 1], [0, 1, 1], [1, 0, 0]])
    with pytest.raises(InputError, match=message):
        ELBMF(2, **wishes).fit(A)


@pytest.mark.parametrize(
    ("wishes", "message"),
    [
        (
            {"forbidden_cells": ONES, "required_cells": ONES},
            "row 'ann' and column 'mail' is in both",
        ),
        (
            {"separate_columns": [("wiki", "wiki")]},
            "separate_columns pairs column 'wiki' with itself",
        ),
        (
            {"fixed_components": ONES[:2], "max_components_per_column": 1},
            "column 'mail' is in 2 components",
        ),
        (
            {"separate_columns": [("mail", "wiki")], "required_cells": ONES},
            "were not met together: .* in row '.*' and column '.*'. Relax",
        ),
    ],
)
def test_names_are_told_where_the_data_has_them(wishes, message):
    A = pd.DataFrame(ONES, index=["ann", "bob", "cat", "dan"], columns=["mail", "wiki", "git"])
    with pytest.raises(InputError, match=message):
        ELBMF(2 if "fixed_components" in wishes else 1, **wishes).fit(A)


def test_long_names_are_shortened():
    A = pd.DataFrame(ONES, columns=[name * 100 for name in "abc"])
    with pytest.raises(InputError, match=f"column '{'b' * 40}…{'b' * 19}' with itself"):
        ELBMF(1, separate_columns=[(1, 1)]).fit(A)
    with pytest.raises(InputError, match=f"got -1 for column '{'c' * 40}…{'c' * 19}'. A weight"):
        ELBMF(1).fit(A, feature_weight=[1, 0, -1])


def test_so_does_a_search_over_ranks():
    A = pd.DataFrame(ONES, columns=["mail", "wiki", "git"])
    twice = ELBMF(fixed_components=ONES[:2], max_components_per_column=1)
    with pytest.raises(InputError, match="column 'mail' is in 2 components"):
        RankSearch(twice, max_components=3).fit(A)


def test_what_only_the_search_finds_impossible():
    A = np.ones((3, 2), bool)
    apart = {"separate_columns": [(0, 1)], "required_cells": A}
    with pytest.raises(InputError, match="required_cells and separate_columns were not met"):
        ELBMF(1, **apart).fit(A)
    with pytest.raises(InputError, match="min_rows=4 asks for more rows"):
        MinimalCover(min_rows=4).fit(A)
    with pytest.raises(InputError, match="max_loss=0 and min_rows=2 were not met together"):
        MinimalCover(min_rows=2).fit(np.eye(3))
    with pytest.raises(InputError, match="required_cells may take any number of components"):
        ELBMF("auto", required_cells=A).fit(A)
    with pytest.raises(InputError, match=r"partial_fit does not support constraints.*min_rows"):
        ELBMF(1, min_rows=2).partial_fit(A)


def test_what_counts_for_nothing_cannot_be_constrained():
    with pytest.raises(InputError, match=r"sample_weight must be above 0 .* row 1"):
        ELBMF(2, min_rows=2).fit(np.eye(3), sample_weight=[1, 0, 2])


def test_a_cover_keeps_what_is_fixed():
    generator = np.random.default_rng(1)
    U, V = generator.random((50, 6)) < 0.2, generator.random((6, 30)) < 0.2
    A = U.astype(int) @ V > 0
    model = MinimalCover(fixed_components=V[:2], random_state=0).fit(A)
    assert np.array_equal(model.components_[:2], V[:2])
    assert model.proved_
    narrow = MinimalCover(max_columns=3, random_state=0, effort=0.1).fit(A)
    assert narrow.components_.sum(axis=1).max() <= 3
    assert narrow.reconstruction_err_ == 0
    assert narrow.n_components_ >= model.n_components_
