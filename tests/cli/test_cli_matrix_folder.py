"""Matrix folders in the commands."""

import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from elbmf.cli import reading
from elbmf.cli.progress import ProgressLine
from elbmf.io import convert, read, to_folder
from elbmf.matrix.on_disk import DiskMatrix
from terminals import Terminal


@pytest.fixture
def folder(elbmf: Any) -> str:
    assert elbmf("convert", "tiles.csv", "tiles.matrix").code == 0
    return "tiles.matrix"


def test_convert_of_pairs(elbmf: Any) -> None:
    Path("pairs.tsv").write_text("ann\tmilk\nbob\teggs\nann\tmilk\n")
    result = elbmf("convert", "pairs.tsv", "pairs.matrix", "--memory-limit", "50MB")
    assert result.code == 0
    taken, wrote = result.err.splitlines()
    assert taken.startswith("pairs.tsv: taken for pairs")
    assert wrote == "Wrote 2×2 cells, 2 of them not 0, to pairs.matrix"
    assert "taken" not in elbmf("convert", "pairs.tsv", "x.matrix", "--layout", "pairs").err
    assert read("pairs.matrix").row_names == ["ann", "bob"]
    elbmf("convert", "pairs.tsv", "x.matrix", "--memory-limit", "much").assert_error("'300MB'")


def test_convert_binarizes(elbmf: Any) -> None:
    Path("counts.csv").write_text("a,b\n5,0\n1,7\n")
    flags = ("--layout", "wide")
    elbmf("convert", "counts.csv", "out.matrix", *flags).assert_error(
        "got 5 at row 0", "--binarize"
    )
    result = elbmf("convert", "counts.csv", "out.matrix", "--binarize", 4)
    assert "memory" not in result.err
    np.testing.assert_array_equal(read("out.matrix").values.toarray(), [[1, 0], [0, 1]])
    result = elbmf("convert", "counts.csv", "out.matrix", "--binarize", "zscore:0.5")
    assert "the whole matrix is read into memory" in result.err


def test_info(elbmf: Any, folder: str) -> None:
    found, expected = (
        elbmf("info", folder, "--json").json,
        elbmf("info", "tiles.csv", "--json").json,
    )
    same = set(found) - {"file", "memory"}
    assert {key: found[key] for key in same} == {key: expected[key] for key in same}
    assert set(expected) - set(found) == {"duplicate_rows", "duplicate_columns"}
    assert "duplicate" not in elbmf("info", folder).out


def test_info_verifies(elbmf: Any, folder: str) -> None:
    assert "as it was written" in elbmf("info", folder, "--verify").err
    path = Path(folder) / "rows.ones.npy"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    elbmf("info", folder, "--verify").assert_error("rows.ones.npy", "checksum differs")
    elbmf("info", "tiles.csv", "--verify").assert_error("not a matrix folder")


def test_fit_score_and_transform(elbmf: Any, folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert elbmf("fit", "tiles.csv", "-k", 2, "-o", "a", "--seed", 1).code == 0
    expected = elbmf("score", "a", "tiles.csv").out
    members = elbmf("transform", "a", "tiles.csv").out
    assert elbmf("fit", folder, "-k", 2, "-o", "b", "--seed", 1).code == 0
    # Never as a whole in memory.
    monkeypatch.setattr(DiskMatrix, "to_csr", None)
    assert elbmf("score", "b", folder).out == expected
    assert elbmf("transform", "b", folder).out == members


def test_columns_in_another_order(elbmf: Any, folder: str) -> None:
    assert elbmf("fit", "tiles.csv", "-k", 2, "-o", "a", "--seed", 1).code == 0
    lines = [line.split(",") for line in Path("tiles.csv").read_text().split()]
    Path("other.csv").write_text("\n".join(",".join([a, *b[::-1]]) for a, *b in lines) + "\n")
    assert elbmf("convert", "other.csv", "other.matrix").code == 0
    assert elbmf("score", "a", "other.matrix").out == elbmf("score", "a", folder).out


def test_binarize_is_for_convert(elbmf: Any, folder: str) -> None:
    elbmf("fit", folder, "-k", 2, "-o", "a", "--binarize", "zscore").assert_error(
        "holds zeros and ones", "--binarize"
    )
    assert elbmf("fit", "tiles.csv", "-k", 2, "-o", "a", "--binarize", 0.5).code == 0
    assert "--binarize" not in elbmf("score", "a", folder).err


def test_other_folders_are_refused(elbmf: Any, folder: str) -> None:
    Path("mine.matrix").mkdir()
    elbmf("convert", "tiles.csv", "mine.matrix").assert_error("not a matrix folder")
    elbmf("convert", folder, folder).assert_error("would replace")
    assert elbmf("convert", "tiles.csv", folder).code == 0


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_signals_leave_nothing(
    elbmf: Any, monkeypatch: pytest.MonkeyPatch, number: int, code: int
) -> None:
    def killed(*_: Any) -> Any:
        os.kill(os.getpid(), number)

    before = sorted(os.listdir())
    monkeypatch.setattr(convert, "sort_spill", killed)
    assert elbmf("convert", "tiles.csv", "new.matrix").code == code
    assert sorted(os.listdir()) == before


def test_sorting_is_shown() -> None:
    terminal = Terminal()
    ProgressLine(terminal).sorted("rows", 1000, 4000)
    assert terminal.lines[-1].endswith("sorting rows  1,000 of 4,000 entries")


def test_a_fit_within_a_limit_takes_large_files_to_the_disk(
    elbmf: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    flags = ("-k", 3, "--seed", 0, "--overwrite", "--json")
    expected = elbmf("fit", "tiles.csv", "-o", "here", *flags).json
    converted = []

    def convert(*arguments: Any, **options: Any) -> DiskMatrix:
        converted.append(arguments[0])
        return to_folder(*arguments, **options)

    monkeypatch.setattr(reading, "to_folder", convert)
    for limit in ("1GB", "50B"):
        found = elbmf("fit", "tiles.csv", "-o", "there", "--memory-limit", limit, *flags)
        assert found.json["components"] == expected["components"]
    assert converted == ["tiles.csv"]
    # What is learned from all the values needs them all in memory.
    result = elbmf(
        "fit",
        "tiles.csv",
        "-o",
        "there",
        "--memory-limit",
        "1kB",
        "--binarize",
        "zscore:0.1",
        *flags,
    )
    assert result.code == 0
    assert len(converted) == 1


def test_a_fit_tells_of_damage_and_of_nothing_else(elbmf: Any, folder: str) -> None:
    path = Path(folder) / "columns.ones.npy"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    result = elbmf("fit", folder, "-k", 2, "-o", "out")
    result.assert_error("columns.ones.npy", "checksum differs")
    assert "--checkpoint" not in result.err
