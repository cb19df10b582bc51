"""Tables as spreadsheets of several countries leave them: read right, or refused, never wrong."""

import datetime
import itertools
import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from io_helpers import dense

from elbmf.cli import main
from elbmf.errors import FileFormatError, InputError
from elbmf.io import files, read, read_labels, read_weights, to_folder
from elbmf.io.text.numerals import Numerals, readings

NAN = math.nan


@dataclass
class Sheet:
    """A file, and what is in it; ``refused`` says what an error must say instead."""

    name: str
    lines: list[list[Any]]
    rows: list[str] | None
    columns: list[str] | None
    cells: list[list[float]]
    delimiter: str = ";"
    encoding: str = "utf-8"
    options: dict[str, Any] = field(default_factory=dict)
    refused: tuple[str, ...] = ()

    def write(self, folder):
        path = folder / self.name
        if self.name.endswith(".xlsx"):
            openpyxl = pytest.importorskip("openpyxl")
            pytest.importorskip("python_calamine")
            book = openpyxl.Workbook()
            for place, line in enumerate(self.lines, 1):
                for column, cell in enumerate(line, 1):
                    book.active.cell(place, column, cell)
            book.save(path)
        else:
            text = "".join(self.delimiter.join(line) + "\r\n" for line in self.lines)
            path.write_bytes(text.encode(self.encoding))
        return path


def workbook(sheet):
    return pytest.param(sheet, id=sheet.name, marks=pytest.mark.formats)


def plain(sheet):
    return pytest.param(sheet, id=sheet.name)


SHEETS = [
    plain(
        Sheet(
            "german-decimals.csv",
            [["Patient", "Größe", "TP53"], ["Müller", "7,5", "1"], ["Weiß", "1.234,5", "0"]],
            ["Müller", "Weiß"],
            ["Größe", "TP53"],
            [[7.5, 1], [1234.5, 0]],
            encoding="cp1252",
        )
    ),
    plain(
        Sheet(
            "german-labels.csv",
            [
                ["ID", "Alter", "Geschlecht", "A", "B"],
                ["p1", "71", "w", "WAHR", "FALSCH"],
                ["p2", "65", "m", "FALSCH", "WAHR"],
            ],
            ["p1", "p2"],
            ["A", "B"],
            [[1, 0], [0, 1]],
            encoding="utf-8-sig",
            options={"drop": ["Alter", "Geschlecht"]},
        )
    ),
    plain(
        Sheet(
            "german-unicode-text.txt",
            [["Name", "Umsatz", "Quote"], ["Süd", "12.500", "0,25"], ["Nord", "1.000", "3"]],
            ["Süd", "Nord"],
            ["Umsatz", "Quote"],
            [[12500, 0.25], [1000, 3]],
            delimiter="\t",
            encoding="utf-16",
        )
    ),
    plain(
        Sheet(
            "german-thousands.csv",
            [["Name", "Umsatz"], ["Süd", "12.500"], ["Nord", "1.000"]],
            ["Süd", "Nord"],
            ["Umsatz"],
            [[12500], [1000]],
            options={"thousands": "."},
            refused=("line 2", "'Umsatz'", "'12.500'", "12.5 or 12500", "decimal", "thousands"),
        )
    ),
    plain(
        Sheet(
            "french-thousands.csv",
            [["nom", "été", "hiver"], ["Zoé", "1\u202f234,5", ""], ["Léa", "12\u202f500", "0,1"]],
            ["Zoé", "Léa"],
            ["été", "hiver"],
            [[1234.5, NAN], [12500, 0.1]],
        )
    ),
    plain(
        Sheet(
            "french-windows.csv",
            [['"nom, prénom"', "x"], ['"Côté, Zoé"', "VRAI"], ['"L\'Écuyer, Léa"', "FAUX"]],
            ["Côté, Zoé", "L'Écuyer, Léa"],
            ["x"],
            [[1], [0]],
            encoding="cp1252",
        )
    ),
    plain(
        Sheet(
            "french-lines.csv",
            [
                ['"nom\ndu patient"', '"a\n(mg)"', "b"],
                ['"Zoé ""Z""\nB."', "1\u00a0000", "0,5"],
                ["Léa", "0", "1,25"],
            ],
            ['Zoé "Z"\nB.', "Léa"],
            ["a\n(mg)", "b"],
            [[1000, 0.5], [0, 1.25]],
            encoding="cp1252",
        )
    ),
    plain(
        Sheet(
            "english-thousands.csv",
            [["id", "sales", "rate"], ["north", '"1,234"', "0.5"], ["south", '"12,500.25"', "2"]],
            ["north", "south"],
            ["sales", "rate"],
            [[1234, 0.5], [12500.25, 2]],
            delimiter=",",
            encoding="utf-8-sig",
        )
    ),
    plain(
        Sheet(
            "english-unclear.csv",
            [["id", "sales"], ["north", '"1,234"'], ["south", '"2,500"']],
            ["north", "south"],
            ["sales"],
            [[1.234], [2.5]],
            delimiter=",",
            options={"decimal": ","},
            refused=("line 2", "'sales'", "'1,234'", "1.234 or 1234"),
        )
    ),
    plain(
        Sheet(
            "swiss.csv",
            [["Kanton", "Fläche", "Anteil"], ["Zürich", "1'729.5", "0.25"], ["Uri", "1’077", "5"]],
            ["Zürich", "Uri"],
            ["Fläche", "Anteil"],
            [[1729.5, 0.25], [1077, 5]],
        )
    ),
    workbook(
        Sheet(
            "german.xlsx",
            [
                [],
                [],
                [None, "Patient", "Sex", "G1\n(x)", "G2"],
                [None, "Bär, A", "w", 1, "7,5"],
                [None, "Öz", "m", None, "1.234,5"],
                [None, "007", "w", True, 2.5],
            ],
            ["Bär, A", "Öz", "007"],
            ["G1\n(x)", "G2"],
            [[1, 7.5], [NAN, 1234.5], [1, 2.5]],
            options={"drop": "Sex"},
        )
    ),
    workbook(
        Sheet(
            "english.xlsx",
            [["id", 2019, 2020], ["a", 0.125, 1234], ["b", 1.234, "#N/A"]],
            ["a", "b"],
            ["2019", "2020"],
            [[0.125, 1234], [1.234, NAN]],
        )
    ),
]


@pytest.mark.parametrize("sheet", SHEETS)
def test_spreadsheets_of_three_countries(tmp_path, sheet, capsys):
    path = sheet.write(tmp_path)
    if sheet.refused:
        with pytest.raises(FileFormatError) as caught:
            read(path)
        assert all(part in str(caught.value) for part in sheet.refused)
    table = read(path, **sheet.options)
    np.testing.assert_array_equal(dense(table), sheet.cells)
    assert (table.row_names, table.column_names) == (sheet.rows, sheet.columns)
    # The same from the command line.
    flags = [
        f"--{name}={said}"
        for name, value in sheet.options.items()
        for said in ([value] if isinstance(value, str) else value)
    ]
    if sheet.refused:
        assert main(["info", str(path)]) == 2
        message = capsys.readouterr().err
        assert f"--{next(iter(sheet.options))} " in message
    assert main(["convert", str(path), str(tmp_path / "out.npz"), "-q", *flags]) == 0
    again = read(tmp_path / "out.npz")
    np.testing.assert_array_equal(dense(again), sheet.cells)
    assert (again.row_names, again.column_names) == (sheet.rows, sheet.columns)
    assert main(["info", str(path), *flags]) == 0
    assert f"{len(sheet.cells)} rows" in capsys.readouterr().out


def written(value, decimal, thousands, places):
    """Write a number as a spreadsheet of some country shows it."""
    whole, _, part = f"{abs(value):.{places}f}".partition(".")
    if thousands:
        whole = f"{int(whole):,}".replace(",", thousands)
    sign = "-" if value < 0 else ""
    return sign + whole + (decimal + part if part else "")


MARKS = [
    *itertools.product([","], ["", ".", "\u00a0", "\u202f", "'"]),
    *itertools.product(["."], ["", ",", "\u00a0", "'", "’"]),
]


@st.composite
def spreadsheets(draw):
    decimal, thousands = draw(st.sampled_from(MARKS))
    delimiter = draw(st.sampled_from(";\t,"))
    width, height = draw(st.integers(2, 4)), draw(st.integers(1, 4))
    places = [draw(st.integers(0, 4)) for _ in range(width)]
    number = st.one_of(st.integers(0, 1), st.integers(-9999, 9999), st.floats(-5e6, 5e6))
    cells = [[round(draw(number), places[j]) + 0.0 for j in range(width)] for _ in range(height)]
    lines = [[written(x, decimal, thousands, places[j]) for j, x in enumerate(r)] for r in cells]
    named = draw(st.booleans())
    names = draw(st.lists(st.sampled_from(["Müller", "a.b", "x, y", "1A", "v 2.5"]), min_size=4))
    if named:
        lines = [[f"{names[i]} {i}", *line] for i, line in enumerate(lines)]
    header = [["id"] * named + [f"c{j}" for j in range(width)]]
    quoting = draw(st.booleans())
    text = "".join(
        delimiter.join(f'"{each}"' if quoting or delimiter in each else each for each in line)
        + "\r\n"
        for line in header + lines
    )
    encoding = draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252"]))
    if encoding == "cp1252":
        text = text.replace("\u202f", "\u00a0")
    return text.encode(encoding), cells


@given(spreadsheets(), st.sampled_from([".csv", ".tsv", ".txt"]), st.sampled_from([40, 1 << 20]))
@settings(
    max_examples=80,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_numbers_come_back_equal_or_not_at_all(tmp_path, monkeypatch, sheet, suffix, block_bytes):
    content, cells = sheet
    monkeypatch.setattr(files, "_BLOCK_BYTES", block_bytes)
    path = tmp_path / f"t{suffix}"
    path.write_bytes(content)
    try:
        found = dense(read(path, header=True))
    except InputError:
        return
    np.testing.assert_array_equal(found, np.array(cells))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("7,5", {",": 7.5}),
        ("0,125", {",": 0.125}),
        ("1,234", {".": 1234, ",": 1.234}),
        ("1.234", {".": 1.234, ",": 1234}),
        ("1.234,5", {",": 1234.5}),
        ("-1,234,567", {".": -1234567}),
        ("1 234 567,8", {",": 1234567.8}),
        ("1'234.567", {".": 1234.567}),
        ("1.234e5", {".": 123400}),
        ("12", {".": 12, ",": 12}),
        ("01.02.2020", {}),
        ("1,23,456", {}),
        ("1.234'5", {}),
        ("1,2.3,4", {}),
        ("7,5 %", {}),
        (",", {}),
    ],
)
def test_readings(text, expected):
    assert readings(text) == expected


def test_two_decimal_marks_are_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a;b\n7,5;0\n1;2.5\n")
    with pytest.raises(FileFormatError, match=r"line 3, field 2 \(column 'b'\).*'2.5'.*'7,5' is"):
        read(path)


@pytest.mark.parametrize(
    ("text", "shape", "options"),
    [
        # A long header without commas above decimal commas.
        (";".join(f"g{j}" for j in range(45)) + "\n" + "0;" * 44 + "7,5\n", (1, 45), {}),
        ("id;x\na;7,5\nb;3\n", (2, 1), {}),
        ("sep=;\nid;x\na;7,5\n", (1, 1), {}),
        ("7,5;3,2\n1,5;2,2\n", (2, 2), {}),
        ("id,x\na;b,1\nc;d,0\n", (2, 1), {}),
        ("x;y\nr1;7,5;3\nr2;1,5;2\n", (2, 2), {}),
    ],
)
def test_delimiters_beside_decimal_commas(tmp_path, text, shape, options):
    path = tmp_path / "t.csv"
    path.write_text(text)
    assert read(path).shape == shape


def test_a_single_column_of_decimal_commas_is_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("score\n7,5\n3,2\n")
    with pytest.raises(FileFormatError, match=r"line 2: '7,5' may be a number.*or two fields"):
        read(path)
    np.testing.assert_array_equal(dense(read(path, delimiter=";")), [[7.5], [3.2]])
    np.testing.assert_array_equal(dense(read(path, delimiter=",")), [[5], [2]])


def test_what_only_a_later_block_tells(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_BLOCK_BYTES", 8)
    path = tmp_path / "t.csv"
    path.write_text("a;b\n" + "1;0\n" * 20 + "7,5;0\n" * 20 + "1.500;1\n" * 3)
    assert read(path).values.sum() == 20 + 20 * 7.5 + 3 * 1500 + 3


@pytest.mark.parametrize("encoding", ["cp1250", "cp1251", "mac_roman", "cp437"])
def test_other_encodings_are_not_taken_for_western(tmp_path, encoding):
    names = {"cp1250": "Pawłowski", "cp1251": "Привет", "mac_roman": "Müller", "cp437": "Müller"}
    path = tmp_path / "t.csv"
    path.write_bytes(f"id;x\n{names[encoding]};1\nb;0\n".encode(encoding))
    with pytest.raises(FileFormatError, match="expected text in the encoding utf-8"):
        read(path)
    assert read(path, encoding=encoding).row_names == [names[encoding], "b"]


CLINIC = "Patient;Age;Sex;G1;G2\np1;71;f;1;0\np2;65;m;0;1\n"


@pytest.mark.parametrize(
    ("options", "columns"),
    [
        ({"drop": "Age,Sex"}, ["G1", "G2"]),
        ({"drop": ["Age", "Sex", "G2"]}, ["G1"]),
        ({"columns": "G*"}, ["G1", "G2"]),
        ({"columns": ["G?"], "drop": "G1"}, ["G2"]),
    ],
)
@pytest.mark.parametrize("pairs", [False, True])
def test_columns_are_chosen(tmp_path, options, columns, pairs):
    path = tmp_path / "t.csv"
    path.write_text(CLINIC)
    if pairs:
        path.write_text("p1;G1;1\np1;Age;71\np2;G2;1\np2;Sex;1\n")
        options = {**options, "layout": "pairs"}
    table = read(path, **options)
    assert table.column_names == columns
    np.testing.assert_array_equal(dense(table), np.eye(2)[:, [int(c[1]) - 1 for c in columns]])
    stored = to_folder(path, tmp_path / "t.matrix", **options)
    assert stored.names(1) == columns
    assert stored.ones == table.values.nnz


def test_a_column_that_is_not_there(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(CLINIC)
    with pytest.raises(InputError, match=r"t\.csv: there is no column 'Sx'.*drop.*nearest.*'Sex'"):
        read(path, drop="Sx")
    with pytest.raises(InputError, match="no column is left"):
        read(path, columns="G1", drop="G*")
    # Without its names, rows have none.
    assert read(path, drop="Patient,Age,Sex").row_names is None
    path.write_text('id;"a,b";c\nx;1;0\n')
    assert read(path, drop="a,b").column_names == ["c"]


def test_dropped_columns_do_not_tell_how_numbers_are_written(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("id;income;version;x\na;1.234;2.5;7,5\nb;2.500;2.6;1\n")
    np.testing.assert_array_equal(dense(read(path, drop="income,version")), [[7.5], [1]])
    path.write_text("id;income;x\na;1.234;1\nb;2.500;0\n")
    np.testing.assert_array_equal(dense(read(path, drop="income")), [[1], [0]])


@pytest.fixture
def book(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    pytest.importorskip("python_calamine")
    made = openpyxl.Workbook()
    made.where = tmp_path / "b.xlsx"
    for line in [["id", "a", "b"], ["x", 1, 0], ["y", 0, 1]]:
        made.active.append(line)
    return made


def styled(cell):
    """Make a cell empty, but bold."""
    cell.value, cell.style = None, "Title"


@pytest.mark.formats
def test_sheets_are_named(book):
    book.create_sheet("empty")
    book.save(book.where)
    assert read(book.where).shape == (2, 2)
    book.create_sheet("More & more").append([1, 0, 1])
    book.save(book.where)
    with pytest.raises(InputError, match=r"more than one sheet: 'Sheet', 'More & more'.*sheet="):
        read(book.where)
    assert read(book.where, sheet="More & more").shape == (1, 3)
    with pytest.raises(InputError, match=r"no sheet 'sheet'. It has 'Sheet'"):
        read(book.where, sheet="sheet")


@pytest.mark.formats
@pytest.mark.parametrize(
    ("change", "parts"),
    [
        (lambda s: s.merge_cells("B2:C3"), ["B2:C3", "merged"]),
        (lambda s: s.insert_rows(1) or s.cell(1, 1, "Table 1"), ["line 1", "'Table 1'"]),
        (lambda s: s.cell(2, 2, "=1+1"), ["B2", "formula", "not stored"]),
        (lambda s: s.cell(3, 3, "#DIV/0!"), ["C3", "#DIV/0!"]),
        (lambda s: styled(s.cell(3, 2)) or s.cell(3, 3, "#REF!"), ["C3", "#REF!"]),
        (lambda s: s.cell(3, 3, datetime.date(2020, 1, 5)), ["'2020-01-05'", "'b'"]),
        (lambda s: s.cell(3, 3, "1,234"), ["C3", "stored as text", "1.234 or 1234"]),
        (lambda s: [s.cell(i, j, "1.234") for i in (2, 3) for j in (1, 2, 3)], ["A2", "1234"]),
        (lambda s: s.insert_rows(3), ["line 3", "all fields are empty"]),
    ],
)
def test_sheets_that_are_no_tables(book, change, parts):
    change(book.active)
    book.save(book.where)
    with pytest.raises(FileFormatError) as caught:
        read(book.where)
    assert all(part in str(caught.value) for part in ["b.xlsx", *parts])


@pytest.mark.formats
def test_damaged_workbooks(book):
    book.save(book.where)
    content = book.where.read_bytes()
    for cut in (len(content) // 2, 40):
        book.where.write_bytes(content[:cut])
        with pytest.raises(FileFormatError, match="not a valid workbook"):
            read(book.where)


@pytest.mark.formats
def test_tables_beside_a_matrix_may_be_workbooks(book):
    book.active["D1"] = "kind"
    book.save(book.where)
    assert read_labels(book.where)["a"] == {"x": "1", "y": "0"}


def test_tables_beside_a_matrix_in_any_layout(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("Name;Größe\nMüller;7,5\nWeiß;1.234,5\n".encode("cp1252"))
    assert read_labels(path) == {"Größe": {"Müller": "7,5", "Weiß": "1.234,5"}}
    assert read_weights(path, ["Weiß", "Müller"]).tolist() == [1234.5, 7.5]
    path.write_text("name;w\na;1.234\nb;2\n")
    with pytest.raises(FileFormatError, match=r"weight of 'a'.*1\.234 or 1234"):
        read_weights(path, ["a", "b"])
    assert read_weights(path, ["a", "b"], decimal=",").tolist() == [1234, 2]
    path.write_text("name,w\na,1.234\nb,0.5\n")
    assert read_weights(path, ["a", "b"]).tolist() == [1.234, 0.5]


def test_marks_are_checked():
    for marks in [("x", "auto"), ("auto", "x"), (",", ",")]:
        with pytest.raises(InputError):
            Numerals(";", *marks)
    assert Numerals(";", thousands="space").number("1 234,567") == 1234.567
    assert Numerals(";", thousands="none").number("1,234") == 1.234
