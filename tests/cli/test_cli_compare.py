"""elbmf compare: the table, its files, what it refuses, and what Ctrl-C leaves."""

import csv
import json
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from elbmf import Asso, GreConD
from elbmf.boolean.metrics import recall
from elbmf.cli.progress import ProgressLine
from elbmf.cli.running import comparison as text
from elbmf.comparison import ComparisonProgress, Result
from elbmf.datasets import make_tiles
from elbmf.estimators import METHODS
from elbmf.io import LabelledMatrix, write
from elbmf.io.records import write_records
from elbmf.utils.progress import FitProgress
from terminals import Terminal
from troubled import Raises, Slow
from waiting import PATIENCE

TILES = make_tiles((60, 50), 3, height=(15, 20), noise=0.05, random_state=0)
COMPARE = ("compare", "noisy.npz", "-k", 3)
CONFIG = """\
[asso]
threshold = 0.5
gain-weight = 2
[elbmf]
effort = 0
"""


@pytest.fixture(autouse=True)
def files(tmp_path: Path) -> None:
    """The data with and without noise, and a file of parameters."""
    write(tmp_path / "noisy.npz", LabelledMatrix(TILES.A))
    write(tmp_path / "clean.npz", LabelledMatrix(TILES.truth))
    (tmp_path / "parameters.toml").write_text(CONFIG)


def _result(method: str, **figures: Any) -> Result:
    known = {
        "status": "finished",
        "loss": 10,
        "relative_loss": 0.1,
        "similarity": 0.9,
        "recall": 0.95,
        "precision": 0.9,
        "seconds": 1.0,
        "peak_memory": 1000,
        "density": 0.25,
        "n_components": 3,
        "n_iter": 7,
    }
    return Result(method=method, **{**known, **figures})


def test_json_and_csv_have_what_fits_done_directly_have(elbmf: Any) -> None:
    command = (*COMPARE, "--methods", "grecond,asso", "--truth", "clean.npz", "--seed", 5)
    result = elbmf(*command, "--config", "parameters.toml", "-o", "table.csv", "--json")
    assert (result.code, result.err) == (0, "Saved to table.csv\n")
    found = result.json
    assert found["data"]["shape"] == [60, 50]
    assert (found["n_components"], found["seed"], found["truth"]) == (3, 5, "clean.npz")
    assert found["parameters"] == {"asso": {"threshold": 0.5, "gain_weight": 2}}
    assert found["interrupted"] is False
    with open("table.csv", newline="") as stream:
        lines = list(csv.DictReader(stream))
    assert [line["method"] for line in lines] == [each["method"] for each in found["results"]]
    models = {
        "asso": Asso(3, threshold=0.5, gain_weight=2).fit(TILES.A),
        "grecond": GreConD(3).fit(TILES.A),
    }
    assert {line["method"] for line in lines} == set(models)
    for line, each in zip(lines, found["results"], strict=True):
        model = models[line["method"]]
        assert int(line["loss"]) == each["loss"] == model.reconstruction_err_
        expected = recall(TILES.truth, model.membership_, model.components_)
        assert float(line["recall_star"]) == each["recall_star"] == expected
        for name, value in each.items():
            assert line[name] == ("" if value is None else str(value))


@pytest.mark.slow
def test_weights_are_named_and_count(elbmf: Any) -> None:
    Path("weights.csv").write_text("column,weight\n0,2\n1,0\n")
    given = (*COMPARE, "--methods", "grecond", "--seed", 0, "--column-weights", "weights.csv")
    told = json.loads(elbmf(*given, "--json").out)
    weights = np.ones(50)
    weights[:2] = 2, 0
    model = GreConD(3, random_state=0).fit(TILES.A, feature_weight=weights)
    assert told["weights"] == {"feature_weight": "weights.csv"}
    assert told["results"][0]["loss"] == model.reconstruction_err_
    assert "counts the weight of its row times" in elbmf(*given).out


@pytest.mark.slow
def test_a_table_in_spite_of_methods_that_go_wrong(
    elbmf: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(METHODS, "raises", Raises)
    monkeypatch.setitem(METHODS, "slow", Slow)
    names = "raises,grecond,slow"
    result = elbmf(*COMPARE, "--methods", names, "--time-limit", 1.5)
    assert (result.code, result.err) == (0, "")
    title, *lines = result.out.splitlines()
    titles = "method loss relative loss similarity recall time memory density components status"
    assert " ".join(title.split()) == titles
    assert [line.split()[0] for line in lines[:3]] == ["grecond", "slow", "raises"]
    assert lines[0].endswith("  finished")
    assert lines[1].startswith("slow †")
    assert lines[1].endswith("  time limit")
    assert lines[2].split() == ["raises", "failed"]
    assert lines[3:] == [
        "† ended after 1.5 s with what was found until then",
        "raises: failed: ArithmeticError: cannot go on",
    ]


@pytest.mark.slow
def test_ctrl_c_leaves_a_table_of_what_is_finished(start: Any, tmp_path: Path) -> None:
    values = sparse.csr_array(np.random.default_rng(0).random((500, 300)) < 0.1)
    write(tmp_path / "noise.npz", LabelledMatrix(values))
    (tmp_path / "long.toml").write_text("[elbmf]\ntime_limit = 1000\n")
    process = start(
        *("compare", "noise.npz", "-k", 5, "--methods", "grecond,elbmf", "-v", "-o", "t.json"),
        *("--config", "long.toml"),
        cwd=tmp_path,
    )
    for line in process.stderr:
        if b"grecond: finished" in line:
            break
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert [line.split()[0] for line in out.decode().splitlines()] == ["method", "grecond"]
    assert b"Interrupted: without elbmf\n" in err
    assert b"Traceback" not in err
    assert [each["method"] for each in json.loads((tmp_path / "t.json").read_text())] == ["grecond"]


def test_the_best_of_each_column_has_a_star() -> None:
    results = [
        _result("a", loss=1234, recall_star=1.0, seconds=2.5, peak_memory=2_500_000),
        _result("b", loss=1500, recall=0.99, seconds=0.25, recall_star=0.5),
        _result("c", loss=1500, status="time limit", seconds=0.1, peak_memory=1, recall_star=0.1),
        Result(method="d", status="failed"),
    ]
    lines = text.results_table(results, with_truth=True).splitlines()
    cells = [line.split() for line in lines[1:]]
    figures = ["1,234*", "0.1000*", "0.9000*", "0.9500", "1.0000*", "2.5", "s", "2.5", "MB"]
    assert cells[0] == ["a", *figures, "0.2500", "3", "finished"]
    assert cells[1][1:8] == ["1,500", "0.1000*", "0.9000*", "0.9900*", "0.5000", "0.25", "s*"]
    assert cells[2][:2] == ["c", "†"]
    assert not [cell for cell in cells[2] if cell in ("s*", "B*")]
    assert cells[3] == ["d", "failed"]
    assert len({line.index(" finished") for line in lines[1:3]}) == 1


def test_one_method_alone_is_not_the_best_of_anything() -> None:
    table = text.results_table([_result("a")], with_truth=False)
    assert "*" not in table


def test_notes_say_why() -> None:
    results = [_result("a"), Result(method="b", status="time limit", message="was ended")]
    assert text.notes(results, 2.0) == ["b: time limit: was ended"]
    assert text.notes([Result(method="c", status="failed")], None) == ["c: failed"]


@pytest.mark.parametrize("suffix", ["csv", "tsv", "json", "parquet"])
def test_tables_round_trip(tmp_path: Path, suffix: str) -> None:
    records = [
        {"method": "a, b", "loss": 3, "recall": 0.1 + 0.2, "message": 'say "hi"\nand\tgo'},
        {"method": "c", "loss": None, "recall": None, "message": ""},
    ]
    path = tmp_path / f"table.{suffix}"
    write_records(path, records)
    if suffix == "json":
        assert json.loads(path.read_text()) == records
    elif suffix == "parquet":
        parquet = pytest.importorskip("pyarrow.parquet")
        assert parquet.read_table(path).to_pylist() == records
    else:
        with open(path, newline="") as stream:
            lines = list(csv.DictReader(stream, delimiter="," if suffix == "csv" else "\t"))
        as_text = [{key: "" if v is None else str(v) for key, v in r.items()} for r in records]
        assert lines == as_text


@pytest.mark.parametrize("begun", [False, True])
def test_the_line_of_progress(monkeypatch: pytest.MonkeyPatch, begun: bool) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    console = Terminal()
    report = FitProgress(iteration=2, loss=50.0, seconds=1.0, stage="component", progress=0.5)
    progress = ComparisonProgress("asso", 2, 3, report if begun else None)
    ProgressLine(console, ones=100).comparison(progress)
    told = "component 2  relative loss 0.5000" if begun else "preparing …"
    bar = "##########.........." if begun else "#######............."
    assert console.lines[-1] == f"[{bar}] asso (2 of 3)  {told}"


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["compare", "noisy.npz"], ["number of components is missing", "-k 20"]),
        ([*COMPARE, "--methods", "asso,best"], ["'best'", "all, elbmf, asso, grecond"]),
        ([*COMPARE, "--methods", ""], ["there is no method ''"]),
        (["compare", "noisy.npz", "-k", 0], ["--n-components", "got 0"]),
        ([*COMPARE, "--time-limit", 0], ["--time-limit", "got 0"]),
        ([*COMPARE, "--truth", "tiles.csv"], ["tiles.csv: has 5 rows, but noisy.npz has 60."]),
        ([*COMPARE, "--truth", "nothing.csv"], ["nothing.csv: there is no such file"]),
        ([*COMPARE, "-o", "table.xlsx"], ["table.xlsx", ".csv, .tsv, .json, .parquet"]),
        ([*COMPARE, "-o", "nowhere/table.csv"], ["nowhere", "does not exist"]),
        (["compare", "tiles.csv", "-k", 2, "-o", "tiles.csv"], ["would replace tiles.csv"]),
    ],
)
def test_bad_input(elbmf: Any, arguments: list[Any], parts: list[str]) -> None:
    elbmf(*arguments).assert_error(*parts)


@pytest.mark.parametrize(
    ("config", "parts"),
    [
        ("[best]\nx = 1", ["there is no method 'best'", "elbmf, asso, grecond"]),
        ("asso = 1", ["expected a section [asso]", "asso = 1"]),
        ("[asso]\ntau = 1", ["[asso]: unknown key 'tau'", "threshold"]),
        ("[asso]\nthreshold = 3", ["[asso]: ", "threshold must be"]),
        ("[asso]\nk = 3", ["n_components is the same for all methods"]),
        ("[asso", ["not a TOML file"]),
    ],
)
def test_bad_parameters(elbmf: Any, config: str, parts: list[str]) -> None:
    Path("bad.toml").write_text(config)
    elbmf(*COMPARE, "--config", "bad.toml").assert_error(*parts)


def test_the_truth_must_have_the_same_names(elbmf: Any) -> None:
    Path("other.csv").write_text(Path("tiles.csv").read_text().replace("pear", "peach"))
    result = elbmf("compare", "tiles.csv", "-k", 2, "--truth", "other.csv")
    result.assert_error("other.csv: its columns are not those of tiles.csv")


def test_help_names_the_methods(elbmf: Any) -> None:
    assert ",".join(METHODS) in "".join(elbmf("compare", "--help").out.split())
