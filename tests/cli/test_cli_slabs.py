"""Folders of slabs in the commands."""

import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from elbmf.cli import matrices
from elbmf.cli.progress import FileProgress
from elbmf.io import read, streaming, to_slabs
from elbmf.matrix.on_disk import StoredMatrix
from terminals import Terminal


@pytest.fixture
def slabs(elbmf: Any) -> str:
    assert elbmf("convert", "tiles.csv", "tiles.slabs").code == 0
    return "tiles.slabs"


def test_convert_of_pairs(elbmf: Any) -> None:
    Path("pairs.tsv").write_text("ann\tmilk\nbob\teggs\nann\tmilk\n")
    result = elbmf("convert", "pairs.tsv", "pairs.slabs", "--memory-limit", "50MB")
    assert result.code == 0
    taken, wrote = result.err.splitlines()
    assert taken.startswith("pairs.tsv: taken for pairs")
    assert wrote == "Wrote 2×2 cells, 2 of them not 0, to pairs.slabs"
    assert "taken" not in elbmf("convert", "pairs.tsv", "x.slabs", "--layout", "pairs").err
    assert read("pairs.slabs").row_names == ["ann", "bob"]
    elbmf("convert", "pairs.tsv", "x.slabs", "--memory-limit", "much").assert_error("'300MB'")


def test_convert_binarizes(elbmf: Any) -> None:
    Path("counts.csv").write_text("a,b\n5,0\n1,7\n")
    flags = ("--layout", "wide")
    elbmf("convert", "counts.csv", "out.slabs", *flags).assert_error("got 5 at row 0", "--binarize")
    result = elbmf("convert", "counts.csv", "out.slabs", "--binarize", 4)
    assert "memory" not in result.err
    np.testing.assert_array_equal(read("out.slabs").values.toarray(), [[1, 0], [0, 1]])
    result = elbmf("convert", "counts.csv", "out.slabs", "--binarize", "zscore:0.5")
    assert "the whole matrix is read into memory" in result.err


def test_info(elbmf: Any, slabs: str) -> None:
    found, expected = elbmf("info", slabs, "--json").json, elbmf("info", "tiles.csv", "--json").json
    same = set(found) - {"file", "memory"}
    assert {key: found[key] for key in same} == {key: expected[key] for key in same}
    assert set(expected) - set(found) == {"duplicate_rows", "duplicate_columns"}
    assert "duplicate" not in elbmf("info", slabs).out


def test_info_verifies(elbmf: Any, slabs: str) -> None:
    assert "as it was written" in elbmf("info", slabs, "--verify").err
    path = Path(slabs) / "rows.ones.npy"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    elbmf("info", slabs, "--verify").assert_error("rows.ones.npy", "checksum differs")
    elbmf("info", "tiles.csv", "--verify").assert_error("no folder of slabs")


def test_fit_score_and_transform(elbmf: Any, slabs: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert elbmf("fit", "tiles.csv", "-k", 2, "-o", "a", "--seed", 1).code == 0
    expected = elbmf("score", "a", "tiles.csv").out
    members = elbmf("transform", "a", "tiles.csv").out
    assert elbmf("fit", slabs, "-k", 2, "-o", "b", "--seed", 1).code == 0
    # Never as a whole in memory.
    monkeypatch.setattr(StoredMatrix, "to_csr", None)
    assert elbmf("score", "b", slabs).out == expected
    assert elbmf("transform", "b", slabs).out == members


def test_columns_in_another_order(elbmf: Any, slabs: str) -> None:
    assert elbmf("fit", "tiles.csv", "-k", 2, "-o", "a", "--seed", 1).code == 0
    lines = [line.split(",") for line in Path("tiles.csv").read_text().split()]
    Path("other.csv").write_text("\n".join(",".join([a, *b[::-1]]) for a, *b in lines) + "\n")
    assert elbmf("convert", "other.csv", "other.slabs").code == 0
    assert elbmf("score", "a", "other.slabs").out == elbmf("score", "a", slabs).out


def test_binarize_is_for_convert(elbmf: Any, slabs: str) -> None:
    elbmf("fit", slabs, "-k", 2, "-o", "a", "--binarize", "zscore").assert_error(
        "holds zeros and ones", "--binarize"
    )
    assert elbmf("fit", "tiles.csv", "-k", 2, "-o", "a", "--binarize", 0.5).code == 0
    assert "--binarize" not in elbmf("score", "a", slabs).err


def test_other_folders_are_refused(elbmf: Any, slabs: str) -> None:
    Path("mine.slabs").mkdir()
    elbmf("convert", "tiles.csv", "mine.slabs").assert_error("no folder of slabs")
    elbmf("convert", slabs, slabs).assert_error("would replace")
    assert elbmf("convert", "tiles.csv", slabs).code == 0


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_signals_leave_nothing(
    elbmf: Any, monkeypatch: pytest.MonkeyPatch, number: int, code: int
) -> None:
    def killed(*_: Any) -> Any:
        os.kill(os.getpid(), number)

    before = sorted(os.listdir())
    monkeypatch.setattr(streaming, "sort_spill", killed)
    assert elbmf("convert", "tiles.csv", "new.slabs").code == code
    assert sorted(os.listdir()) == before


def test_sorting_is_shown() -> None:
    terminal = Terminal()
    FileProgress(terminal).sorted("rows", 1000, 4000)
    assert terminal.lines[-1].endswith("sorting rows  1,000 of 4,000 entries")


def test_a_fit_within_a_limit_takes_large_files_to_the_disk(
    elbmf: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    flags = ("-k", 3, "--seed", 0, "--overwrite", "--json")
    expected = elbmf("fit", "tiles.csv", "-o", "here", *flags).json
    converted = []

    def convert(*arguments: Any, **options: Any) -> StoredMatrix:
        converted.append(arguments[0])
        return to_slabs(*arguments, **options)

    monkeypatch.setattr(matrices, "to_slabs", convert)
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


def test_a_fit_tells_of_damage_and_of_nothing_else(elbmf: Any, slabs: str) -> None:
    path = Path(slabs) / "columns.ones.npy"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    result = elbmf("fit", slabs, "-k", 2, "-o", "out")
    result.assert_error("columns.ones.npy", "checksum differs")
    assert "--checkpoint" not in result.err
