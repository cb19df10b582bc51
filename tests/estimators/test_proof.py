"""What is proved of a result, and what is said and saved of it."""

from dataclasses import replace

import numpy as np
import pytest

from elbmf import ELBMF, MinimalCover, load_model, save_model
from elbmf.estimators.proof import proof
from elbmf.estimators.saving import saved_model
from elbmf.io.model_info import ModelInfo, StageCost, WeightedInfo

TABLE = np.array([[1, 1, 0, 0], [1, 1, 1, 1], [0, 0, 1, 1], [1, 0, 0, 1]], dtype=bool)


def noted(cost, least, **parameters):
    stages = [StageCost(stage="search", cost=cost)]
    return ModelInfo(parameters=parameters, stages=stages, cost_at_least=least)


@pytest.mark.parametrize(
    ("info", "components", "expected"),
    [
        (ModelInfo(), 5, ""),
        (ModelInfo(cost_at_least=3), 5, ""),
        (
            noted(1250, 1100),
            5,
            "No factorization with 5 components has fewer than 1,100 wrong cells; this one has "
            "1,250.",
        ),
        (
            noted(1, 1, extra_weight="inf"),
            1,
            "Proved: no factorization with 1 component that covers no zero has fewer than 1 wrong "
            "cell.",
        ),
        (
            replace(noted(9, 7), weighted=WeightedInfo(sides=["rows"], loss=9)),
            2,
            "No factorization with 2 components costs less than 7; this one costs 9.",
        ),
        (
            noted(9, 7, extra_weight=0.5),
            2,
            "No factorization with 2 components costs less than 3.5; this one costs 4.5.",
        ),
        (ModelInfo(components_at_least=1), 1, "Proved minimal: it takes 1 component."),
        (
            ModelInfo(components_at_least=1009),
            1431,
            "It takes at least 1,009 components; whether fewer than 1,431 are enough is not known.",
        ),
    ],
)
def test_it_is_said_what_nothing_undercuts(info, components, expected):
    assert proof(info, components) == expected


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (
            ELBMF(2, random_state=0),
            "Proved: no factorization with 2 components has fewer than 2 wrong cells.",
        ),
        (MinimalCover(random_state=0), "Proved minimal: it takes 3 components."),
    ],
)
def test_a_saved_result_tells_the_proof(model, expected, tmp_path):
    save_model(tmp_path / "result", saved_model(model.fit(TABLE)))
    saved = load_model(tmp_path / "result")
    assert proof(saved.info, saved.V.shape[0]) == expected


def test_nothing_is_said_where_nothing_is_known():
    model = ELBMF(2, effort=0, refine=False, random_state=0).fit(TABLE)
    assert saved_model(model).info.cost_at_least is None
