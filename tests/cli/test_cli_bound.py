"""elbmf bound: how low the loss can be."""

import json
from pathlib import Path
from typing import Any

TABLE = "x,a,b,c,d\n1,1,1,0,0\n2,1,1,1,1\n3,0,0,1,1\n4,1,0,0,1\n"


def test_bound_and_best_are_told_together(elbmf: Any) -> None:
    Path("table.csv").write_text(TABLE)
    run = elbmf("bound", "table.csv", "-k", "2", "--seed", "0")
    assert (run.code, run.err) == (0, "")
    assert run.out == (
        "Proved: no factorization with 2 components has fewer than 2 wrong cells. "
        "Shown by searching all factorizations.\n"
    )


def test_bound_as_json(elbmf: Any) -> None:
    Path("table.csv").write_text(TABLE)
    run = elbmf("bound", "table.csv", "-k", "1", "--extra-weight", "inf", "--json")
    told = json.loads(run.out)
    assert told["data"] == "table.csv"
    assert (told["k"], told["at_least"], told["best"], told["proved"]) == (1, 6, 6, True)


def test_bound_needs_a_number_of_components(elbmf: Any) -> None:
    Path("table.csv").write_text(TABLE)
    elbmf("bound", "table.csv").assert_error("-k")
    elbmf("bound", "table.csv", "-k", "auto").assert_error("must be a number of components")
    elbmf("bound", "table.csv", "-k", "1", "--time-limit", "0").assert_error("above 0; got 0")


def test_bound_by_weight(elbmf: Any) -> None:
    Path("table.csv").write_text(TABLE)
    Path("weights.csv").write_text("row,weight\n2,3\n")
    Path("copies.csv").write_text(TABLE + "5,1,1,1,1\n6,1,1,1,1\n")
    run = elbmf("bound", "table.csv", "-k", "1", "--row-weights", "weights.csv", "--json")
    told = json.loads(run.out)
    copies = json.loads(elbmf("bound", "copies.csv", "-k", "1", "--json").out)
    assert told["weights"] == {"sample_weight": "weights.csv"}
    assert told["proved"]
    assert (told["at_least"], told["best"]) == (copies["at_least"], copies["best"])
    run = elbmf("bound", "table.csv", "-k", "1", "--row-weights", "weights.csv")
    assert "no factorization with 1 component costs less than" in run.out
