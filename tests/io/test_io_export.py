"""Results for other systems: JSON and long tables, whatever the names are."""

import csv
import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from io_helpers import NAMES

from elbmf.errors import DiskFullError, InputError
from elbmf.io import SavedModel, export_result
from elbmf.io.export import CELL_TABLES, EXPORT_FILES
from elbmf.matrix.boolean_matrix import BooleanMatrix
from strategies import examples

SETTINGS = examples(40, suppress_health_check=[HealthCheck.function_scoped_fixture])
ODD = ["", ",", '"', "a\nb", "cr\rlf\r\n", "🔑 key", "NA", " x ", "tab\t", "=1+1", "'", "0"]
ROLES = SavedModel(
    np.array([[1, 0], [1, 1], [0, 1]]),
    np.array([[1, 1, 0], [0, 1, 1]]),
    ["ann", "bob", "cy"],
    ["read", "write", "pay"],
    {"method": "cover", "data": {"file": "rights.csv", "ones": 6, "path": "../rights.csv"}},
)
RIGHTS = np.array([[1, 1, 0], [1, 1, 0], [1, 1, 1]])


def read_text(path):
    delimiter = "," if path.suffix == ".csv" else "\t"
    with open(path, newline="", encoding="utf-8") as stream:
        titles, *lines = csv.reader(stream, delimiter=delimiter)
    return titles, [tuple(line) for line in lines]


def read_with_pandas(path):
    pandas = pytest.importorskip("pandas")
    delimiter = "," if path.suffix == ".csv" else "\t"
    frame = pandas.read_csv(path, sep=delimiter, dtype=str, keep_default_na=False)
    return list(frame), list(frame.itertuples(index=False, name=None))


def read_parquet(path):
    pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = parquet.read_table(path)
    lines = [tuple(map(str, line.values())) for line in table.to_pylist()]
    return table.column_names, lines


READERS = [
    ("csv", read_text),
    ("tsv", read_text),
    ("csv", read_with_pandas),
    ("tsv", read_with_pandas),
    pytest.param("parquet", read_parquet, marks=pytest.mark.formats),
]
every_reader = pytest.mark.parametrize(("kind", "reader"), READERS)


def expected(model, A=None):
    """Return all tables, from dense loops."""
    n, k, m = model.shape
    U, V = model.U.toarray(), model.V.toarray()
    rows = model.row_names or list(map(str, range(n)))
    columns = model.column_names or list(map(str, range(m)))
    tables = {
        "component_columns": [(str(c), columns[j]) for c in range(k) for j in range(m) if V[c, j]],
        "row_components": [(rows[i], str(c)) for i in range(n) for c in range(k) if U[i, c]],
    }
    if A is not None:
        tables |= {name: [] for name in CELL_TABLES}
        for i in range(n):
            for j in range(m):
                cell = rows[i], columns[j]
                covering = np.flatnonzero(U[i] & V[:, j])
                if A[i, j] == 1:
                    tables["cells"] += [(*cell, str(c)) for c in covering]
                    tables["missed_cells"] += [] if covering.size else [cell]
                elif A[i, j] == 0:
                    tables["extra_cells"] += [cell] if covering.size else []
    return tables


@st.composite
def results(draw):
    n, k, m = (draw(st.integers(1, 5)) for _ in range(3))
    bits = [draw(hnp.arrays(bool, shape)) for shape in ((n, k), (k, m))]
    names = NAMES | st.sampled_from(ODD)
    lists = [draw(st.none() | st.lists(names, min_size=size, max_size=size)) for size in (n, m)]
    cells = st.sampled_from([0.0, 1.0, np.nan])
    return SavedModel(*bits, *lists), draw(hnp.arrays(float, (n, m), elements=cells))


@SETTINGS
@given(result=results())
@every_reader
def test_tables_come_back_whatever_the_names(tmp_path, result, kind, reader):
    model, A = result
    files = export_result(tmp_path / "out", model, A, format=kind, overwrite=True)
    wanted = expected(model, A)
    assert [path.name for path in files] == [f"{name}.{kind}" for name in wanted]
    for path, lines in zip(files, wanted.values(), strict=True):
        assert reader(path)[1] == lines


@every_reader
def test_titles(tmp_path, kind, reader):
    export_result(tmp_path / "out", ROLES, RIGHTS, format=kind)
    titles = {path.stem: reader(path)[0] for path in (tmp_path / "out").iterdir()}
    assert titles == {
        "component_columns": ["component", "column"],
        "row_components": ["row", "component"],
        "cells": ["row", "column", "component"],
        "extra_cells": ["row", "column"],
        "missed_cells": ["row", "column"],
    }


@pytest.mark.formats
def test_components_are_numbers_in_parquet(tmp_path):
    pytest.importorskip("pyarrow")
    from pyarrow import parquet

    export_result(tmp_path / "out", ROLES, RIGHTS, format="parquet")
    schema = parquet.read_schema(tmp_path / "out" / "cells.parquet")
    assert [str(kind) for kind in schema.types] == ["string", "string", "int64"]


def test_errors_and_explanations(tmp_path):
    export_result(tmp_path / "out", ROLES, RIGHTS)
    tables = {path.stem: read_text(path)[1] for path in (tmp_path / "out").iterdir()}
    assert tables["missed_cells"] == [("cy", "read")]
    assert tables["extra_cells"] == [("bob", "pay")]
    explained = [line[1:] for line in tables["cells"] if line[0] == "bob"]
    assert explained == [("read", "0"), ("write", "0"), ("write", "1")]


def test_a_few_rows_at_a_time(tmp_path, monkeypatch):
    generator = np.random.default_rng(0)
    U, V, A = (generator.random(shape) < 0.3 for shape in ((50, 6), (6, 40), (50, 40)))
    model = SavedModel(U, V)
    monkeypatch.setattr("elbmf.io.export_cells.ENTRIES_AT_ONCE", 100)
    files = export_result(tmp_path / "out", model, BooleanMatrix.from_array(A))
    for path, lines in zip(files, expected(model, A).values(), strict=True):
        assert read_text(path)[1] == lines


def test_without_data_there_are_no_tables_of_cells(tmp_path):
    export_result(tmp_path / "out", ROLES, RIGHTS)
    (tmp_path / "out" / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match=r"not empty.*overwrite=True"):
        export_result(tmp_path / "out", ROLES)
    export_result(tmp_path / "out", ROLES, format="tsv", overwrite=True)
    left = {path.name for path in (tmp_path / "out").iterdir()}
    assert left == {"component_columns.tsv", "row_components.tsv", "notes.txt"}


def test_json(tmp_path):
    assert export_result(tmp_path / "roles.json", ROLES) == [tmp_path / "roles.json"]
    found = json.loads((tmp_path / "roles.json").read_text("utf-8"))
    assert found["shape"] == {"rows": 3, "components": 2, "columns": 3}
    assert found["made_from"] == {"file": "rights.csv", "ones": 6, "method": "cover"}
    assert found["components"][1] == {
        "component": 1,
        "row_count": 2,
        "column_count": 2,
        "rows": ["bob", "cy"],
        "columns": ["write", "pay"],
    }
    with pytest.raises(InputError, match=r"roles.json: exists.*overwrite=True"):
        export_result(tmp_path / "roles.json", ROLES)
    export_result(tmp_path / "roles.json", ROLES, overwrite=True)
    assert [path.name for path in tmp_path.iterdir()] == ["roles.json"]


@SETTINGS
@given(result=results())
def test_names_in_json_come_back(tmp_path, result):
    model, _ = result
    export_result(tmp_path / "a.json", model, overwrite=True)
    found = json.loads((tmp_path / "a.json").read_text("utf-8"))["components"]
    assert [(each["rows"], each["columns"]) for each in found] == model.components()
    for each in found:
        assert each["row_count"] == len(each["rows"])
        assert each["column_count"] == len(each["columns"])


@pytest.mark.parametrize("kind", ["csv", "tsv"])
def test_formulas_are_escaped_if_asked_for(tmp_path, kind):
    names = ["=A1", "+1", "-1", "@x", "\tx", "\rx", "a=1", "'", ""]
    model = SavedModel(np.ones((1, 1)), np.ones((1, len(names))), ["=cmd|'/c calc'!A0"], names)
    export_result(tmp_path / "plain", model, format=kind)
    export_result(tmp_path / "escaped", model, format=kind, escape_formulas=True)
    found = [
        [name for _, name in read_text(tmp_path / folder / f"component_columns.{kind}")[1]]
        for folder in ("plain", "escaped")
    ]
    assert found == [names, ["'=A1", "'+1", "'-1", "'@x", "'\tx", "'\rx", "a=1", "'", ""]]
    rows = read_text(tmp_path / "escaped" / f"row_components.{kind}")[1]
    assert rows == [("'=cmd|'/c calc'!A0", "0")]


@pytest.mark.parametrize(
    ("name", "options", "match"),
    [
        ("out.xlsx", {}, "'.xlsx'.*format to json, csv, tsv or parquet"),
        ("out", {"format": "xml"}, "no format 'xml'.*json, csv, tsv or parquet"),
        ("out.json", {"escape_formulas": True}, "escape_formulas=True is for csv and tsv.*json"),
        ("out", {"format": "parquet", "escape_formulas": True}, "is for csv and tsv"),
        ("out.json", {"data": RIGHTS}, "Leave the data out.*format='csv'"),
        ("out", {"data": RIGHTS.T[:2]}, "3×3; got 2×3"),
        ("out", {"data": 2 * RIGHTS}, "binarize"),
        ("nowhere/out", {}, "does not exist"),
    ],
)
def test_what_cannot_be_exported(tmp_path, name, options, match):
    with pytest.raises(InputError, match=match):
        export_result(tmp_path / name, ROLES, **options)
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_left_where_writing_fails(tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("elbmf.io.export.cell_blocks", fail)
    with pytest.raises(DiskFullError, match="No space left"):
        export_result(tmp_path / "out", ROLES, RIGHTS)
    assert list(tmp_path.iterdir()) == []


def test_file_names():
    assert len(EXPORT_FILES) == len(set(EXPORT_FILES)) == 15
