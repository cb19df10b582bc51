"""Tables of spreadsheets on the command line: columns that do not belong, and labels among them."""

from pathlib import Path
from typing import Any

import pytest

from elbmf.io import load_model

CLINIC = """\
Patient;Age;Sex;G1;G2;G3
p1;71;f;1;1;0
p2;65;m;1;1;0
p3;58;f;0;0;1
p4;64;f;0;0;1
"""


@pytest.fixture
def result(elbmf: Any) -> str:
    Path("clinic.csv").write_text(CLINIC)
    flags = ["-k", 2, "--effort", 0, "--seed", 0, "-q"]
    run = elbmf("fit", "clinic.csv", *flags, "-o", "result", "--drop", "Age", "--drop", "Sex")
    assert run.code == 0
    return "result"


def test_a_model_notes_what_was_left_out(elbmf: Any, result: str) -> None:
    model = load_model(result)
    assert model.column_names == ["G1", "G2", "G3"]
    assert model.info.data.options == {"drop": ["Age", "Sex"]}
    described = elbmf("transform", result, "clinic.csv")
    assert described.code == 0
    assert len(described.out.splitlines()) == 5
    assert elbmf("score", result, "clinic.csv", "--json").json["measures"]["loss"] == 0
    assert elbmf("score", result).code == 0
    assert elbmf("report", result).code == 0


def test_new_rows_may_come_without_what_was_left_out(elbmf: Any, result: str) -> None:
    Path("new.csv").write_text("id,Sex,G1,G2,G3\nx,f,1,1,0\n")
    described = elbmf("transform", result, "new.csv")
    assert described.out.splitlines()[1].startswith("x\t")
    run = elbmf("transform", result, "new.csv", "--drop", "Sx")
    run.assert_error("new.csv: there is no column 'Sx', which --drop names", "'Sex'")


def test_the_data_is_read_again_as_it_was(elbmf: Any) -> None:
    Path("sales.csv").write_text("id;a;b\nx;1.234;0\ny;0;2.500\n")
    flags = ["-k", 2, "--effort", 0, "--binarize", 1000, "-o", "sold", "-q"]
    elbmf("fit", "sales.csv", *flags).assert_error("'1.234'", "--decimal .", "--thousands .")
    assert elbmf("fit", "sales.csv", *flags, "--thousands", ".").code == 0
    assert elbmf("transform", "sold", "sales.csv").code == 0
    assert elbmf("score", "sold").code == 0


def test_a_column_of_the_data_has_the_labels(elbmf: Any, result: str) -> None:
    found = elbmf("labels", result, "--column", "Sex", "--json").json
    assert {each["label"] for each in found["components"]} == {"f", "m"}
    assert found["labels"].endswith("clinic.csv")
    elbmf("labels", result).assert_error("no labels are named", "--column NAME")
    elbmf("labels", result, "--column", "Sx").assert_error("no column 'Sx'", "'Sex'")
    assert elbmf("report", result, "--column", "Sex").code == 0
    Path("clinic.csv").unlink()
    elbmf("labels", result, "--column", "Sex").assert_error("no longer there")


def test_labels_of_rows_without_names(elbmf: Any) -> None:
    lines = (line.partition(";")[2] for line in CLINIC.splitlines())
    Path("plain.csv").write_text("\n".join(lines))
    flags = ["-k", 2, "--effort", 0, "--drop", "Age,Sex", "-o", "plain", "-q"]
    assert elbmf("fit", "plain.csv", *flags).code == 0
    assert load_model("plain").row_names is None
    found = elbmf("labels", "plain", "--column", "Sex", "--json").json["components"]
    assert {(each["label"], each["label_rows"]) for each in found} == {("f", 3), ("m", 1)}


def test_tables_of_labels_say_how_they_are_laid_out(elbmf: Any, result: str) -> None:
    Path("kinds.csv").write_bytes("Patient|Größe\np1|klein\np2|groß\n".encode("cp437"))
    flags = ["--delimiter", "|", "--encoding", "cp437"]
    found = elbmf("labels", result, "kinds.csv", *flags, "--json").json["components"]
    assert {each["label"] for each in found} == {"klein", "groß"}
    Path("sets.csv").write_text('one;"a; b";G1;G2;;\ntwo;;G3;;;\n')
    sets = ["--sets", "sets.csv", "--min-size", 1, "--max-adjusted-p", 1]
    found = elbmf("enrich", result, *sets, "--delimiter", ";", "--json").json
    assert found["sets"]["count"] == 2
    assert {each["set"] for each in found["enrichments"]} == {"one", "two"}
