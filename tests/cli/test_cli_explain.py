"""elbmf explain: why a row, or one of its cells, is as it is."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from elbmf.errors import InputError
from elbmf.io import LabelledMatrix, SavedModel, explain, load_model, save_model, write
from elbmf.matrix.boolean_matrix import BooleanMatrix
from strategies import examples, masked_factors

PEOPLE, RIGHTS = ["ann", "bob", "cyd"], ["read", "write", "pay", "audit"]
U = np.array([[1, 1], [1, 0], [0, 0]], dtype=bool)
V = np.array([[1, 1, 0, 0], [0, 0, 1, 1]], dtype=bool)
# Ann lacks audit, Bob has pay besides, and Cyd reads.
A = np.array([[1, 1, 1, 0], [1, 1, 1, 0], [1, 0, 0, 0]])


@pytest.fixture
def roles(elbmf: Any) -> str:
    """A saved result beside its data, in the words of access control."""
    write("rights.csv", LabelledMatrix(A.astype(float), PEOPLE, RIGHTS))
    data = {"file": "rights.csv", "path": "../rights.csv", "vocabulary": "roles"}
    save_model("roles", SavedModel(U, V, PEOPLE, RIGHTS, {"data": data}))
    return "roles"


def test_a_row(elbmf: Any, roles: str) -> None:
    lines = elbmf("explain", roles, "--row", "ann").out.splitlines()
    assert lines[0] == "ann is in 2 roles."
    assert lines[2].split()[:3] == ["role", "users", "permissions"]
    assert lines[3].split() == ["0", "2", "2", "2", "100", "%", "read,", "write"]
    assert lines[4].split() == ["1", "1", "2", "1", "50", "%", "pay,", "audit"]
    assert lines[-1] == "permissions too many: audit"
    assert "permissions that no role gives: pay" in elbmf("explain", roles, "--row", "bob").out
    said = elbmf("explain", roles, "--row", "cyd").out
    assert "cyd is in no role. Role 0 is nearest: it has 1 of its 2 permissions." in said


def test_a_cell(elbmf: Any, roles: str) -> None:
    said = elbmf("explain", roles, "--row", "ann", "--column", "write")
    assert said.out.startswith("ann × write has the permission, and 1 role gives it.")
    assert said.out.splitlines()[-1].split()[-2:] == ["ann,", "bob"]
    said = elbmf("explain", roles, "--row", "bob", "--column", "pay")
    where = "The user is in role 0, without that permission."
    assert said.out == f"bob × pay has the permission, and no role gives it. {where}\n"
    found = elbmf("explain", roles, "--row", "ann", "--column", "audit", "--json").json
    assert (found["result"], found["value"], found["components_of_row"]) == ("roles", False, [0, 1])
    assert [each["row_names"] for each in found["components"]] == [["ann"]]


def test_without_data_and_what_is_not_there(elbmf: Any, roles: str) -> None:
    elbmf("explain", roles, "--row", "eve").assert_error("no user 'eve'", "'ann', 'bob', 'cyd'")
    elbmf("explain", roles, "--row", "ann", "--column", "7").assert_error(
        "no permission '7'", "'read'"
    )
    Path("rights.csv").unlink()
    run = elbmf("explain", roles, "--row", "ann")
    assert "no longer there" in run.err
    assert run.out.splitlines()[3].split()[3:5] == ["–", "–"]
    found = elbmf("explain", roles, "--row", "ann", "--json").json
    assert "missed" not in found
    assert found["components"][0]["share"] is None


@examples(20)
@given(masked_factors(max_components=5))
def test_all_cells_are_explained(drawn: Any) -> None:
    values, missing, members, columns = drawn
    matrix = BooleanMatrix.from_array(values, missing=missing)
    model = SavedModel(members, columns)
    for i in range(len(values)):
        row = explain(model, str(i), A=matrix)
        covered = (members[i][:, None] & columns).any(axis=0)
        known = ~missing[i]
        assert row["missed"] == [str(j) for j in np.flatnonzero(values[i] & known & ~covered)]
        assert row["extra"] == [str(j) for j in np.flatnonzero(~values[i] & known & covered)]
        assert [each["component"] for each in row["components"]] == np.flatnonzero(
            members[i]
        ).tolist()
        for j in range(values.shape[1]):
            cell = explain(model, str(i), str(j), matrix)
            assert cell["value"] is (None if missing[i, j] else bool(values[i, j]))
            covering = np.flatnonzero(members[i] & columns[:, j]).tolist()
            assert [each["component"] for each in cell["components"]] == covering


def test_names_and_shapes_that_do_not_fit() -> None:
    model = SavedModel(U, V)
    with pytest.raises(InputError, match=r"rows have no names, .* from 0 to 2"):
        explain(model, "ann")
    with pytest.raises(InputError, match="3×4; got 2×4"):
        explain(model, "0", A=A[:2])


def test_rows_of_the_same_name(elbmf: Any) -> None:
    text = "who,read,write,pay\nann,1,1,0\nbob,1,1,0\nann,1,0,1\n"
    Path("twice.csv").write_text(text)
    warning = "twice.csv: 2 rows are called 'ann'. Rules, weights and labels by name are for all"
    assert warning in elbmf("info", "twice.csv").err
    Path("never.csv").write_text("ann,write\n")
    run = elbmf("fit", "twice.csv", "-k", "2", "-o", "m", "--seed", "0", "--forbid", "never.csv")
    assert warning in run.err
    covered = np.matmul(*(each.toarray() for each in (load_model("m").U, load_model("m").V))) > 0
    assert not covered[[0, 2], 1].any()
    said = elbmf("explain", "m", "--row", "ann").out
    assert said.startswith("2 rows are called ann.\n\nrow 0: ann is in")
    assert "\n\nrow 2: ann is in" in said
    both = elbmf("explain", "m", "--row", "ann", "--column", "pay", "--json").json
    assert (both["value"], both["place"]) == (False, 0)
    assert [(each["value"], each["place"]) for each in both["others"]] == [(True, 2)]


def test_errors_are_in_the_words_of_the_field(elbmf: Any, roles: str) -> None:
    elbmf("explain", roles, "--row", "row").assert_error(
        "there is no user 'row'; users are called 'ann', 'bob', 'cyd'."
    )
    lacks = elbmf("explain", roles, "--row", "cyd", "--column", "pay").out
    assert lacks.startswith("cyd × pay does not have the permission, and no role gives it.")


def test_names_with_commas_and_names_that_are_not_there(elbmf: Any) -> None:
    text = 'who,"read, all",write,pay\n"Roux, Anaïs",1,1,0\nbob,1,1,0\n'
    Path("rights.csv").write_text(text)
    assert '"Roux, Anaïs", bob\n' in elbmf("info", "rights.csv").out
    assert elbmf("fit", "rights.csv", "-k", "1", "-o", "m").code == 0
    assert '"read, all", write' in elbmf("explain", "m", "--row", "bob").out
    nearest = "nearest are 'Roux, Anaïs'"
    elbmf("explain", "m", "--row", "roux, anais").assert_error(nearest)
    Path("one.csv").write_text("anaïs,write\n")
    fit = ["fit", "rights.csv", "-k", "1", "-o", "n"]
    elbmf(*fit, "--forbid", "one.csv").assert_error(nearest)
    Path("one.csv").write_text("role,right\na,writ\n")
    elbmf(*fit, "--keep", "one.csv").assert_error("nearest are 'write'")
    Path("one.csv").write_text("writes,pay\n")
    elbmf(*fit, "--separate", "one.csv").assert_error("nearest are 'write'")
    Path("kinds.csv").write_text("who,floor,department\nbob,1,it\n")
    run = elbmf("labels", "m", "kinds.csv", "--column", "dept")
    run.assert_error("there is no column 'dept'. Choose one of 'department', 'floor'")
