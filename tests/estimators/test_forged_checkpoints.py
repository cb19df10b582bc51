"""Checkpoints with wrong content and right checksums: told, or gone on from, and never more."""

import json
import shutil
from contextlib import suppress

import numpy as np
import pytest

from elbmf import ELBMF
from elbmf.datasets import make_tiles
from elbmf.errors import FileFormatError
from elbmf.estimators.checkpoints import DamagedCheckpointError, OtherFitError
from forging import checksum, forge_checkpoint

TABLE = make_tiles((30, 24), 4, height=(5, 9), noise=0.1, random_state=0).A

FITS = {
    "epochs": ({"checkpoint_every": 2}, 7),
    "runs": ({"checkpoint_every": 2, "n_init": 3, "extra_weight": 2}, 20),
    "search": ({"checkpoint_every": 1, "effort": 1.0}, -3),
    "ended": ({}, None),
}


class Killed(Exception):
    """Ends a fit in the midst."""


def fit(name, folder):
    options = {"max_iter": 15, "effort": 0.1, "random_state": 0, **FITS[name][0]}
    return ELBMF(4, checkpoint=folder, **options)


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """Return checkpoints of several kinds."""
    place = tmp_path_factory.mktemp("kept")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("elbmf.estimators.resuming._MOST_TIME", 1)
        for name, (_, at) in FITS.items():
            calls = []
            fit(name, place / "whole").set_params(callback=calls.append).fit(TABLE)
            shutil.rmtree(place / "whole", ignore_errors=True)
            last = None if at is None else at % len(calls)
            left = iter(range(len(calls) + 1))

            def kill(report, left=left, last=last):
                if next(left) == last:
                    raise Killed

            try:
                fit(name, place / name).set_params(callback=kill).fit(TABLE)
            except Killed:
                continue
            assert at is None
    return place


def note_of(folder):
    """Return the last note of a folder, of which the others are removed."""
    *former, last = sorted(folder.glob("*.json"), key=lambda path: int(path.stem[11:]))
    for path in former:
        path.unlink()
    return last


def copied(kept, name, tmp_path):
    shutil.rmtree(tmp_path / "kept", ignore_errors=True)
    return shutil.copytree(kept / name, tmp_path / "kept")


@pytest.mark.parametrize("name", FITS)
def test_forgeries_are_told_or_gone_on_from(kept, tmp_path, name):
    for seed in range(25):
        folder = copied(kept, name, tmp_path)
        forge_checkpoint(np.random.default_rng(seed), folder)
        model = fit(name, folder)
        with suppress(FileFormatError, OtherFitError):
            model.fit(TABLE)
            assert model.membership_.shape[0] == TABLE.shape[0]
            assert model.components_.shape[1] == TABLE.shape[1]


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("epochs", lambda facts: facts.update(epochs=1), "facts.epochs must be an object, found 1"),
        (
            "epochs",
            lambda facts: facts["epochs"].update(epoch=99),
            "facts.epochs.history must have 99 figures of each kind",
        ),
        ("epochs", lambda facts: facts["epochs"]["history"].pop("gap"), "of another fit than it"),
        (
            "epochs",
            lambda facts: facts["generator"].update(state=5),
            "facts.generator is no state of a random generator",
        ),
        ("search", lambda facts: facts["place"].reverse(), "facts.place must be|[0] must be"),
        (
            "search",
            lambda facts: facts["place"][1]["climbing"].append(99),
            "place names members or components that are not there",
        ),
        (
            "search",
            lambda facts: facts["place"].__setitem__(0, 9),
            "facts.place is of run 9, of",
        ),
        (
            "ended",
            lambda facts: facts["runs"][0].update(shape=[30, 4, 99]),
            "facts.runs is of 30×99 cells, not 30×24",
        ),
        (
            "ended",
            lambda facts: facts["runs"][0].update(shape=[30, 2, 24]),
            "are not all that is kept of them",
        ),
        ("ended", lambda facts: facts["runs"].clear(), "are not all that is kept of them"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(kept, tmp_path, name, change, said):
    folder = copied(kept, name, tmp_path)
    path = note_of(folder)
    content = json.loads(path.read_text())
    del content["crc32"]
    change(content["facts"])
    path.write_text(json.dumps({"crc32": checksum(content), **content}))
    with pytest.raises(DamagedCheckpointError) as error:
        fit(name, folder).fit(TABLE)
    assert any(each in str(error.value) for each in said.split("|"))


def test_a_forged_one_gives_way_to_the_one_before(kept, tmp_path):
    folder = copied(kept, "epochs", tmp_path)
    path = max(folder.glob("*.json"), key=lambda path: int(path.stem[11:]))
    content = json.loads(path.read_text())
    del content["crc32"]
    content["facts"]["work"] = -1
    path.write_text(json.dumps({"crc32": checksum(content), **content}))
    with pytest.warns(UserWarning, match=r"facts.work must be .* goes on from the one before"):
        model = fit("epochs", folder).fit(TABLE)
    expected = fit("epochs", None).fit(TABLE)
    np.testing.assert_array_equal(model.components_, expected.components_)
