"""The methods that choose one component after the other: GreConD and Asso."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import naive
from elbmf.boolean.coverage import Weights, cover
from elbmf.boolean.product import boolean_product
from elbmf.datasets import make_tiles
from elbmf.estimators import Asso, GreConD
from elbmf.estimators.rank_search import RankSearch
from strategies import boolean_arrays, examples, masked_arrays

pytestmark = pytest.mark.filterwarnings("ignore:n_components:UserWarning")

small = st.integers(1, 14)
# Beyond a word of columns, and beyond one of rows.
longer = st.sampled_from([3, 9, 65, 70])
sides = st.one_of(small, longer)
thresholds = st.sampled_from([0.05, 1 / 3, 0.5, 0.7, 0.9, 1.0])
NOISY = make_tiles((40, 30), 4, height=(5, 10), noise=0.1, random_state=1).A.toarray()


def same_factors(model, U, V):
    np.testing.assert_array_equal(model.components_, V)
    np.testing.assert_array_equal(model.membership_, U)


# --- GreConD ---


@given(A=boolean_arrays(sides, small), k=st.one_of(st.none(), st.integers(1, 20)))
@examples(200)
def test_grecond_is_the_printed_algorithm(A, k):
    model = GreConD(k).fit(sparse.csr_array(A))
    same_factors(model, *naive.grecond(A, k))
    assert not (boolean_product(model.membership_, model.components_).toarray() & ~A).any()
    if k is None:
        assert model.reconstruction_err_ == 0


@given(A=boolean_arrays(st.integers(1, 8), longer), k=st.integers(1, 3))
@examples(40)
def test_grecond_on_rows_of_several_words(A, k):
    same_factors(GreConD(k).fit(A), *naive.grecond(A, k))


@given(case=masked_arrays(small, small), data=st.data())
@examples(60)
def test_grecond_on_equal_lines(case, data):
    A, missing = case
    for axis in (0, 1):
        again = data.draw(st.lists(st.integers(0, A.shape[axis] - 1), min_size=1, max_size=12))
        A, missing = A.take(again, axis), missing.take(again, axis)
    same_factors(GreConD(None).fit(A, missing=missing), *naive.grecond(A, None, missing))


@given(case=masked_arrays(small, small), k=st.one_of(st.none(), st.integers(1, 5)))
@examples(100)
def test_grecond_with_missing_entries(case, k):
    A, missing = case
    model = GreConD(k).fit(A, missing=missing)
    same_factors(model, *naive.grecond(A, k, missing))
    B = boolean_product(model.membership_, model.components_).toarray()
    assert not (B & ~A & ~missing).any()
    if k is None:
        assert model.reconstruction_err_ == 0


def test_grecond_describes_rows_from_below():
    model = GreConD(5).fit(NOISY[:30])
    B = model.inverse_transform(model.transform(NOISY)).toarray()
    assert not (B & ~NOISY.astype(bool)).any()
    np.testing.assert_array_equal(
        B[:30], boolean_product(model.membership_, model.components_).toarray()
    )
    refined = GreConD(5, refine=True).fit(NOISY)
    assert cover(NOISY, refined.membership_, refined.components_).extra == 0


def test_grecond_takes_as_many_as_an_exact_factorization_needs():
    model = GreConD(None).fit(NOISY)
    assert model.stop_reason_ == "exact"
    assert model.n_components_ == model.components_.shape[0] == model.n_iter_
    assert model.history_["cost"][-1] == model.reconstruction_err_ == 0
    nothing = GreConD(None).fit(np.zeros((4, 3)))
    assert nothing.n_components_ == 0
    assert nothing.transform(np.ones((2, 3))).shape == (2, 1)


# --- Asso ---


@given(
    A=boolean_arrays(sides, small),
    k=st.integers(1, 16),
    threshold=thresholds,
    penalty=st.sampled_from([0.4, 1.0, 3.0]),
    transpose=st.sampled_from([False, True, "auto"]),
)
@examples(200)
def test_asso_is_the_described_algorithm(A, k, threshold, penalty, transpose):
    model = Asso(k, threshold=threshold, penalty_weight=penalty, associate_rows=transpose)
    model.fit(sparse.csr_array(A))
    weights = Weights.of(penalty, A.shape)
    if transpose is True or (transpose == "auto" and A.shape[1] > A.shape[0]):
        V, U = (factor.T for factor in naive.asso(A.T, k, threshold, weights))
    else:
        U, V = naive.asso(A, k, threshold, weights)
    same_factors(model, U, V)
    cost = cover(A, U, V).cost(weights)
    assert model.stages_ == {"method": cost}
    if model.n_iter_:
        assert model.history_["cost"][-1] == cost


@given(A=boolean_arrays(small, longer), k=st.integers(1, 3), threshold=thresholds)
@examples(20)
def test_asso_on_rows_of_several_words(A, k, threshold):
    model = Asso(k, threshold=threshold, associate_rows=False).fit(A)
    same_factors(model, *naive.asso(A, k, threshold, Weights()))


@given(case=masked_arrays(small, small), k=st.integers(1, 5), threshold=thresholds)
@examples(100)
def test_asso_with_missing_entries(case, k, threshold):
    A, missing = case
    model = Asso(k, threshold=threshold, associate_rows=False).fit(A, missing=missing)
    same_factors(model, *naive.asso(A, k, threshold, Weights(), missing))


@pytest.mark.parametrize("transpose", [False, True, "auto"])
def test_asso_keeps_the_best_choice(transpose):
    auto = Asso(4, associate_rows=transpose).fit(NOISY)
    losses = {
        (step / 100, side): Asso(4, threshold=step / 100, associate_rows=side)
        .fit(NOISY)
        .reconstruction_err_
        for step in range(1, 101)
        for side in ([False, True] if transpose == "auto" else [transpose])
    }
    assert (auto.threshold_, auto.transposed_) == min(losses, key=lambda c: (losses[c], c))
    assert auto.reconstruction_err_ == min(losses.values())


def test_asso_comes_closer_to_the_best_threshold_on_larger_data(monkeypatch):
    monkeypatch.setattr("elbmf.estimators.rivals.asso._ONES_FOR_ALL", 0)
    monkeypatch.setattr("elbmf.estimators.rivals.asso._ONES_FOR_BOTH_SIDES", 0)
    told = []
    auto = Asso(4, callback=told.append).fit(NOISY)
    assert not auto.transposed_
    thresholds = [step / 20 for step in range(1, 21)]
    losses = {t: Asso(4, threshold=t).fit(NOISY).reconstruction_err_ for t in thresholds}
    assert losses[auto.threshold_] == auto.reconstruction_err_
    at = thresholds.index(auto.threshold_)
    around = thresholds[max(at - 1, 0) : at + 2] + thresholds[3::4]
    assert auto.reconstruction_err_ == min(losses[t] for t in around)
    assert told[-1].iteration < 12


def test_only_the_ratio_of_the_weights_matters():
    one = Asso(4, gain_weight=2, penalty_weight=3).fit(NOISY)
    other = Asso(4, gain_weight=1, penalty_weight=1.5).fit(NOISY)
    same_factors(one, other.membership_, other.components_)


@pytest.mark.parametrize("shape", [(60, 40), (40, 60)])
@pytest.mark.parametrize("threshold", [1.0, "auto"])
def test_asso_finds_all_tiles_without_noise(shape, threshold):
    """Of any sizes, in any order; apart in columns, for else a candidate has those of several."""
    for seed in range(10):
        generator = np.random.default_rng(seed)
        U, V = (
            (generator.permutation(np.arange(length) % 6)[:, None] == np.arange(5))
            for length in shape
        )
        A = naive.boolean_product(U, V.T)
        model = Asso(5, threshold=threshold).fit(A)
        assert model.reconstruction_err_ == 0
        order = model.components_.argmax(axis=1)
        np.testing.assert_array_equal(model.components_, V.T[V[order].argmax(axis=1)])


# --- both ---

BOTH = {
    "GreConD": GreConD,
    "Asso": Asso,
    "Asso at 0.6": lambda *a, **b: Asso(*a, threshold=0.6, **b),
}


@pytest.fixture(params=BOTH.values(), ids=BOTH)
def method(request):
    return request.param


def test_threads_change_nothing(method, monkeypatch):
    expected = method(6, n_jobs=1).fit(NOISY)
    monkeypatch.setattr("elbmf.search.starts.concepts._ONES_FOR_THREADS", 0)
    monkeypatch.setattr("elbmf.estimators.rivals.asso._ONES_FOR_THREADS", 0)
    for n_jobs in (2, 5):
        model = method(6, n_jobs=n_jobs).fit(NOISY)
        same_factors(model, expected.membership_, expected.components_)


def test_refinement_is_reported_and_never_for_the_worse(method):
    plain, refined = method(5).fit(NOISY), method(5, refine=True).fit(NOISY)
    assert list(plain.stages_) == ["method"]
    assert plain.stages_["method"] == plain.reconstruction_err_
    assert list(refined.stages_) == ["method", "refinement"]
    assert refined.stages_["method"] == plain.reconstruction_err_
    assert refined.stages_["refinement"] == refined.reconstruction_err_
    assert refined.reconstruction_err_ < plain.reconstruction_err_


@pytest.mark.parametrize("refine", [False, True])
def test_ranks_take_the_first_components(method, refine):
    search = RankSearch(method(refine=refine), max_components=6).fit(NOISY)
    for rank in range(1, 7):
        expected = method(rank, refine=refine).fit(NOISY)
        found = search.model(rank)
        if refine:
            # A rank that refinement leaves worse off than the one below takes that one's.
            assert found.reconstruction_err_ <= expected.reconstruction_err_
        else:
            same_factors(found, expected.membership_, expected.components_)


@pytest.mark.parametrize(("cls", "name"), [(GreConD, "_concepts"), (Asso, "_by_choice")])
def test_a_search_for_the_rank_runs_once(cls, name, monkeypatch):
    runs = []
    original = getattr(cls, name)

    def counted(self, A, rank):
        runs.append(rank)
        return original(self, A, rank)

    monkeypatch.setattr(cls, name, counted)
    RankSearch(cls(), max_components=6).fit(NOISY)
    assert runs == [6]


def test_the_rank_can_be_chosen(method):
    model = method("auto").fit(NOISY)
    assert model.components_.shape[0] == model.history_["rank"][np.argmin(model.history_["mdl"])]
