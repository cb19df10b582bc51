"""Constraints on the command line: limits as flags, the others from files, by name."""

import json

import numpy as np
import pytest

from elbmf.cli import main
from elbmf.io import load_model, read

RIGHTS = """\
,mail,wiki,git,ci,pay,approve
ann,1,1,1,1,0,0
bob,1,1,1,1,0,0
cat,1,1,0,0,1,0
dan,1,1,0,0,1,1
eve,1,1,0,0,0,1
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files = {
        "rights.csv": RIGHTS,
        "roles.csv": "role,mail,wiki\nstaff,1,1\n",
        "apart.tsv": "pay\tapprove\n",
        "never.csv": "eve,wiki\n",
        "always.csv": "person,right\ndan,approve\n",
        "self.csv": "pay,pay\n",
        "wrong.csv": "role,right\nstaff,x\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def factors(path):
    model = load_model(path)
    return model.U.toarray() > 0, model.V.toarray() > 0


def test_roles_are_kept_and_duties_are_separated(folder, capsys):
    given = ["rights.csv", "--keep", "roles.csv", "--separate", "apart.tsv", "--seed", "0"]
    assert main(["fit", *given, "-k", "4", "-o", "fit"]) == 0
    assert main(["cover", *given, "-o", "cover"]) == 0
    for result in ("fit", "cover"):
        U, V = factors(result)
        assert V[0].tolist() == [True, True, False, False, False, False]
        assert U[:, 0].all()
        assert not (V[:, 4] & V[:, 5]).any()
    capsys.readouterr()
    assert main(["fit", "rights.csv", "--keep", "cover", "-k", "5", "-o", "again", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["measures"]["loss"] == 0
    assert np.array_equal(factors("again")[1][:4], factors("cover")[1])
    assert main(["rank", "rights.csv", "--keep", "roles.csv", "--max", "3", "-o", "ranks"]) == 0
    assert factors("ranks/model")[1][0].tolist() == V[0].tolist()


def test_roles_are_kept_from_whatever_form_they_have(folder, capsys):
    (folder / "pairs.csv").write_text("rôle;permission\nstaff;mail\nstaff;wiki\ndev;git\ndev;ci\n")
    rows = '{"components": [{"component": 0, "name": "staff", "columns": ["mail", "wiki"]}]}'
    (folder / "named.json").write_text(rows)
    cover = ["cover", "rights.csv", "--seed", "0", "--overwrite"]
    assert main([*cover, "-o", "c", "--keep", "pairs.csv"]) == 0
    V = factors("c")[1]
    assert V[:2].astype(int).tolist() == [[1, 1, 0, 0, 0, 0], [0, 0, 1, 1, 0, 0]]
    assert main(["export", "c", "-o", "c.json"]) == 0
    assert main(["export", "c", "-o", "tables"]) == 0
    for kept in ("c", "c.json", "tables", "tables/component_columns.csv"):
        assert main([*cover, "-o", "again", "--keep", kept]) == 0
        assert np.array_equal(factors("again")[1], V)
    capsys.readouterr()
    assert main([*cover, "-o", "again", "--keep", "named.json", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["components"]
    assert [each.get("kept") for each in found] == ["staff"] + [None] * (len(found) - 1)
    assert main([*cover, "-o", "again", "--keep", "pairs.csv"]) == 0
    assert [line.split()[-3] for line in capsys.readouterr().out.splitlines() if "git" in line] == [
        "dev"
    ]
    (folder / "bad.json").write_text('{"components": 3}')
    assert main([*cover, "-o", "again", "--keep", "bad.json"]) == 2
    assert "bad.json: components must be a list, found 3" in capsys.readouterr().err


def test_kept_roles_count_among_those_that_it_takes(folder, capsys):
    (folder / "two.csv").write_text("role,mail,wiki\na,1,1\nb,1,0\nc,0,1\nd,1,0\ne,0,1\nf,1,1\n")
    assert main(["cover", "rights.csv", "--seed", "0", "-o", "c", "--keep", "two.csv"]) == 0
    at_least = load_model("c").info.components_at_least
    assert at_least >= 6


def test_a_cover_cannot_leave_out_ones_that_are_forbidden(folder, capsys):
    (folder / "two.csv").write_text("eve,wiki\neve,pay\nann,mail\n")
    cover = ["cover", "rights.csv", "--seed", "0", "-o", "c", "--forbid", "two.csv"]
    assert main(cover) == 2
    error = capsys.readouterr().err
    assert "--forbid: 2 forbidden cells are ones" in error
    assert "row 'ann' and column 'mail'. Allow them" in error
    assert "with --max-loss 2" in error
    assert main([*cover, "--max-loss", "2"]) == 0


def test_cells_that_must_and_must_not_be(folder, capsys):
    common = ["fit", "rights.csv", "-k", "3", "--seed", "0", "--overwrite", "-o", "result"]
    assert main([*common, "--forbid", "never.csv", "--require", "always.csv"]) == 0
    assert "always.csv: line 1 is taken for a header" in capsys.readouterr().err
    U, V = factors("result")
    covered = U.astype(int) @ V > 0
    assert not covered[4, 1]
    assert covered[3, 5]


@pytest.mark.parametrize("flag", ["--forbid", "--require", "--separate"])
@pytest.mark.parametrize("text", ["", "  \n\n", "one,two\n"])
def test_empty_files_have_no_rules(folder, capsys, flag, text):
    (folder / "none.csv").write_text(text)
    common = ["fit", "rights.csv", "-k", "2", "--seed", "0"]
    assert main([*common, "-o", "ruled", flag, "none.csv"]) == 0
    assert "none.csv: has no pairs of" in capsys.readouterr().err
    assert main([*common, "-o", "plain"]) == 0
    for ruled, plain in zip(factors("ruled"), factors("plain"), strict=True):
        assert np.array_equal(ruled, plain)


@pytest.mark.parametrize("flag", ["--keep", "--previous"])
def test_empty_files_have_no_components(folder, capsys, flag):
    (folder / "none.csv").write_text("\n")
    common = ["fit", "rights.csv", "-k", "2", "--seed", "0"]
    assert main([*common, "-o", "kept", flag, "none.csv"]) == 0
    assert "none.csv: has no components" in capsys.readouterr().err
    assert main([*common, "-o", "plain"]) == 0
    for kept, plain in zip(factors("kept"), factors("plain"), strict=True):
        assert np.array_equal(kept, plain)


def test_little_is_changed_of_what_was_before(folder, capsys):
    assert main(["cover", "rights.csv", "-o", "before", "--seed", "0"]) == 0
    before = factors("before")[1]
    lines = RIGHTS.replace(",approve", ",approve,print").replace(
        "ann,1,1,1,1,0,0", "ann,1,1,1,1,0,1"
    )
    lines = "\n".join(line + ",0" * (i > 0) for i, line in enumerate(lines.split()))
    (folder / "now.csv").write_text(lines.replace(",mail", ",post"))
    capsys.readouterr()
    given = ["now.csv", "--previous", "before", "--change-penalty", "9", "--seed", "0"]
    assert main(["fit", *given, "-k", str(len(before) + 1), "-o", "now"]) == 0
    error = capsys.readouterr().err
    assert "before: now.csv does not have 1 of its columns" in error
    assert "Cells of components that differ from before: 0" in error
    now = factors("now")[1]
    assert np.array_equal(now[: len(before), 1:6], before[:, 1:])
    assert not now[:, [0, 6]].any()
    assert main(["fit", "rights.csv", "--previous", "before", "-k", "1", "-o", "few"]) == 2
    assert "--previous and --n-components 1 contradict each other" in capsys.readouterr().err


def test_limits_hold_for_rows_to_come(folder, capsys):
    limits = ["--max-components-per-row", "1", "--min-rows", "2", "--max-columns", "4"]
    assert main(["fit", "rights.csv", "-k", "4", "-o", "result", "--seed", "0", *limits]) == 0
    U, V = factors("result")
    assert U.sum(axis=1).max() <= 1
    assert set(U.sum(axis=0)) & {1} == set()
    assert V.sum(axis=1).max() <= 4
    capsys.readouterr()
    assert main(["transform", "result", "rights.csv", "-o", "rows.npz"]) == 0
    assert read("rows.npz").values.sum(axis=1).max() <= 1
    assert main(["info", "result"]) == 0
    assert "max_components_per_row" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--min-rows", "3", "--max-rows", "2"], "--min-rows 3 and --max-rows 2 contradict"),
        (["--keep", "nothing"], "nothing: there is no such result"),
        (["--keep", "wrong.csv"], "wrong.csv: names 'x', which rights.csv does not have"),
        (["--forbid", "apart.tsv"], "apart.tsv, line 1: the matrix has no row 'pay'"),
        (["--separate", "never.csv"], "never.csv, line 1: the matrix has no column 'eve'"),
        (
            ["--forbid", "always.csv", "--require", "always.csv"],
            "--forbid and --require contradict each other: the cell in row 'dan' and column "
            "'approve' is in both",
        ),
        (["--keep", "roles.csv", "--max-columns", "1"], "--keep and --max-columns 1 contradict"),
        (["--separate", "roles.csv"], "roles.csv, line 1: expected two names, column and column"),
        (["--separate", "self.csv"], "--separate pairs column 'pay' with itself"),
        (["--method", "grecond", "--min-rows", "2"], "--min-rows"),
        (["--min-rows", "0"], "--min-rows must be an int in the range"),
        (["--forbid", "missing.csv"], "missing.csv"),
    ],
)
def test_mistakes(folder, capsys, arguments, message):
    assert main(["fit", "rights.csv", "-k", "2", "-o", "result", *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert "Traceback" not in error
