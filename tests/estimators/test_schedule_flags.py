"""The relaxation in single values, and put together again."""

import pytest
from sklearn.base import clone

from elbmf import ELBMF, Annealed, Asso, Printed
from elbmf.errors import InputError
from elbmf.estimators.schedule_flags import flat_parameters, parameters_from_flags
from elbmf.relaxation.regularizers import ELB, Bowl, Regularizer


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ({}, {}),
        ({"n_init": 3, "kappa": None}, {"n_init": 3}),
        ({"lam": 0.5}, {"schedule": Printed(0.01, 0.5, 1.02)}),
        ({"rate": 2, "beta": 0.5}, {"schedule": Printed(rate=2, beta=0.5)}),
        ({"beta": 0.5}, {"schedule": Annealed(beta=0.5)}),
        ({"step": "authors"}, {"schedule": Annealed(step="authors")}),
        ({"dtype": "float64"}, {"schedule": Annealed(dtype="float64")}),
        ({"prox": "paper"}, {"regularizer": ELB("paper")}),
        ({"regularizer": "bowl"}, {"regularizer": "bowl"}),
    ],
)
def test_flags_make_a_schedule_and_a_regularizer(flags, expected):
    made = parameters_from_flags(ELBMF, flags)
    assert made == expected
    model = ELBMF(**made)
    model._validate_params()
    flat = flat_parameters(model)
    for name, value in flags.items():
        assert flat[name] == value
    again = ELBMF(**parameters_from_flags(ELBMF, flat))
    assert again._relaxer.schedule == model._relaxer.schedule
    assert again._relaxer.regularizer == model._relaxer.regularizer


def test_what_no_flag_can_say_is_a_text():
    class Own(Regularizer):
        value = formula = None

    flat = flat_parameters(ELBMF(schedule=Printed(balance=True), regularizer=Own()))
    assert flat["schedule"] == "Printed(balance=True)"
    assert flat["regularizer"].endswith("Own")
    assert flat["kappa"] is None
    assert flat_parameters(ELBMF(regularizer=Bowl()))["regularizer"] == "bowl"


def test_other_methods_have_no_such_flags():
    assert parameters_from_flags(Asso, {"threshold": 0.5}) == {"threshold": 0.5}
    assert flat_parameters(Asso()) == Asso().get_params()


def test_a_proximal_operator_is_that_of_elb():
    with pytest.raises(InputError, match=r"prox='paper'.*regularizer='bowl'"):
        parameters_from_flags(ELBMF, {"regularizer": "bowl", "prox": "paper"})


def test_a_clone_has_the_same_schedule():
    model = ELBMF(schedule=Printed(0.1, beta=0.2), regularizer=ELB("paper"))
    assert clone(model).get_params() == model.get_params()
