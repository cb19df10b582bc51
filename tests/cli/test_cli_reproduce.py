"""elbmf reproduce."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from elbmf.cli.progress import ProgressLine
from elbmf.io.records import read_parquet_records
from elbmf.paper.experiments import regularizers
from elbmf.paper.experiments.registry import EXPERIMENTS
from elbmf.paper.experiments.running import ExperimentProgress
from terminals import Terminal


def test_the_list_names_each_experiment_and_what_it_shows(elbmf: Any) -> None:
    result = elbmf("reproduce", "--list")
    assert result.code == 0
    for name in EXPERIMENTS:
        assert f"\n{name} " in result.out
    for number in range(1, 10):
        assert f" Fig. {number} " in result.out
    assert " Table 1 " in result.out


@pytest.mark.formats
def test_an_experiment_writes_tables_figures_and_a_page(elbmf: Any) -> None:
    result = elbmf("reproduce", "regularizers", "--quick", "--page", "claims.md")
    assert result.code == 0
    assert (
        "Only ELB penalizes non-Boolean values across the full spectrum.\n    holds. " in result.out
    )
    for suffix in ("pdf", "png"):
        assert Path(f"reproduced/regularizers/regularizers.{suffix}").exists()
    assert Path("reproduced/regularizers/values.parquet").exists()
    text = Path("claims.md").read_text()
    assert "(claims/regularizers.png)" in text
    assert Path("claims/regularizers.png").exists()
    again = elbmf("reproduce", "regularizers", "-q")
    assert again.err == ""
    assert again.out == result.out
    elbmf("reproduce", "regularizers", "--full").assert_error("other settings", "--overwrite")
    assert elbmf("reproduce", "regularizers", "--full", "--overwrite").code == 0
    drawn = elbmf("reproduce", "all", "--draw-only", "--page", "claims.md")
    assert drawn.code == 0
    assert "`elbmf reproduce regularizers` (full, seed 0)" in Path("claims.md").read_text()
    elbmf("reproduce", "noise", "--draw-only").assert_error("nothing was measured there of noise")


@pytest.mark.formats
def test_an_interrupted_run_says_how_to_go_on(elbmf: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    real = regularizers.EXPERIMENT

    def interrupted(task: Any, settings: Any) -> Any:
        if task["regularizer"] == "elb":
            raise KeyboardInterrupt
        return real.measure(task, settings)

    with monkeypatch.context() as patch:
        patch.setattr(regularizers, "EXPERIMENT", replace(real, measure=interrupted))
        result = elbmf("reproduce", "regularizers", "-o", "out")
        assert result.code == 130
        assert result.out == ""
        assert (
            "Interrupted: what is measured is kept in out; the same command goes on" in result.err
        )
    assert elbmf("reproduce", "regularizers", "-o", "out").code == 0


def test_what_is_wrong_is_told_before_anything_is_measured(elbmf: Any) -> None:
    elbmf("reproduce").assert_error("the name of an experiment is missing")
    elbmf("reproduce", "figure3").assert_error("no experiment 'figure3'", "noise")
    elbmf("reproduce", "noise", "--data", "nowhere").assert_error(
        "nowhere: there is no such folder"
    )
    elbmf("reproduce", "noise", "--page", "claims.html").assert_error("must end in .md")
    elbmf("reproduce", "noise", "--page", "no/claims.md").assert_error(
        "the folder no does not exist"
    )
    elbmf("reproduce", "noise", "--seed", "-1").assert_error("from 0 on", "-1")
    elbmf("reproduce", "noise", "--quick", "--full").assert_error("not allowed with")
    assert not Path("reproduced").exists()


@pytest.mark.formats
def test_data_is_looked_for_where_it_is_prepared(
    elbmf: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ELBMF_DATA", str(tmp_path / "data"))
    assert elbmf("data", "standin", "lgg", "--scale", 0.01).code == 0
    result = elbmf("reproduce", "data-sets")
    assert result.code == 0
    rows = read_parquet_records(Path("reproduced/data-sets/sets.parquet"))
    here = {row["set"] for row in rows if row["origin"] == "here"}
    assert here == {"digits", "lgg-standin"}


def test_progress_names_the_task() -> None:
    terminal = Terminal()
    progress = ExperimentProgress("noise", {"noise": 0.1, "draw": 2}, 3, 12)
    ProgressLine(terminal).experiment(progress)
    assert "noise: 3 of 12 tasks  noise 0.1, draw 2" in terminal.lines[-1]
