"""elbmf significance: saved components beside those of random data."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from elbmf.datasets import make_tiles
from elbmf.io import LabelledMatrix, load_model, save_model, write

METHOD = ("--method", "grecond")


@pytest.fixture
def result(elbmf: Any) -> str:
    """A result of three tiles and noise."""
    A = make_tiles((60, 50), 3, height=(15, 20), width=(10, 14), noise=0.1, random_state=1).A
    write(Path("data.npz"), LabelledMatrix(A))
    fit = elbmf("fit", "data.npz", "-k", 4, *METHOD, "--seed", 1, "-o", "result", "--tsv")
    assert fit.code == 0
    return "result"


def test_components_are_compared_and_that_is_noted(elbmf: Any, result: str) -> None:
    said = elbmf("significance", result, "--samples", 19)
    assert (said.code, said.err) == (0, "Noted in result\n")
    lines = said.out.splitlines()
    headers = "component rows columns ones by the sums bits p column names"
    assert " ".join(lines[0].split()) == headers
    assert sum("better than those of random data" in line for line in lines) == 1
    assert lines[-1].startswith("The best component of the random data has ")
    noted = load_model(result).info.significance
    assert noted is not None
    assert len(noted.p_values) == 4
    assert Path(result, "rows.tsv").read_text().startswith("row\tcomponents\tmargins\n")
    of_result = elbmf("info", result).out
    assert " p " in of_result
    insignificant = sum(p > 0.05 for p in noted.p_values)
    assert of_result.count("not significant") == 2 * insignificant  # in the table, and below


def test_json_and_going_on(elbmf: Any, result: str) -> None:
    first = elbmf("significance", result, "--samples", 3, "--json").json
    assert first["k"] == 4
    assert [each["component"] for each in first["components"]] == [0, 1, 2, 3]
    kept = json.loads(Path(result, "significance.json").read_text())
    more = elbmf("significance", result, "--samples", 5, "--json").json
    after = json.loads(Path(result, "significance.json").read_text())
    assert kept["best"].items() <= after["best"].items()
    assert more["samples"] <= 5
    keys = ["component", "rows", "columns", "ones", "expected", "bits", "p_value", "significant"]
    assert list(first["components"][0]) == keys
    # Another seed asks for other samples.
    assert elbmf("significance", result, "--samples", 3, "--seed", 2).code == 0
    other = json.loads(Path(result, "significance.json").read_text())
    assert other["seed"] != kept["seed"]


def test_an_earlier_report_is_out_of_date(elbmf: Any, result: str) -> None:
    Path(result, "report.html").touch()
    said = elbmf("significance", result, "--samples", 1)
    assert "report.html does not know of it" in said.err


def test_what_cannot_be_compared(elbmf: Any, result: str) -> None:
    model = load_model(result)
    Path("data.npz").rename("moved.npz")
    elbmf("significance", result).assert_error("no longer there", "Name the file after RESULT")
    assert elbmf("significance", result, "moved.npz", "--samples", 1).code == 0
    model.info.method = "Mine"
    save_model(result, model, overwrite=True)
    elbmf("significance", result, "moved.npz").assert_error("the method 'Mine'", "In Python")


def test_weights_are_refused(elbmf: Any, result: str) -> None:
    Path("weights.csv").write_text("row,weight\n" + "".join(f"{i},{i % 3}\n" for i in range(60)))
    fit = elbmf(
        *("fit", "data.npz", "-k", 2, *METHOD, "-o", "weighted", "--row-weights", "weights.csv")
    )
    assert fit.code == 0
    elbmf("significance", "weighted").assert_error("has weights of rows or columns")


def test_samples_are_at_least_one(elbmf: Any, result: str) -> None:
    elbmf("significance", result, "--samples", 0).assert_error("must be at least 1, got 0")


@pytest.mark.parametrize("parameter", ["inf", "2.5"])
def test_parameters_of_the_result_are_used_again(elbmf: Any, result: str, parameter: str) -> None:
    flags = ("--extra-weight", parameter, "--effort", 0, "--max-iter", 3, "--seed", 0)
    assert elbmf("fit", "data.npz", "-k", 2, *flags, "-o", "other").code == 0
    assert elbmf("significance", "other", "--samples", 1).code == 0
    kept = json.loads(Path("other", "significance.json").read_text())
    assert kept["test"]["extra_weight"] == float(parameter)
    assert np.isfinite([float(bits) for bits in kept["best"].values()]).any()


def test_other_data_is_refused_and_changes_nothing(elbmf: Any, result: str) -> None:
    assert elbmf("significance", result, "--samples", 19).code == 0
    before = {path.name: path.read_bytes() for path in Path(result).iterdir() if path.is_file()}
    A = make_tiles((60, 50), 3, height=(15, 20), width=(10, 14), noise=0.1, random_state=1).A
    write(Path("other.npz"), LabelledMatrix(1 - A.toarray()))
    said = elbmf("significance", result, "other.npz")
    assert said.code == 2
    assert "was not made from this data" in said.err
    assert before == {path.name: path.read_bytes() for path in Path(result).iterdir()}


def test_fewer_samples_than_there_are_forget_none(elbmf: Any, result: str) -> None:
    first = elbmf("significance", result, "--samples", 19, "--json").json
    assert elbmf("significance", result, "--samples", 3, "--json").json == first


def test_samples_that_are_too_few_leave_no_doubt(elbmf: Any, result: str) -> None:
    found = elbmf("significance", result, "--samples", 2, "--json").json
    promising = [each["component"] for each in found["components"] if each["p_value"] < 0.34]
    text = elbmf("info", result).out
    assert promising
    assert "too few to tell of all" in text
    assert text.count("not significant") == 2 * (4 - len(promising))
