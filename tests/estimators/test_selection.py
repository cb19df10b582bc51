"""Choosing the rank: the path over ranks, the search, what is kept of it, n_components="auto"."""

import json
import pickle
import signal
from zipfile import ZipFile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.decomposition import PCA

import naive
from elbmf import ELBMF, RankSearch
from elbmf.boolean.coverage import Weights
from elbmf.datasets import make_tiles
from elbmf.errors import InputError
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.ranks.criteria import CRITERIA, count, savings
from elbmf.ranks.path import Factors, PathStep, RankPath, Stepper
from elbmf.ranks.step_folder import StepFolder
from strategies import examples

TILES = make_tiles((60, 50), 3, height=(15, 20), noise=0.05, random_state=0)
QUICK = {"max_iter": 20, "effort": 0.05}


def quick(**parameters):
    return ELBMF(**{**QUICK, "random_state": 0, **parameters})


def matrices():
    shapes = st.tuples(st.integers(1, 9), st.integers(1, 9))
    return st.builds(
        lambda shape, density, seed: np.random.default_rng(seed).random(shape) < density,
        shapes,
        st.sampled_from([0.0, 0.2, 0.5, 0.9, 1.0]),
        st.integers(0, 99),
    )


@examples(25)
@given(matrices(), st.integers(1, 12), st.booleans())
def test_the_loss_never_rises_with_the_rank(A, most, every):
    search = RankSearch(quick(), most, every=every).fit(A)
    ranks = search.table_["rank"]
    assert ranks[0] == 0
    assert ranks[-1] == min(most, *A.shape)
    if every:
        np.testing.assert_array_equal(ranks, np.arange(ranks[-1] + 1))
    assert (np.diff(search.table_["loss"]) <= 0).all()
    for rank, loss in zip(ranks[1:], search.table_["loss"][1:], strict=True):
        model = search.model(int(rank))
        U, V = model.membership_, model.components_
        assert U.shape == (A.shape[0], rank)
        assert V.shape == (rank, A.shape[1])
        assert loss >= model.reconstruction_err_ == naive.cost(A, U, V, Weights(), None)


def test_criteria_are_those_of_the_factors():
    search = RankSearch(quick(), 5).fit(TILES.A)
    for name, criterion in CRITERIA.items():
        values = search.table_[name]
        assert search.choices_[name] == search.table_["rank"][np.argmin(values)]
        for rank in range(1, 6):
            found = search._found.factors[rank]
            counts = count(TILES.A, found.U, found.V)
            assert values[rank] == pytest.approx(criterion(counts), rel=1e-12)
    assert search.n_components_ == search.choices_["mdl"] == 3
    assert search.best_estimator_.components_.shape[0] == 3


@pytest.mark.parametrize("criterion", ["aic_gaussian", "bai_ng_1"])
def test_the_criterion_chooses(criterion):
    search = RankSearch(quick(), 4, criterion=criterion).fit(TILES.A)
    assert search.n_components_ == search.choices_[criterion]


def test_it_transforms_by_the_model_that_is_chosen():
    search = RankSearch(quick(), 4).fit(TILES.A)
    best = search.best_estimator_
    U = search.transform(TILES.A)
    np.testing.assert_array_equal(U, best.transform(TILES.A))
    assert (search.inverse_transform(U) != best.inverse_transform(U)).nnz == 0
    assert search.score(TILES.A) == best.score(TILES.A) > 0.8


def test_the_same_seed_gives_the_same_for_any_number_of_threads():
    one, two = (RankSearch(quick(n_jobs=n_jobs), 5).fit(TILES.A) for n_jobs in (1, 2))
    for name, values in one.table_.items():
        np.testing.assert_array_equal(values, two.table_[name])
    for rank in range(1, 6):
        np.testing.assert_array_equal(one.model(rank).components_, two.model(rank).components_)


def test_ranks_far_apart_are_not_all_looked_at():
    search = RankSearch(quick(), 32, every=False).fit(TILES.A)
    looked_at = search.table_["rank"].tolist()
    assert {0, 1, 2, 4, 8, 16, 32} <= set(looked_at)
    assert len(looked_at) < 20
    best = search.n_components_
    assert {best - 1, best, best + 1} <= set(looked_at)
    with pytest.raises(InputError, match="no factorization with 31 components; choose one of 1,"):
        search.model(31)


def test_noise_has_no_components():
    noise = np.random.default_rng(0).random((60, 50)) < 0.3
    search = RankSearch(quick(), 4).fit(noise)
    assert search.n_components_ == 0
    assert search.best_estimator_.components_.shape == (1, 50)


def test_held_out_cells_are_neither_seen_nor_forgotten(monkeypatch):
    hidden = np.zeros(TILES.A.shape, dtype=bool)
    hidden[:, :5] = True
    paths = []

    class Noted(RankPath):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            paths.append(self)

    monkeypatch.setattr("elbmf.estimators.auto_rank.RankPath", Noted)
    search = RankSearch(quick(), 4, holdout=0.2, criterion="held_out").fit(TILES.A, missing=hidden)
    masked = paths[1].A
    assert masked.missing.ones == pytest.approx(60 * 5 + 0.2 * 60 * 50, rel=0.1)
    held_out = masked.missing.to_csr().toarray() & ~hidden
    for rank, share in zip(search.table_["rank"], search.table_["held_out"], strict=True):
        factors = paths[1].factors[rank]
        product = (factors.U.astype(int) @ factors.V.astype(int)) > 0
        wrong = product != TILES.A.toarray().astype(bool)
        assert share == pytest.approx(wrong[held_out].mean())
    assert (
        search.n_components_ == search.choices_["held_out"] == np.argmin(search.table_["held_out"])
    )


def test_a_search_that_has_ended_keeps_one_factorization_of_each_rank():
    search = RankSearch(quick(), 4, holdout=0.2).fit(TILES.A)
    kept = pickle.loads(pickle.dumps(search))
    assert set(vars(search)) - set(search.get_params(deep=False)) == {
        "_found",
        "best_estimator_",
        "choices_",
        "n_components_",
        "n_features_in_",
        "random_state_",
        "table_",
    }
    assert list(kept._found.factors) == [0, 1, 2, 3, 4]
    np.testing.assert_array_equal(kept.model(2).components_, search.model(2).components_)


def test_parameters_that_make_no_sense_are_refused():
    with pytest.raises(InputError, match=r"set holdout=0\.1"):
        RankSearch(quick(), 3, criterion="held_out").fit(TILES.A)
    with pytest.raises(ValueError, match="criterion"):
        RankSearch(quick(), 3, criterion="bic").fit(TILES.A)
    with pytest.raises(InputError, match=r"method of elbmf\.estimators; got PCA"):
        RankSearch(PCA(), 3).fit(TILES.A)
    assert clone(RankSearch(quick(), 3)).get_params()["max_components"] == 3


class StopsAfter:
    """Interrupts a search after some steps."""

    def __init__(self, steps):
        self.left = steps

    def __call__(self, progress):
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt


def test_runs_tell_how_stable_each_rank_is_and_go_on_after_an_interrupt(tmp_path):
    whole = RankSearch(quick(n_jobs=1), 4, stability=2).fit(TILES.A)
    stable = whole.table_["stability"]
    assert np.isnan(stable[0])
    assert stable[3] == pytest.approx(np.nanmax(stable), abs=0.02)
    assert whole.choices_["stability"] == 3
    search = RankSearch(quick(n_jobs=2), 4, stability=2, checkpoint=tmp_path)

    def interrupt(progress):
        if progress.of_runs:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        search.set_params(callback=interrupt).fit(TILES.A)
    assert np.nanmax(search.table_["stability"]) <= 1
    search = RankSearch(quick(n_jobs=2), 4, stability=2, checkpoint=tmp_path).fit(TILES.A)
    for name, values in whole.table_.items():
        np.testing.assert_array_equal(values, search.table_[name])
    with pytest.raises(InputError, match="stability is not for weights"):
        search.fit(TILES.A, sample_weight=np.ones(60))


@pytest.mark.parametrize("on_disk", [False, True])
@pytest.mark.parametrize("every", [False, True])
def test_an_interrupted_search_goes_on(tmp_path, on_disk, every):
    whole = RankSearch(quick(), 6, every=every).fit(TILES.A)
    search = RankSearch(quick(), 6, every=every, checkpoint=tmp_path if on_disk else None)
    search.set_params(callback=StopsAfter(4))
    with pytest.raises(KeyboardInterrupt):
        search.fit(TILES.A)
    done = search.table_["rank"]
    assert 1 < done.size < 7
    assert search.best_estimator_.components_.shape[0] in done
    fresh = []
    fit = ELBMF._factorize
    if on_disk:
        search = RankSearch(quick(), 6, every=every, checkpoint=tmp_path)
    search.set_params(callback=None)
    try:
        ELBMF._factorize = lambda self, A, generator: (
            fresh.append(self.n_components) or fit(self, A, generator)
        )
        search.fit(TILES.A)
    finally:
        ELBMF._factorize = fit
    assert 6 not in fresh
    for name, values in whole.table_.items():
        np.testing.assert_array_equal(values, search.table_[name])
    np.testing.assert_array_equal(
        whole.best_estimator_.components_, search.best_estimator_.components_
    )


def test_an_interrupt_while_a_step_is_written_is_one(tmp_path, monkeypatch):
    folder, begin = StepFolder(tmp_path, {}), ZipFile.open

    def interrupted(*arguments, **options):
        stream = begin(*arguments, **options)
        signal.raise_signal(signal.SIGINT)
        return stream

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with monkeypatch.context() as patch:
            patch.setattr(ZipFile, "open", interrupted)
            with pytest.raises(KeyboardInterrupt):
                folder[PathStep("fit", 0, 2)] = None
    finally:
        signal.signal(signal.SIGINT, before)
    assert not list(folder)
    folder[PathStep("fit", 0, 2)] = None
    assert list(folder) == [PathStep("fit", 0, 2)]


def test_without_a_seed_a_search_on_disk_goes_on_with_its_own(tmp_path):
    search = RankSearch(quick(random_state=None), 4, checkpoint=tmp_path)
    search.set_params(callback=StopsAfter(2))
    with pytest.raises(KeyboardInterrupt):
        search.fit(TILES.A)
    again = RankSearch(quick(random_state=None), 4, checkpoint=tmp_path).fit(TILES.A)
    twice = RankSearch(quick(random_state=None), 4, checkpoint=tmp_path).fit(TILES.A)
    np.testing.assert_array_equal(again.table_["loss"], twice.table_["loss"])


def test_a_folder_of_another_search_is_refused(tmp_path):
    RankSearch(quick(), 3, checkpoint=tmp_path).fit(TILES.A)
    with pytest.raises(InputError, match="effort"):
        RankSearch(quick(effort=0.5), 3, checkpoint=tmp_path).fit(TILES.A)
    with pytest.raises(InputError, match="data"):
        RankSearch(quick(), 3, checkpoint=tmp_path).fit(TILES.A[:, ::-1])


def test_a_damaged_step_is_done_again(tmp_path):
    before = RankSearch(quick(), 3, checkpoint=tmp_path).fit(TILES.A)
    (tmp_path / "shrink-3-2.npz").write_bytes(b"PK no zip file")
    after = RankSearch(quick(), 3, checkpoint=tmp_path).fit(TILES.A)
    np.testing.assert_array_equal(before.table_["loss"], after.table_["loss"])


@given(st.integers(0, 6), st.integers(0, 3), st.integers(0, 6), st.integers(0, 9))
def test_steps_come_back_from_a_folder(tmp_path_factory, n, k, m, seed):
    generator = np.random.default_rng(seed)
    factors = Factors(generator.random((n, k)) < 0.5, generator.random((k, m)) < 0.5, 7)
    folder = StepFolder(tmp_path_factory.mktemp("steps"), {"a": 1})
    steps = {PathStep("fit", 0, 3): factors, PathStep("grow", 3, 5): None}
    folder.update(steps)
    assert set(folder) == set(steps)
    assert len(folder) == 2
    assert folder[PathStep("grow", 3, 5)] is None
    back = folder[PathStep("fit", 0, 3)]
    np.testing.assert_array_equal(back.U, factors.U)
    np.testing.assert_array_equal(back.V, factors.V)
    assert back.cost == 7
    del folder[PathStep("fit", 0, 3)]
    assert list(folder) == [PathStep("grow", 3, 5)]
    with pytest.raises(KeyError):
        folder[PathStep("fit", 0, 3)]


def test_fingerprints_tell_matrices_apart():
    A = TILES.A.toarray()
    hidden = np.zeros_like(A)
    hidden[0, 0] = True
    flipped = A.copy()
    flipped[3, 4] ^= 1
    prints = [
        BooleanMatrix.from_array(A).fingerprint(),
        BooleanMatrix.from_array(flipped).fingerprint(),
        BooleanMatrix.from_array(A, missing=hidden).fingerprint(),
        BooleanMatrix.from_array(A[:, :-1]).fingerprint(),
    ]
    assert len(set(prints)) == 4
    assert prints[0] == BooleanMatrix.from_array(sparse.csc_array(A)).fingerprint()


def test_a_method_that_cannot_shrink_is_fit_at_every_rank():
    fitted = []

    def refit(rank, generator):
        fitted.append(rank)
        U, V = np.zeros((5, rank), dtype=bool), np.zeros((rank, 4), dtype=bool)
        # Worse at rank 3 than at 2: the path must not rise all the same.
        return Factors(U, V, [20, 9, 5, 6, 1][rank])

    path = RankPath(BooleanMatrix.from_array(np.ones((5, 4))), Stepper(refit), 0)
    path.scan(4, "mdl")
    assert sorted(fitted) == [1, 2, 3, 4]
    assert [path.factors[rank].cost for rank in range(1, 5)] == [9, 5, 5, 1]
    assert path.factors[3].U.shape == (5, 3)


def test_auto_chooses_the_number_of_components():
    model = quick(n_components="auto").fit(TILES.A)
    assert model.n_components_ == model.components_.shape[0] == 3
    assert model.history_["rank"][np.argmin(model.history_["mdl"])] == 3
    assert model.stop_reason_ == "rank chosen"
    assert model.n_iter_ > 0
    again = quick(n_components="auto").fit(TILES.A)
    np.testing.assert_array_equal(model.components_, again.components_)
    np.testing.assert_array_equal(
        model.transform(TILES.A).shape, (TILES.A.shape[0], model.n_components_)
    )


def test_auto_leaves_nothing_of_a_fit_before():
    model = quick(n_components=4).fit(TILES.A)
    assert model.stages_
    assert model.run_losses_
    model.set_params(n_components="auto").fit(TILES.A)
    assert model.stages_ == {}
    assert model.run_losses_ == []


def test_auto_looks_beyond_its_first_ranks(monkeypatch):
    monkeypatch.setattr("elbmf.estimators.auto_rank._FIRST_RANKS", 2)
    assert quick(n_components="auto").fit(TILES.A).n_components_ == 3


def test_auto_on_noise_says_so():
    noise = np.random.default_rng(0).random((60, 50)) < 0.3
    with pytest.warns(UserWarning, match="may hold no groups"):
        model = quick(n_components="auto").fit(noise)
    assert model.components_.shape == (1, 50)
    assert model.n_components_ == 0
    assert not model.components_.any()


def test_auto_without_refinement_and_when_stopped():
    model = ELBMF("auto", refine=False, max_iter=20, random_state=0).fit(TILES.A[:20, :20])
    assert model.components_.shape[0] == model.history_["rank"][np.argmin(model.history_["mdl"])]
    seen = []

    def stop(state):
        seen.append(state.iteration)
        return len(seen) == 60

    stopped = quick(n_components="auto", callback=stop).fit(TILES.A)
    assert stopped.stop_reason_ == "callback"
    assert stopped.components_.shape[0] >= 1


@pytest.mark.parametrize("extra_weight", [1, 3, np.inf])
def test_components_come_in_the_order_of_what_they_save(extra_weight):
    model = quick(n_components=5, extra_weight=extra_weight).fit(TILES.A)
    U, V = model.membership_, model.components_
    order, saved = savings(TILES.A, U, V, in_order=True)
    np.testing.assert_array_equal(order, np.arange(5))
    np.testing.assert_allclose(model.bits_saved_, saved)
    assert savings(TILES.A, U, V).order[0] == 0
    assert (np.diff(saved) <= 0).all()


@pytest.mark.parametrize("seed", range(12))
def test_where_memberships_may_change_they_come_in_that_order_too(seed):
    # Overlapping tiles, so that rows have the choice of equally good memberships.
    generator = np.random.default_rng(seed)
    A = (generator.random((80, 6)) < 0.4) @ (generator.random((6, 40)) < 0.4)
    model = ELBMF(8, extra_weight=np.inf, effort=0.02, random_state=0).fit(A)
    order, saved = savings(A, model.membership_, model.components_)
    np.testing.assert_array_equal(order, np.arange(8))
    np.testing.assert_allclose(model.bits_saved_, saved)
    np.testing.assert_array_equal(model.transform(A), model.membership_)


def test_what_a_search_depends_on_is_noted(tmp_path):
    RankSearch(quick(), 2, checkpoint=tmp_path).fit(TILES.A)
    note = json.loads((tmp_path / "search.json").read_text())
    assert note["effort"] == QUICK["effort"]
    assert note["max_components"] == 2
    assert "n_jobs" not in note
