"""Criteria against their formulas in exact arithmetic, by hand, and at the largest sizes."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from elbmf.errors import InputError
from elbmf.ranks import criteria
from elbmf.ranks.criteria import CRITERIA, Counts, count, log2_binomial, savings
from strategies import boolean_arrays, masked_factors, starts

ACCURATE = {"rel": 1e-9, "abs": 1e-9}
TIGHT = {"rel": 1e-13}

HUGE = (20_000, 500_000)
CELLS = 10**10


def without_components(A):
    return np.zeros((A.shape[0], 0), dtype=bool), np.zeros((0, A.shape[1]), dtype=bool)


def values(counts):
    return {name: criterion(counts) for name, criterion in CRITERIA.items()}


def approximately(expected):
    return {name: pytest.approx(value, **ACCURATE) for name, value in expected.items()}


def naive_values(A, U, V, missing=None):
    return {
        "mdl": naive.description_length(A, U, V, missing),
        "aic": naive.akaike(A, U, V, "bernoulli", missing),
        "aic_gaussian": naive.akaike(A, U, V, "gaussian", missing),
        **{f"bai_ng_{p}": naive.bai_ng(A, U, V, p, missing) for p in (1, 2, 3)},
    }


# --- binomials ---


def test_binomials_of_small_numbers():
    for n in range(200):
        for r in range(n + 1):
            assert log2_binomial(n, r) == pytest.approx(naive.log2_binomial(n, r), **TIGHT)


@given(n=st.integers(0, 20_000), data=st.data())
def test_binomials_are_those_of_integers(n, data):
    r = data.draw(st.integers(0, n))
    assert log2_binomial(n, r) == pytest.approx(naive.log2_binomial(n, r), **TIGHT)
    assert log2_binomial(n, r) == log2_binomial(n, n - r)


@pytest.mark.parametrize("n", [10**6, CELLS, CELLS + 7, 2**53 + 1])
@pytest.mark.parametrize("r", [0, 1, 2, 31, 32, 33, 100, 1000])
def test_binomials_of_few_among_many(n, r):
    exact = naive.log2_binomial(n, r)
    assert log2_binomial(n, r) == log2_binomial(n, n - r) == pytest.approx(exact, **TIGHT)


@pytest.mark.parametrize(("n", "r"), [(10**5, 5 * 10**4), (10**5, 49_999), (300_001, 140_000)])
def test_binomials_of_half_of_many(n, r):
    exact = naive.log2_binomial(n, r)
    assert float(naive.log2_binomial_of_large(n, r)) == pytest.approx(exact, **TIGHT)
    assert log2_binomial(n, r) == pytest.approx(exact, **TIGHT)


@pytest.mark.parametrize("n", [CELLS, CELLS - 123_456_789, 8_532_960_000])
@pytest.mark.parametrize("share", [1e-5, 1e-3, 0.1, 0.4999999, 0.5, 0.50000001, 0.9])
def test_binomials_of_many_among_many(n, share):
    r = round(n * share)
    exact = naive.log2_binomial_of_large(n, r)
    assert abs(log2_binomial(n, r) - float(exact)) <= 1e-13 * float(exact)


def test_binomials_of_numpy_integers_do_not_wrap():
    large = np.int64(CELLS)
    assert log2_binomial(large, large // 2) == log2_binomial(CELLS, CELLS // 2)


# --- criteria of factorizations ---


@given(case=masked_factors(max_components=12), with_mask=st.booleans())
def test_criteria_follow_the_formulas(case, with_mask):
    A, mask, U, V = case
    missing = mask if with_mask else None
    given_A = np.where(mask, np.nan, A) if with_mask else A
    expected = approximately(naive_values(A, U, V, missing))
    assert values(count(given_A, U, V)) == expected
    assert criteria.description_length(given_A, U, V) == expected["mdl"]
    assert criteria.akaike(given_A, U, V) == expected["aic"]
    assert criteria.akaike(given_A, U, V, "gaussian") == expected["aic_gaussian"]
    for penalty in (1, 2, 3):
        assert criteria.bai_ng(given_A, U, V, penalty) == expected[f"bai_ng_{penalty}"]


def test_criteria_by_hand():
    A = np.array([[1, 1, 0, 0], [1, 1, 0, 1], [0, 0, 0, 0]])
    U, V = np.array([[1], [1], [0]]), np.array([[1, 1, 1, 0]])
    # Missed is the one at the end of the second row; covered are two zeros of the third column.
    counts = count(A, U, V)
    assert counts == Counts((3, 4), 12, missed=1, extra=2, rows=(2,), columns=(3,), covered=6)
    assert (counts.errors, counts.n_components) == (3, 1)
    assert values(counts) == approximately(
        {
            "mdl": math.log2(220) + math.log2(3) + math.log2(4) + math.log2(12),
            "aic": 2 * 7 - 2 * (3 * math.log(1 / 4) + 9 * math.log(3 / 4)),
            "aic_gaussian": 2 * 7 + 12 * math.log(1 / 4),
            "bai_ng_1": math.log(1 / 4) + 7 / 12 * math.log(12 / 7),
            "bai_ng_2": math.log(1 / 4) + 7 / 12 * math.log(3),
            "bai_ng_3": math.log(1 / 4) + math.log(3) / 3,
        }
    )


def test_missing_cells_by_hand():
    A = np.array([[1, 1, np.nan, 0], [1, 1, 0, np.nan], [0, 0, 0, 0]])
    U, V = np.array([[1], [1], [0]]), np.array([[1, 1, 1, 0]])
    counts = count(A, U, V)
    assert counts == Counts((3, 4), 10, missed=0, extra=1, rows=(2,), columns=(3,), covered=5)
    assert CRITERIA["mdl"](counts) == pytest.approx(math.log2(10 * 3 * 4 * 12), **ACCURATE)
    assert CRITERIA["bai_ng_3"](counts) == pytest.approx(math.log(0.1) + math.log(3) / 3)


@given(case=masked_factors(max_components=12), seed=st.integers(0, 99))
def test_the_order_of_rows_columns_and_components_does_not_matter(case, seed):
    A, mask, U, V = case
    generator = np.random.default_rng(seed)
    A = np.where(mask, np.nan, A)
    n, m, k = (generator.permutation(length) for length in (*A.shape, U.shape[1]))
    shuffled = count(A[n][:, m], U[n][:, k], V[k][:, m])
    assert values(shuffled) == approximately(values(count(A, U, V)))
    # The two sides are alike.
    assert values(count(A.T, V.T, U.T)) == approximately(values(count(A, U, V)))


@given(A=boolean_arrays())
def test_no_components(A):
    U, V = without_components(A)
    counts = count(A, U, V)
    assert counts == Counts(A.shape, A.size, missed=int(A.sum()), extra=0, covered=0)
    assert values(counts) == approximately(naive_values(A, U, V))
    order, saved = savings(A, U, V)
    assert order.shape == saved.shape == (0,)
    assert savings(A, U, V).paying == 0


@pytest.mark.parametrize("fill", [0, 1])
def test_matrices_of_one_kind_of_cell(fill):
    A = np.full((6, 9), fill)
    nothing = values(count(A, *without_components(A)))
    # Errors in no cell or in all: either is described without a bit.
    assert nothing["mdl"] == nothing["aic"] == 0
    assert nothing["bai_ng_1"] == nothing["aic_gaussian"] == (0 if fill else -math.inf)
    all_covered = values(count(A, np.ones((6, 1)), np.ones((1, 9))))
    assert all_covered["mdl"] == pytest.approx(math.log2(54), **ACCURATE)
    assert all_covered["aic"] == 30
    assert all_covered["aic_gaussian"] == (-math.inf if fill else 30)


@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (0, 0)])
def test_matrices_without_cells(shape):
    A = np.zeros(shape)
    U, V = np.zeros((shape[0], 2)), np.zeros((2, shape[1]))
    for factors in (without_components(A), (U, V)):
        result = values(count(A, *factors))
        assert result["mdl"] == 0
        assert not any(math.isnan(value) for value in result.values())
    assert savings(A, U, V).paying == 0


def test_matrices_of_which_nothing_is_known():
    A = np.full((4, 5), np.nan)
    empty, full = count(A, *without_components(A)), count(A, np.ones((4, 1)), np.ones((1, 5)))
    assert empty.known == full.known == full.errors == 0
    for criterion in CRITERIA.values():
        assert criterion(empty) <= criterion(full)


def test_unused_components_are_charged_as_printed():
    A = np.eye(4, 6)
    before = values(count(A, np.ones((4, 1)), np.ones((1, 6))))
    U, V = np.eye(4, 2) * 0, np.zeros((2, 6))
    U[:, 0] = V[0] = 1
    after = values(count(A, U, V))
    assert after["mdl"] - before["mdl"] == pytest.approx(math.log2(24))
    assert after["aic"] - before["aic"] == pytest.approx(2 * 10)
    assert after["bai_ng_3"] - before["bai_ng_3"] == pytest.approx(math.log(4) / 4)


# --- choosing along a path ---


def test_without_errors_the_smallest_rank_wins():
    shape, size = (40, 30), 1200
    path = [Counts(shape, size, e, 0, (5,) * k, (6,) * k) for k, e in enumerate([90, 40, 0, 0, 0])]
    for name, criterion in CRITERIA.items():
        scores = [criterion(counts) for counts in path]
        assert not any(math.isnan(score) for score in scores)
        if name != "aic":  # it would rather have errors than this many parameters
            assert np.argmin(scores) == scores.index(min(scores)) == 2
    assert [CRITERIA["bai_ng_1"](counts) for counts in path[2:]] == [-math.inf] * 3


@pytest.mark.parametrize("name", ["mdl", "aic", "aic_gaussian", "bai_ng_1", "bai_ng_2", "bai_ng_3"])
def test_the_planted_rank_is_chosen(name):
    """As in Fig. model-selection: 400×300, rank 10, noise 10 %; what follows fits the noise."""
    generator = np.random.default_rng(0)
    U = np.repeat(np.eye(10, dtype=bool), 40, axis=0)
    V = np.repeat(np.eye(10, dtype=bool), 30, axis=1)
    A = naive.boolean_product(U, V) | (generator.random((400, 300)) < 0.1)
    fitted_U, fitted_V = [*U.T], [*V]
    for row in range(6):  # more components: the uncovered ones of a row and all that is like it
        rest = A & ~naive.boolean_product(np.array(fitted_U).T, np.array(fitted_V))
        fitted_V.append(rest[row])
        fitted_U.append(2 * (rest & rest[row]).sum(axis=1) > rest[row].sum())
    path = [
        count(A, np.array(fitted_U)[:k].T.reshape(400, k), np.array(fitted_V)[:k])
        for k in range(17)
    ]
    losses = [counts.errors for counts in path]
    assert losses == sorted(losses, reverse=True)
    assert len(set(losses)) == len(losses)
    assert np.argmin([CRITERIA[name](counts) for counts in path]) == 10


# --- large data, from counts alone ---


@pytest.mark.parametrize(
    "errors", [(0, 0), (1, 0), (123_456, 789), (49_000_000, 7), (5 * 10**9, 0)]
)
def test_the_largest_shapes_lose_no_digits(errors):
    rows, columns = (12_000, 10_500, 17_777), (250_000, 33_333, 123_456)
    counts = Counts(HUGE, CELLS, *errors, rows, columns)
    e = sum(errors)
    binomial = naive.log2_binomial_of_large if e > 10**5 else naive.log2_binomial
    expected = float(binomial(CELLS, e)) + 3 * math.log2(CELLS)
    for height, width in zip(rows, columns, strict=True):
        expected += naive.log2_binomial(20_000, height)
        expected += float(naive.log2_binomial_of_large(500_000, width))
    assert CRITERIA["mdl"](counts) == pytest.approx(expected, **TIGHT)
    result = values(counts)
    assert all(math.isfinite(value) for value in result.values()) or e == 0
    assert not any(math.isnan(value) for value in result.values())
    assert math.isfinite(result["mdl"])
    assert math.isfinite(result["aic"])
    if e:
        n, m = HUGE
        # The likelihood is near that of the binomial, whose coefficient it bounds.
        nats = (result["aic"] - 6 * (n + m)) / 2
        coefficient = float(binomial(CELLS, e)) * math.log(2)
        assert coefficient <= nats <= coefficient + 0.5 * math.log(8 * min(e, CELLS - e))
        g = (n + m) / CELLS * math.log(CELLS / (n + m))
        assert result["bai_ng_1"] == pytest.approx(math.log(e / CELLS) + 3 * g, **TIGHT)
        assert result["aic_gaussian"] == pytest.approx(
            CELLS * math.log(e / CELLS) + 6 * (n + m), **TIGHT
        )


def test_one_error_more_is_seen_among_ten_billion_cells():
    lengths = [CRITERIA["mdl"](Counts(HUGE, CELLS, e, 0)) for e in (10**6, 10**6 + 1)]
    # log (N − e)/(e + 1): lengths near 1.5·10⁷, that differ by 13.3.
    assert np.diff(lengths) == pytest.approx(math.log2((CELLS - 10**6) / (10**6 + 1)), abs=1e-7)


# --- savings ---


def naive_savings(A, missing, U, V, order, two_rates):
    """Bits that each component saves given those before it, cell by cell."""
    known = np.ones(A.shape, bool) if missing is None else ~missing
    product = naive.boolean_product(U, V).astype(bool)
    A = A.astype(bool)
    if two_rates:
        p1, p0 = (
            ((A & part & known).sum() + 0.5) / ((part & known).sum() + 1)
            for part in (product, ~product)
        )
    else:
        p0 = (((product != A) & known).sum() + 0.5) / (known.sum() + 1)
        p1 = 1 - p0
    one, zero = (math.log2(p1 / p0), math.log2((1 - p0) / (1 - p1))) if p1 > p0 else (0.0, 0.0)
    n, m = A.shape
    covered, saved = np.zeros(A.shape, bool), []
    for l in order:
        fresh = np.outer(U[:, l], V[l]).astype(bool) & ~covered & known
        charge = math.log2(math.comb(n, int(U[:, l].sum())) * math.comb(m, int(V[l].sum())))
        gain = one * (fresh & A).sum() - zero * (fresh & ~A).sum()
        saved.append(gain - charge - math.log2(max(n * m, 1)))
        covered |= fresh
    return saved


@pytest.mark.parametrize("two_rates", [False, True])
@given(case=starts(components=st.integers(0, 12), length=40))
def test_savings_are_greedy(two_rates, case):
    A, missing, U, V = case
    given_A = A if missing is None else np.where(missing, np.nan, A)
    result = savings(given_A, U, V, two_rates=two_rates)
    order, saved = result
    assert sorted(order) == list(range(U.shape[1]))
    expected = naive_savings(A, missing, U, V, order, two_rates)
    np.testing.assert_allclose(saved, expected, rtol=1e-9, atol=1e-8)
    for step in range(order.size):
        for other in order[step:]:
            rest = [each for each in order if each not in order[:step] and each != other]
            found = naive_savings(A, missing, U, V, [*order[:step], other, *rest], two_rates)
            assert found[step] <= saved[step] + 1e-8
    sums = np.cumsum([0, *saved])
    assert sums[result.paying] == pytest.approx(sums.max(), **ACCURATE)


def test_equal_components_save_the_same_wherever_they_are_in_the_list():
    A = np.kron(np.eye(4, dtype=int), np.ones((12, 10), int))
    U, V = (
        np.kron(np.eye(4, dtype=int), np.ones((12, 1), int)),
        np.kron(np.eye(4, dtype=int), np.ones((1, 10), int)),
    )
    A[np.random.default_rng(0).random(A.shape) < 0.05] ^= 1
    for two_rates in (False, True):
        saved = savings(A, U, V, two_rates=two_rates).saved
        assert (np.diff(saved) <= 0).all()
        assert saved.min() > 0.5 * saved.max()


@pytest.mark.parametrize("seed", range(5))
def test_the_last_component_shortens_the_exact_description_by_no_more_than_it_says(seed):
    generator = np.random.default_rng(seed)
    U, V = generator.random((50, 4)) < 0.2, generator.random((4, 40)) < 0.3
    A = naive.boolean_product(U, V).astype(bool) ^ (generator.random((50, 40)) < 0.1)
    order, saved = savings(A, U, V)
    rest = order[:-1]
    exact = criteria.description_length(A, U[:, rest], V[rest]) - criteria.description_length(
        A, U, V
    )
    assert exact <= saved[-1]


def test_two_rates_by_hand():
    A = np.array([[1, 1, 0, 0], [1, 1, 0, 1], [0, 0, 0, 0]])
    U, V = np.array([[1], [1], [0]]), np.array([[1, 1, 1, 0]])
    # Two of the six covered cells are zeros, one of the six others is a one.
    model = math.log2(3) + math.log2(4) + math.log2(12)
    expected = math.log2(15 * 7) + math.log2(6 * 7) + model
    assert criteria.description_length(A, U, V, two_rates=True) == pytest.approx(expected)
    with pytest.raises(InputError, match="covered"):
        criteria.TWO_RATES["mdl"](Counts((3, 4), 12, missed=1, extra=2, rows=(2,), columns=(3,)))


@pytest.mark.parametrize("fill", [0, 1])
def test_two_rates_of_matrices_of_one_kind_of_cell(fill):
    A = np.full((6, 9), fill)
    for factors in (without_components(A), (np.ones((6, 1)), np.ones((1, 9)))):
        assert math.isfinite(criteria.description_length(A, *factors, two_rates=True))
        saved = savings(A, *factors, two_rates=True).saved
        assert np.isfinite(saved).all()
        assert (saved > 0).all() == bool(fill) or not saved.size


def test_savings_do_not_depend_on_threads(n_jobs):
    generator = np.random.default_rng(3)
    U, V = generator.random((90, 70)) < 0.1, generator.random((70, 130)) < 0.1
    A = naive.boolean_product(U[:, :20], V[:20]) ^ (generator.random((90, 130)) < 0.05)
    order, saved = savings(A, U, V, n_jobs)
    expected_order, expected = savings(A, U, V, 1)
    np.testing.assert_array_equal(order, expected_order)
    np.testing.assert_array_equal(saved, expected)


def test_savings_tell_components_from_noise():
    generator = np.random.default_rng(0)
    U, V = np.zeros((60, 6), dtype=bool), np.zeros((6, 50), dtype=bool)
    for l, (height, width) in enumerate([(5, 4), (20, 15), (12, 10)]):
        U[20 * l : 20 * l + height, 2 * l] = True
        V[2 * l, 12 * l : 12 * l + width] = True
    A = naive.boolean_product(U, V)
    U[:, [1, 3]] = generator.random((60, 2)) < 0.1
    V[[1, 3]] = generator.random((2, 50)) < 0.1
    U[:, 5], V[5] = U[:, 2], V[2]  # the same once more
    result = savings(A, U, V)
    assert result.order[:3].tolist() == [2, 4, 0]
    assert result.paying == 3
    assert (result.saved[:3] > 0).all()
    assert (result.saved[3:] < 0).all()


def test_of_equal_components_the_first_comes_first():
    A = np.ones((4, 4))
    order, saved = savings(np.tril(A), np.ones((4, 3)), np.ones((3, 4)))
    assert order.tolist() == [0, 1, 2]
    np.testing.assert_allclose(saved[1:], -math.log2(16))


# --- what is refused ---


def test_choices_that_do_not_exist():
    A, U, V = np.eye(2), np.eye(2), np.eye(2)
    with pytest.raises(InputError, match="likelihood must be 'bernoulli' or 'gaussian'; got 'p'"):
        criteria.akaike(A, U, V, "p")
    with pytest.raises(InputError, match="penalty must be 1, 2 or 3; got 4"):
        criteria.bai_ng(A, U, V, 4)
    with pytest.raises(InputError, match="2×2 product, but the matrix is 2×3"):
        count(np.ones((2, 3)), U, V)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"known": 13}, "Expected 0 to 12 known cells; got 13"),
        ({"missed": -1}, "Expected 0 to 12 missed ones; got -1"),
        ({"missed": 5, "extra": 8}, "Expected 0 to 7 covered zeros; got 8"),
        ({"rows": (4,), "columns": (1,)}, "Expected 0 to 3 rows in a component; got 4"),
        ({"rows": (3,), "columns": (5,)}, "Expected 0 to 4 columns in a component; got 5"),
        ({"rows": (3,)}, "got the rows of 1 and the columns of 0"),
    ],
)
def test_counts_that_no_factorization_has(wrong, message):
    with pytest.raises(InputError, match=message):
        Counts(**{"shape": (3, 4), "known": 12, "missed": 0, "extra": 0, **wrong})


def test_the_registry_has_every_criterion():
    assert list(CRITERIA) == ["mdl", "aic", "aic_gaussian", "bai_ng_1", "bai_ng_2", "bai_ng_3"]
    assert len({criterion.title for criterion in CRITERIA.values()}) == len(CRITERIA)
