"""Weights of rows and columns on the command line: tables, what is said, saved and refused."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from elbmf import load_model, save_model
from elbmf.io import read

FIT = ("fit", "tiles.csv", "-k", 1, "--seed", 0, "-o", "result")

WEIGHTS = {
    "rows.csv": "person,weight\ndee,3\neve,3\n",
    "halves.tsv": "person\tweight\nann\t0.5\neve\t1.5\n",
    "columns.csv": "fruit,weight\nfig,2\nnut,0\n",
}


@pytest.fixture(autouse=True)
def tables(elbmf: Any) -> None:
    for name, text in WEIGHTS.items():
        Path(name).write_text(text)


def test_weights_change_what_is_found(elbmf: Any) -> None:
    assert elbmf(*FIT, "--json").json["components"][0]["column_names"] == ["apple", "pear"]
    found = elbmf(*FIT, "--overwrite", "--row-weights", "rows.csv")
    assert found.code == 0
    assert (
        "loss           6 wrong cells, 10 ones\nweighted loss  6, by weights of rows\n" in found.out
    )
    assert "plum, fig" in found.out
    assert "cost by stage  rounding 6" in found.out


def test_a_saved_result_notes_the_weighted_loss(elbmf: Any) -> None:
    both = ("--row-weights", "halves.tsv", "--column-weights", "columns.csv")
    noted = elbmf(*FIT, "--json", *both).json
    # Both groups are two columns wide; eve and fig weigh more, ann less.
    assert noted["weighted"] == {"sides": ["rows", "columns"], "loss": 5.0}
    assert noted["measures"]["loss"] == 6
    assert "stages" not in noted
    assert "weighted loss  5, by weights of rows and columns" in elbmf("info", "result").out
    assert elbmf("info", "result", "--json").json["info"]["weighted"]["loss"] == 5
    assert "--row-weights halves.tsv" in noted["command"]
    save_model("copy", load_model("result"))
    assert load_model("copy").info.weighted.sides == ["rows", "columns"]


def test_margins_in_the_tables_are_those_of_the_weights(elbmf: Any) -> None:
    both = ("--row-weights", "halves.tsv", "--column-weights", "columns.csv")
    assert elbmf(*FIT, "--tsv", *both).code == 0
    rows = dict(line.split("\t")[::2] for line in Path("result/rows.tsv").read_text().splitlines())
    # Plum weighs 1 and fig 2, nut nothing; dee weighs 1, eve 1.5.
    assert rows == {"row": "margins", "ann": "", "bob": "", "cy": "", "dee": "3", "eve": "4.5"}


def test_score_takes_the_weights_of_the_fit(elbmf: Any) -> None:
    both = ("--row-weights", "halves.tsv", "--column-weights", "columns.csv")
    loss = elbmf(*FIT, "--json", *both).json["weighted"]["loss"]
    assert elbmf("score", "result", "--json", *both).json["measures"]["loss"] == loss
    assert elbmf("score", "result").out.startswith("loss           6 wrong cells, 10 ones\n")
    assert elbmf("score", "result", *both).out.startswith("loss           5 by weight\n")


def test_score_describes_other_rows_by_weights(elbmf: Any) -> None:
    assert elbmf(*FIT).code == 0
    Path("new.csv").write_text("person,apple,pear,plum,fig,nut\nflo,1,0,0,0,0\n")
    plain = elbmf("score", "result", "new.csv", "--json").json
    Path("heavy.csv").write_text("fruit,weight\napple,3\n")
    weighted = elbmf("score", "result", "new.csv", "--json", "--column-weights", "heavy.csv").json
    assert plain["measures"]["loss"] == 1
    # The pear that flo would get weighs 1, the apple 3.
    assert weighted["measures"]["loss"] == 1
    assert weighted["measures"]["recall"] == 1


def test_transform_takes_weights_of_columns(elbmf: Any) -> None:
    assert elbmf(*FIT).code == 0
    Path("new.csv").write_text("person,apple,pear,plum,fig,nut\nflo,1,0,0,0,0\n")
    Path("heavy.csv").write_text("fruit,weight\npear,3\n")
    given = ("transform", "result", "new.csv", "--column-weights")
    assert elbmf(*given, "heavy.csv").out.splitlines()[1] == "flo\t0"
    Path("heavy.csv").write_text("fruit,weight\napple,3\n")
    assert elbmf(*given, "heavy.csv").out.splitlines()[1] == "flo\t1"
    elbmf(*given, "heavy.csv", "-o", "heavy.csv").assert_error("heavy.csv")


def test_cover_and_rank_take_weights(elbmf: Any) -> None:
    found = elbmf("cover", "tiles.csv", "-o", "roles", "--row-weights", "rows.csv", "--max-loss", 6)
    assert found.code == 0
    assert "weighted loss  6, by weights of rows" in found.out
    assert "Proved minimal: it takes 1 component." in found.out
    ranks = elbmf("rank", "tiles.csv", "-o", "ranks", "--max", 2, "--row-weights", "rows.csv")
    assert ranks.code == 0
    table = json.loads(Path("ranks/ranks.json").read_text())["table"]
    assert table["loss"] == [18, 6, 0]
    assert load_model("ranks/model").info.weighted.loss == 0


def test_a_matrix_folder_takes_weights(elbmf: Any) -> None:
    assert elbmf("convert", "tiles.csv", "tiles.matrix").code == 0
    given = ("-k", 1, "--seed", 0, "--row-weights", "rows.csv", "--json")
    found = elbmf("fit", "tiles.matrix", "-o", "result", *given).json
    assert found["weighted"] == {"sides": ["rows"], "loss": 6}


def test_the_report_tells_weights(elbmf: Any) -> None:
    assert elbmf(*FIT, "--row-weights", "rows.csv", "--report").code == 0
    page = Path("result/report.html").read_text()
    assert "The fit had weights of rows, by which the wrong cells weigh 6." in page
    assert ".fit(table.values, sample_weight=read_weights(" in page
    assert "is not as it was" not in page


def test_rows_without_names_are_numbered(elbmf: Any) -> None:
    np.save("plain.npy", read("tiles.csv").values.toarray())
    Path("numbers.csv").write_text("row,weight\n3,3\n4,3\n")
    given = ("-k", 1, "--seed", 0, "--row-weights", "numbers.csv", "--json")
    assert elbmf("fit", "plain.npy", "-o", "result", *given).json["weighted"]["loss"] == 6


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("ann,3\nbob,2\n", ["line 1: expected a header", "row,weight; found the number 3"]),
        ("weight\n3\n4\n", ["line 1", "the names of rows and their weights, found 1"]),
        ("a,b,c\nann,3,4\n", ["header of two columns", "found 3 columns"]),
        (
            "person,weight\nzoe,3\n",
            ["the matrix has no row 'zoe'", "called 'ann', 'bob', 'cy' and"],
        ),
        ("person,weight\nann,lots\n", ["weight of 'ann' must be a number", "found 'lots'"]),
        ("person,weight\nann,\n", ["weight of 'ann' must be a number", "found ''"]),
        ("person,weight\nann,-1\n", ["of at least 0, found '-1'", "leaves a row out"]),
        ("person,weight\nann,nan\n", ["found 'nan'"]),
        ("person,weight\nann,inf\n", ["found 'inf'"]),
        ("person,weight\nann,1\nann,2\n", ["line 3: 'ann' is already in line 2"]),
        (
            "person,weight\n"
            + "".join(f"{name},0\n" for name in ("ann", "bob", "cy", "dee", "eve")),
            ["--row-weights is zero for every row"],
        ),
    ],
)
def test_tables_that_cannot_be_used(elbmf: Any, text: str, parts: list[str]) -> None:
    Path("bad.csv").write_text(text)
    elbmf(*FIT, "--row-weights", "bad.csv").assert_error(*parts)


def test_what_takes_no_weights_says_so(elbmf: Any) -> None:
    elbmf(*FIT, "--row-weights", "nowhere.csv").assert_error("nowhere.csv: there is no such file")
    stream = ("fit", "--stream", "tiles.csv", "-k", 1, "-o", "result")
    elbmf(*stream, "--column-weights", "columns.csv").assert_error(
        "--column-weights does not work with a stream"
    )
    cover = ("cover", "tiles.csv", "-o", "roles", "--max-loss", 2, "--row-weights", "halves.tsv")
    elbmf(*cover).assert_error("With --max-loss 2, weights", "must be whole numbers")


def test_rounded_weights_are_warned_of(elbmf: Any) -> None:
    Path("odd.csv").write_text("person,weight\nann,3.14159\nbob,2.71828\n")
    found = elbmf(*FIT, "--row-weights", "odd.csv")
    assert "Weights of rows were rounded" in found.err
    assert "Weights of rows were rounded" in load_model("result").info.warnings[0]
