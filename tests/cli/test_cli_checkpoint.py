"""``elbmf fit --checkpoint DIR --resume``: fits that go on from where they were."""

import json
import signal
from pathlib import Path

import pytest

from elbmf.cli.progress import ProgressLine
from elbmf.estimators.checkpoints import has_checkpoint
from elbmf.io import load_model

KEPT = ["--checkpoint", "kept", "--every", 1]
FIT = ["fit", "tiles.csv", "-k", 2, "--max-iter", 20, "-o", "model"]


class Killed(BaseException):
    """Ends the command as a signal would."""


@pytest.fixture
def kill(monkeypatch, elbmf):
    """Run a command that is killed after some epochs."""

    def run(*arguments, after=4):
        seen = []

        def count(progress, report):
            seen.append(report)
            if len(seen) == after:
                raise Killed

        with monkeypatch.context() as patched:
            patched.setattr(ProgressLine, "fit", count)
            # As many checkpoints as asked for, whatever they take.
            patched.setattr("elbmf.estimators.resuming._MOST_TIME", 1)
            with pytest.raises(Killed):
                elbmf(*arguments)

    return run


def factors(folder):
    model = load_model(folder)
    return model.U, model.V


def assert_same_factors(folder, other):
    for one, two in zip(factors(folder), factors(other), strict=True):
        assert (one != two).nnz == 0


def test_a_killed_fit_is_resumed_to_the_same_result(elbmf, kill):
    assert elbmf(*FIT[:-1], "unbroken", "--seed", 3).code == 0
    kill(*FIT, "--seed", 3, *KEPT)
    assert has_checkpoint(Path("kept"))
    assert not Path("model").exists()
    assert elbmf(*FIT, "--seed", 3, *KEPT, "--resume").code == 0
    assert_same_factors("model", "unbroken")
    # The result is saved: nothing is left, and the next fit is a new one.
    assert not Path("kept").exists()
    noted = load_model("model").info.parameters
    assert not {"checkpoint", "checkpoint_every"} & noted.keys()


def test_a_seed_that_was_drawn_need_not_be_given_again(elbmf, kill):
    kill(*FIT, *KEPT)
    note = max(Path("kept").glob("*.json"))
    seed = json.loads(note.read_text())["fit"]["random_state"]
    assert elbmf(*FIT, *KEPT, "--resume", "--json").json["seed"] == seed
    assert elbmf(*FIT[:-1], "unbroken", "--seed", seed).code == 0
    assert_same_factors("model", "unbroken")


def test_without_resume_an_earlier_fit_is_not_touched(elbmf, kill):
    kill(*FIT, "--seed", 3, *KEPT)
    before = sorted(Path("kept").iterdir())
    said = ("kept: has the checkpoint of a fit", "--resume", "--checkpoint", "--overwrite")
    elbmf(*FIT, "--seed", 3, *KEPT).assert_error(*said)
    assert sorted(Path("kept").iterdir()) == before
    assert elbmf(*FIT, "--seed", 3, *KEPT, "--overwrite").code == 0


def test_another_fit_is_told_in_flags(elbmf, kill):
    kill(*FIT, "--seed", 3, *KEPT)
    other = elbmf(*FIT, "--seed", 4, "--tol", 0.1, *KEPT, "--resume")
    other.assert_error("kept: has the checkpoint of another fit", "--seed, --tol", "--overwrite")
    Path("tiles.csv").write_text(Path("tiles.csv").read_text().replace("1,1,0,0,0", "1,0,0,0,0", 1))
    elbmf(*FIT, "--seed", 3, *KEPT, "--resume").assert_error("with other data.")


def test_what_is_damaged_is_told_with_what_to_type(elbmf, kill):
    kill(*FIT, "--seed", 3, *KEPT)
    for path in Path("kept").glob("*.json"):
        path.write_text("{}")
    result = elbmf(*FIT, "--seed", 3, *KEPT, "--resume")
    result.assert_error("no checkpoint in it can be used", "is damaged", "--overwrite")
    assert elbmf(*FIT, "--seed", 3, *KEPT, "--overwrite").code == 0


def test_a_damaged_checkpoint_is_a_warning_where_there_is_another(elbmf, kill):
    assert elbmf(*FIT[:-1], "unbroken", "--seed", 3).code == 0
    kill(*FIT, "--seed", 3, *KEPT)
    newest = max(Path("kept").glob("*.json"), key=lambda path: int(path.stem.split("-")[1]))
    newest.write_text("{}")
    result = elbmf(*FIT, "--seed", 3, *KEPT, "--resume")
    assert result.code == 0
    assert "The last checkpoint cannot be used" in result.err
    assert_same_factors("model", "unbroken")


def test_a_result_that_was_not_saved_is_there_at_once(elbmf, kill, monkeypatch):
    def fail(*arguments, **options):
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr("elbmf.cli.running.fit.save", fail)
        with pytest.raises(Killed):
            elbmf(*FIT, *KEPT)
    with monkeypatch.context() as patched:
        patched.setattr(ProgressLine, "fit", fail)
        assert elbmf(*FIT, *KEPT, "--resume").code == 0


def test_resume_may_be_said_from_the_beginning(elbmf):
    result = elbmf(*FIT, *KEPT, "--resume")
    assert result.code == 0
    assert "no checkpoint yet" in result.err


def test_flags_that_make_no_sense(elbmf):
    elbmf(*FIT, "--resume").assert_error("--resume", "--checkpoint DIR")
    elbmf(*FIT, "--checkpoint", "model").assert_error("cannot be in the same folder")
    elbmf("fit", "tiles.csv", "-k", 2, "-o", "model", "--checkpoint", "tiles.csv").assert_error(
        "tiles.csv: checkpoints cannot be written there"
    )
    Path("p.toml").write_text("checkpoint = 'kept'")
    elbmf("rank", "tiles.csv", "--config", "p.toml").assert_error("checkpoint", "Leave it out")


def test_the_number_of_components_is_looked_for_step_by_step(elbmf, kill):
    auto = ["fit", "tiles.csv", "-k", "auto", "--max-iter", 10, "-o"]
    assert elbmf(*auto, "unbroken", "--seed", 1).code == 0
    kill(*auto, "model", *KEPT, "--seed", 1, after=25)
    assert elbmf(*auto, "model", *KEPT, "--seed", 1, "--resume").code == 0
    assert_same_factors("model", "unbroken")
    assert not Path("kept").exists()


def test_ctrl_c_leaves_a_checkpoint(elbmf, monkeypatch):
    assert elbmf(*FIT[:-1], "unbroken", "--seed", 3).code == 0
    with monkeypatch.context() as patched:
        progress = ProgressLine.fit

        def interrupted(self, report):
            progress(self, report)
            if self.iterations == 4:
                signal.raise_signal(signal.SIGINT)

        patched.setattr(ProgressLine, "fit", interrupted)
        result = elbmf(*FIT, "--seed", 3, *KEPT)
    assert result.code == 130
    assert "The same command with --resume --overwrite goes on from there" in result.err
    assert has_checkpoint(Path("kept"))
    elbmf(*FIT, "--seed", 3, *KEPT, "--resume").assert_error("model", "--overwrite")
    assert elbmf(*FIT, "--seed", 3, *KEPT, "--resume", "--overwrite").code == 0
    assert_same_factors("model", "unbroken")
