"""``elbmf fit --stream``: rows from files, pipes and standard input."""

import gzip
import io
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from elbmf.cli.interrupt import Interrupt
from elbmf.cli.progress import ProgressLine
from elbmf.io import load_model
from terminals import Terminal
from waiting import PATIENCE

FRUIT, TOOLS = "apple pear plum", "saw drill"
LINES = f"{FRUIT}\n{TOOLS}\n{FRUIT} {TOOLS}\n\n" * 20
OPTIONS = ("-k", 2, "--seed", 0, "-o", "out")


def components(folder: Path) -> set[tuple[str, ...]]:
    return {tuple(sorted(columns)) for _, columns in load_model(folder).components()}


BOTH = {("apple", "pear", "plum"), ("drill", "saw")}


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    (tmp_path / "lines.dat").write_text(LINES)
    return tmp_path / "lines.dat"


class _Stdin:
    def __init__(self, content: bytes) -> None:
        self.buffer = io.BufferedReader(io.BytesIO(content))  # type: ignore[arg-type]


@pytest.mark.parametrize("method", ["elbmf", "sofa"])
def test_transactions_of_a_file(elbmf, lines, method):
    result = elbmf("fit", "--stream", lines, "--batch-rows", 7, "--method", method, *OPTIONS)
    assert result.code == 0
    assert "80, memberships not kept" in result.out
    assert components(Path("out")) == BOTH
    info = load_model("out").info.to_json()
    assert info["stream"] == {"rows": 80, "batches": 12, "relative_loss_of_last": 0.0}
    assert info["data"]["shape"] == [80, 5]
    assert info["data"]["ones"] == 200


@pytest.mark.parametrize("packed", [False, True])
def test_standard_input_is_read_as_transactions(elbmf, monkeypatch, packed):
    content = gzip.compress(LINES.encode()) if packed else LINES.encode()
    monkeypatch.setattr(sys, "stdin", _Stdin(content))
    assert elbmf("fit", "--stream", "-", *OPTIONS).code == 0
    assert components(Path("out")) == BOTH


def test_tables_have_names_values_and_missing_cells(elbmf, tmp_path):
    table = "person,apple,pear,saw\n" + "ann,3,4,0\nbob,2,NA,0\ncy,0,0,7\n" * 5
    (tmp_path / "table.csv").write_text(table)
    result = elbmf("fit", "--stream", "table.csv", "--batch-rows", 4, "--binarize", 1, *OPTIONS)
    assert result.code == 0
    assert components(Path("out")) == {("apple", "pear"), ("saw",)}
    assert load_model("out").info.data.missing == 5


def test_the_other_commands_take_the_model_of_a_stream(elbmf, lines):
    assert elbmf("fit", "--stream", lines, "--tsv", *OPTIONS).code == 0
    scored = elbmf("score", "out", lines, "--json")
    assert scored.json["measures"]["loss"] == 0
    assert scored.json["transformed"]
    described = elbmf("transform", "out", lines)
    assert len(described.out.splitlines()) == 81
    assert "80, memberships not kept" in elbmf("info", "out").out
    assert elbmf("info", "out", "--json").json["info"]["stream"]["rows"] == 80


def test_a_file_may_be_read_several_times(elbmf, lines):
    result = elbmf("fit", "--stream", lines, "--passes", 3, "--json", *OPTIONS)
    assert result.json["stream"]["rows"] == 240
    elbmf("fit", "--stream", "-", "--passes", 2, *OPTIONS, "--overwrite").assert_error(
        "--passes 2: only a file can be read more than once"
    )


def test_items_may_be_numbers_and_lines_blank_at_first(elbmf, tmp_path):
    (tmp_path / "late.dat").write_text("\n" * 6 + "10 9\n" * 6)
    assert elbmf("fit", "--stream", "late.dat", "--batch-rows", 4, *OPTIONS).code == 0
    assert load_model("out").column_names == ["9", "10"]


def test_a_bad_line_is_named_and_what_was_learned_is_saved(elbmf, tmp_path):
    (tmp_path / "bad.dat").write_text(LINES + "apple,pear\n" + LINES)
    result = elbmf("fit", "--stream", "bad.dat", "--batch-rows", 20, *OPTIONS)
    result.assert_error("bad.dat, line 81", "learned from 80 rows", "saved to out")
    assert components(Path("out")) == BOTH
    (tmp_path / "bad.csv").write_text("a,b\n1,0\n1,0\n1,x\n")
    result = elbmf("fit", "--stream", "bad.csv", "--batch-rows", 3, *OPTIONS, "--overwrite")
    result.assert_error("bad.csv, line 4", "learned from 2 rows")


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (("tiles.npz",), ("tiles.npz", "cannot be read row by row")),
        (("empty.dat",), ("empty.dat", "no rows")),
        (("nowhere.dat",), ("nowhere.dat", "no such file")),
        (("tiles.csv", "--method", "asso"), ("asso cannot learn from a stream", "elbmf, sofa")),
        (("tiles.csv", "--layout", "pairs"), ("layout",)),
        (("empty.dat", "--header"), ("header", "fimi")),
        (("tiles.csv", "--batch-rows", "0"), ("--batch-rows", "at least 1")),
    ],
)
def test_what_cannot_be_read_is_said(elbmf, tmp_path, arguments, parts):
    (tmp_path / "empty.dat").write_text("")
    elbmf("fit", "--stream", *arguments, *OPTIONS).assert_error(*parts)
    assert not Path("out").exists()


@pytest.mark.slow
def test_ctrl_c_while_waiting_for_rows_saves_what_came(start: Any, tmp_path: Path) -> None:
    process = start(
        "fit", "--stream", "-", "--batch-rows", 40, *OPTIONS, "-v",
        cwd=tmp_path, stdin=subprocess.PIPE,
    )  # fmt: skip
    process.stdin.write((LINES + f"{FRUIT}\n").encode())
    process.stdin.flush()
    seen = b""
    while b"80 rows" not in seen:
        seen += os.read(process.stderr.fileno(), 4096)
    time.sleep(0.5)  # so that it waits for more, most likely
    process.send_signal(signal.SIGINT)
    _, rest = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert re.search(rb"Interrupted after 8[01] rows", rest)
    assert components(tmp_path / "out") == BOTH


def test_progress_tells_rows_and_loss():
    console = Terminal()
    progress = ProgressLine(console)
    progress.streamed(1234, lambda: 0.25)
    assert any("1,234 rows  relative loss of the last 0.2500" in line for line in console.lines)


def test_pipes_without_a_suffix_are_transactions(elbmf, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    if not (child := os.fork()):
        (tmp_path / "pipe").write_text(LINES)
        os._exit(0)
    assert elbmf("fit", "--stream", "pipe", *OPTIONS).code == 0
    os.waitpid(child, 0)
    assert components(Path("out")) == BOTH
    assert np.all(load_model("out").V.sum(axis=1) > 0)


def test_a_stream_is_not_for_a_cluster(elbmf):
    flags = ("--stream", "-k", 2, "-o", "out", "--scheduler", "tcp://127.0.0.1:1")
    elbmf("fit", "tiles.csv", *flags).assert_error("--stream", "--scheduler", "Leave one")


def test_a_stream_that_is_ended_before_its_first_row_is_no_error(
    elbmf: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Requested(Interrupt):
        def __enter__(self) -> Any:
            self.requested = True
            return super().__enter__()

    monkeypatch.setattr("elbmf.cli.running.stream.Interrupt", Requested)
    result = elbmf("fit", "tiles.csv", "--stream", "-k", 2, "-o", "model")
    assert (result.code, result.out) == (130, "")
    assert result.err.strip() == "elbmf: aborted"
    assert not Path("model").exists()
