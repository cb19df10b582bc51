"""elbmf rank: what it saves and prints, what it refuses, and how it goes on after Ctrl-C."""

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from elbmf import ELBMF, RankSearch
from elbmf.cli.progress import ProgressLine
from elbmf.cli.running import ranks as text
from elbmf.datasets import make_tiles
from elbmf.io import LabelledMatrix, load_model, read, write
from elbmf.io.model_info import RankChoice
from elbmf.ranks import path as ranks
from waiting import PATIENCE, wait_until

QUICK = ("--effort", 0.01, "--max-iter", 30)
RANK = ("rank", "groups.npz", "--max", 5, *QUICK)


@pytest.fixture(autouse=True)
def groups(tmp_path: Path) -> LabelledMatrix:
    """A matrix of three groups and some noise, in groups.npz."""
    A = make_tiles((60, 50), 3, height=(15, 20), noise=0.05, random_state=0).A
    data = LabelledMatrix(A, None, [f"c{j}" for j in range(50)])
    write(tmp_path / "groups.npz", data)
    return data


def _table(folder: str) -> dict[str, list[float]]:
    header, *lines = Path(folder, "ranks.tsv").read_text().splitlines()
    columns = zip(*([float(cell) for cell in line.split("\t")] for line in lines), strict=True)
    return dict(zip(header.split("\t"), map(list, columns), strict=True))


def test_saves_what_the_search_finds(elbmf: Any, groups: LabelledMatrix) -> None:
    result = elbmf(*RANK, "--seed", 0)
    assert result.code == 0
    assert result.err == "Saved to groups.ranks; groups.ranks/model has 3 components\n"
    expected = RankSearch(ELBMF(effort=0.01, max_iter=30, random_state=0), 5).fit(groups.values)
    table = _table("groups.ranks")
    assert list(table) == list(expected.table_)
    for name, values in expected.table_.items():
        np.testing.assert_array_equal(table[name], values)
    noted = json.loads(Path("groups.ranks/ranks.json").read_text())
    assert noted["table"]["loss"] == table["loss"]
    assert noted["choices"] == expected.choices_
    assert (noted["criterion"], noted["n_components"], noted["seed"]) == ("mdl", 3, 0)
    assert noted["method"] == "elbmf"
    assert noted["parameters"]["max_iter"] == 30
    assert noted["data"]["file"] == "groups.npz"
    assert set(noted["versions"]) == {"elbmf", "python", "numpy"}
    model = load_model("groups.ranks/model")
    np.testing.assert_array_equal(model.U.toarray(), expected.best_estimator_.membership_)
    np.testing.assert_array_equal(model.V.toarray(), expected.best_estimator_.components_)
    assert Path("groups.ranks/ranks.png").read_bytes().startswith(b"\x89PNG")


def test_the_model_is_one_like_those_of_fit(elbmf: Any) -> None:
    elbmf(*RANK, "-o", "out")
    found = elbmf("score", "out/model", "groups.npz", "--json").json
    assert found["measures"]["loss"] == _table("out")["loss"][3]
    text = elbmf("info", "out/model").out
    assert elbmf("info", "out").out == text
    assert elbmf("score", "out", "groups.npz", "--json").json == {**found, "result": "out"}
    assert "\n3 components chosen by description length (MDL) among ranks up to 5\n" in text
    assert "epochs" not in text
    assert "bits saved" in text
    info = load_model("out/model").info.to_json()
    assert info["rank_search"] == {"criterion": "mdl", "n_components": 3, "highest": 5}
    assert info["parameters"]["n_components"] == 3
    assert len(info["bits_saved"]) == 3


def test_prints_a_table_and_what_each_criterion_chooses(elbmf: Any) -> None:
    lines = elbmf(*RANK).out.splitlines()
    assert " ".join(lines[0].split()) == "rank loss relative loss MDL bits AIC Bai & Ng 1"
    assert [line.split()[0] for line in lines[1:7]] == list("012345")
    marked = [line.split()[0] for line in lines[1:7] if line.split()[3].endswith("*")]
    assert marked == ["3"]
    assert lines[4].split()[2] == f"{_table('groups.ranks')['relative_loss'][3]:.4f}"
    assert lines[7:9] == ["", "description length (MDL) chooses 3"]
    assert len(lines) == 8 + 6
    assert all(" chooses " in line for line in lines[8:])


def test_json_is_one_object(elbmf: Any) -> None:
    found = elbmf(*RANK, "--json").json
    assert found["output"] == "groups.ranks"
    assert found["n_components"] == 3
    assert found["table"]["rank"] == [0, 1, 2, 3, 4, 5]
    assert found["interrupted"] is False


def test_held_out_cells(elbmf: Any) -> None:
    result = elbmf(*RANK, "--holdout", 0.05, "--criterion", "held_out")
    assert result.code == 0
    assert result.out.splitlines()[0].endswith("held-out error")
    assert "\n\nerror on held-out cells chooses " in result.out
    assert "held_out" in _table("groups.ranks")


def test_a_criterion_that_has_no_column_gets_one(elbmf: Any) -> None:
    result = elbmf(*RANK, "--criterion", "bai_ng_3")
    assert "Bai & Ng 3" in result.out.splitlines()[0]
    assert "\n\nBai & Ng's third criterion chooses " in result.out


def test_not_every_rank(elbmf: Any) -> None:
    result = elbmf("rank", "groups.npz", "--max", 20, "--no-every", *QUICK)
    ranks_seen = _table("groups.ranks")["rank"]
    assert ranks_seen[-1] == 20
    assert len(ranks_seen) < 15
    assert f"{len(ranks_seen) - 1} ranks from 1 to 20 were looked at" in result.out
    assert "choose among those" in result.out


def test_says_that_the_best_rank_may_be_higher(elbmf: Any) -> None:
    result = elbmf("rank", "groups.npz", "--max", 2, *QUICK)
    assert "the best rank may be higher: try --max 4\n" in result.out
    # A matrix of 5 columns has no higher rank than 5.
    Path("full.csv").write_text(
        "\n".join(",".join("01"[i == j] * 1 for j in range(5)) for i in range(5))
    )
    result = elbmf("rank", "full.csv", "--no-header", "--criterion", "bai_ng_1", *QUICK)
    assert "Bai & Ng's first criterion chooses 5" in result.out
    assert "higher" not in result.out


def test_no_structure(elbmf: Any) -> None:
    noise = np.random.default_rng(0).random((40, 30)) < 0.5
    np.save("noise.npy", noise)
    result = elbmf("rank", "noise.npy", "--max", 3, *QUICK)
    assert result.code == 0
    assert "description length (MDL) chooses 0\n" in result.out
    assert "may hold no structure" in result.out
    assert load_model("noise.ranks/model").shape[1] == 1
    assert "no component at all chosen by" in elbmf("info", "noise.ranks/model").out


def test_the_name_of_the_folder(elbmf: Any, groups: LabelledMatrix) -> None:
    Path("deep").mkdir()
    write("deep/some.groups.csv.gz", groups)
    assert elbmf("rank", "deep/some.groups.csv.gz", "--max", 1, *QUICK).code == 0
    assert Path("some.groups.ranks/ranks.tsv").exists()


# --- parameters ---


@pytest.mark.parametrize("way", ["flag", "file"])
def test_a_number_of_components_is_refused(elbmf: Any, way: str) -> None:
    Path("p.toml").write_text("k = 3\n")
    given = ["-k", 3] if way == "flag" else ["--config", "p.toml"]
    elbmf("rank", "groups.npz", *given).assert_error("number of components (-k", "--max")
    assert "--n-components" not in elbmf("rank", "--help").out
    assert not Path("groups.ranks").exists()


@pytest.mark.parametrize(
    ("flags", "parts"),
    [
        (["--max", "0"], ["--max", "[1, inf)"]),
        (["--holdout", "1"], ["--holdout", "(0.0, 1.0)"]),
        (["--criterion", "taste"], ["--criterion", "mdl"]),
        (["--criterion", "held_out"], ["--criterion held_out", "set --holdout 0.1"]),
        (["--kappa", "-1"], ["--kappa"]),
        (["--plot", "ranks.odd"], ["ranks.odd", ".png", ".svg"]),
        (["--plot", "no/where.png"], ["no/where.png", "does not exist"]),
        (["--plot", "groups.npz.png", "--tsv"], ["--tsv"]),
    ],
)
def test_bad_parameters(elbmf: Any, flags: list[str], parts: list[str]) -> None:
    elbmf("rank", "groups.npz", *flags).assert_error(*parts)
    assert not Path("groups.ranks").exists()


def test_parameters_from_a_file_and_a_threshold(elbmf: Any, groups: LabelledMatrix) -> None:
    np.save("counts.npy", 3 * groups.values.toarray())
    Path("p.toml").write_text("effort = 0.01\nmax-iter = 30\nseed = 0\nbinarize = 2\n")
    assert elbmf("rank", "counts.npy", "--max", 5, "--config", "p.toml").code == 0
    assert elbmf(*RANK, "--seed", 0).code == 0
    assert _table("counts.ranks") == _table("groups.ranks")
    assert load_model("counts.ranks/model").info.parameters["binarize"] == 2


def test_a_word_for_the_threshold(elbmf: Any, groups: LabelledMatrix) -> None:
    np.save("counts.npy", 3 * groups.values.toarray())
    Path("p.toml").write_text("effort = 0.01\nmax-iter = 30\nseed = 0\nbinarize = 'quantile:0.9'\n")
    assert elbmf("rank", "counts.npy", "--max", 2, "--config", "p.toml").code == 0
    info = load_model("counts.ranks/model").info.to_json()
    assert info["parameters"]["binarize"] == "quantile:0.9"
    assert info["binarize_limits"] == [0.0] * groups.shape[1]
    assert info["data"]["ones"] == groups.values.sum()


# --- pictures ---


def test_a_picture_elsewhere(elbmf: Any) -> None:
    assert elbmf(*RANK, "--plot", "curve.svg").code == 0
    assert "<svg" in Path("curve.svg").read_text()
    assert not Path("groups.ranks/ranks.png").exists()


def test_without_matplotlib(elbmf: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    elbmf(*RANK, "--plot", "curve.png").assert_error("elbmf[plots]")
    result = elbmf(*RANK)
    assert result.code == 0
    assert "No picture: " in result.err
    assert "pip install 'matplotlib>=3.8' (that is elbmf[plots])" in result.err
    assert load_model("groups.ranks/model").shape[1] == 3


# --- folders ---


def test_a_finished_search_is_not_done_again(elbmf: Any, monkeypatch: Any) -> None:
    first = elbmf(*RANK)
    monkeypatch.setattr(ELBMF, "_factorize", lambda *_: pytest.fail("was done before"))
    assert elbmf(*RANK).out == first.out


@pytest.mark.parametrize(
    ("flags", "named"),
    [
        (["--max", 4], "--max"),
        (["--seed", 7], "--seed"),
        (["--criterion", "aic"], "--criterion"),
        (["--tol", 0.1, "--holdout", 0.1], "--holdout, --tol"),
    ],
)
def test_steps_of_another_search(elbmf: Any, flags: list[Any], named: str) -> None:
    elbmf("rank", "groups.npz", "--max", 2, *QUICK)
    before = _table("groups.ranks")
    other = ("rank", "groups.npz", "--max", 2, *QUICK, *flags)
    elbmf(*other).assert_error(f"groups.ranks: has another search, with other {named}. ", "-o")
    assert _table("groups.ranks") == before
    assert elbmf(*other, "--overwrite").code == 0
    assert elbmf(*other).code == 0


def test_steps_of_other_data(elbmf: Any) -> None:
    elbmf("rank", "groups.npz", "--max", 2, *QUICK, "-o", "out")
    other = elbmf("rank", "tiles.csv", "--max", 2, *QUICK, "-o", "out")
    other.assert_error("with other data. ", "--overwrite")


@pytest.mark.parametrize("content", ["", "[1, 2]", '{"data": 1}'])
def test_a_damaged_note_of_the_search(elbmf: Any, content: str) -> None:
    Path("out/steps").mkdir(parents=True)
    Path("out/steps/search.json").write_text(content)
    elbmf(*RANK, "-o", "out").assert_error("out: has another search, with other ", "data")
    assert elbmf(*RANK, "-o", "out", "--overwrite").code == 0


def test_a_damaged_step_is_done_again(elbmf: Any) -> None:
    first = elbmf(*RANK, "--seed", 0)
    Path("groups.ranks/steps/grow-1-2.npz").write_bytes(b"PK")
    assert elbmf(*RANK, "--seed", 0).out == first.out


def test_a_folder_of_something_else(elbmf: Any, monkeypatch: Any) -> None:
    Path("out/steps").mkdir(parents=True)
    kept = [Path("out/thesis.txt"), Path("out/steps/fit-1-2.npz")]
    for path in kept:
        path.write_text("years of work")
    elbmf(*RANK, "-o", "out").assert_error("out: the folder exists and is not empty")
    assert elbmf(*RANK, "-o", "out", "--overwrite").code == 0
    assert [path.read_text() for path in kept] == ["years of work"] * 2
    elbmf(*RANK, "-o", "groups.npz").assert_error("groups.npz: is a file")


def test_overwriting_takes_away_what_would_contradict(elbmf: Any, monkeypatch: Any) -> None:
    elbmf(*RANK)
    _interrupt_at(monkeypatch, 2)
    assert elbmf(*RANK, "--overwrite", "--seed", 3).code == 130
    names = sorted(path.name for path in Path("groups.ranks").rglob("*") if path.is_file())
    assert names == ["fit-0-5.npz", "search.json", "shrink-5-4.npz"]


def test_the_data_is_never_replaced(elbmf: Any) -> None:
    elbmf(*RANK, "-o", "out")
    for name in ("out/ranks.tsv", "out/steps/fit-0-5.npz", "out/model/factors.npz"):
        result = elbmf("rank", name, "-o", "out", "--overwrite")
        result.assert_error(f"{name}: writing there would replace")
    elbmf("rank", "groups.npz", "--plot", "groups.npz").assert_error("groups.npz")


# --- Ctrl-C ---


def _interrupt_at(monkeypatch: Any, count: int) -> None:
    """Press Ctrl-C after so many steps."""
    observe = ProgressLine.rank_step

    def interrupting(self: ProgressLine, progress: ranks.RankProgress) -> None:
        observe(self, progress)
        if progress.done == count:
            raise KeyboardInterrupt

    monkeypatch.setattr(ProgressLine, "rank_step", interrupting)


@pytest.mark.parametrize("count", [1, 4, 9])
def test_an_interrupted_search_goes_on(elbmf: Any, monkeypatch: Any, count: int) -> None:
    with monkeypatch.context() as patch:
        _interrupt_at(patch, count)
        result = elbmf(*RANK, "-o", "out")
    assert result.code == 130
    assert result.out.startswith("rank ")
    assert result.err == (
        "Interrupted: finished ranks are kept in out; the same command goes on from there\n"
    )
    assert not Path("out/ranks.tsv").exists()
    done = {path: path.stat().st_mtime_ns for path in Path("out/steps").glob("*.npz")}
    assert len(done) == count
    whole = elbmf(*RANK, "-o", "out")
    assert whole.code == 0
    assert {path: path.stat().st_mtime_ns for path in done} == done
    # No seed was given: the one that was drawn is noted, and leads to the same anywhere.
    seed = json.loads(Path("out/ranks.json").read_text())["seed"]
    unbroken = elbmf(*RANK, "-o", "unbroken", "--seed", seed)
    assert unbroken.out == whole.out
    assert _table("unbroken") == _table("out")
    for name in "UV":
        first, second = (getattr(load_model(f"{each}/model"), name) for each in ("out", "unbroken"))
        np.testing.assert_array_equal(first.toarray(), second.toarray())


def test_an_interrupt_with_json_and_overwrite(elbmf: Any, monkeypatch: Any) -> None:
    _interrupt_at(monkeypatch, 3)
    result = elbmf(*RANK, "--json", "--overwrite")
    assert result.code == 130
    assert result.json["interrupted"] is True
    assert result.json["table"]["rank"] == [0, 3, 4, 5]
    assert "the same command without --overwrite goes on" in result.err


def test_an_interrupt_before_any_rank(elbmf: Any, monkeypatch: Any) -> None:
    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(ELBMF, "_factorize", interrupt)
        result = elbmf(*RANK)
    assert (result.code, result.out) == (130, "")
    assert "Interrupted" in result.err
    assert elbmf(*RANK).code == 0


@pytest.mark.slow
def test_a_real_interrupt_and_the_same_command_again(elbmf: Any, start: Any, noise: Path) -> None:
    folder, unbroken = noise.parent / "out", noise.parent / "unbroken"
    command = ("rank", noise, "--max", 5, "--effort", 0.05, "--max-iter", 30)
    process = start(*command, "-o", folder)
    wait_until(lambda: len(list(folder.glob("steps/*.npz"))) >= 2, process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, err
    assert out.startswith(b"rank ")
    assert f"Interrupted: finished ranks are kept in {folder}; ".encode() in err
    assert b"\r" not in err
    done = {path: path.stat().st_mtime_ns for path in folder.glob("steps/*.npz")}
    again = elbmf(*command, "-o", folder)
    assert again.code == 0, again.err
    assert {path: path.stat().st_mtime_ns for path in done} == done
    seed = json.loads((folder / "ranks.json").read_text())["seed"]
    whole = start(*command, "-o", unbroken, "--seed", seed)
    expected, err = whole.communicate(timeout=PATIENCE)
    assert whole.returncode == 0, err
    assert again.out == expected.decode()
    assert (folder / "ranks.tsv").read_bytes() == (unbroken / "ranks.tsv").read_bytes()
    factors = Path("model/factors.npz")
    first, second = (np.load(each / factors) for each in (folder, unbroken))
    assert first.files == second.files
    for name in first.files:
        np.testing.assert_array_equal(first[name], second[name])


@pytest.mark.slow
def test_progress_on_a_terminal(start: Any, tmp_path: Path) -> None:
    pty = pytest.importorskip("pty", reason="pseudo-terminals are a thing of Unix")
    ours, theirs = pty.openpty()
    process = start(*(*RANK, "--holdout", 0.1, "--seed", 0), cwd=tmp_path, stderr=theirs)
    os.close(theirs)
    seen = b""
    while True:
        try:
            seen += os.read(ours, 4096)
        except OSError:  # the other side has gone
            break
    os.close(ours)
    out, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    text = seen.decode()
    assert " of 16 steps  rank " in text
    assert "  relative loss 0." in text
    assert "with held-out cells: " in text
    assert "\r" not in out.decode()


def test_the_line_of_progress(monkeypatch: Any) -> None:
    class Terminal:
        shows_progress = True

        def status(self, line: str) -> None:
            self.line = line

    monkeypatch.setenv("COLUMNS", "100")
    console: Any = Terminal()
    progress = ProgressLine(console, ones=100)
    assert console.line == "preparing …"
    progress.rank_step(ranks.RankProgress(ranks.PathStep("grow", 4, 5), 10, 40, 25))
    assert console.line == "[#####...............] 10 of 40 steps  rank 5  relative loss 0.2500"


# --- tables ---


def test_of_many_ranks_those_around_the_choices_are_shown() -> None:
    count = 451
    rank = np.arange(count)
    table = {
        "rank": rank,
        "loss": count - rank,
        "relative_loss": 1 - rank / count,
        "mdl": np.abs(rank - 300.0),
        "aic": np.abs(rank - 40.0),
        "bai_ng_1": np.where(rank < 200, 1.0, -np.inf),
    }
    choices = {"mdl": 300, "aic": 40, "bai_ng_1": 200}
    lines = text.ranks_table(table, choices, "mdl").splitlines()
    assert len(lines) <= 41
    shown = [line.split()[0] for line in lines[1:]]
    for wanted in (0, 39, 40, 41, 199, 200, 201, 299, 300, 301, 450):
        assert str(wanted) in shown
    assert shown.count("…") == 4
    (line,) = (line for line in lines if line.split()[0] == "200")
    assert line.endswith("-inf*")
    assert sum(line.count("*") for line in lines) == 5


def test_ranks_without_held_out_cells_are_blank() -> None:
    values = np.array([0.5, np.nan, 0.25])
    table = {"rank": np.array([0, 1, 2]), "mdl": values, "held_out": values}
    lines = text.ranks_table(table, {"mdl": 2, "held_out": 2}, "mdl").splitlines()
    assert lines[2].split() == ["1"]
    assert lines[3].endswith("0.2500*")


# --- fit -k auto ---


def test_fit_with_the_number_of_components_chosen(elbmf: Any) -> None:
    result = elbmf("fit", "groups.npz", "-k", "auto", "--seed", 0, *QUICK, "-o", "out")
    assert result.code == 0
    said = "\n3 components chosen by description length (MDL) among ranks up to 32\n"
    assert said in result.out
    assert said in elbmf("info", "out").out
    model = load_model("out")
    expected = ELBMF("auto", effort=0.01, max_iter=30, random_state=0).fit(
        read("groups.npz").values
    )
    np.testing.assert_array_equal(model.V.toarray(), expected.components_)
    np.testing.assert_allclose(model.info.bits_saved, expected.bits_saved_)
    assert model.info.rank_search == RankChoice(criterion="mdl", n_components=3, highest=32)


def test_an_interrupt_while_the_number_is_chosen(elbmf: Any, monkeypatch: Any) -> None:

    observe = ProgressLine.fit

    def interrupting(self: ProgressLine, state: Any) -> None:
        observe(self, state)
        if self.iterations == 300 and state.stage == "epoch":
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(ProgressLine, "fit", interrupting)
    result = elbmf("fit", "groups.npz", "-k", "auto", "--seed", 0, *QUICK, "-o", "out")
    assert result.code == 130
    assert "Interrupted after epoch 300: saved what was found so far to out\n" in result.err
    assert "components chosen by description length (MDL) among ranks up to 32" in result.out
    assert load_model("out").info.stop_reason == "interrupted"


def test_components_are_told_in_their_order_with_what_they_save(elbmf: Any) -> None:
    result = elbmf("fit", "groups.npz", "-k", 3, "--seed", 0, *QUICK, "-o", "out", "--json").json
    assert [each["component"] for each in result["components"]] == [0, 1, 2]
    assert [each["bits_saved"] for each in result["components"]] == result["bits_saved"]
    text = elbmf("fit", "groups.npz", "-k", 3, "--no-refine", "--seed", 0, "-o", "plain").out
    assert "bits saved" not in text
    assert "bits_saved" not in load_model("plain").info.to_json()
