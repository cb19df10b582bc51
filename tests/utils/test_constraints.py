"""Private parts of scikit-learn that parameters are declared with."""

import numbers

import pytest

from elbmf import ELBMF
from elbmf.utils import constraints


def test_scikit_learn_has_the_private_parts_that_parameters_are_declared_with():
    """Without these nothing can be imported, and no parameter is checked.

    What to do when this fails: see where scikit-learn has them now (its own estimators declare
    ``_parameter_constraints`` with them), and import them from there in
    `elbmf.utils.constraints`. The flags of the command line read the bounds of an interval.
    """
    interval = constraints.Interval(numbers.Integral, 1, 5, closed="left")
    assert (interval.left, interval.right, interval.closed) == (1, 5, "left")
    assert interval.is_satisfied_by(1)
    assert not interval.is_satisfied_by(5)
    words = constraints.StrOptions({"auto"})
    assert words.options == {"auto"}
    assert words.is_satisfied_by("auto")
    assert constraints.Options(numbers.Integral, {-1}).is_satisfied_by(-1)
    assert constraints.HasMethods(["append"]).is_satisfied_by([])
    assert constraints.make_constraint(interval) is interval
    with pytest.raises(
        constraints.InvalidParameterError, match="'n_components' parameter of ELBMF"
    ):
        ELBMF(n_components=0).fit([[1]])
