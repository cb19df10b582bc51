"""How the regularisation grows."""

import math

import numpy as np
import pytest

from elbmf.errors import InputError
from elbmf.relaxation.schedules import Annealed, Printed


def test_printed_schedule_is_the_printed_formula():
    schedule = Printed(kappa=0.5, lam=2.0, rate=1.1)
    assert schedule.strength(3, 4.0) == pytest.approx((0.125, 2 * 1.1**3 / 4))
    assert Printed(0, 1, 1).strength(99, 1.0).lam == 1
    assert Printed(0, 1, lambda t: t**2).strength(5, 2.0).lam == 12.5
    assert Printed(0, 1, 2.0).strength(5000, 1.0).lam == math.inf
    assert Printed(0, 0, 2.0).strength(5000, 1.0).lam == 0


@pytest.mark.parametrize("epochs", [1, 2, 10, 500])
def test_annealed_schedule_grows_geometrically_until_it_rounds(epochs):
    schedule = Annealed(epochs)
    kappas = [schedule.strength(t, 123.0).kappa for t in range(1, epochs + 1)]
    assert kappas[-1] == 0.5
    assert schedule.strength(epochs, 1.0).lam == math.inf
    ratios = np.array(kappas[1:]) / np.array(kappas[:-1])
    np.testing.assert_allclose(ratios, ratios[0] if ratios.size else 1)
    if epochs > 1:
        assert kappas[0] == 1e-6


def test_annealing_spreads_over_the_epochs_of_a_run():
    assert Annealed().over(30) == Annealed(30)
    assert Annealed(9).over(30) == Annealed(9)
    assert Printed().over(30) == Printed()
    with pytest.raises(InputError, match="must know its epochs"):
        Annealed().strength(1, 1.0)


def test_a_schedule_is_shown_as_what_makes_it_again():
    for schedule in (Annealed(), Printed(kappa=0.5, start="svd"), Annealed(7, balance=False)):
        assert eval(repr(schedule)) == schedule
    assert repr(Printed(lam=3)) == "Printed(lam=3)"
    assert repr(Annealed(beta=0.9)) == "Annealed()"


@pytest.mark.parametrize(
    ("kind", "parameter", "value", "expected"),
    [
        (Printed, "kappa", -0.1, r"\[0.0, inf\)"),
        (Printed, "kappa", "much", r"\[0.0, inf\)"),
        (Printed, "lam", float("nan"), r"\[0.0, inf\)"),
        (Printed, "rate", 0.99, r"\[1.0, inf\) or a callable"),
        (Printed, "beta", 1, r"\[0.0, 1.0\)"),
        (Annealed, "beta", -0.1, r"\[0.0, 1.0\)"),
        (Annealed, "step", "large", "'spectral', 'authors'"),
        (Annealed, "dtype", "float16", "'float32', 'float64'"),
        (Annealed, "start", "zeros", "'svd', 'random'"),
        (Annealed, "start_scale", 0, r"\(0.0, inf\)"),
        (Annealed, "epochs", 0, r"\[1, inf\)"),
        (Annealed, "weakest", 0, r"\(0.0, inf\)"),
    ],
)
def test_schedules_are_checked(kind, parameter, value, expected):
    message = f"{kind.__name__}: {parameter} must be .*{expected}.* got {value!r}"
    with pytest.raises(InputError, match=message):
        kind(**{parameter: value})
