"""Names are data: whatever is in them, nothing that shows them obeys it."""

import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from elbmf.errors import CONTROLS, InputError, visible
from elbmf.estimators.shown import shortly
from elbmf.io import LabelledMatrix, load_model, read, write

HOSTILE = (
    "\x1b]0;PWNED\x07\x1b[2Jx",
    "back\b\b\bspace\rreturn",
    "one\x9b2Jbyte",
    "turned \u202e around \u2066 and \u200f",
    "ends\na line\u2028and\x85others",
    "$\\frac{1$ <b>&amp;",
    "=cmd|'/C calc'!A0",
    "\x7f",
    "tab\there",
)

UNSAFE = [chr(code) for code in CONTROLS if chr(code) not in "\n"]


def assert_harmless(text: str) -> None:
    assert not [character for character in UNSAFE if character in text]


@pytest.fixture
def result(elbmf: Any) -> str:
    """A result of data whose rows and columns have such names."""
    rows = [f"{name}{at}" for at, name in product(range(2), HOSTILE)]
    columns = [f"{name}c" for name in HOSTILE]
    cells = np.zeros((len(rows), len(columns)), dtype=bool)
    cells[::2, :5] = cells[1::2, 4:] = True
    write(Path("data.npz"), LabelledMatrix(cells, rows, columns))
    write(Path("others.npz"), LabelledMatrix(cells, rows, [f"other {name}" for name in columns]))
    Path("labels.json").write_text(json.dumps(rows))
    write(Path("data.csv"), LabelledMatrix(cells, rows, columns))
    said = elbmf("fit", "data.npz", "-k", 2, "--seed", 0, "-o", "result", "--tsv")
    assert said.code == 0
    assert_harmless(said.out + said.err)
    return "result"


COMMANDS = [
    ("info", "data.npz"),
    ("info", "data.csv"),
    ("info", "result"),
    ("info", "result", "--json"),
    ("score", "result", "others.npz"),
    ("transform", "result", "others.npz", "-o", "new.tsv"),
    ("enrich", "result", "--sets", "sets.gmt"),
    ("labels", "result", "labels.tsv"),
    ("labels", "result", "labels.tsv", "--json"),
    ("labels", "result", "labels.tsv", "--column", "\x1b[31m\u202e"),
    ("explain", "result", "--row", f"{HOSTILE[0]}0"),
    ("explain", "result", "--row", f"{HOSTILE[4]}0", "--column", f"{HOSTILE[4]}c"),
    ("explain", "result", "--row", "\x1b[31mnone"),
    ("explain", "result", "--row", f"{HOSTILE[3]}0", "--json"),
    ("info", "\x1b[31mno file"),
    ("bound", "data.npz", "-k", "1"),
    ("fit", "data.npz", "-k", "2", "--seed", "0", "-o", "again", "--min-rows", "99"),
    ("fit", "strange.csv", "-k", "2", "-o", "again"),
    ("fit", "data.npz", "-k", "2", "-o", "again", "--drop", "\x9b31m"),
    ("plot", "map", "result", "-o", "map.svg"),
    ("export", "result", "-o", "result.json"),
    ("report", "result", "-o", "page.html"),
]


@pytest.mark.slow
def test_no_command_prints_what_a_terminal_obeys(elbmf: Any, result: str) -> None:
    names = load_model(result).row_names
    assert names is not None
    fields = ['"' + name.replace('"', '""') + '"' for name in names]
    kinds = [f'"kind {HOSTILE[at % 2]}"' for at in range(len(fields))]
    lines = [f"{field}\t{kind}" for field, kind in zip(fields, kinds, strict=True)]
    Path("labels.tsv").write_text("\n".join(['row\t"kind \x1b[2J"', *lines, ""]), newline="")
    Path("sets.gmt").write_text(f"set \x1b[2J\u202e\t\t{HOSTILE[0]}c\t{HOSTILE[2]}c\n")
    Path("strange.csv").write_text("n,\x1b[2Ja,b\nr1,\x1b[31m,0\nr2,0,1\n")
    for command in COMMANDS:
        said = elbmf(*command)
        assert said.code in (0, 2), (command, said.err)
        assert_harmless(said.out + said.err)
        if "--json" in command:
            json.loads(said.out)


def test_a_line_end_in_a_name_makes_no_line(elbmf: Any, result: str) -> None:
    said = elbmf("explain", result, "--row", f"{HOSTILE[4]}0")
    assert r"ends\na line\u2028and\x85others0 is in" in said.out
    assert not any(line.startswith("a line") for line in said.out.splitlines())


def test_files_have_the_names_as_they_are(elbmf: Any, result: str) -> None:
    rows, columns = load_model(result).row_names, load_model(result).column_names
    assert elbmf("export", result, "-o", "result.json").code == 0
    text = Path("result.json").read_text()
    assert_harmless(text)
    told = [name for each in json.loads(text)["components"] for name in each["rows"]]
    assert {*told} <= {*(rows or ())}
    assert elbmf("convert", "data.npz", "again.csv").code == 0
    again = read("again.csv")
    assert (again.row_names, again.column_names) == (rows, columns)


def test_errors_and_warnings_show_what_is_there() -> None:
    error = InputError("the row \x1b[2J\u202e\nis no row")
    assert str(error) == "the row \\x1b[2J\\u202e\nis no row"
    assert visible("a\tb\n") == "a\\tb\\n"
    # What people write stays: letters of any script, joiners and marks.
    kept = "naïve – 数据 नमस्ते 👩‍👩‍👧 עברית é"
    assert visible(kept) == kept


def test_a_notebook_shows_names_as_text() -> None:
    assert shortly(["\x1b[2J\u202e<b>"]) == "\\x1b[2J\\u202e&lt;b&gt;"


def test_formulas_are_escaped_on_request(elbmf: Any) -> None:
    Path("a.csv").write_text("n,=a,b\n@r1,1,0\n-r2,0,1\nr3,1,1\n")
    Path("kinds.tsv").write_text("row\tkind\n@r1\t=x\n-r2\t=x\nr3\ty\n")
    fit = ("fit", "a.csv", "-k", 2, "--seed", 0, "--tsv", "-o")
    assert elbmf(*fit, "exact").code == 0
    assert elbmf(*fit, "escaped", "--escape-formulas").code == 0
    tables = {each: Path(each, "rows.tsv").read_text() for each in ("exact", "escaped")}
    assert tables["exact"].replace("\n@", "\n'@").replace("\n-", "\n'-") == tables["escaped"]
    assert "\n'=a\t" in Path("escaped", "columns.tsv").read_text()
    assert load_model("escaped").column_names == ["=a", "b"]
    labels = ("labels", "exact", "kinds.tsv", "-o")
    for name, shown in (("exact.csv", "0,=x,"), ("escaped.csv", "0,'=x,")):
        more = ["--escape-formulas"] if name == "escaped.csv" else []
        assert elbmf(*labels, name, *more).code == 0
        assert f"\n{shown}" in Path(name).read_text()
    said = elbmf(*labels, "escaped.json", "--escape-formulas")
    said.assert_error("--escape-formulas is for csv and tsv", "the format is json")
