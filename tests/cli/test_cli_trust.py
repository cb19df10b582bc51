"""What ``elbmf stability`` and ``elbmf significance`` note, together in all that shows it."""

import json
from pathlib import Path
from typing import Any

import pytest

from elbmf import load_model
from elbmf.datasets import make_tiles
from elbmf.io import LabelledMatrix, write
from elbmf.report import page

STABILITY = ("stability", "data.npz", "-k", 4, "--effort", 0, "--max-iter", 40, "--seed", 1)


def test_recurrence_and_p_are_told_together(elbmf: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    tiles = make_tiles((60, 50), 3, height=(15, 20), width=(10, 14), noise=0.1, random_state=1)
    write(Path("data.npz"), LabelledMatrix(tiles.A))
    assert elbmf(*STABILITY, "--runs", 2, "-o", "stable").code == 0
    assert elbmf("significance", "stable", "--samples", 19).code == 0
    assert elbmf("significance", "stable/consensus", "--samples", 1).code == 0
    noted = load_model("stable").noted
    assert {*noted} == {"bits_saved", "recurrence", "found_in", "p_value"}

    told = elbmf("info", "stable").out
    header = next(line for line in told.splitlines() if "recurrence" in line).split()
    assert (header.count("recurrence"), header.count("p")) == (1, 1)
    assert told.count("components recur by") == told.count("than those of random data") == 1
    # In the table, and in the sentence about doubts.
    assert told.count("does not recur") == 2 * sum(share < 0.5 for share in noted["found_in"])
    assert told.count("not significant") == 2 * sum(p > 0.05 for p in noted["p_value"])

    # A page is the document itself.
    monkeypatch.setattr(page, "render", json.dumps)
    assert elbmf("report", "stable", "-o", "report.html").code == 0
    report = json.loads(Path("report.html").read_text())
    for name, values in noted.items():
        shown = [each[name] for each in report["components"]]
        assert shown == pytest.approx(values, abs=0.1 if name == "bits_saved" else 1e-6)
    for each, shown in zip(
        elbmf("info", "stable", "--json").json["sizes"], report["components"], strict=True
    ):
        assert each["doubts"] == shown["doubts"]
        assert each["p_value"] == pytest.approx(shown["p_value"], abs=1e-6)
    sentences = " ".join(report["summary"]["sentences"])
    assert "components recur by" in sentences
    assert "than those of random data" in sentences

    # More runs find the same components, of which p is known.
    assert elbmf(*STABILITY, "--runs", 3, "-o", "stable").code == 0
    assert load_model("stable").noted["p_value"] == noted["p_value"]
