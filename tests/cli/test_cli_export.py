"""elbmf export: a saved result for other systems."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

FACTORS = ["component_columns.csv", "row_components.csv"]
CELLS = ["cells.csv", "extra_cells.csv", "missed_cells.csv"]


def lines(path: str) -> list[list[str]]:
    with open(path, newline="") as stream:
        return list(csv.reader(stream, delimiter="\t" if path.endswith("tsv") else ","))


def files(folder: str) -> list[str]:
    return sorted(path.name for path in Path(folder).iterdir())


def test_json(elbmf: Any, model: str) -> None:
    result = elbmf("export", model, "-o", "roles.json")
    assert (result.code, result.out) == (0, "")
    assert result.err == "Wrote 2 components to roles.json\n"
    found = json.loads(Path("roles.json").read_text("utf-8"))
    assert found["shape"] == {"rows": 5, "components": 2, "columns": 5}
    assert found["made_from"]["file"] == "tiles.csv"
    assert "elbmf fit tiles.csv" in found["made_from"]["command"]
    by_columns = {tuple(each["columns"]): each["rows"] for each in found["components"]}
    assert by_columns == {("apple", "pear"): ["ann", "bob", "cy"], ("plum", "fig"): ["dee", "eve"]}
    elbmf("export", model, "-o", "roles.json").assert_error("roles.json: exists", "--overwrite")
    assert elbmf("export", model, "-o", "roles.json", "--overwrite").code == 0


def test_tables_of_the_data_it_was_made_from(elbmf: Any, model: str) -> None:
    result = elbmf("export", model, "-o", "tables")
    assert (result.code, result.out) == (0, "")
    assert result.err == f"Wrote {', '.join([*FACTORS, *CELLS])} to tables\n"
    assert files("tables") == sorted([*FACTORS, *CELLS])
    assert len(lines("tables/cells.csv")) == 1 + 10
    assert lines("tables/missed_cells.csv") == [["row", "column"]]
    assert ["ann", "apple"] in [line[:2] for line in lines("tables/cells.csv")]


def test_tables_of_data_that_is_named(elbmf: Any, model: str) -> None:
    text = Path("tiles.csv").read_text().replace("ann,1,1,0,0,0", "ann,0,1,0,0,1")
    Path("new.txt").write_text(text)
    flags = ["--data-format", "csv", "--format", "tsv", "-o", "deep/tables"]
    result = elbmf("export", model, "new.txt", *flags)
    assert result.code == 0
    assert lines("deep/tables/extra_cells.tsv")[1:] == [["ann", "apple"]]
    assert lines("deep/tables/missed_cells.tsv")[1:] == [["ann", "nut"]]


@pytest.mark.formats
def test_parquet(elbmf: Any, model: str) -> None:
    from pyarrow import parquet

    assert elbmf("export", model, "--format", "parquet", "-o", "tables").code == 0
    assert parquet.read_table("tables/cells.parquet").num_rows == 10


def test_without_data_some_tables_are_left_out(elbmf: Any, model: str) -> None:
    Path("tiles.csv").rename("moved.csv")
    result = elbmf("export", model, "-o", "tables")
    assert result.code == 0
    assert "The data is no longer there" in result.err
    assert "the tables cells, extra_cells and missed_cells are left out" in result.err
    assert files("tables") == FACTORS
    elbmf("export", model, "moved.csv", "-o", "tables").assert_error("not empty", "--overwrite")
    assert elbmf("export", model, "moved.csv", "-o", "tables", "--overwrite").code == 0
    assert files("tables") == sorted([*FACTORS, *CELLS])


def test_a_cover_and_a_search_over_ranks(elbmf: Any) -> None:
    assert elbmf("cover", "tiles.csv", "-o", "roles", "--seed", 0).code == 0
    assert elbmf("export", "roles", "-o", "tables").code == 0
    assert len(lines("tables/cells.csv")) == 1 + 10
    assert elbmf("rank", "tiles.csv", "--max", 2, "--seed", 0, "-o", "ranks").code == 0
    assert elbmf("export", "ranks", "-o", "ranks.json").code == 0


def test_rows_of_a_stream_are_described(elbmf: Any) -> None:
    assert elbmf("fit", "tiles.csv", "--stream", "-k", 2, "--seed", 0, "-o", "stream").code == 0
    result = elbmf("export", "stream", "-o", "tables")
    assert "rows of a stream are not kept" in result.err
    assert lines("tables/row_components.csv") == [["row", "component"]]
    assert elbmf("export", "stream", "tiles.csv", "-o", "tables", "--overwrite").code == 0
    cells = {tuple(line[:2]) for line in lines("tables/cells.csv")[1:]}
    assert len(cells) + len(lines("tables/missed_cells.csv")) - 1 == 10
    assert len(lines("tables/row_components.csv")) > 1


def test_formulas(elbmf: Any) -> None:
    Path("odd.csv").write_text('who,=A1,"-1,5"\n@ann,1,1\n+bob,1,1\n')
    assert elbmf("fit", "odd.csv", "-k", 1, "--seed", 0, "-o", "odd").code == 0
    assert elbmf("export", "odd", "-o", "plain").code == 0
    assert elbmf("export", "odd", "-o", "escaped", "--escape-formulas").code == 0
    assert [name for _, name in lines("plain/component_columns.csv")[1:]] == ["=A1", "-1,5"]
    assert [name for _, name in lines("escaped/component_columns.csv")[1:]] == ["'=A1", "'-1,5"]
    assert [line[0] for line in lines("escaped/row_components.csv")[1:]] == ["'@ann", "'+bob"]


def test_what_cannot_be_exported(elbmf: Any, model: str) -> None:
    def refused(*arguments: str) -> Any:
        return elbmf("export", model, *arguments)

    refused("-o", "out.xlsx").assert_error("'.xlsx'", "set --format to json, csv, tsv or parquet")
    refused("--format", "xml", "-o", "out").assert_error("xml")
    refused("--format", "json", "-o", "out").assert_error("must end in .json")
    refused("tiles.csv", "-o", "out.json").assert_error("Leave the data out", "--format csv")
    refused("-o", "out.json", "--escape-formulas").assert_error("--escape-formulas is for csv")
    refused("-o", "model/model.json", "--overwrite").assert_error("would replace")
    refused("-o", "tiles.csv", "--format", "csv").assert_error("is a file")
    Path("bad.dat").write_text("a,b\n1,2\n")
    refused("bad.dat", "-o", "out").assert_error("bad.dat", "--data-format csv")
    Path("out").mkdir()
    Path("tiles.csv").rename("out/cells.csv")
    refused("out/cells.csv", "-o", "out", "--overwrite").assert_error("would replace")
    assert files("out") == ["cells.csv"]
