"""``elbmf stability``: what it prints and saves, and that it goes on."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from elbmf import load_model
from elbmf.datasets import make_tiles
from elbmf.io import LabelledMatrix, read, write
from elbmf.io.described import described

QUICK = ("-k", 3, "--effort", 0, "--max-iter", 20, "--runs", 3)


@pytest.fixture
def data(elbmf):
    tiles = make_tiles((50, 40), 2, height=(15, 20), width=(12, 15), noise=0.03, random_state=1)
    names = [f"r{i}" for i in range(50)], [f"c{j}" for j in range(40)]
    write("data.csv", LabelledMatrix(tiles.A, *names))
    return "data.csv"


def test_json_has_each_component_and_its_members(elbmf, data):
    said = elbmf("stability", data, *QUICK, "--seed", 1, "--json").json
    assert (said["k"], said["runs"], said["resample"]) == (3, 3, "rows:0.5")
    assert said["stability"] == pytest.approx(
        np.mean([each["recurrence"] for each in said["components"]])
    )
    assert [each["component"] for each in said["components"]] == [0, 1, 2]
    first = said["components"][0]
    assert first["recurrence"] > 0.8
    assert first["found_in"] == 1
    assert {each["name"][0] for each in first["rows"]} == {"r"}
    assert {each["name"][0] for each in first["columns"]} == {"c"}
    assert all(0 <= each["share"] <= 1 for each in first["rows"] + first["columns"])


def _shown(text):
    """The columns that a table shows of each component."""
    lines = text.split("column names\n")[1].splitlines()[:3]
    return [re.findall(r"\bc\d+", line) for line in lines]


def test_columns_come_best_first(elbmf, data):
    by_runs = _shown(elbmf("stability", data, *QUICK, "--seed", 1, "-o", "out").out)
    by_fit = _shown(elbmf("significance", "out", "--samples", 1).out)
    model, table = load_model("out"), read(data)
    noted, without_data = model.info.stability.components, described(model)
    for at, (rows, names) in enumerate(model.components()):
        returns = dict(zip(names, noted[at].columns, strict=True))
        ones = table.values[[table.row_names.index(each) for each in rows]].sum(axis=0)
        fits = {name: -ones[int(name[1:])] for name in names}
        surely = {name: (-returns[name], fits[name]) for name in names}
        for shown, good in ((by_fit[at], fits), (by_runs[at], surely)):
            assert [good[each] for each in shown] == sorted(good.values())[: len(shown)]
        told = [returns[name] for name in without_data[at]["column_names"]]
        assert told == sorted(told, reverse=True)


def test_a_saved_result_knows_what_returns(elbmf, data):
    result = elbmf("stability", data, *QUICK, "--seed", 1, "-o", "out", "--cut", 0.75)
    assert result.code == 0, result.err
    assert "recurrence" in result.out
    assert "cophenetic correlation" in result.out
    model = load_model("out")
    noted = model.info.stability
    assert len(noted.components) == 3
    assert f"--seed {1}" in model.info.command
    agreed = load_model("out/consensus")
    assert agreed.shape[1] == 2
    shown = elbmf("info", "out").out
    assert "In 3 fits of resampled data (rows:0.5), components recur by" in shown
    if any(each.found_in < 0.5 for each in noted.components):
        assert "does not recur" in shown
    brief = elbmf("info", "out", "--json").json["info"]["stability"]
    assert {*brief} == {"runs", "resample", "stability", "cophenetic"}
    assert elbmf("score", "out/consensus").code == 0
    # The same command finds everything finished; another must not mix with it.
    again = elbmf("stability", data, *QUICK, "--seed", 1, "-o", "out")
    assert again.out.split("\n")[:4] == result.out.split("\n")[:4]
    elbmf("stability", data, *QUICK, "--seed", 2, "-o", "out").assert_error("--seed", "--overwrite")
    other = elbmf("stability", data, *QUICK, "--seed", 2, "-o", "out", "--overwrite")
    assert other.code == 0
    assert load_model("out").info.seed == 2


def test_a_picture_needs_a_result_that_knows(elbmf, model):
    elbmf("plot", "stability", model, "-o", "x.png").assert_error("elbmf stability DATA")


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--resample", "rows:2"), "--resample must be shares"),
        (("--runs", 0), "--runs"),
        (("--cut", 3), "--cut must be a share from 0 to 1"),
        (("--report",), "add -o DIR"),
    ],
)
def test_what_cannot_be_is_told_before_the_work(elbmf, flags, said):
    elbmf("stability", "tiles.csv", "-k", 2, *flags).assert_error(said)


def test_ranks_have_a_column_of_stability(elbmf, data):
    flags = ("--max", 3, "--effort", 0, "--max-iter", 20, "--seed", 1, "-o", "ranks")
    result = elbmf("rank", data, *flags, "--stability", 2)
    assert result.code == 0, result.err
    assert "stability" in result.out.splitlines()[0]
    noted = json.loads(Path("ranks/ranks.json").read_text())
    assert noted["table"]["stability"][0] is None
    assert max(noted["table"]["stability"][1:]) <= 1
    assert noted["choices"]["stability"] == 2
