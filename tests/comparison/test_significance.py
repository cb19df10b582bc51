"""Components beside those of random matrices with the same sums."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from scipy.special import expit

from elbmf import significance
from elbmf.analysis.expected_ones import ExpectedOnes
from elbmf.comparison import Excess
from elbmf.comparison.significance import OtherTestError, _p_values
from elbmf.datasets import make_tiles, shuffled
from elbmf.errors import FileFormatError, InputError
from elbmf.estimators import GreConD
from elbmf.matrix.boolean_matrix import BooleanMatrix, as_matrix
from strategies import boolean_arrays, examples, masked_factors

TILES = make_tiles((60, 50), 3, height=(15, 20), width=(10, 14), noise=0.1, random_state=1)
NOISE = shuffled(TILES.A, 5)

# Quick, and good enough to find the tiles.
METHOD = GreConD(5)


@examples(60)
@given(boolean_arrays())
def test_expected_ones_have_the_sums_of_the_matrix(cells):
    n, m = cells.shape
    sums = ExpectedOnes(BooleanMatrix.from_array(cells))
    rows = sums.within(np.eye(n, dtype=bool), np.ones((n, m), dtype=bool))
    columns = sums.within(np.ones((n, m), dtype=bool), np.eye(m, dtype=bool))
    np.testing.assert_allclose(rows, cells.sum(axis=1), atol=0.05)
    np.testing.assert_allclose(columns, cells.sum(axis=0), atol=0.05)


def test_odds_of_a_cell_are_those_of_its_row_times_those_of_its_column():
    row, column = np.linspace(-2, 1, 7), np.linspace(-1, 1, 5)
    chances = expit(row[:, None] + column)
    many = np.kron(chances, np.ones((40, 60)))
    cells = np.random.default_rng(0).random(many.shape) < many
    sums = ExpectedOnes(BooleanMatrix.from_array(cells))
    U, V = np.kron(np.eye(7), np.ones((40, 1))) > 0, np.kron(np.eye(5), np.ones((1, 60))) > 0
    blocks = [sums.within(np.repeat(u[:, None], 5, axis=1), V) for u in U.T]
    assert np.abs(np.array(blocks) / 2400 - chances).max() < 0.03


def naive_bits(known, cells, rows, columns, expected):
    """−log₂ of Chernoff's bound, less the bits for the rows and the columns."""
    total = int(known[np.ix_(rows, columns)].sum())
    ones = int(cells[np.ix_(rows, columns)].sum())
    if not total:
        return -math.inf
    unlikely = 0.0
    for count, chance in ((ones, expected / total), (total - ones, 1 - expected / total)):
        if count:
            unlikely += count * math.log2(count / total / chance)
    (n, m), sign = cells.shape, 1 if ones > expected else -1
    choices = math.comb(n, len(rows)) * math.comb(m, len(columns))
    return sign * unlikely - math.log2(choices)


@examples(60)
@given(masked_factors(max_components=4))
def test_bits_are_those_of_the_formula(case):
    cells, mask, U, V = case
    A = BooleanMatrix.from_array(cells, missing=mask)
    found = Excess.of(A, U, V)
    for l, (u, v) in enumerate(zip(U.T, V, strict=True)):
        rows, columns = np.flatnonzero(u), np.flatnonzero(v)
        assert found.ones[l] == (cells & ~mask)[np.ix_(rows, columns)].sum()
        # Where lines are full or empty, the chances are next to 0 or 1, and so are differences.
        if 0.01 < found.expected[l] < (~mask)[np.ix_(rows, columns)].sum() - 0.01:
            expected = naive_bits(~mask, cells & ~mask, rows, columns, found.expected[l])
            assert found.bits[l] == pytest.approx(expected, rel=1e-6, abs=1e-6)
        assert np.isneginf(found.bits[l]) == ((~mask)[np.ix_(rows, columns)].sum() == 0)


def test_tiles_are_significant():
    found = significance(TILES.A, METHOD, (TILES.U, TILES.V), samples=19, random_state=0)
    assert found.p_values.tolist() == [0.05] * 3
    assert found.significant().all()
    assert found.samples == 19
    assert (found.excess.ones > 1.3 * found.excess.expected).all()
    assert found.best_of_samples.max() < found.excess.bits.min()
    noted = found.info
    assert (noted.samples, noted.p_values) == (19, [0.05] * 3)


def test_what_a_method_finds_in_noise_is_not_significant():
    found = significance(NOISE, METHOD, samples=19, random_state=0)
    assert not found.significant().any()
    # It ends as soon as no component can be significant any more, whoever is ready first.
    assert found.samples < 19
    alone = significance(NOISE, METHOD, samples=19, n_jobs=1, random_state=0)
    np.testing.assert_array_equal(alone.best_of_samples, found.best_of_samples)


def test_a_fitted_estimator_is_not_fitted_again():
    fitted = GreConD(3).fit(TILES.A)
    found = significance(TILES.A, fitted, samples=2, random_state=0)
    np.testing.assert_array_equal(
        found.excess.ones, Excess.of(as_matrix(TILES.A), *_factors(fitted)).ones
    )
    np.testing.assert_allclose(found.p_values, 1 / 3)


def _factors(fitted):
    return fitted.membership_, fitted.components_


def test_the_p_value_is_the_share_of_matrices_that_are_as_good():
    bits = np.array([100.0, 50.0, 0.0, -np.inf])
    best = np.array([-40.0, 29.9, 30.0, -np.inf])
    np.testing.assert_allclose(_p_values(bits, best, 4), [1 / 5, 2 / 5, 3 / 5, 1])
    np.testing.assert_allclose(_p_values(bits, best[:0], 0), 1)
    np.testing.assert_allclose(
        _p_values(np.array([-899.0, -901.0]), np.array([-1000.0]), 1), [0.5, 1]
    )


def test_one_row_one_column_or_nothing_is_never_significant():
    U, V = np.zeros((60, 3), dtype=bool), np.zeros((3, 50), dtype=bool)
    U[0, 0] = U[:, 1] = U[:30, 2] = V[0] = V[1, 3] = True
    found = significance(TILES.A, METHOD, (U, V), samples=19, random_state=0)
    assert found.p_values.tolist() == [1, 1, 1]
    assert found.samples == 0


def test_the_seed_decides_for_any_number_of_threads():
    runs = [
        significance(TILES.A, METHOD, samples=6, n_jobs=n_jobs, random_state=seed).best_of_samples
        for n_jobs, seed in ((1, 0), (3, 0), (1, 1))
    ]
    np.testing.assert_array_equal(runs[0], runs[1])
    assert (runs[0] != runs[2]).any()
    more = significance(TILES.A, METHOD, samples=8, random_state=0).best_of_samples
    np.testing.assert_array_equal(more[:6], runs[0])


def test_missing_cells_stay_and_count_for_nothing():
    mask = np.random.default_rng(0).random((60, 50)) < 0.2
    found = significance(
        TILES.A, METHOD, (TILES.U, TILES.V), samples=19, missing=mask, random_state=0
    )
    inside = np.einsum("il,ij,lj->l", TILES.U, TILES.A.toarray() & ~mask, TILES.V, dtype=int)
    assert found.excess.ones.tolist() == inside.tolist()
    assert found.significant().all()


def test_ctrl_c_keeps_what_is_finished(tmp_path):
    def interrupt(progress):
        assert (progress.samples, progress.promising) == (19, 3)
        if progress.done == 4:
            raise KeyboardInterrupt

    given = {"samples": 19, "random_state": 3, "n_jobs": 2, "checkpoint": tmp_path / "kept.json"}
    case = TILES.A, METHOD, (TILES.U, TILES.V)
    early = significance(*case, callback=interrupt, **given)
    assert (early.interrupted, early.samples) == (True, 4)
    np.testing.assert_allclose(early.p_values, 1 / 5)
    whole = significance(*case, **given)
    assert (whole.interrupted, whole.samples) == (False, 19)
    fresh = significance(*case, samples=19, random_state=3)
    np.testing.assert_array_equal(whole.best_of_samples, fresh.best_of_samples)


def test_a_callback_may_end_it():
    found = significance(
        TILES.A, METHOD, (TILES.U, TILES.V), callback=lambda progress: progress.done == 2
    )
    assert (found.interrupted, found.samples) == (True, 2)


def test_kept_samples_are_taken_for_what_they_are(tmp_path):
    kept = tmp_path / "kept.json"
    given = {"factors": (TILES.U, TILES.V), "samples": 3, "checkpoint": kept}
    first = significance(TILES.A, METHOD, **given)  # without a seed, which is kept, too
    again = significance(TILES.A, METHOD, **given)
    np.testing.assert_array_equal(first.best_of_samples, again.best_of_samples)
    with pytest.raises(OtherTestError, match="other n_components"):
        significance(TILES.A, GreConD(4), **given)
    with pytest.raises(OtherTestError, match="other data"):
        significance(NOISE, METHOD, **given)
    kept.write_text(json.dumps({"best": 3}))
    with pytest.raises(FileFormatError, match=r"kept\.json: "):
        significance(TILES.A, METHOD, **given)


@pytest.mark.parametrize("samples", [0, 2.5, True])
def test_samples_are_a_whole_number(samples):
    with pytest.raises(InputError, match="samples must be a whole number, at least 1"):
        significance(TILES.A, METHOD, samples=samples)


def test_what_cannot_be_tested():
    with pytest.raises(InputError, match="must be a method of"):
        significance(TILES.A, "elbmf")
    with pytest.raises(InputError, match="make a 60×50 product, but the matrix is 50×60"):
        significance(TILES.A.T, METHOD, (TILES.U, TILES.V))
    weighted = GreConD(2).fit(TILES.A, sample_weight=np.arange(60))
    with pytest.raises(InputError, match="Fit without weights"):
        significance(TILES.A, weighted)


def test_the_number_of_components_of_random_matrices_is_that_of_the_data():
    found = significance(TILES.A, GreConD("auto"), (TILES.U, TILES.V), samples=1, random_state=0)
    same = significance(TILES.A, GreConD(3), (TILES.U, TILES.V), samples=1, random_state=0)
    np.testing.assert_array_equal(found.best_of_samples, same.best_of_samples)
