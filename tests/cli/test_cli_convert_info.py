"""elbmf convert and elbmf info."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from elbmf.cli.text.matrix import matrix_figures
from elbmf.io import FORMATS, LabelledMatrix, load_model, read, save_model, write
from elbmf.io.model_info import ComponentStability, SignificanceInfo, StabilityInfo

_NEED_PACKAGES = {"parquet", "h5ad"}
EVERY_FORMAT = [
    pytest.param(known, id=known.name, marks=[pytest.mark.formats] * (known.name in _NEED_PACKAGES))
    for known in FORMATS
    if known.write is not None
]


@pytest.mark.parametrize("known", EVERY_FORMAT)
def test_convert_to_every_format_and_back(elbmf: Any, known: Any) -> None:
    there = f"there{known.suffixes[0]}"
    result = elbmf("convert", "tiles.csv", there)
    assert (result.code, result.out) == (0, "")
    assert f"Wrote 5×5 cells, 10 of them not 0, to {there}" in result.err
    assert ("does not keep all names" in result.err) is not known.keeps_names
    assert elbmf("convert", there, "back.csv").code == 0
    has_names = read(there).row_names is not None
    before, after = read("tiles.csv"), read("back.csv", row_names=has_names)
    if known.keeps_names:
        assert after.row_names == before.row_names
        assert after.column_names == before.column_names
    assert after.values.sum() == before.values.sum()


def test_convert_binarizes(elbmf: Any) -> None:
    Path("counts.csv").write_text("a,b\n5,0\n1,7\n")
    assert elbmf("convert", "counts.csv", "out.npz", "--binarize", 4).code == 0
    np.testing.assert_array_equal(read("out.npz").values.toarray(), [[1, 0], [0, 1]])


@pytest.mark.parametrize(
    ("how", "ones"),
    [
        ("nonzero", [[1, 0], [1, 1]]),
        ("positive", [[0, 0], [1, 1]]),
        ("zscore:0.5", [[0, 0], [1, 1]]),
        ("zscore:0.5:rows", [[0, 1], [0, 1]]),
        ("quantile:0.25:all", [[0, 0], [0, 1]]),
    ],
)
def test_convert_binarizes_by_words(elbmf: Any, how: str, ones: list[list[int]]) -> None:
    Path("values.csv").write_text("a,b\n-5,0\n1,7\n")
    assert elbmf("convert", "values.csv", "out.npz", "--binarize", how).code == 0
    np.testing.assert_array_equal(read("out.npz").values.toarray(), ones)


def test_convert_keeps_other_values(elbmf: Any) -> None:
    Path("counts.csv").write_text("a,b\n5,0\n1,7\n")
    assert elbmf("convert", "counts.csv", "out.npz").code == 0
    np.testing.assert_array_equal(read("out.npz").values.toarray(), [[5, 0], [1, 7]])


def test_convert_options_of_the_output(elbmf: Any) -> None:
    flags = ("--output-format", "csv", "--output-layout", "pairs", "--output-delimiter", ";")
    assert elbmf("convert", "tiles.csv", "out.txt", *flags).code == 0
    assert "ann;apple" in Path("out.txt").read_text()


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["no.csv", "out.npz"], ["no.csv: there is no such file"]),
        (["tiles.csv", "out.xyz"], ["'.xyz'"]),
        (["tiles.csv", "out.npz", "--output-layout", "pairs"], ["layout", "npz"]),
        (["tiles.csv", "out.npz", "--output-format", "magic"], ["'magic'", "csv"]),
        (["tiles.csv", "no/out.npz"], ["no does not exist"]),
        (["tiles.csv", ".", "--output-format", "csv"], ["is a folder"]),
        (["tiles.csv", "out.npz", "--binarize", "nan"], ["binarize"]),
        (
            ["tiles.csv", "out.npz", "--binarize", "x"],
            ["--binarize", "'x'", "nonzero, positive, zscore[:CUTOFF][:SCOPE], quantile", "rows"],
        ),
        (["tiles.csv", "out.npz", "--binarize", "quantile:2"], ["--binarize quantile:2", "share"]),
    ],
)
def test_convert_refuses(elbmf: Any, arguments: list[str], parts: list[str]) -> None:
    elbmf("convert", *arguments).assert_error(*parts)
    assert not Path("out.npz").exists()


@pytest.mark.parametrize("output", ["tiles.csv", "./tiles.csv", "link.csv"])
def test_convert_never_replaces_what_it_reads(elbmf: Any, output: str) -> None:
    Path("link.csv").symlink_to("tiles.csv")
    before = Path("tiles.csv").read_bytes()
    run = elbmf("convert", "tiles.csv", output, "--output-delimiter", ";")
    run.assert_error(f"{Path(output)}: writing there would replace tiles.csv, which is read")
    assert Path("tiles.csv").read_bytes() == before


@pytest.mark.parametrize("known", EVERY_FORMAT)
@pytest.mark.parametrize("flags", [(), ("--binarize", 4)])
def test_convert_does_not_make_zeros_of_missing_cells(elbmf: Any, known: Any, flags: Any) -> None:
    expected = [[5, np.nan], [0, 7]] if not flags else [[1, np.nan], [0, 1]]
    Path("counts.csv").write_text("a,b\n5,NA\n0,7\n")
    output = f"out{known.suffixes[0]}"
    run = elbmf("convert", "counts.csv", output, *flags)
    if known.folder and not flags:
        run.assert_error("counts.csv", "got 5 at row 0, column 0", "--binarize")
        return
    if known.keeps_missing:
        assert f"Wrote 2×2 cells, 2 of them not 0, 1 missing, to {output}" in run.err
        np.testing.assert_array_equal(read(output).values.toarray(), expected)
    else:
        refused = (
            f"{output}: the matrix has 1 missing cells, which files of the format {known.name}"
        )
        assert (run.code, run.out) == (2, "")
        assert f"elbmf: error: {refused} cannot hold" in run.err
        assert not Path(output).exists()


def test_info_of_a_matrix(elbmf: Any) -> None:
    result = elbmf("info", "tiles.csv")
    assert (result.code, result.err) == (0, "")
    lines = [line.split(maxsplit=2) for line in result.out.splitlines()]
    assert "shape              5 rows × 5 columns" in result.out
    assert "density            0.4" in result.out
    assert "column names       apple, pear, plum, fig, …" in result.out
    assert ["empty", "columns", "1"] in lines
    assert ["duplicate", "rows", "3"] in lines
    assert ["duplicate", "columns", "2"] in lines
    assert "Not a 0/1 matrix" not in result.out


def test_info_as_json(elbmf: Any) -> None:
    found = elbmf("info", "tiles.csv", "--json").json
    assert found["shape"] == [5, 5]
    assert found["ones"] == 10
    assert found["boolean"] is True
    assert found["row_sums"] == [2, 2, 2, 2, 2]
    assert found["column_sums"] == [0, 2, 2, 3, 3]
    assert found["empty_rows"] == 0
    assert found["memory"]["fit"] > found["memory"]["matrix"] > 0


def test_info_counts_missing_cells_apart(elbmf: Any) -> None:
    Path("gaps.csv").write_text("a,b,c\n1,,0\n1,NA,0\n0,1,?\n,,0\n,,0\n")
    assert "missing cells      7\n" in elbmf("info", "gaps.csv").out
    found = elbmf("info", "gaps.csv", "--json").json
    assert found["boolean"] is True
    assert (found["missing"], found["ones"], found["density"]) == (7, 3, 3 / 8)
    assert (found["empty_rows"], found["empty_columns"]) == (2, 1)
    assert found["row_sums"] == [0, 0, 1, 1, 1]
    assert found["column_sums"] == [0, 0.5, 1, 1.5, 2]
    # A row that is missing in the same places is the same row.
    assert (found["duplicate_rows"], found["duplicate_columns"]) == (2, 0)
    assert "missing cells      0\n" in elbmf("info", "tiles.csv").out


def test_info_says_what_to_do_with_other_values(elbmf: Any) -> None:
    Path("counts.csv").write_text("a,b\n5,0\n1,5\n")
    result = elbmf("info", "counts.csv")
    assert "Not a 0/1 matrix. 2 values other than 0: 5 (2×), 1 (1×)" in result.out
    assert "elbmf fit counts.csv --binarize 0 " in result.out
    assert "column names       a, b\n" in result.out


def test_a_column_that_is_no_part_of_the_table_is_named(elbmf: Any) -> None:
    Path("patients.csv").write_text("id,age,TP53,KRAS\np1,61,0,1\np2,48,1,\np3,70,1,0\n")
    said = elbmf("info", "patients.csv").out
    assert "All columns are 0/1 but age: leave them out with --drop age\n  elbmf fit" in said
    assert "\nnot zero in a " in said
    assert said.index("--drop age") < said.index("--binarize")
    run = elbmf("fit", "patients.csv", "-k", 1, "-o", "model")
    run.assert_error(
        "patients.csv: All columns but column 'age' are 0/1",
        "61 at row 'p1', column 'age'",
        "--drop age",
    )
    assert "--binarize" not in run.err
    Path("words.csv").write_text("id,TP53,type\np1,0,lung\np2,1,colon\n")
    elbmf("info", "words.csv").assert_error("(column 'type')", "'lung'", "Write 1 and 0")


def test_ones_beside_empty_cells_are_warned_of(elbmf: Any) -> None:
    Path("marks.csv").write_text("id,a,b\np1,1,\np2,,1\np3,1,1\n")
    assert "Where an empty cell means no, write 0 into it." in elbmf("info", "marks.csv").out
    run = elbmf("fit", "marks.csv", "-k", 1, "-o", "model")
    assert "warning: No cell is known to be 0" in run.err
    assert run.err.count("No cell is known to be 0") == 1
    assert "No cell is known to be 0" not in elbmf("info", "tiles.csv").out
    Path("gaps.csv").write_text("id,a,b\np1,,\np2,,\n")
    assert "All cells are missing, so there is nothing to learn." in elbmf("info", "gaps.csv").out
    run = elbmf("fit", "gaps.csv", "-k", 1, "-o", "gaps")
    assert "warning: All cells are missing" in run.err


@pytest.mark.parametrize(
    ("values", "threshold"),
    [([[1, 2], [0, 3]], 0), ([[-1, 1], [1, -1]], 0), ([[-2, -1], [0, 5]], 2), ([[0, 2.5]], 0)],
)
def test_suggested_threshold_parts_the_values(values: Any, threshold: float) -> None:
    assert matrix_figures(LabelledMatrix(np.array(values)))["suggested_threshold"] == threshold


def test_info_without_names(elbmf: Any) -> None:
    write("plain.npz", LabelledMatrix(np.eye(3, dtype=bool)))
    assert "row names          none in the file" in elbmf("info", "plain.npz").out


def test_duplicates_are_those_of_the_rows_themselves() -> None:
    generator = np.random.default_rng(1)
    values = generator.integers(0, 3, size=(200, 3)) * (generator.random((200, 3)) < 0.7)
    found = matrix_figures(LabelledMatrix(values))
    assert found["duplicate_rows"] == 200 - len(np.unique(values, axis=0))
    assert found["duplicate_columns"] == 0
    bits = values > 0
    found = matrix_figures(LabelledMatrix(bits))
    assert found["duplicate_rows"] == 200 - len(np.unique(bits, axis=0))


def test_info_of_a_model(elbmf: Any, model: str) -> None:
    result = elbmf("info", model)
    assert result.code == 0
    assert "saved result" in result.out
    assert "5 rows × 5 columns tiles.csv" in result.out
    assert "relative loss  0.0000" in result.out
    assert "apple, pear" in result.out
    found = elbmf("info", model, "--json").json
    assert found["shape"] == {"rows": 5, "components": 2, "columns": 5}
    assert sorted(each["rows"] for each in found["sizes"]) == [2, 3]
    assert found["info"]["seed"] == 0


def test_info_of_a_model_shows_what_is_noted_of_trust(elbmf: Any, model: str) -> None:
    assert "recurrence" not in elbmf("info", model).out
    saved = load_model(model)
    saved.info.stability = StabilityInfo(
        runs=20,
        resample="rows:0.8",
        stability=0.72,
        components=[
            ComponentStability(recurrence=0.94, found_in=1.0),
            ComponentStability(recurrence=0.5, found_in=0.45),
        ],
    )
    saved.info.significance = SignificanceInfo(samples=99, p_values=[0.01, 0.8])
    save_model(model, saved, overwrite=True)
    lines = elbmf("info", model).out.splitlines()
    header = next(line for line in lines if "recurrence" in line)
    first, second = lines[lines.index(header) + 1 :][:2]
    assert header.split()[-5:] == ["recurrence", "p", "doubts", "column", "names"]
    assert " 0.94  0.010 " in first
    assert " 0.50  0.800  does not recur, not significant  " in second
    assert "In 20 fits of resampled data (rows:0.8), components recur by 72 % on average." in lines
    assert (
        "1 of 2 components is better than those of random data with the same sums "
        "(p ≤ 0.05; 99 were fitted)." in lines
    )


def test_info_of_a_model_shows_its_warnings(elbmf: Any) -> None:
    elbmf("fit", "tiles.csv", "-k", 7, "-o", "model")
    assert "warning of the fit: n_components=7" in elbmf("info", "model").out


def test_info_of_a_folder_that_is_no_model(elbmf: Any) -> None:
    Path("folder").mkdir()
    elbmf("info", "folder").assert_error("folder: is not a saved model")


def test_info_of_an_empty_file(elbmf: Any) -> None:
    Path("empty.csv").write_text("")
    elbmf("info", "empty.csv").assert_error("empty.csv", "empty")


def test_where_hardly_anything_is_zero_zscore_is_the_example(elbmf: Any) -> None:
    Path("levels.csv").write_text("a,b,c\n5,3,1\n1,7,2\n4,2,9\n")
    said = elbmf("info", "levels.csv").out
    assert "elbmf fit levels.csv --binarize zscore -k" in said
    assert "--binarize 0 " not in said


def test_info_reads_a_folder_of_cell_ranger(elbmf: Any) -> None:
    folder = Path("filtered_feature_bc_matrix")
    folder.mkdir()
    (folder / "genes.tsv").write_text("E1\tA\nE2\tB\nE3\tC\n")
    (folder / "barcodes.tsv").write_text("cell1\ncell2\n")
    header = "%%MatrixMarket matrix coordinate integer general\n"
    (folder / "matrix.mtx").write_text(f"{header}3 2 2\n1 1 4\n3 2 1\n")
    assert "2 rows × 3 columns" in elbmf("info", folder).out
    elbmf("info", "..").assert_error("is not a saved model")


def test_columns_without_numbers_are_named_at_once(elbmf: Any) -> None:
    Path("clinic.csv").write_text(
        "id,age,sex,smokes,kind,TP53,KRAS,EGFR\n"
        "p1,61,m,yes,lung,0,1,1\np2,48,f,no,NA,1,1,0\np3,70,f,no,skin,1,0,0\n"
    )
    elbmf("info", "clinic.csv").assert_error("(column 'sex')", "--drop sex,kind.")
    elbmf("info", "clinic.csv", "--drop", "kind").assert_error("--drop kind,sex.")
    said = elbmf("info", "clinic.csv", "--drop", "sex,kind").out
    assert "elbmf fit clinic.csv --drop sex,kind,age -k" in said
