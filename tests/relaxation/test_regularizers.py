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


@pytest.mark.parametrize(
    ("variant", "printed"),
    [("paper", naive.elb_prox_printed), ("alternative", naive.elb_prox_alternative)],
)
def test_printed_operators_equal_the_printed_formulas(variant, printed):
    for x, kappa, lam in GRID:
        expected = printed(x, kappa, lam)
        assert scalar(ELB(variant), x, kappa, lam) == pytest.approx(expected, abs=1e-12)


def test_printed_operator_overshoots_where_the_exact_one_does_not():
    assert scalar(ELB("paper"), 0.97, 0.05, 0.1) == pytest.approx(1.018, abs=1e-3)
    assert scalar(ELB("exact"), 0.97, 0.05, 0.1) == 1


def elastic_net(y, kappa, lam):
    return kappa * abs(y) + lam / 2 * y**2


# What an operator minimises beside ½(x − y)², and how large y may be. As in App. A, λ of the
# operators of the elastic nets is twice that of their values.
PENALTIES = [
    (ELB(), lambda y, *how: np.minimum(elastic_net(y, *how), elastic_net(y - 1, *how)), 3),
    (ElasticNet(), elastic_net, 3),
    (Primp(), lambda y, kappa, lam: kappa * (1 - abs(1 - 2 * y)), 1),
    (Bowl(), lambda y, kappa, lam: lam / 2 * (y**2 - y) ** 2, 3),
]


@pytest.mark.parametrize(("regularizer", "penalty", "high"), PENALTIES)
def test_operators_are_minimisers(regularizer, penalty, high):
    for x, kappa, lam in GRID:

        def objective(y, x=x, how=(kappa, lam)):
            return 0.5 * (x - y) ** 2 + penalty(y, *how)

        found = scalar(regularizer, x, kappa, lam)
        best = naive.minimise(objective, 0, high)
        # Halfway between 0 and 1 there are two.
        assert objective(found) <= objective(best) + 1e-14
        assert x == 0.5 or found == pytest.approx(best, abs=1e-6)


@pytest.mark.parametrize("name", REGULARIZERS)
@given(x=vectors(np.float32), kappa=coefficients, lam=coefficients)
def test_operators_keep_float32_and_agree_with_float64(name, x, kappa, lam):
    regularizer = imported(REGULARIZERS[name])()
    near_half = np.abs(x - 0.5) < 1e-5
    result = regularizer.prox(x, kappa, lam)
    assert result.dtype == np.float32
    wide = regularizer.prox(x.astype(np.float64), kappa, lam)
    np.testing.assert_allclose(result[~near_half], wide[~near_half], atol=2e-5, rtol=2e-5)


def name_of(regularizer):
    return " ".join([type(regularizer).__name__, *map(str, vars(regularizer).values())])


ALL = [
    *(ELB(variant) for variant in get_args(ProxVariant)),
    *(imported(other)() for name, other in REGULARIZERS.items() if name != "elb"),
]


@pytest.mark.parametrize("regularizer", ALL, ids=name_of)
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
