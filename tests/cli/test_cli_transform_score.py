"""elbmf transform and elbmf score: a saved model meets other data."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from elbmf import GreConD
from elbmf.errors import InputError
from elbmf.io import LabelledMatrix, load_model, read, save_model

NEW = "person,apple,pear,plum,fig,nut\nzoe,1,1,1,1,0\nyan,0,0,1,1,1\n"


def _both_first(memberships: np.ndarray) -> None:
    """The first row is in both components, the second in one."""
    np.testing.assert_array_equal(memberships.sum(axis=1), [2, 1])


@pytest.mark.parametrize("suffix", ["tsv", "csv", "npz", "csv.gz"])
def test_transform_writes_by_suffix(elbmf: Any, model: str, suffix: str) -> None:
    Path("new.csv").write_text(NEW)
    result = elbmf("transform", model, "new.csv", "-o", f"out.{suffix}")
    assert (result.code, result.out) == (0, "")
    assert result.err == f"Wrote 2 rows and 2 components to out.{suffix}\n"
    table = read(f"out.{suffix}")
    _both_first(table.values.toarray())
    assert table.row_names == ["zoe", "yan"]
    assert table.column_names == ["component_0", "component_1"]


@pytest.mark.parametrize("flags", [[], ["-o", "-"]])
def test_transform_writes_to_stdout(elbmf: Any, model: str, flags: list[str]) -> None:
    Path("new.csv").write_text(NEW)
    result = elbmf("transform", model, "new.csv", *flags)
    assert (result.code, result.err) == (0, "")
    lines = [line.split("\t") for line in result.out.splitlines()]
    assert lines[0] == ["row", "component_0", "component_1"]
    assert lines[1] == ["zoe", "1", "1"]


@pytest.mark.parametrize("output", ["new.csv", "./new.csv", "link.csv", "model/factors.npz"])
def test_transform_never_replaces_what_it_reads(elbmf: Any, model: str, output: str) -> None:
    Path("new.csv").write_text(NEW)
    Path("link.csv").symlink_to("new.csv")
    before = Path(output).read_bytes()
    run = elbmf("transform", model, "new.csv", "-o", output)
    run.assert_error("writing there would replace", "which is read", "Choose another name")
    assert Path(output).read_bytes() == before


def test_columns_in_another_order_are_put_right(elbmf: Any, model: str) -> None:
    Path("new.csv").write_text("person,fig,nut,plum,apple,pear\nzoe,1,0,1,1,1\nyan,1,1,1,0,0\n")
    result = elbmf("transform", model, "new.csv", "-o", "out.npz")
    assert "new.csv: columns put in the order of the model." in result.err
    _both_first(read("out.npz").values.toarray())


def test_unknown_columns_are_left_out_when_asked(elbmf: Any, model: str) -> None:
    text = "person,kiwi,fig,nut,plum,lime,apple,pear\nzoe,1,1,0,1,1,1,1\nyan,0,1,1,1,0,0,0\n"
    Path("new.csv").write_text(text)
    elbmf("transform", model, "new.csv").assert_error("has 7 columns", "'kiwi', 'lime'")
    for command in ("transform", "score"):
        result = elbmf(command, model, "new.csv", "--unknown", "ignore")
        assert result.code == 0
        assert "new.csv: left out 2 unknown columns: 'kiwi', 'lime'.\n" in result.err
    run = elbmf("transform", model, "new.csv", "--unknown", "ignore", "-o", "out.npz")
    assert run.code == 0
    _both_first(read("out.npz").values.toarray())


def test_columns_that_are_lacking_are_an_error_all_the_same(elbmf: Any, model: str) -> None:
    Path("new.csv").write_text("person,kiwi,nut\nzoe,1,1\n")
    run = elbmf("transform", model, "new.csv", "--unknown", "ignore")
    assert run.code == 2
    assert "new.csv: has 1 columns, but the model has 5. Missing: 'apple'" in run.err
    Path("bare.csv").write_text("1,1,1,1,0\n0,0,1,1,1\n")
    run = elbmf("transform", model, "bare.csv", "--no-row-names", "--unknown", "ignore")
    run.assert_error("are recognised by their names", "Leave --unknown out")


def test_columns_without_names_are_taken_in_order(elbmf: Any, model: str) -> None:
    Path("new.csv").write_text("1,1,1,1,0\n0,0,1,1,1\n")
    assert elbmf("transform", model, "new.csv", "--no-row-names", "-o", "out.npz").code == 0
    _both_first(read("out.npz").values.toarray())


@pytest.mark.parametrize(
    ("header", "parts"),
    [
        ("apple,pear,plum,fig", ["has 4 columns, but the model has 5", "Missing: 'nut'"]),
        ("apple,pear,plum,fig,oat", ["Missing: 'nut'; Unknown to the model: 'oat'."]),
        ("a,b,c,d,e", ["Missing: 'apple', 'pear', 'plum' and 2 more", "'a', 'b', 'c' and 2"]),
        ("apple,pear,plum,fig,nut,oat", ["has 6 columns", "Unknown to the model: 'oat'"]),
    ],
)
@pytest.mark.parametrize("command", ["transform", "score"])
def test_other_columns_are_refused(
    elbmf: Any, model: str, command: str, header: str, parts: list[str]
) -> None:
    row = ",".join("1" for _ in header.split(","))
    Path("new.csv").write_text(f"person,{header}\nzoe,{row}\n")
    elbmf(command, model, "new.csv").assert_error("new.csv", *parts)


def test_names_that_repeat_cannot_be_put_in_order(elbmf: Any) -> None:
    Path("twice.csv").write_text("p,a,a,b\nx,1,1,0\ny,0,1,1\n")
    Path("other.csv").write_text("p,a,b,a\nx,1,1,0\n")
    made = elbmf("fit", "twice.csv", "-k", 1, "-o", "twice")
    assert made.code == 0
    assert "warning: Columns 0 and 1 are both called 'a'" in made.err
    elbmf("transform", "twice", "other.csv").assert_error("column 1 is 'b', not 'a'", "more than")


def test_frames_have_no_names_that_repeat() -> None:
    table = LabelledMatrix(np.array([[1, 1, 0], [0, 1, 1]]), None, ["a", "a", "b"])
    with pytest.warns(UserWarning, match="Columns 0 and 1 are both called 'a'"):
        model = GreConD(1).fit(table)
    with pytest.raises(InputError, match=r"columns 0 and 1 are both.*Pass its cells.*to_numpy"):
        model.transform(pd.DataFrame({"a": [1], "b": [1], "c": [0]}))
    np.testing.assert_array_equal(model.transform(table), model.membership_)


@pytest.mark.parametrize("command", ["transform", "score"])
def test_what_is_no_model(elbmf: Any, command: str) -> None:
    Path("folder").mkdir()
    elbmf(command, "folder", "tiles.csv").assert_error("folder: is not a saved model")
    elbmf(command, "nowhere", "tiles.csv").assert_error("nowhere: there is no such folder")
    elbmf(command, "tiles.csv", "tiles.csv").assert_error("tiles.csv: is a file")


@pytest.mark.parametrize("command", ["transform", "score"])
def test_at_least_one_thread(elbmf: Any, model: str, command: str) -> None:
    elbmf(command, model, "tiles.csv", "-j", 0).assert_error("-j/--n-jobs", "at least 1")
    elbmf(command, model, "tiles.csv", "-j", "x").assert_error("-j/--n-jobs", "'x'")


@pytest.mark.parametrize(
    ("output", "part"),
    [("out.xyz", "'.xyz'"), ("no/out.tsv", "no does not exist"), ("model", "suffix")],
)
def test_bad_outputs_are_refused(elbmf: Any, model: str, output: str, part: str) -> None:
    elbmf("transform", model, "tiles.csv", "-o", output).assert_error(output, part)


def test_the_threshold_of_the_model_is_used_again(elbmf: Any) -> None:
    Path("counts.csv").write_text("a,b\n5,0\n1,7\n")
    elbmf("fit", "counts.csv", "--binarize", 4, "-k", 2, "-o", "model")
    result = elbmf("transform", "model", "counts.csv", "-o", "out.npz")
    assert "counts.csv: read with --binarize 4" in result.err
    np.testing.assert_array_equal(read("out.npz").values.toarray(), load_model("model").U.toarray())
    result = elbmf("score", "model", "counts.csv", "--binarize", 0, "--json")
    assert result.json["data"]["ones"] == 3


@pytest.mark.parametrize(
    ("how", "limits"), [("zscore:1", 2), ("quantile:0.3:all", 1), ("zscore:1:rows", 0)]
)
def test_what_a_binarizer_has_learned_is_used_again(elbmf: Any, how: str, limits: int) -> None:
    Path("values.csv").write_text("a,b\n9,0.5\n1,7\n2,\n1,1\n")
    assert elbmf("fit", "values.csv", "--binarize", how, "-k", 2, "-o", "model").code == 0
    model = load_model("model")
    assert model.info.parameters["binarize"] == how
    assert len(model.info.binarize_limits) == limits
    result = elbmf("score", "model", "values.csv", "--json")
    assert result.json["measures"] == model.info.measures
    assert f"values.csv: read with --binarize {how}, as the data of the model was" in result.err
    # Columns in another order, and one row alone, which is nothing special among itself.
    Path("one.csv").write_text("b,a\n0.5,9\n")
    assert elbmf("transform", "model", "one.csv", "-o", "out.npz").code == 0
    row = read("out.npz").values.toarray()[0]
    if limits:
        np.testing.assert_array_equal(row, model.U.toarray()[0])
        assert row.any()
    result = elbmf("score", "model", "one.csv", "--binarize", "quantile", "--json")
    assert result.json["data"]["ones"] == 0
    for command in (("info", "model"), ("fit", "values.csv", "-k", 1, "-o", "again")):
        flags = ("--binarize", how) if command[0] == "fit" else ()
        assert "binarize_limits" not in elbmf(*command, *flags, "--json").out


def test_columns_without_values_have_no_limit(elbmf: Any) -> None:
    Path("values.csv").write_text("a,b\n9,\n1,\n2,\n")
    assert elbmf("fit", "values.csv", "--binarize", "zscore:1", "-k", 1, "-o", "model").code == 0
    assert load_model("model").info.binarize_limits[1] is None
    Path("new.csv").write_text("a,b\n9,9\n")
    assert elbmf("score", "model", "new.csv", "--json").json["data"]["ones"] == 1


def test_a_truth_is_not_read_by_z_scores(elbmf: Any) -> None:
    Path("values.csv").write_text("a,b\n9,0\n1,7\n2,1\n")
    Path("truth.csv").write_text("a,b\n1,0\n0,1\n1,1\n")
    elbmf("fit", "values.csv", "--binarize", "zscore:1", "-k", 2, "-o", "model")
    command = ("score", "model", "values.csv", "--truth", "truth.csv", "--json")
    assert elbmf(*command, "--binarize", "zscore:1").json["measures"]["recall_star"] == 0.5


def test_score_of_the_training_data_uses_the_saved_rows(elbmf: Any, model: str) -> None:
    result = elbmf("score", model, "tiles.csv", "--json")
    assert result.err == ""
    assert result.json["transformed"] is False
    assert result.json["measures"] == load_model(model).info.measures
    assert result.json["data"] == {"file": "tiles.csv", "shape": [5, 5], "ones": 10, "missing": 0}


def test_score_of_other_rows_describes_them_first(elbmf: Any, model: str) -> None:
    Path("new.csv").write_text(NEW)
    result = elbmf("score", model, "new.csv", "--json")
    assert "new.csv: has 2 rows, but the model has 5." in result.err
    assert result.json["transformed"] is True
    assert result.json["measures"]["loss"] == 1


def test_score_of_rows_with_other_names_describes_them_first(elbmf: Any, model: str) -> None:
    Path("new.csv").write_text(Path("tiles.csv").read_text().replace("ann", "zoe"))
    result = elbmf("score", model, "new.csv")
    assert "its rows are not those of the model. Missing: 'ann'" in result.err
    assert "relative loss  0.0000" in result.out


def test_score_with_truth(elbmf: Any, model: str) -> None:
    noisy = Path("tiles.csv").read_text().replace("bob,1,1,0", "bob,1,1,1")
    Path("noisy.csv").write_text(noisy)
    result = elbmf("score", model, "noisy.csv", "--truth", "tiles.csv")
    assert "recall*        1.0000" in result.out
    assert "recall         0.9091" in result.out
    found = elbmf("score", model, "noisy.csv", "--truth", "tiles.csv", "--json").json
    assert found["measures"]["recall_star"] == 1


def test_truth_of_another_shape_is_refused(elbmf: Any, model: str) -> None:
    Path("new.csv").write_text(NEW)
    elbmf("score", model, "tiles.csv", "--truth", "new.csv").assert_error("new.csv: has 2 rows")
    elbmf("score", model, "tiles.csv", "--truth", "no.csv").assert_error("no.csv: there is no")


def test_a_loss_without_ones_is_json_too(elbmf: Any, model: str) -> None:
    Path("zeros.csv").write_text(Path("tiles.csv").read_text().replace("1", "0"))
    result = elbmf("score", model, "zeros.csv", "--json")
    assert result.json["measures"]["relative_loss"] is None
    assert "relative loss  inf" in elbmf("score", model, "zeros.csv").out


def _transformed(elbmf: Any, model: str, text: str) -> np.ndarray:
    Path("new.csv").write_text(text)
    result = elbmf("transform", model, "new.csv", "-o", "out.npz")
    assert result.code == 0, result.err
    return read("out.npz").values.toarray()


# Whether zoe is in a component depends on what her missing fruit costs.
HALF = "person,apple,pear,plum,fig,nut\nzoe,1,0,0,0,0\nyan,0,0,1,1,0\n"


@pytest.mark.parametrize(("extra_weight", "members"), [("0.5", 1), ("2", 0), ("100", 0)])
def test_transform_weighs_errors_as_the_model_does(
    elbmf: Any, extra_weight: str, members: int
) -> None:
    fit = ("fit", "tiles.csv", "-k", 2, "--seed", 0, "-o", "weighted")
    assert elbmf(*fit, "--extra-weight", extra_weight).code == 0
    assert load_model("weighted").info.measures["loss"] == 0
    memberships = _transformed(elbmf, "weighted", HALF)
    np.testing.assert_array_equal(memberships.sum(axis=1), [members, 1])


def test_models_without_weights_weigh_all_errors_alike(elbmf: Any, model: str) -> None:
    saved = load_model(model)
    del saved.info.parameters["extra_weight"]
    save_model("old", saved)
    expected = _transformed(elbmf, model, NEW)
    np.testing.assert_array_equal(_transformed(elbmf, "old", NEW), expected)


def test_an_infinite_weight_survives_in_the_model(elbmf: Any) -> None:
    fit = ("fit", "tiles.csv", "-k", 2, "--seed", 0, "-o", "below", "--extra-weight", "inf")
    assert elbmf(*fit).code == 0
    memberships = _transformed(elbmf, "below", HALF)
    np.testing.assert_array_equal(memberships.sum(axis=1), [0, 1])
    assert elbmf("score", "below", "new.csv").code == 0


def test_without_data_it_is_what_the_result_was_made_from(elbmf: Any, model: str) -> None:
    assert elbmf("score", model).out == elbmf("score", model, "tiles.csv").out
    assert elbmf("transform", model).out == elbmf("transform", model, "tiles.csv").out
    # Also where it comes after flags.
    late = elbmf("score", model, "-j", 1, "tiles.csv")
    assert (late.code, late.out) == (0, elbmf("score", model).out)
    Path("tiles.csv").rename("moved.csv")
    for command in ("score", "transform"):
        elbmf(command, model).assert_error("no longer there: ../tiles.csv", "after RESULT")
        assert elbmf(command, model, "moved.csv").code == 0
    elbmf("score", model, "moved.csv", "too.csv").assert_error("unknown arguments: too.csv")


def test_pairs_are_read_as_those_of_the_model_and_lack_what_is_zero(elbmf: Any) -> None:
    owned = {"ann": "abc", "bob": "ab", "eve": "cd"}
    lines = [f"{person};x;{each}" for person, own in owned.items() for each in own]
    Path("pairs.csv").write_text("\n".join(["qui;où;quoi", *lines]) + "\n")
    flags = ["--layout", "pairs", "--columns", "qui,quoi"]
    assert elbmf("fit", "pairs.csv", *flags, "-k", "2", "-o", "m").code == 0
    Path("new.csv").write_text("qui;où;quoi\nzoe;y;b\nzoe;y;a\n")
    result = elbmf("transform", "m", "new.csv", "-o", "out.csv")
    assert result.code == 0
    assert "read with --layout pairs" in result.err
    assert "2 columns of the result that no pair names count as zeros: 'c', 'd'" in result.err
    assert read("out.csv").values.sum() == 1
    assert elbmf("score", "m", "new.csv", "--json").json["transformed"]
    Path("new.csv").write_text("qui;où;quoi\nzoe;y;b\nzoe;y;e\n")
    assert "Unknown to the model: 'e'" in elbmf("transform", "m", "new.csv").err
    # A table lacks columns by mistake.
    Path("wide.csv").write_text("qui,a,b\nzoe,1,1\n")
    run = elbmf("transform", "m", "wide.csv", "--layout", "wide", "--columns", "a,b")
    assert "has 2 columns, but the model has 4" in run.err
