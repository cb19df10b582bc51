"""Values and proximal operators against the printed formulas and brute-force minimisation."""

from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from elbmf.errors import InputError
from elbmf.relaxation.regularizers import ELB, REGULARIZERS, Bowl, ElasticNet, Primp, ProxVariant
from elbmf.utils.late import imported
from strategies import coefficients, finite, vectors

GRID = [
    (x, kappa, lam)
    for x in np.round(np.linspace(-0.6, 1.8, 25), 3)
    for kappa in (0.0, 0.01, 0.1, 0.4)
    for lam in (0.0, 0.05, 0.8, 3.0)
]


def scalar(regularizer, x, kappa, lam):
    return float(regularizer.prox(np.float64(x), kappa, lam))


@pytest.mark.parametrize(("x", "kappa", "lam"), GRID)
def test_printed_operator_equals_the_printed_formula(x, kappa, lam):
    expected = naive.elb_prox_printed(x, kappa, lam)
    assert scalar(ELB("paper"), x, kappa, lam) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("x", "kappa", "lam"), [point for point in GRID if point[2] != 1])
def test_alternative_operator_equals_the_printed_formula(x, kappa, lam):
    expected = naive.elb_prox_alternative(x, kappa, lam)
    assert scalar(ELB("alternative"), x, kappa, lam) == pytest.approx(expected, abs=1e-12)


def elb_penalty(kappa, lam):
    return lambda y: min(
        kappa * abs(y) + lam / 2 * y**2, kappa * abs(y - 1) + lam / 2 * (y - 1) ** 2
    )


@pytest.mark.parametrize(("x", "kappa", "lam"), [p for p in GRID if p[0] != 0.5])
def test_exact_operator_is_the_minimiser(x, kappa, lam):
    expected = naive.minimise_prox(x, elb_penalty(kappa, lam))
    assert scalar(ELB("exact"), x, kappa, lam) == pytest.approx(expected, abs=1e-6)


def test_printed_operator_overshoots_where_the_exact_one_does_not():
    assert scalar(ELB("paper"), 0.97, 0.05, 0.1) == pytest.approx(1.018, abs=1e-3)
    assert scalar(ELB("exact"), 0.97, 0.05, 0.1) == 1


@pytest.mark.parametrize(("x", "kappa", "lam"), GRID)
def test_elastic_net_is_the_minimiser(x, kappa, lam):
    expected = naive.minimise_prox(x, lambda y: kappa * abs(y) + lam / 2 * y**2)
    assert scalar(ElasticNet(), x, kappa, lam) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(("x", "kappa", "lam"), [p for p in GRID if p[0] != 0.5])
def test_primp_is_the_minimiser(x, kappa, lam):
    expected = naive.minimise_prox(x, lambda y: kappa * (1 - abs(1 - 2 * y)), 0, 1)
    assert scalar(Primp(), x, kappa, lam) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(("x", "kappa", "lam"), [p for p in GRID if p[0] != 0.5])
def test_bowl_is_the_minimiser(x, kappa, lam):
    expected = naive.minimise_prox(x, lambda y: lam / 2 * (y**2 - y) ** 2)
    assert scalar(Bowl(), x, kappa, lam) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("name", REGULARIZERS)
@given(x=vectors(np.float32), kappa=coefficients, lam=coefficients)
def test_operators_keep_float32_and_agree_with_float64(name, x, kappa, lam):
    regularizer = imported(REGULARIZERS[name])()
    near_half = np.abs(x - 0.5) < 1e-5
    result = regularizer.prox(x, kappa, lam)
    assert result.dtype == np.float32
    wide = regularizer.prox(x.astype(np.float64), kappa, lam)
    np.testing.assert_allclose(result[~near_half], wide[~near_half], atol=2e-5, rtol=2e-5)


ALL = [*(ELB(variant) for variant in get_args(ProxVariant)), ElasticNet(), Primp(), Bowl()]


@pytest.mark.parametrize("regularizer", ALL, ids=repr)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(data=st.data(), kappa=coefficients, lam=st.sampled_from([0.0, 0.05, 0.9, 30.0, np.inf]))
def test_formulas_say_the_same_as_the_loops(regularizer, dtype, data, kappa, lam):
    x = data.draw(vectors(dtype))
    kept = x.copy()
    with np.errstate(all="raise", under="ignore"):
        found = regularizer.formula(np, x, *regularizer.arguments(kappa, lam, dtype)[1:])
    np.testing.assert_array_equal(x, kept)
    assert found.dtype == dtype
    precise = 1e-12 if dtype == np.float64 else 2e-6
    # Where a cubic is flat, its root is known to half the digits.
    tolerance = np.sqrt(precise) if isinstance(regularizer, Bowl) else precise
    expected = regularizer.prox(x, kappa, lam)
    np.testing.assert_allclose(found, expected, atol=tolerance, rtol=tolerance)


def test_all_regularizers_are_compared_with_their_formulas():
    assert {type(regularizer) for regularizer in ALL} == set(map(imported, REGULARIZERS.values()))


@pytest.mark.parametrize("regularizer", [ELB("exact"), ELB("paper"), ELB("alternative"), Bowl()])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("lam", [1e30, 1e300, np.inf])
def test_operators_become_the_projection_without_overflow(regularizer, dtype, lam):
    x = np.array([-1.0, 0.0, 0.2, 0.5, 0.500001, 0.8, 1.0, 2.5], dtype=dtype)
    with np.errstate(all="raise"):
        result = regularizer.prox(x, 0.5, lam)
    np.testing.assert_allclose(result, x > 0.5, atol=1e-6)


@given(x=finite, kappa=coefficients, lam=coefficients)
def test_elb_value_is_symmetric_and_zero_at_boolean_values(x, kappa, lam):
    R = ELB()
    assert R.value([0.0, 1.0], kappa, lam) == 0
    assert R.value([x], kappa, lam) == pytest.approx(R.value([1 - x], kappa, lam))
    expected = min(kappa * abs(x) + lam * x**2, kappa * abs(x - 1) + lam * (x - 1) ** 2)
    assert R.value([x], kappa, lam) == pytest.approx(expected)


def test_values_of_the_others():
    assert ElasticNet().value([[2.0, -1.0]], 0.5, 0.25) == pytest.approx(0.5 * 3 + 0.25 * 5)
    assert Primp().value([0.0, 0.5, 1.0, 0.75], 2.0) == pytest.approx(2 * (1 + 0.5))
    assert Primp().value([1.1], 2.0) == np.inf
    assert Bowl().value([0.0, 0.5, 1.0, 2.0], 0.0, 4.0) == pytest.approx(2 * (1 / 16 + 4))


def test_unknown_variant_is_named():
    with pytest.raises(InputError, match=r"'exact'.*got 'nearest'"):
        ELB("nearest")
