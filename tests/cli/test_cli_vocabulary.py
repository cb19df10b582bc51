"""--vocabulary: noted at the fit, and spoken by all that comes after it."""

from pathlib import Path
from typing import Any

from elbmf.datasets import make_tiles
from elbmf.io import LabelledMatrix, load_model, write


def _data() -> None:
    made = make_tiles((12, 9), 2, height=(4, 6), noise=0.1, random_state=0)
    names = [f"row {at}" for at in range(12)], [f"column {at}" for at in range(9)]
    write("data.csv", LabelledMatrix(made.A.astype(float), *names))


def test_all_tables_speak_in_the_words_of_the_field(elbmf: Any) -> None:
    _data()
    flags = ["-k", 2, "--seed", 0, "-o", "roles", "--vocabulary", "roles", "--report"]
    found = elbmf("fit", "data.csv", *flags).out
    assert "role  users  permissions" in found
    assert "permission names" in found
    assert "column 1" in found  # a name
    assert load_model("roles").info.data.vocabulary == "roles"
    assert "12 users × 9 permissions" in elbmf("info", "roles").out
    Path("kinds.tsv").write_text("id\tkind\nrow 1\trow a\nrow 2\tb\n", encoding="utf-8")
    labels = elbmf("labels", "roles", "kinds.tsv").out
    assert "best role" in labels
    assert "row a" in labels
    said = elbmf("significance", "roles", "--samples", 1).out
    assert said.startswith("role  users  permissions")
    page = Path("roles/report.html").read_text(encoding="utf-8")
    assert "<title>data.csv: 2 roles</title>" in page
    assert "each a group of users and the permissions that they have in common" in page
    # The page may have other words.
    elbmf("report", "roles", "-o", "own.html", "--vocabulary", "person/people,key,duty")
    page = Path("own.html").read_text(encoding="utf-8")
    assert "each a group of people and the keys that they have in common" in page


def test_words_that_are_none(elbmf: Any) -> None:
    _data()
    run = elbmf(
        "fit", "data.csv", "-k", 2, "-o", "roles", "--vocabulary", "users,permissions,roles"
    )
    assert run.code == 2
    assert "argument --vocabulary: expected the word for one; got 'users'" in run.err
