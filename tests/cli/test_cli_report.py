"""elbmf report, and the reports that other commands make."""

import json
import shlex
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from elbmf.cli.interrupt import Interrupt
from elbmf.io import ModelInfo, load_model, save_model
from elbmf.report import page

LABELS = "person\tplace\nann\tnorth\nbob\tnorth\ncy\tnorth\ndee\tsouth\n"
SETS = "stone\tfruit with stones\tplum\tfig\nseed\tothers\tAPPLE|1\tpear\n"


@pytest.fixture(autouse=True)
def plain_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a page be the document itself."""
    monkeypatch.setattr(page, "render", json.dumps)


def said(path: str) -> Any:
    return json.loads(Path(path).read_text())


def warned(path: str) -> str:
    return " ".join(said(path)["summary"]["warnings"])


def test_a_result_alone_is_enough(elbmf: Any, model: str) -> None:
    result = elbmf("report", model)
    assert (result.code, result.out) == (0, "")
    assert result.err.startswith("Wrote model/report.html (")
    report = said("model/report.html")
    assert report["summary"]["measures"]["loss"] == 0
    assert report["title"] == "tiles.csv: 2 components"
    command = shlex.split(report["recipe"]["command"])
    assert command == ["elbmf", "fit", "tiles.csv", "-k", "2", "--seed", "0", "-o", "model"]
    assert report["recipe"]["data"]["file"] == "tiles.csv"


def test_the_noted_command_makes_the_result_again(elbmf: Any) -> None:
    elbmf("fit", "tiles.csv", "-k", 2, "-o", "model")
    first = load_model("model")
    command = shlex.split(first.info.command)
    assert command[-2] == "--seed"
    assert elbmf(*command[1:], "--overwrite").code == 0
    again = load_model("model")
    assert again.info.seed == first.info.seed
    assert (again.U != first.U).nnz == 0


def test_data_is_found_from_anywhere(elbmf: Any, tmp_path: Path, monkeypatch: Any) -> None:
    Path("data").mkdir()
    Path("tiles.csv").rename("data/tiles.txt")
    flags = ["--format", "csv", "--delimiter", ",", "-k", 2, "--seed", 0]
    assert elbmf("fit", "data/tiles.txt", *flags, "-o", "results/one").code == 0
    noted = load_model("results/one").info.data
    assert noted.path == "../../data/tiles.txt"
    assert noted.options == {"format": "csv", "delimiter": ","}
    Path("elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert elbmf("report", tmp_path / "results" / "one", "-o", "here.html").code == 0
    assert said("here.html")["summary"]["measures"]["recall"] == 1


def test_data_that_has_gone(elbmf: Any, model: str) -> None:
    Path("tiles.csv").rename("moved.csv")
    result = elbmf("report", model, "-o", "report.html")
    assert result.code == 0
    assert "The data is no longer there: ../tiles.csv. Name the file after RESULT." in result.err
    assert "no longer there" in warned("report.html")
    assert said("report.html")["matrix"]["missed"] is None
    assert elbmf("report", model, "-o", "report.html", "moved.csv").code == 0
    assert "there" not in warned("report.html")
    assert said("report.html")["summary"]["measures"]["loss"] == 0


def test_data_that_is_no_longer_the_same(elbmf: Any, model: str) -> None:
    text = Path("tiles.csv").read_text()
    Path("tiles.csv").write_text(text.replace("ann,1,1,0,0,0", "ann,1,0,0,0,0"))
    assert elbmf("report", model).code == 0
    assert "0 cells were wrong then, 1 are now" in warned("model/report.html")
    Path("tiles.csv").write_text("a,b\n1,0\n")
    result = elbmf("report", model)
    assert result.code == 0
    assert "The data could not be used: " in result.err
    assert "has 2 columns" in warned("model/report.html")
    elbmf("report", model, "tiles.csv").assert_error("has 2 columns", "the model has 5")


def test_rows_and_columns_may_come_in_another_order(elbmf: Any, model: str) -> None:
    lines = [line.split(",") for line in Path("tiles.csv").read_text().splitlines()]
    turned = [[line[0], *line[:0:-1]] for line in [lines[0], *lines[:0:-1]]]
    Path("turned.csv").write_text("".join(",".join(line) + "\n" for line in turned))
    result = elbmf("report", model, "turned.csv")
    assert "rows put in the order of the model" in result.err
    assert "columns put in the order of the model" in result.err
    assert said("model/report.html")["summary"]["measures"]["loss"] == 0
    Path("others.csv").write_text(Path("tiles.csv").read_text().replace("eve", "eva"))
    elbmf("report", model, "others.csv").assert_error("its rows are not those", "'eva'")
    short = "".join(Path("tiles.csv").read_text().splitlines(keepends=True)[:-1])
    Path("short.csv").write_text(short)
    elbmf("report", model, "short.csv").assert_error("has 4 rows", "the model has 5")


def test_values_are_binarized_as_in_the_fit(elbmf: Any) -> None:
    Path("values.csv").write_text(Path("tiles.csv").read_text().replace(",1", ",7"))
    elbmf("fit", "values.csv", "-k", 2, "--seed", 0, "--binarize", 3, "-o", "model")
    result = elbmf("report", "model")
    assert result.code == 0
    assert "read with --binarize 3" in result.err
    assert said("model/report.html")["summary"]["measures"]["loss"] == 0


def test_models_of_earlier_versions(elbmf: Any, model: str) -> None:
    saved = load_model(model)
    saved.info = ModelInfo(method="elbmf")
    save_model("old", saved)
    result = elbmf("report", "old")
    assert result.code == 0
    assert "does not note where its data is" in result.err
    assert "does not note where its data is" in warned("old/report.html")
    assert elbmf("report", "old", "tiles.csv").code == 0
    assert said("old/report.html")["summary"]["measures"]["loss"] == 0


def test_labels_sets_and_a_title(elbmf: Any, model: str) -> None:
    Path("labels.tsv").write_text(LABELS)
    Path("sets.gmt").write_text(SETS)
    flags = ["--labels", "labels.tsv", "--sets", "sets.gmt", "--title", "<b>Fruit</b>"]
    result = elbmf("report", model, "-o", "report.html", *flags)
    assert result.code == 0
    assert "1 rows without a label are left out" in result.err
    report = said("report.html")
    assert report["title"] == "<b>Fruit</b>"
    assert (report["labels"]["title"], report["labels"]["unlabelled"]) == ("place", 1)
    assert report["sets_title"] == "sets.gmt"
    Path("sets.gmt").write_text("all\t\tAPPLE\tPEAR\n")
    elbmf("report", model, "--sets", "sets.gmt").assert_error("--ignore-case")
    assert elbmf("report", model, "--sets", "sets.gmt", "--ignore-case").code == 0


def test_searches_show_their_ranks(elbmf: Any) -> None:
    flags = ["--max", 3, "--seed", 0, "--criterion", "bai_ng_1", "-o", "ranks"]
    assert elbmf("rank", "tiles.csv", *flags, "--report").code == 0
    curve = said("ranks/report.html")["summary"]["rank"]["curve"]
    assert curve["ranks"] == [0, 1, 2, 3]
    assert curve["criterion"][2:] == [None, None]
    for place in ("ranks", "ranks/model"):
        assert elbmf("report", place, "-o", "report.html").code == 0
        again = said("report.html")
        assert again["summary"]["rank"]["curve"] == curve
        assert again["summary"]["measures"] is not None
        assert again["recipe"]["command"].startswith("elbmf rank tiles.csv")
    Path("ranks/ranks.json").write_text("{}")
    elbmf("report", "ranks").assert_error("ranks/ranks.json", "table is missing")


def test_fits_make_reports(elbmf: Any) -> None:
    result = elbmf("fit", "tiles.csv", "-k", "auto", "--seed", 0, "-o", "auto", "--report")
    assert result.code == 0
    assert "Wrote auto/report.html" in result.err
    assert said("auto/report.html")["summary"]["rank"]["chosen"]
    again = elbmf("fit", "tiles.csv", "-k", 2, "-o", "auto", "--overwrite")
    assert "auto/report.html is about an earlier result; 'elbmf report auto' makes" in again.err
    elbmf("fit", "tiles.csv", "-k", 2, "-o", "other", "--report", "page.html")
    assert said("page.html")["summary"]["components"] == 2


def test_interrupted_fits_have_a_report(elbmf: Any, monkeypatch: Any) -> None:
    class Requested(Interrupt):
        def __enter__(self) -> Any:
            self.requested = True
            return super().__enter__()

    monkeypatch.setattr("elbmf.cli.running.fit.Interrupt", Requested)
    assert elbmf("fit", "tiles.csv", "-k", 2, "--seed", 0, "-o", "model", "--report").code == 130
    assert "interrupted" in warned("model/report.html")


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--report", "page.pdf"], "must end in .html; got 'page.pdf'"),
        (["--report", "nowhere/page.html"], "does not exist"),
        (["--report", "data.html", "--format", "csv"], "would replace data.html"),
    ],
)
def test_reports_that_cannot_be_written(elbmf: Any, flags: list[str], words: str) -> None:
    shutil.copy("tiles.csv", "data.html")
    elbmf("fit", "data.html", "-k", 2, "-o", "model", *flags).assert_error(words)
    assert not Path("model").exists()


def test_data_of_another_name_is_read_the_same_way(elbmf: Any) -> None:
    np.savez("two.npz", empty=np.zeros((6, 4)), tiles=np.kron(np.eye(2), np.ones((3, 2))))
    flags = ["--key", "tiles", "-k", 2, "--seed", 0, "-o", "model"]
    assert elbmf("fit", "two.npz", *flags).code == 0
    Path("two.npz").rename("renamed.npz")
    assert elbmf("report", "model", "renamed.npz").code == 0
    assert said("model/report.html")["summary"]["ones"] == 12
    assert elbmf("report", "model", "renamed.npz", "--key", "empty").code == 0
    assert said("model/report.html")["summary"]["ones"] == 0


def test_streams(elbmf: Any) -> None:
    flags = ["--stream", "-k", 2, "--seed", 0, "-o", "model", "--report"]
    assert elbmf("fit", "tiles.csv", *flags).code == 0
    assert "learned from a stream" in warned("model/report.html")
    assert said("model/report.html")["summary"]["rows"] == 5
    result = elbmf("report", "model", "tiles.csv")
    assert result.code == 0
    report = said("model/report.html")
    assert report["summary"]["measures"]["loss"] == 0
    assert "not those that the model was made from" in warned("model/report.html")


def test_matrix_folders(elbmf: Any) -> None:
    assert elbmf("convert", "tiles.csv", "tiles.matrix").code == 0
    assert elbmf("fit", "tiles.matrix", "-k", 2, "--seed", 0, "-o", "model", "--report").code == 0
    first = said("model/report.html")
    assert elbmf("report", "model").code == 0
    assert said("model/report.html") == first
    assert first["summary"]["measures"]["loss"] == 0


def test_data_that_is_too_large_for_memory(elbmf: Any, monkeypatch: Any) -> None:
    Path("values.csv").write_text(Path("tiles.csv").read_text().replace(",1", ",7"))
    flags = ["-k", 2, "--seed", 0, "--binarize", 3, "--memory-limit", "50MB"]
    assert elbmf("fit", "values.csv", *flags, "-o", "model", "--report").code == 0
    expected = said("model/report.html")
    monkeypatch.setattr("elbmf.cli.reading._BYTES_READ", 1 << 30)
    monkeypatch.setattr("tempfile.tempdir", str(Path("room").absolute()))
    Path("room").mkdir()
    ends: list[Any] = []
    monkeypatch.setattr("atexit.register", ends.append)
    assert elbmf("report", "model").code == 0
    assert said("model/report.html") == expected
    assert len(list(Path("room").iterdir())) == 1
    for end in ends:
        end()
    assert list(Path("room").iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere"], ["nowhere: there is no such folder"]),
        (["model", "-o", "page.txt"], ["page.txt", "must end in .html"]),
        (["model", "none.csv"], ["none.csv: there is no such file"]),
        (["model", "--column", "place"], ["tiles.csv", "no column 'place'"]),
        (["model", "--labels", "none.tsv"], ["none.tsv: there is no such file"]),
    ],
)
def test_errors(elbmf: Any, model: str, arguments: list[str], words: list[str]) -> None:
    elbmf("report", *arguments).assert_error(*words)
    assert not Path("model/report.html").exists()


def test_data_is_never_replaced(elbmf: Any) -> None:
    shutil.copy("tiles.csv", "data.html")
    elbmf("fit", "data.html", "--format", "csv", "-k", 2, "-o", "model")
    before = Path("data.html").read_text()
    elbmf("report", "model", "-o", "data.html").assert_error("would replace")
    assert Path("data.html").read_text() == before
