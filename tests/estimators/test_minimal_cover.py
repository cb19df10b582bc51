"""The fewest components: what is found, what is proved, and that somebody may end it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elbmf import MinimalCover
from elbmf.boolean.coverage import cover
from elbmf.boolean.product import boolean_product
from elbmf.errors import InputError
from strategies import boolean_arrays, examples, masked_arrays

NOISE = np.random.default_rng(0).random((30, 20)) < 0.25


@given(case=masked_arrays(st.integers(1, 8), st.integers(1, 8)))
@examples(40)
def test_covers_every_one_and_no_zero(case):
    A, missing = case
    model = MinimalCover(effort=0.01, random_state=0).fit(A, missing=missing)
    B = boolean_product(model.membership_, model.components_).toarray()
    assert (B == A)[~missing].all()
    assert model.lower_bound_ <= model.n_components_ <= min(A.shape)
    assert model.proved_ == (model.lower_bound_ == model.n_components_)
    assert (model.stop_reason_ == "proved") == model.proved_


@given(A=boolean_arrays(st.integers(1, 8), st.integers(1, 8)), max_loss=st.integers(0, 12))
@examples(40)
@pytest.mark.parametrize("extra_weight", [np.inf, 1.0, 0.5])
def test_wrong_cells_are_allowed(extra_weight, A, max_loss):
    given = {"extra_weight": extra_weight, "effort": 0.001, "random_state": 0}
    model = MinimalCover(max_loss=max_loss, **given).fit(A)
    assert model.reconstruction_err_ <= max_loss
    exact = MinimalCover(**given).fit(A)
    assert model.lower_bound_ <= model.n_components_ <= exact.n_components_
    if extra_weight == np.inf:
        assert cover(A, model.membership_, model.components_).extra == 0


def test_planted_components_are_found_and_proved():
    generator = np.random.default_rng(3)
    U, V = generator.random((80, 12)) < 0.1, generator.random((12, 60)) < 0.1
    model = MinimalCover(random_state=0).fit(U.astype(int) @ V > 0)
    assert model.proved_
    assert model.n_components_ <= 12
    assert model.reconstruction_err_ == 0


def test_progress_tells_the_best_and_the_bound():
    told = []

    def listen(report):
        told.append((report.n_components, report.at_least))
        return len(told) == 2

    model = MinimalCover(callback=listen, random_state=0).fit(
        np.random.default_rng(0).random((60, 60)) < 0.4
    )
    sizes, bounds = zip(*told, strict=True)
    assert list(sizes) == sorted(sizes, reverse=True)
    assert list(bounds) == sorted(bounds)
    assert model.stop_reason_ == "callback"
    assert model.reconstruction_err_ == 0
    assert model.n_components_ <= sizes[-1]


def test_ctrl_c_keeps_the_best():
    def interrupt(report):
        raise KeyboardInterrupt

    model = MinimalCover(callback=interrupt, random_state=0)
    A = np.random.default_rng(0).random((40, 40)) < 0.4
    with pytest.raises(KeyboardInterrupt):
        model.fit(A)
    assert model.stop_reason_ == "interrupted"
    assert model.reconstruction_err_ == 0


@pytest.mark.parametrize("limit", [0, 0.2])
def test_time_limit(limit):
    model = MinimalCover(time_limit=limit, random_state=0).fit(NOISE)
    assert model.reconstruction_err_ == 0
    assert model.stop_reason_ in ("proved", "time_limit")


def test_same_result_for_any_number_of_threads():
    models = [MinimalCover(n_jobs=n, effort=0.05, random_state=0).fit(NOISE) for n in (1, 2)]
    assert np.array_equal(models[0].components_, models[1].components_)
    assert np.array_equal(models[0].membership_, models[1].membership_)


def test_new_rows_are_described_from_below():
    model = MinimalCover(effort=0.01, random_state=0).fit(NOISE)
    rows = np.random.default_rng(1).random((10, 20)) < 0.5
    B = model.inverse_transform(model.transform(rows)).toarray()
    assert not (B & ~rows).any()


def test_large_tables_are_refused(monkeypatch):
    from dataclasses import replace

    from elbmf.utils.tuning import TUNING

    monkeypatch.setattr(
        "elbmf.estimators.minimal_cover.TUNING", replace(TUNING, cells_to_cover=100)
    )
    with pytest.raises(InputError, match="up to 100 cells, and the matrix has 600"):
        MinimalCover().fit(NOISE)


def test_time_is_left_for_fewer_components_with_errors():
    A = np.random.default_rng(0).random((60, 60)) < 0.3
    exact = MinimalCover(time_limit=0.2, random_state=0).fit(A)
    model = MinimalCover(max_loss=300, time_limit=2, random_state=0).fit(A)
    assert model.n_components_ < exact.n_components_
    assert model.reconstruction_err_ <= 300
