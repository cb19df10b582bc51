"""How the regularisation grows."""

import math

import numpy as np
import pytest

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
