"""Steps of a search with other content: done again where they cannot be, and told where not."""

import json

import numpy as np
import pytest

from elbmf.errors import FileFormatError
from elbmf.ranks.path import Factors, PathStep
from elbmf.ranks.step_folder import OtherSearchError, StepFolder
from forging import forge_npz

STEP = PathStep("fit", 0, 2)
FACTORS = Factors(np.eye(9, 2, dtype=bool), np.eye(2, 7, dtype=bool), 5)


def test_forged_steps_are_there_or_not(tmp_path):
    steps = StepFolder(tmp_path, {"data": "x"})
    for seed in range(80):
        steps[STEP] = FACTORS
        forge_npz(np.random.default_rng(seed), tmp_path / "fit-0-2.npz")
        found = steps.get(STEP)
        if found is not None:
            assert found.U.shape[1] == found.V.shape[0]
    (tmp_path / "fit-x-2.npz").touch()
    assert list(steps) == [STEP]


@pytest.mark.parametrize("text", ["", "[" * 3000, "1" * 5000, '"\\ud800"', "\x80"])
def test_notes_that_are_none_are_told(tmp_path, text):
    StepFolder(tmp_path, {"data": "x"}).remember_seed(7)
    (tmp_path / "seed.json").write_text(text)
    with pytest.raises(FileFormatError, match=r"seed\.json: .*Choose another folder"):
        StepFolder(tmp_path, {"data": "x"}).remember_seed(7)
    (tmp_path / "search.json").write_text(text)
    with pytest.raises(OtherSearchError, match=r"\(other data\)"):
        StepFolder(tmp_path, {"data": "x"})


@pytest.mark.parametrize("seed", [None, "7", 7.5, -1, True, [7]])
def test_a_seed_is_a_whole_number(tmp_path, seed):
    StepFolder(tmp_path, {}).remember_seed(7)
    (tmp_path / "seed.json").write_text(json.dumps(seed))
    with pytest.raises(FileFormatError, match=r"seed\.json: expected a seed, found"):
        StepFolder(tmp_path, {}).remember_seed(7)


@pytest.mark.parametrize("note", [[], 3, {"data": 4}])
def test_notes_of_others_are_told(tmp_path, note):
    StepFolder(tmp_path, {"data": "x"})
    (tmp_path / "search.json").write_text(json.dumps(note))
    with pytest.raises(OtherSearchError, match=r"\(other data\)"):
        StepFolder(tmp_path, {"data": "x"})
