"""Fits that are interrupted anywhere, and go on from their checkpoints to the same bits."""

import errno
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elbmf import ELBMF, Primp, RankSearch, RoundedNMF
from elbmf.datasets import make_tiles
from elbmf.errors import FileFormatError, InputError
from elbmf.estimators.checkpoints import (
    Checkpoint,
    CheckpointFolder,
    OtherFitError,
    has_checkpoint,
    noted_fit,
    remove_checkpoint,
)
from elbmf.matrix.array_files import ArrayWriter
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.matrix.on_disk import store
from elbmf.relaxation.engines import open_engine
from elbmf.relaxation.half_step import Iterate
from elbmf.relaxation.regularizers import ELB
from elbmf.relaxation.schedules import Annealed, Printed
from elbmf.search.evolution import Search
from elbmf.search.local import LocalSearch
from elbmf.search.population import Population
from elbmf.search.portfolio import Portfolio
from epochs import ipalm
from strategies import boolean_arrays, examples, masked_arrays

TILES = make_tiles((70, 50), 5, height=(10, 20), noise=0.1, random_state=0).A


@pytest.fixture(autouse=True, scope="module")
def checkpoints_cost_nothing():
    """Nobody cuts the power here, and there are as many as asked for."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(os, "fsync", lambda descriptor: None)
        patched.setattr("elbmf.estimators.resuming._MOST_TIME", 1)
        yield


class Killed(Exception):
    """Ends a fit in the midst."""


def killing(at):
    """Return a callback that ends a fit when it is called for the so-and-so-many-th time."""
    calls = 0

    def callback(report):
        nonlocal calls
        calls += 1
        if calls == at:
            raise Killed

    return callback


def assert_same(model, expected):
    for name in ("components_", "membership_"):
        np.testing.assert_array_equal(getattr(model, name), getattr(expected, name))
    for name in ("stages_", "run_losses_", "n_iter_", "stop_reason_", "reconstruction_err_"):
        assert getattr(model, name) == getattr(expected, name)
    assert model.history_.keys() == expected.history_.keys()
    for name, values in expected.history_.items():
        assert model.history_[name].dtype == values.dtype
        if name != "seconds":
            np.testing.assert_array_equal(model.history_[name], values)
    assert (np.diff(model.history_.get("seconds", [])) >= 0).all()


@given(
    masked=masked_arrays(),
    with_missing=st.booleans(),
    k=st.integers(1, 9),
    beta=st.sampled_from([0.0, 0.9]),
    balance=st.booleans(),
    weight=st.sampled_from([1.0, 3.0]),
    dtype=st.sampled_from([np.float32, np.float64]),
    after=st.integers(1, 5),
    seed=st.integers(0, 99),
)
@examples(60)
def test_epochs_go_on_from_their_iterates(
    masked, with_missing, k, beta, balance, weight, dtype, after, seed
):
    A = BooleanMatrix.from_array(masked[0], missing=masked[1] if with_missing else None)
    generator = np.random.default_rng(seed)
    U, Vt = (Iterate(generator.random((length, k))) for length in A.shape)
    options = {
        "schedule": Annealed(9),
        "regularizer": ELB(),
        "beta": beta,
        "balance": balance,
        "dtype": dtype,
    }

    def seen(state):
        copies = [np.array(each) for each in (state.U, state.Vt)]
        return (*copies, state.loss, state.gap, state.flips, state.lam, state.iteration)

    def copied(iterate):
        previous = None if iterate.previous is None else np.array(iterate.previous[:])
        return Iterate(np.array(iterate.current[:]), previous)

    with open_engine(A, weight) as engine:
        expected = []
        for state in ipalm(engine, U, Vt, **options):
            expected.append(seen(state))
            if state.iteration == after:
                kept = [copied(iterate) for iterate in state.iterates]
            if state.iteration == 9:
                break
    with open_engine(A, weight) as engine:
        epochs = ipalm(engine, *kept, **options, epoch=after)
        for before in expected[after:]:
            for value, same in zip(seen(next(epochs)), before, strict=True):
                np.testing.assert_array_equal(value, same)


@given(A=boolean_arrays(), k=st.integers(2, 5), at=st.floats(0, 1), seed=st.integers(0, 99))
@examples(15)
def test_a_search_goes_on_from_any_place(A, k, at, seed):
    local = LocalSearch(BooleanMatrix.from_array(A))
    n, m = A.shape
    start = np.random.default_rng(seed)
    U, V = start.random((n, k)) < 0.3, start.random((k, m)) < 0.3
    generator, places = np.random.default_rng(seed), []

    def keep(place):
        places.append((*place.to_arrays(), generator.bit_generator.state))

    factors = local.pack(U, V)
    local.descend(factors)
    with Search(local, k, generator, 2e7) as search:
        expected = search.improve([factors], keep)
        work = search.work
    if not places:
        return
    facts, arrays, state = places[round(at * (len(places) - 1))]
    generator.bit_generator.state = state
    with Search(local, k, generator, 2e7) as search:
        found = search.improve(Population.from_arrays(json.loads(json.dumps(facts)), arrays))
        assert search.work == work
    assert found.cost == expected.cost
    for one, other in zip(found.to_arrays(), expected.to_arrays(), strict=True):
        np.testing.assert_array_equal(one, other)


@given(A=boolean_arrays(), k=st.integers(2, 5), at=st.integers(1, 30), seed=st.integers(0, 99))
@examples(15)
def test_a_search_that_was_told_to_end_goes_on(A, k, at, seed):
    """Where it is then is not where it was when it last said so: a round has been done since."""
    local = LocalSearch(BooleanMatrix.from_array(A))
    n, m = A.shape
    start = np.random.default_rng(seed)
    factors = local.pack(start.random((n, k)) < 0.3, start.random((k, m)) < 0.3)
    with Search(local, k, np.random.default_rng(seed), 2e7) as search:
        expected = search.improve([factors])
        work = search.work
    generator, places, calls = np.random.default_rng(seed), [], []

    def keep(place):
        places[:] = [place, generator.bit_generator.state]

    def end(cost, progress):
        calls.append(cost)
        return len(calls) > at

    with Search(local, k, generator, 2e7, end) as search:
        search.improve([factors], keep)
    if not places:
        return
    generator.bit_generator.state = places[1]
    with Search(local, k, generator, 2e7) as search:
        found = search.improve(Population.from_arrays(*places[0].to_arrays()))
        assert search.work == work
    assert found.cost == expected.cost


FITS = {
    "elbmf": (ELBMF, {"max_iter": 30}),
    "float64, full trace": (
        ELBMF,
        {"max_iter": 30, "schedule": Annealed(dtype="float64"), "trace": "full"},
    ),
    "weighted, n_init": (ELBMF, {"max_iter": 20, "extra_weight": 2, "n_init": 3}),
    "printed, not refined": (
        ELBMF,
        {"max_iter": 20, "schedule": Printed(rate=1.3), "refine": False, "n_init": 2},
    ),
    "from below": (ELBMF, {"max_iter": 20, "extra_weight": np.inf, "init": "random"}),
    "primp": (Primp, {"max_iter": 30, "refine": True}),
    "rounded nmf": (RoundedNMF, {"max_iter": 30, "trace": "full"}),
}


@pytest.fixture(params=FITS.values(), ids=FITS, scope="module")
def fit(request):
    """A method and its parameters, an unbroken fit, and how often that calls back."""
    method, parameters = request.param
    missing = np.random.default_rng(0).random(TILES.shape) < 0.05
    reports = []
    make = lambda **more: method(5, random_state=0, **{**parameters, **more})  # noqa: E731
    return make, missing, make(callback=reports.append).fit(TILES, missing=missing), reports


@pytest.mark.filterwarnings("ignore:Stopped after")
@given(data=st.data())
@examples(4)
def test_a_fit_that_is_killed_anywhere_goes_on_to_the_same_end(fit, tmp_path_factory, data):
    make, missing, expected, reports = fit
    folder = tmp_path_factory.mktemp("checkpoint")
    every = data.draw(st.integers(1, 12))
    # Killed twice: it also goes on from where a resumed fit was.
    for most in (len(reports), len(reports) // 2):
        at = data.draw(st.integers(1, most))
        model = make(callback=killing(at), checkpoint=folder, checkpoint_every=every)
        with suppress(Killed):
            model.fit(TILES, missing=missing)
    model = make(checkpoint=folder, checkpoint_every=every)
    assert_same(model.fit(TILES, missing=missing), expected)
    # Once it has ended, the same fit is there at once.
    assert_same(model.set_params(callback=killing(1)).fit(TILES, missing=missing), expected)


def killed(folder, at, **parameters):
    """Leave the checkpoint of a fit in a folder."""
    model = ELBMF(5, max_iter=30, checkpoint=folder, checkpoint_every=5, random_state=0)
    with pytest.raises(Killed):
        model.set_params(callback=killing(at), **parameters).fit(TILES)


def resumed(folder, **parameters):
    """Go on with it; return the model and the reports."""
    reports = []
    model = ELBMF(5, max_iter=30, checkpoint=folder, checkpoint_every=5, random_state=0)
    return model.set_params(callback=reports.append, **parameters).fit(TILES), reports


@pytest.fixture(scope="module")
def unbroken():
    reports = []
    model = ELBMF(5, max_iter=30, random_state=0, callback=reports.append).fit(TILES)
    return model, reports


def test_no_epoch_is_done_twice_that_is_kept(tmp_path, unbroken):
    killed(tmp_path, at=13)
    _, reports = resumed(tmp_path)
    assert reports[0].iteration == 11
    assert len(reports) == len(unbroken[1]) - 10


def test_a_seed_that_was_drawn_is_kept(tmp_path):
    killed(tmp_path, at=2, random_state=None)
    (path,) = tmp_path.glob("*.json")
    generator = np.random.default_rng()
    generator.bit_generator.state = json.loads(path.read_text())["facts"]["generator"]
    found, reports = resumed(tmp_path, random_state=None)
    expected = ELBMF(5, max_iter=30)._factorize(BooleanMatrix.from_array(TILES), generator)
    np.testing.assert_array_equal(found.history_["gap"], expected.history["gap"])
    # A fit without a seed that has ended is not the same as the next one without a seed.
    reports.clear()
    found.fit(TILES)
    assert reports[0].iteration == 1


def test_a_random_state_that_moves_on_is_another_seed(tmp_path):
    state = np.random.RandomState(0)
    killed(tmp_path, at=20, random_state=state)
    with pytest.raises(OtherFitError, match="random_state"):
        resumed(tmp_path, random_state=state)
    _, reports = resumed(tmp_path, random_state=np.random.RandomState(0))
    assert reports[0].iteration > 1


@pytest.mark.parametrize("at", [3, 12, 10**6])
def test_what_a_callback_has_ended_goes_on(tmp_path, unbroken, at):
    expected, reports = unbroken
    at = min(at, len(reports) - 1)
    calls = []

    def end(report):
        calls.append(report)
        return len(calls) == at

    model = ELBMF(5, max_iter=30, checkpoint=tmp_path, random_state=0, callback=end).fit(TILES)
    assert model.stop_reason_ == "callback"
    model, left = resumed(tmp_path)
    assert_same(model, expected)
    if reports[at].stage == "epoch":
        assert len(left) == len(reports) - at


def test_what_led_to_a_search_is_not_done_again(tmp_path, unbroken, monkeypatch):
    expected, reports = unbroken
    killed(tmp_path, at=len(reports) - 1)
    for name in ("begin", "take"):
        monkeypatch.delattr(Portfolio, name)
    assert_same(resumed(tmp_path)[0], expected)


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"tol": 1e-3}, "tol"),
        ({"n_components": 4}, "n_components"),
        ({"random_state": 1, "effort": 2.0}, "effort, random_state"),
        ({"init": (np.ones((70, 5)), np.ones((5, 50)))}, "init"),
    ],
)
def test_a_folder_of_another_fit_is_an_error(tmp_path, parameters, said):
    killed(tmp_path, at=20)
    with pytest.raises(OtherFitError, match=rf"\(other {said}\).*choose another folder, or remove"):
        resumed(tmp_path, **parameters)


def test_a_folder_of_other_data_is_an_error(tmp_path):
    killed(tmp_path, at=20)
    model = ELBMF(5, max_iter=30, checkpoint=tmp_path, checkpoint_every=5, random_state=0)
    with pytest.raises(OtherFitError, match=r"\(other data\)"):
        model.fit(TILES[:-1])


def test_threads_and_other_immaterial_things_may_change(tmp_path, unbroken):
    killed(tmp_path, at=20, n_jobs=1)
    assert_same(resumed(tmp_path, n_jobs=2, checkpoint_every=3, binarize=0.5)[0], unbroken[0])


def test_a_fit_from_the_disk_goes_on_in_memory_and_back(tmp_path, unbroken):
    killed(tmp_path, at=12, memory_limit=1000)
    killed(tmp_path, at=12)
    assert_same(resumed(tmp_path, memory_limit=1000)[0], unbroken[0])


@pytest.mark.filterwarnings("ignore:Stopped after")
def test_given_factors_and_functions_are_known_again(tmp_path):
    start = np.full((70, 5), 0.3), np.full((5, 50), 0.3)

    def rate(t):
        return 1.2**t

    killed(tmp_path, at=12, init=start, schedule=Printed(rate=rate))
    start = tuple(factor.copy() for factor in start)
    _, reports = resumed(tmp_path, init=start, schedule=Printed(rate=rate))
    assert reports[0].iteration == 11


@pytest.mark.filterwarnings("ignore:Stopped after")
@pytest.mark.parametrize(
    ("other", "named"),
    [
        ({"schedule": Printed(rate=1.1)}, "rate"),
        ({"schedule": Printed(rate=1.2, balance=True)}, "schedule"),
        ({"schedule": None}, "rate"),
        ({"regularizer": ELB("paper")}, "prox"),
        ({"regularizer": "bowl"}, "regularizer"),
    ],
)
def test_another_schedule_or_regularizer_is_another_fit(tmp_path, other, named):
    killed(tmp_path, at=12, schedule=Printed(rate=1.2))
    with pytest.raises(OtherFitError, match=named):
        resumed(tmp_path, **{"schedule": Printed(rate=1.2)} | other)


def test_another_fit_takes_over_a_folder_whose_fit_has_ended(tmp_path, unbroken):
    resumed(tmp_path, max_iter=10)
    assert has_checkpoint(tmp_path)
    assert_same(resumed(tmp_path)[0], unbroken[0])
    remove_checkpoint(tmp_path)
    assert not tmp_path.exists()


def test_a_full_disk_does_not_end_a_fit(tmp_path, unbroken, monkeypatch):
    killed(tmp_path, at=12)
    before = sorted(path.name for path in tmp_path.iterdir())

    def full(self, entries):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(ArrayWriter, "write", full)
        with pytest.warns(UserWarning, match="No space left.*The fit goes on") as warnings:
            model, _ = resumed(tmp_path)
    assert len(warnings) == 1
    assert_same(model, unbroken[0])
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    model, reports = resumed(tmp_path)
    assert reports[0].iteration == 11
    assert_same(model, unbroken[0])


def test_a_damaged_checkpoint_is_told_and_the_one_before_is_used(tmp_path, unbroken):
    killed(tmp_path, at=18)
    newest = max(tmp_path.glob("*.json"), key=lambda path: int(path.stem.split("-")[1]))
    content = newest.read_bytes()
    newest.write_bytes(content[: len(content) // 2])
    with pytest.warns(UserWarning, match="goes on from the one before") as warnings:
        model, reports = resumed(tmp_path)
    assert newest.name in str(warnings[0].message)
    assert reports[0].iteration == 11
    assert_same(model, unbroken[0])


def test_time_counts_over_all_sessions(tmp_path):
    killed(tmp_path, at=20, time_limit=0.3)
    for path in tmp_path.glob("*.json"):
        assert json.loads(path.read_text())["facts"]["seconds"] > 0
    time.sleep(0.01)
    model, reports = resumed(tmp_path, time_limit=0.3)
    assert model.history_["seconds"][-1] <= reports[-1].seconds
    assert (np.diff([report.seconds for report in reports if report.run == 1]) >= 0).all()


def test_the_steps_to_the_best_number_of_components_are_kept(tmp_path):
    A = TILES[:30, :20]
    reports = []
    parameters = {"max_iter": 20, "effort": 0.1}
    expected = ELBMF("auto", **parameters, random_state=0, callback=reports.append).fit(A)
    at = 2 * len(reports) // 3
    model = ELBMF("auto", **parameters, random_state=0, checkpoint=tmp_path, callback=killing(at))
    with pytest.raises(Killed):
        model.fit(A)
    left = []
    model.set_params(callback=left.append).fit(A)
    assert len(left) < len(reports) - at / 2
    np.testing.assert_array_equal(model.components_, expected.components_)
    np.testing.assert_array_equal(model.membership_, expected.membership_)
    left.clear()
    model.fit(A)
    assert not left
    assert {path.name.partition("-")[0] for path in tmp_path.iterdir()} == {"checkpoint"}


def test_a_search_over_ranks_leaves_the_checkpoint_of_its_method_alone(tmp_path):
    method = ELBMF(max_iter=10, effort=0.1, checkpoint=tmp_path / "kept", random_state=0)
    RankSearch(method, 3).fit(TILES[:30, :20])
    assert not (tmp_path / "kept").exists()


def test_a_stored_matrix_is_told_by_its_checksums(tmp_path):
    A = BooleanMatrix.from_array(TILES)
    one, same = store(A, tmp_path / "one"), store(A, tmp_path / "same")
    other = store(BooleanMatrix.from_array(TILES[:, ::-1]), tmp_path / "other")
    assert one.fingerprint() == same.fingerprint() != other.fingerprint()
    assert one.fingerprint() == A.fingerprint()
    for path in (tmp_path / "one").glob("*.npy"):
        os.truncate(path, 0)  # They are not read.
    assert one.fingerprint() == same.fingerprint()


class SlicedRows:
    """Rows that lie elsewhere: a few of them can be had at a time."""

    def __init__(self, values):
        self._values = values
        self.shape = values.shape

    def __getitem__(self, rows):
        assert isinstance(rows, slice)
        assert rows.stop - rows.start <= 1 << 18
        return self._values[rows]


def example(number):
    generator = np.random.default_rng(number)
    rows = generator.random((1000, 3)).astype(np.float32)
    facts = {"finished": False, "number": number, "infinite": float("inf")}
    return Checkpoint(facts, {"U": SlicedRows(rows), "bits": np.arange(number + 9, dtype=np.uint8)})


def assert_is_example(checkpoint, number):
    expected = example(number)
    assert checkpoint.facts == expected.facts
    assert checkpoint.arrays.keys() == expected.arrays.keys()
    for name, rows in expected.arrays.items():
        found = checkpoint.arrays[name]
        whole = rows[0 : rows.shape[0]]
        assert found.dtype == whole.dtype
        np.testing.assert_array_equal(found, whole)


def with_examples(folder, *numbers):
    kept = CheckpointFolder(folder, {"data": "x", "k": 3})
    for number in numbers:
        kept.write(example(number))
    return kept


def test_the_last_two_checkpoints_are_there(tmp_path):
    (tmp_path / "other.txt").write_text("not ours")
    assert CheckpointFolder(tmp_path, {}).read() is None
    with_examples(tmp_path, 1, 2, 3, 4)
    assert len(list(tmp_path.glob("checkpoint-*.json"))) == 2
    assert len(list(tmp_path.glob("checkpoint-*"))) == 6
    assert_is_example(with_examples(tmp_path).read(), 4)
    assert noted_fit(tmp_path) == {"data": "x", "k": 3}
    remove_checkpoint(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["other.txt"]


def test_rows_are_written_block_by_block(tmp_path):
    values = np.arange(2_000_000, dtype=np.float32).reshape(-1, 5)
    kept = CheckpointFolder(tmp_path, {})
    kept.write(Checkpoint({"finished": False}, {"U": SlicedRows(values)}))
    np.testing.assert_array_equal(kept.read().arrays["U"], values)
    np.testing.assert_array_equal(np.load(next(tmp_path.glob("*.npy"))), values)


@given(data=st.data())
@examples(60)
def test_any_damage_is_seen(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("damaged")
    with_examples(folder, 1, 2)
    path = data.draw(st.sampled_from(sorted(folder.glob("checkpoint-2*"))))
    content = bytearray(path.read_bytes())
    at = data.draw(st.integers(0, len(content) - 1))
    how = data.draw(st.sampled_from(["truncated", "flipped", "removed"]))
    if how == "truncated":
        path.write_bytes(content[:at])
    elif how == "removed":
        path.unlink()
    else:
        content[at] ^= 1 << data.draw(st.integers(0, 7))
        path.write_bytes(content)
    found = with_examples(folder).read()
    if path.suffix == ".json" and how == "removed":
        assert_is_example(found, 1)
    elif found.damage:
        assert_is_example(found, 1)
        assert path.name in found.damage
    else:
        # The header of an array ends in spaces that say nothing.
        assert path.suffix == ".npy"
        assert how == "flipped"
        assert at < 128
        assert_is_example(found, 2)


def test_where_all_are_damaged_nothing_is_guessed(tmp_path):
    with_examples(tmp_path, 1, 2)
    for path in tmp_path.glob("*.U.npy"):
        path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(
        FileFormatError, match=r"no checkpoint in it can be used.*truncated.*Remove"
    ):
        with_examples(tmp_path).read()


@pytest.mark.parametrize("after", range(4))
def test_what_cannot_be_written_leaves_nothing(tmp_path, monkeypatch, after):
    kept = with_examples(tmp_path, 1, 2)
    before = sorted(tmp_path.iterdir())
    fsync, calls = os.fsync, []

    def full(descriptor):
        calls.append(descriptor)
        if len(calls) > after:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        fsync(descriptor)

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space"):
            kept.write(example(3))
    assert sorted(tmp_path.iterdir()) == before
    assert_is_example(with_examples(tmp_path).read(), 2)
    kept.write(example(4))
    assert_is_example(with_examples(tmp_path).read(), 4)
    assert len(list(tmp_path.glob("checkpoint-*.json"))) == 2


def test_what_a_killed_process_leaves_is_cleared_away(tmp_path):
    kept = with_examples(tmp_path, 1, 2)
    (tmp_path / "checkpoint-3.U.npy").write_bytes(b"half of it")
    (tmp_path / "checkpoint-3.json.part").write_bytes(b"{")
    kept = with_examples(tmp_path)
    assert_is_example(kept.read(), 2)
    kept.write(example(3))
    assert not list(tmp_path.glob("checkpoint-3.*"))
    assert_is_example(with_examples(tmp_path).read(), 3)


def test_a_place_that_cannot_be_written_is_told_at_once(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"cannot be written.*Choose another folder"):
        ELBMF(2, checkpoint=tmp_path / "file" / "kept").fit(TILES)


def test_a_newer_version_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr("elbmf.estimators.checkpoints._VERSION", 2)
    with_examples(tmp_path, 1)
    monkeypatch.undo()
    with pytest.raises(InputError, match=r"version 2.*Install a newer elbmf"):
        with_examples(tmp_path).read()


SCRIPT = """
import os, signal, sys
import numpy as np
from elbmf import ELBMF

def kill(state):
    if sys.argv[3] == str(state.iteration):
        os.kill(os.getpid(), signal.SIGKILL)

A = np.random.default_rng(0).random((200, 100)) < 0.1
model = ELBMF(8, max_iter=200, effort=0.05, random_state=0)
model.set_params(checkpoint=sys.argv[1], checkpoint_every=5, callback=kill).fit(A)
np.savez(sys.argv[2], U=model.membership_, V=model.components_)
"""


@pytest.mark.slow
def test_a_process_that_is_killed_goes_on(tmp_path):
    package = str(Path(sys.modules["elbmf"].__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": package}

    def run(folder, result, killed_at):
        arguments = [sys.executable, "-c", SCRIPT, folder, result, str(killed_at)]
        return subprocess.run(arguments, env=environment).returncode

    kept = tmp_path / "kept"
    assert run(kept, tmp_path / "never.npz", 12) == -signal.SIGKILL
    assert not (tmp_path / "never.npz").exists()
    assert has_checkpoint(kept)
    assert run(kept, tmp_path / "resumed.npz", None) == 0
    A = np.random.default_rng(0).random((200, 100)) < 0.1
    expected = ELBMF(8, max_iter=200, effort=0.05, random_state=0).fit(A)
    with np.load(tmp_path / "resumed.npz") as found:
        np.testing.assert_array_equal(found["U"], expected.membership_)
        np.testing.assert_array_equal(found["V"], expected.components_)
