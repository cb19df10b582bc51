"""The paper's experiments: how they are run, kept and drawn, and what they say of its claims."""

import importlib
import json
import re
import sys

import numpy as np
import pytest

from elbmf.errors import InputError, MissingExtraError
from elbmf.io.records import read_parquet_records
from elbmf.paper.experiments import compared, convergence, model_selection, sweeps
from elbmf.paper.experiments.compared import COMPARED, RIVALS
from elbmf.paper.experiments.experiment import PLAIN, REFINED, Claim, Experiment, Settings, checked
from elbmf.paper.experiments.registry import EXPERIMENTS
from elbmf.paper.experiments.running import (
    draw_experiment,
    load_experiment,
    run_experiment,
    write_page,
)
from elbmf.paper.experiments.storage import Store
from elbmf.paper.experiments.sweeps import Means, best_of_all, percent
from elbmf.plots import new_figure

QUICK = Settings()


def _draw(tables):
    figure = new_figure(2, 2)
    figure.subplots().plot([row["square"] for row in tables["squares"]])
    return {"squares": figure}


def _squares(counts, fails_at=None):
    """Return an experiment that squares numbers, and the list of those it has squared."""
    measured = []

    def measure(task, settings):
        if task["number"] == fails_at:
            raise KeyboardInterrupt
        measured.append(task["number"])
        return {"squares": [{**task, "square": task["number"] ** 2, "half": 0.1 * task["number"]}]}

    experiment = Experiment(
        name="squares",
        shows="Fig. 0",
        title="squares",
        tasks=lambda settings: [{"number": number} for number in range(counts)],
        measure=measure,
        draw=_draw,
        claims=lambda tables: [
            Claim("Sec. 0", "A | B_t*", str(len(tables["squares"])), True, "none", False),
            Claim("Sec. 0", "Others.", "yes", None),
        ],
    )
    return experiment, measured


def test_what_was_measured_is_kept_and_drawn(tmp_path):
    experiment, _ = _squares(4)
    seen = []
    outcome = run_experiment(experiment, QUICK, tmp_path / "new" / "squares", callback=seen.append)
    assert [progress.done for progress in seen] == [0, 1, 2, 3]
    assert seen[0].total == 4
    assert [path.name for path in outcome.tables] == ["squares.parquet"]
    assert [path.suffix for path in outcome.pictures] == [".pdf", ".png"]
    assert all(path.stat().st_size > 0 for path in outcome.pictures)
    rows = read_parquet_records(outcome.tables[0])
    assert [row["square"] for row in rows] == [0, 1, 4, 9]
    assert rows[3]["half"] == 0.1 * 3
    assert "cores" in outcome.machine


def test_a_second_run_measures_only_what_is_new(tmp_path):
    run_experiment(_squares(2)[0], QUICK, tmp_path)
    larger, measured = _squares(5)
    outcome = run_experiment(larger, QUICK, tmp_path)
    assert measured == [2, 3, 4]
    assert outcome.claims[0].plain == "5"
    again, measured = _squares(5)
    run_experiment(again, QUICK, tmp_path, overwrite=True)
    assert measured == [0, 1, 2, 3, 4]


def test_what_was_measured_can_be_drawn_again_whatever_the_settings(tmp_path):
    experiment, measured = _squares(2)
    assert draw_experiment(experiment, tmp_path) is None
    run_experiment(experiment, Settings(full=True, seed=3), tmp_path)
    (tmp_path / "squares.png").unlink()
    outcome = draw_experiment(experiment, tmp_path)
    assert measured == [0, 1]
    assert (tmp_path / "squares.png").exists()
    assert outcome.scale == "full, seed 3"
    assert outcome.claims[0].plain == "2"
    (tmp_path / "measured.json").write_text("{}")
    with pytest.raises(InputError, match="does not describe measurements"):
        draw_experiment(experiment, tmp_path)


def test_an_interrupted_run_goes_on_where_it_was(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        run_experiment(_squares(5, fails_at=3)[0], QUICK, tmp_path)
    # As if the machine had gone down while it wrote.
    with (tmp_path / "unfinished.jsonl").open("a") as journal:
        journal.write('{"task": {"number": 3}, "tab')
    experiment, measured = _squares(5)
    outcome = run_experiment(experiment, QUICK, tmp_path)
    assert measured == [3, 4]
    assert [row["square"] for row in read_parquet_records(outcome.tables[0])] == [0, 1, 4, 9, 16]
    assert not (tmp_path / "unfinished.jsonl").exists()


def test_a_folder_of_other_settings_is_left_alone(tmp_path):
    run_experiment(_squares(2)[0], QUICK, tmp_path)
    with pytest.raises(InputError, match=r"quick, seed 0; now full, seed 0.*overwrite"):
        run_experiment(_squares(2)[0], Settings(full=True), tmp_path)
    with pytest.raises(InputError, match="now quick, seed 1"):
        run_experiment(_squares(2)[0], Settings(seed=1), tmp_path)
    # Threads and folders of data do not change what is measured.
    run_experiment(_squares(2)[0], Settings(n_jobs=1, data=(tmp_path,)), tmp_path)


def test_a_damaged_note_is_told(tmp_path):
    (tmp_path / "measured.json").write_text("[]")
    with pytest.raises(InputError, match=r"measured\.json: does not describe measurements"):
        Store(tmp_path, QUICK)
    Store(tmp_path, QUICK, afresh=True)


def test_without_matplotlib_nothing_is_measured(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    experiment, measured = _squares(3)
    with pytest.raises(MissingExtraError, match=r"elbmf\[plots\]"):
        run_experiment(experiment, QUICK, tmp_path)
    assert measured == []


def test_every_figure_and_table_of_the_paper_has_an_experiment():
    shown = []
    for name in EXPERIMENTS:
        experiment = load_experiment(name)
        assert experiment.name == name
        shown.append(experiment.shows)
    assert sorted(shown) == sorted({f"Fig. {number}" for number in range(1, 10)} | {"Table 1"})
    with pytest.raises(InputError, match=r"no experiment 'nose'. Experiments: regularizers"):
        load_experiment("nose")


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_full_tasks_include_the_quick_ones(name):
    experiment = load_experiment(name)
    quick, full = experiment.tasks(QUICK), experiment.tasks(Settings(full=True))
    assert len(full) >= len(quick) > 0
    assert json.loads(json.dumps(full)) == list(full)
    assert all(quick.count(task) == 1 for task in quick)


def test_the_page_has_a_row_for_each_claim(tmp_path):
    experiment, _ = _squares(2)
    outcome = run_experiment(experiment, QUICK, tmp_path / "squares")
    write_page(tmp_path / "claims.md", [outcome])
    text = (tmp_path / "claims.md").read_text()
    assert "| Sec. 0 | A \\| B\\_t\\* | 2 | holds | none | does not hold |" in text
    assert "| Sec. 0 | Others. | yes | – |  |  |" in text
    assert "Of 1 claims that could be measured, 1 hold. Of the 1" in text
    (picture,) = re.findall(r"\]\((.*?)\)", text)
    assert (tmp_path / picture).read_bytes().startswith(b"\x89PNG")


def test_a_claim_is_checked_for_plain_and_refined():
    claim = checked("here", "best", lambda name: (name, name == REFINED))
    assert (claim.plain, claim.plain_holds) == (PLAIN, False)
    assert (claim.refined, claim.refined_holds) == (REFINED, True)


def test_methods_look_different():
    looks = [(each.colour, each.marker) for each in COMPARED.values()]
    assert len({colour for colour, _ in looks}) == len({marker for _, marker in looks}) == 9
    assert len(RIVALS) == 7


def _means(values):
    """Make means of ELBMF and a rival at three levels, each from two draws."""
    rows = [
        {"method": name, "level": level, "loss": value + change}
        for name, curve in values.items()
        for level, value in enumerate(curve)
        for change in (-0.125, 0.125)
    ]
    return Means(rows, "level")


def test_means_and_deviations_are_over_the_draws():
    means = _means({PLAIN: [1.0, 2.0, 4.0]})
    assert means.levels == [0, 1, 2]
    np.testing.assert_allclose(means.curve(PLAIN, "loss", 1), [2, 4])
    np.testing.assert_allclose(means.deviations(PLAIN, "loss"), 0.125)
    at, mean, deviation = compared.grouped(
        [{"x": 2, "y": 1.0}, {"x": 1, "y": 5.0}, {"x": 2, "y": 3.0}], "x", "y"
    )
    np.testing.assert_allclose([at, mean, deviation], [[1, 2], [5, 2], [0, 1]])


def test_the_best_of_all_says_where_it_is_not():
    means = _means({PLAIN: [1.0, 0.5, 0.25], "asso": [0.5, 0.5, 0.5]})
    higher = best_of_all(means, "loss", percent, rivals=["asso"])
    assert higher(PLAIN) == (
        "best at 2 of 3 levels, not at 200% (Asso 0.500, here 0.250)",
        False,
    )
    lower = best_of_all(means, "loss", percent, lower=True, least=1, rivals=["asso"])
    assert lower(PLAIN) == ("best at all 2 levels", True)


def _check_outcome(experiment, tables):
    figures = experiment.draw(tables)
    assert figures
    for figure in figures.values():
        figure.canvas.draw()
    claims = experiment.claims(tables)
    assert claims
    for claim in claims:
        assert claim.where.startswith(("Sec. ", "App. "))
        assert claim.plain
        assert "nan" not in claim.plain + claim.refined
    return claims


def test_regularizers():
    experiment = load_experiment("regularizers")
    rows = [
        row for task in experiment.tasks(QUICK) for row in experiment.measure(task, QUICK)["values"]
    ]
    claims = _check_outcome(experiment, {"values": rows})
    assert all(claim.plain_holds for claim in claims)
    middle = {row["regularizer"]: row["value"] for row in rows if row["x"] == 0.5}
    # κ/2 + λ/4, κ and λ/32 with κ = λ = ½.
    assert middle == pytest.approx({"elb": 0.375, "primp": 0.5, "bowl": 0.5 / 32})


@pytest.mark.slow
def test_convergence(monkeypatch):
    monkeypatch.setattr(convergence, "_EPOCHS", 520)
    experiment = load_experiment("convergence")
    tables = {"epochs": []}
    for task in experiment.tasks(QUICK):
        if task["draw"] == 0:
            tables["epochs"] += experiment.measure(task, QUICK)["epochs"]
    assert {row["epoch"] for row in tables["epochs"]} == set(range(1, 521))
    claims = _check_outcome(experiment, tables)
    assert claims[0].plain_holds
    assert claims[4].plain_holds


@pytest.mark.slow
def test_model_selection(monkeypatch):
    monkeypatch.setattr(model_selection, "_MOST", 3)
    experiment = load_experiment("model-selection")
    tables = {"criteria": [], "choices": []}
    for task in experiment.tasks(QUICK):
        for name, rows in experiment.measure(task, QUICK).items():
            tables[name] += rows
    assert {row["rank"] for row in tables["criteria"]} == {0, 1, 2, 3}
    claims = _check_outcome(experiment, tables)
    # With so few ranks, the more the better.
    assert all("chosen: 3 (1×)" in claim.refined for claim in claims)


@pytest.fixture(scope="module")
def swept():
    """Results of all methods on two matrices of each sweep."""
    return {
        name: [
            row for task in tasks for row in load_experiment(name).measure(task, QUICK)["results"]
        ]
        for name, tasks in {
            "noise": [{"noise": 0.0, "draw": 0}, {"noise": 0.1, "draw": 0}],
            "overlap": [{"noise": 0.0, "draw": 0}, {"noise": 0.1, "draw": 0}],
            "density": [{"side": 3, "draw": 0}, {"side": 12, "draw": 0}],
            "low-noise": [{"side": 3, "draw": 0}, {"side": 12, "draw": 0}],
        }.items()
    }


@pytest.mark.slow
@pytest.mark.xdist_group("sweeps")
@pytest.mark.parametrize("name", ["noise", "overlap", "density", "low-noise"])
def test_sweeps(swept, name):
    rows = swept[name]
    assert len(rows) == 2 * len(COMPARED)
    assert {row["method"] for row in rows} == set(COMPARED)
    _check_outcome(load_experiment(name), {"results": rows})
    losses = {name: [r["loss"] for r in rows if r["method"] == name] for name in (PLAIN, REFINED)}
    assert all(refined <= plain for plain, refined in zip(*losses.values(), strict=True))


def test_the_densest_tiles_cover_what_the_paper_says():
    drawn = sweeps.draw_small_tiles((12, 12), 0.0, 0)
    assert drawn.A.nnz / 1200 == 0.6
    drawn = sweeps.draw_small_tiles((3, 3), 0.0, 0)
    assert drawn.A.nnz / 1200 == 0.0375


def test_every_experiment_is_a_module_of_its_own():
    assert len(set(EXPERIMENTS.values())) == len(EXPERIMENTS)
    for module in EXPERIMENTS.values():
        assert importlib.import_module(module).__doc__
