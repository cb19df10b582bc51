"""elbmf enrich and elbmf labels: what is known about the columns and rows of a saved result."""

import csv
import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from elbmf.io import SavedModel, load_model, save_model

SETS = "stone\tfruit with stones\tplum\tfig\tcherry\nseed\tothers\tapple\tpear\nlone\t\tnut\n"
LABELS = "person\tplace\tage\nann\tnorth\t3\nbob\tnorth\t\ndee\tsouth\t5\neve\tsouth\t6\n"


@pytest.fixture(autouse=True)
def tables(elbmf: Any) -> None:
    """Files beside the model."""
    Path("sets.gmt").write_text(SETS)
    Path("labels.tsv").write_text(LABELS)


def test_sets_of_a_component_are_shown(elbmf: Any, model: str) -> None:
    result = elbmf("enrich", model, "--sets", "sets.gmt", "--max-adjusted-p", 1)
    assert (result.code, result.err) == (0, "")
    lines = result.out.splitlines()
    headers = ["component", "set", "overlap", "columns", "fold", "p", "adjusted p", "in both"]
    assert lines[0].split() == " ".join(headers).split()
    assert len(lines) == 3
    assert {"stone", "seed"} == {line.split()[1] for line in lines[1:]}
    assert "apple, pear" in result.out
    assert "2/2" in result.out


def test_what_is_not_significant_is_left_out(elbmf: Any, model: str) -> None:
    result = elbmf("enrich", model, "--sets", "sets.gmt", "-o", "table.csv")
    assert result.code == 0
    assert "None of the 3 sets is enriched in any component" in result.out
    assert result.err == "Nothing to save, table.csv not written\n"
    assert not Path("table.csv").exists()


def test_more_sets_than_are_shown(elbmf: Any, model: str) -> None:
    Path("many.gmt").write_text("".join(f"set{at}\t\tapple\tpear\n" for at in range(9)))
    result = elbmf("enrich", model, "--sets", "many.gmt", "--max-adjusted-p", 1)
    assert len(result.out.splitlines()) == 8
    assert "4 more; -o TABLE writes all." in result.out


def _written(path: str) -> list[dict[str, Any]]:
    if path.endswith(".parquet"):
        from pyarrow import parquet

        return parquet.read_table(path).to_pylist()
    if path.endswith(".json"):
        return json.loads(Path(path).read_text())
    with open(path, newline="") as stream:
        return list(csv.DictReader(stream, delimiter="\t" if path.endswith("tsv") else ","))


@pytest.mark.parametrize(
    "suffix", ["csv", "tsv", "json", pytest.param("parquet", marks=pytest.mark.formats)]
)
def test_tables_of_enrichments(elbmf: Any, model: str, suffix: str) -> None:
    flags = ["--sets", "sets.gmt", "--max-adjusted-p", 1, "-o", f"table.{suffix}", "--json"]
    result = elbmf("enrich", model, *flags)
    assert result.err == f"Saved to table.{suffix}\n"
    found = result.json["enrichments"]
    written = _written(f"table.{suffix}")
    assert [each["set"] for each in written] == [each["set"] for each in found]
    joined = suffix in ("csv", "tsv")
    for line, each in zip(written, found, strict=True):
        assert line["genes"] == (";".join(each["genes"]) if joined else each["genes"])
        assert float(line["p"]) == each["p"] == pytest.approx(0.1)


def test_one_component_and_all_together(elbmf: Any, model: str) -> None:
    flags = ["--sets", "sets.gmt", "--max-adjusted-p", 1, "--json"]
    one = elbmf("enrich", model, *flags, "--component", 1).json["enrichments"]
    assert {each["component"] for each in one} == {1}
    together = elbmf("enrich", model, *flags, "--across-components").json["enrichments"]
    assert [each["adjusted_p"] for each in together] == pytest.approx([0.2, 0.2])


def test_names_may_be_cut_and_their_case_ignored(elbmf: Any, model: str) -> None:
    saved = load_model(model)
    saved.column_names = [f"{name}|7" for name in saved.column_names]
    save_model("cut", saved)
    Path("upper.gmt").write_text(SETS.upper())
    run = elbmf("enrich", "cut", "--sets", "sets.gmt")
    run.assert_error("'apple|7'", "'plum'", "before '|' does match; set --cut-at '|'.")
    run = elbmf("enrich", model, "--sets", "upper.gmt")
    run.assert_error("case only; set --ignore-case")
    flags = ["--cut-at", "|", "--ignore-case", "--max-adjusted-p", 1, "--json"]
    assert len(elbmf("enrich", "cut", "--sets", "upper.gmt", *flags).json["enrichments"]) == 2


def test_errors_of_enrich(elbmf: Any, model: str) -> None:
    Path("other.gmt").write_text("one\t\tENSG01\n")
    elbmf("enrich", model, "--sets", "other.gmt").assert_error("'apple', 'pear'", "'ENSG01'")
    elbmf("enrich", model, "--sets", "no.gmt").assert_error("no.gmt", "no such file")
    elbmf("enrich", model, "--sets", "tiles.csv").assert_error("tiles.csv, line 1", "GMT")
    flags = ["--sets", "sets.gmt"]
    elbmf("enrich", model, *flags, "--component", 9).assert_error("no component 9")
    elbmf("enrich", model, *flags, "-o", "sets.gmt").assert_error(".csv, .tsv, .json")
    saved = load_model(model)
    saved.column_names = saved.row_names = None
    save_model("nameless", saved)
    elbmf("enrich", "nameless", *flags).assert_error("nameless", "the columns have no names")
    elbmf("labels", "nameless", "labels.tsv").assert_error("nameless", "the rows have no names")
    Path("numbered.tsv").write_text("id\tkind\n0\ta\n1\ta\n2\tb\n")
    result = elbmf("labels", "nameless", "numbered.tsv")
    assert result.code == 0
    assert "matched by their number" in result.err


@pytest.mark.parametrize("share", ["-0.1", "1.5"])
def test_p_is_from_0_to_1(elbmf: Any, model: str, share: str) -> None:
    run = elbmf("enrich", model, "--sets", "sets.gmt", f"--max-adjusted-p={share}")
    assert run.code == 2
    assert "must be from 0 to 1" in run.err


def test_labels_have_a_best_component(elbmf: Any, model: str) -> None:
    result = elbmf("labels", model, "labels.tsv")
    assert result.err == "labels.tsv: 1 rows without a label are left out.\n"
    lines = result.out.splitlines()
    headers = "label rows best component nmi rows in it share inside outside fold adjusted p"
    assert lines[0].split() == headers.split()
    assert lines[1].split()[:2] == ["north", "2"]
    assert lines[1].split()[3:8] == ["1.000", "2", "of", "2", "100"]
    assert lines[-1] == "mean nmi of the best components: 1.000"


def test_a_label_that_is_only_absent_has_no_best_component(elbmf: Any) -> None:
    U = np.array([[1], [1], [1], [1], [0], [0], [0], [0]], dtype=bool)
    save_model("absent", SavedModel(U, np.ones((1, 2), dtype=bool)))
    Path("kinds.tsv").write_text(
        "id\tkind\n" + "".join(f"{at}\t{'ab'[at > 3]}\n" for at in range(8))
    )
    result = elbmf("labels", "absent", "kinds.tsv")
    lines = result.out.splitlines()
    assert lines[1].split()[:3] == ["a", "4", "0"]
    assert lines[2].split() == ["b", "4", "none", *["–"] * 6]
    said = "b: what tells most is that component 0 has 0 of its 4 rows (nmi 1.000)."
    assert said in lines
    first, second = elbmf("labels", "absent", "kinds.tsv", "--json").json["best"]
    assert first["best_component"]["direction"] == "more"
    assert (first["best_component"]["share_inside"], first["best_component"]["fold"]) == (1, 2)
    assert first["told_by_absence"] is None
    assert second["best_component"] is None
    assert second["told_by_absence"]["direction"] == "fewer"
    assert (second["told_by_absence"]["overlap"], second["label_rows"]) == (0, 4)


def test_ages_are_no_labels(elbmf: Any) -> None:
    U = np.arange(120)[:, None] % 2 == 0
    names = [str(at) for at in range(120)]
    save_model("many", SavedModel(U, np.ones((1, 2), dtype=bool), row_names=names))
    Path("people.csv").write_text(
        "id,age,sex\n" + "".join(f"{at},{20 + at / 2},{'mf'[at % 2]}\n" for at in range(120))
    )
    said = ("people.csv, column 'age': ", "120 different values", "rather numbers: 20.0, ")
    elbmf("labels", "many", "people.csv", "--column", "age").assert_error(*said)
    for kind in ("map", "labels"):
        flags = ("--labels", "people.csv", "--column", "age", "-o", "map.png")
        elbmf("plot", kind, "many", *flags).assert_error(*said)
    result = elbmf("labels", "many", "people.csv")
    assert "'sex', the first that sorts lines into groups" in result.err
    assert [line.split()[:2] for line in result.out.splitlines()[1:3]] == [["f", "60"], ["m", "60"]]


def test_table_of_labels(elbmf: Any, model: str) -> None:
    Path("labels.csv.gz").write_bytes(gzip.compress(LABELS.replace("\t", ",").encode()))
    result = elbmf("labels", model, "labels.csv.gz", "--column", "age", "-o", "nmi.csv", "--json")
    assert "Saved to nmi.csv" in result.err
    written = _written("nmi.csv")
    assert len(written) == len(result.json["components"]) == 2 * 3
    assert {line["label"] for line in written} == {"3", "5", "6"}
    assert {line["label_rows"] for line in written} == {"1"}


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ("", ["empty (0 bytes), expected a table of labels"]),
        ("person\tplace\n", ["has no line below its header"]),
        ("person\nann\n", ["line 1", "at least two columns", "found 1"]),
        ("person\tplace\tplace\nann\ta\tb\n", ["line 1", "two columns 'place'"]),
        ("person\tplace\tage\nann\ta\t1\nbob\tb\n", ["line 3", "expected 3 fields", "found 2"]),
        ("person\tplace\nann\ta\nann\tb\n", ["line 3", "'ann' is already in line 2"]),
        ("person\tplace\nzoe\ta\n", ["none of the 5 rows", "'ann', 'bob'", "'zoe'"]),
    ],
)
def test_tables_without_labels(elbmf: Any, model: str, content: str, parts: list[str]) -> None:
    Path("labels.tsv").write_text(content)
    elbmf("labels", model, "labels.tsv").assert_error("labels.tsv", *parts)


def test_columns_that_are_not_there(elbmf: Any, model: str) -> None:
    run = elbmf("labels", model, "labels.tsv", "--column", "sex")
    run.assert_error("there is no column 'sex'", "'place', 'age'")
    run = elbmf("labels", model, "labels.tsv", "-o", "labels.tsv")
    run.assert_error("would replace")


@pytest.mark.parametrize("delimiter", ["1,2", "a", "é", ""])
def test_odd_delimiters_are_refused(elbmf: Any, model: str, delimiter: str) -> None:
    Path("rows.tsv").write_text("row\tkind\na\tb\n")
    result = elbmf("labels", model, "rows.tsv", "--delimiter", delimiter)
    result.assert_error("one ASCII character", repr(delimiter))
