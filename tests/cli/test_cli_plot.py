"""``elbmf plot``: kinds, what they need, errors."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from elbmf.plots.registry import FIGURES

LABELS = "name\tkind\tother\nann\ta\tx\nbob\ta\tx\ncy\ta\ty\ndee\tb\tx\neve\t\ty\n"


@pytest.fixture
def labels(tmp_path: Path) -> str:
    (tmp_path / "labels.tsv").write_text(LABELS)
    return "labels.tsv"


@pytest.mark.parametrize("kind", FIGURES)
def test_each_kind_is_drawn(elbmf: Any, model: str, labels: str, kind: str) -> None:
    Path("sets.gmt").write_text("fruit\t-\tapple\tpear\nother\t-\tplum\tnut\n")
    flags = ["--labels", labels] if FIGURES[kind].labels else []
    flags += ["--sets", "sets.gmt"] if FIGURES[kind].sets else []
    if kind in ("stability", "consensus"):
        model = "stable"
        assert elbmf("stability", "tiles.csv", "-k", 2, "--runs", 1, "-o", model).code == 0
    result = elbmf("plot", kind, model, "-o", "picture.png", "--dpi", 40, *flags)
    assert (result.code, result.out) == (0, "")
    assert "Saved to picture.png" in result.err
    assert Path("picture.png").read_bytes().startswith(b"\x89PNG")


def test_a_matrix_with_labels_of_rows_and_columns(elbmf: Any, model: str, labels: str) -> None:
    Path("fruit.tsv").write_text("name\tfamily\napple\trose\npear\trose\nfig\tmulberry\n")
    flags = ["--labels", labels, "--column-labels", "fruit.tsv"]
    result = elbmf("plot", "data", model, "-o", "p.svg", *flags)
    assert result.code == 0
    assert "fruit.tsv: 2 columns without a label" in result.err
    drawn = Path("p.svg").read_text()
    assert 'id="rows strip"' in drawn
    assert 'id="columns strip"' in drawn
    Path("fruit.tsv").write_text("name\tfamily\nApple\trose\n")
    elbmf("plot", "data", model, "-o", "q.svg", *flags[2:]).assert_error(
        "none of the 5 columns of model has a label in the column 'family'",
        "Columns are called 'apple', 'pear', 'plum', those of the table 'Apple'",
    )


def test_the_whole_of_a_matrix(elbmf: Any) -> None:
    lines = ["1,1,0,0,0,0", *["0,0,0,0,0,0"] * 5]
    Path("few.csv").write_text("\n".join([",".join("abcdef"), lines[0], *lines]))
    assert elbmf("fit", "few.csv", "-k", 1, "--seed", 0, "-o", "few").code == 0
    for flags in ([], ["--whole"]):
        assert elbmf("plot", "data", "few", "-o", "p.svg", *flags).code == 0
        assert ("not shown" in Path("p.svg").read_text()) is not bool(flags)


def test_a_tall_figure_has_its_panels_below_each_other(elbmf: Any, model: str) -> None:
    from matplotlib.image import imread

    size = ["--size", "2x6", "--dpi", 40]
    assert elbmf("plot", "factorization", model, "-o", "p.png", *size).code == 0
    picture = imread("p.png")[:, :, :3]
    # Each third of the height has some of what is drawn in black.
    assert [bool((third < 0.3).any()) for third in np.array_split(picture, 3)] == [True] * 3


@pytest.mark.parametrize("kind", ["factorization", "columns"])
def test_size_and_resolution(elbmf: Any, model: str, kind: str) -> None:
    from matplotlib.image import imread

    size = ["--size", "4.5x3", "--dpi", 40]
    assert elbmf("plot", kind, model, "-o", "p.png", *size).code == 0
    assert imread("p.png").shape[:2] == (120, 180)


def test_a_map_by_a_column_of_labels(elbmf: Any, model: str, labels: str) -> None:
    flags = ["--labels", labels, "--column", "other"]
    assert elbmf("plot", "map", model, "-o", "map.svg", *flags).code == 0
    assert Path("map.svg").read_text().startswith("<?xml")
    elbmf(
        "plot", "map", model, "-o", "map.svg", "--labels", labels, "--column", "age"
    ).assert_error("no column 'age'", "'kind', 'other'")


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["spiral", "model", "-o", "p.png"], ["spiral", "factorization", "overlap"]),
        (["labels", "model", "-o", "p.png"], ["needs labels", "--labels FILE"]),
        (["enrichment", "model", "-o", "p.png"], ["needs known sets", "--sets FILE"]),
        (["map", "model", "-o", "p.xyz"], ["p.xyz", ".png", ".svg"]),
        (["map", "nowhere", "-o", "p.png"], ["nowhere"]),
        (["map", "model", "-o", "p.png", "--size", "big"], ["8x5", "'big'"]),
        (["map", "model", "-o", "p.png", "--size", "0x500"], ["from 1 to 100", "'0x500'"]),
        (
            ["errors", "model", "few.csv", "-o", "p.png"],
            ["few.csv: has 1 rows", "the model has 5"],
        ),
        (["map", "model"], ["-o/--output"]),
    ],
)
def test_errors(elbmf: Any, model: str, arguments: list[str], parts: list[str]) -> None:
    Path("few.csv").write_text("person,apple,pear,plum,fig,nut\nann,1,1,0,0,0\n")
    elbmf("plot", *arguments).assert_error(*parts)
    assert not Path("p.png").exists()


def test_data_that_is_gone(elbmf: Any, model: str) -> None:
    Path("tiles.csv").rename("moved.csv")
    result = elbmf("plot", "factorization", model, "-o", "p.png")
    result.assert_error("needs the matrix", "after RESULT")
    assert not Path("p.png").exists()
    assert elbmf("plot", "columns", model, "-o", "p.png").code == 0
    flags = ["moved.csv"]
    assert elbmf("plot", "factorization", model, "-o", "q.png", *flags).code == 0


def test_without_matplotlib_the_extra_is_named(
    elbmf: Any, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    elbmf("plot", "map", model, "-o", "p.png").assert_error("elbmf[plots]")


def test_a_comparison_can_be_drawn(elbmf: Any) -> None:
    flags = ["-k", 2, "--methods", "grecond", "--plot"]
    assert elbmf("compare", "tiles.csv", *flags, "methods.png").code == 0
    assert Path("methods.png").read_bytes().startswith(b"\x89PNG")
    elbmf("compare", "tiles.csv", *flags, "methods.txt").assert_error(".png")


def test_rows_of_a_stream_are_those_of_a_file(elbmf: Any, labels: str) -> None:
    flags = ["--stream", "-k", 2, "--seed", 0, "-o", "stream"]
    assert elbmf("fit", "tiles.csv", *flags).code == 0
    for kind in ("map", "rows", "overlap", "data"):
        refused = elbmf("plot", kind, "stream", "-o", "p.png")
        refused.assert_error(f"'{kind}' shows rows", "after RESULT")
    assert not Path("p.png").exists()
    assert elbmf("plot", "columns", "stream", "-o", "p.png", "--dpi", 40).code == 0
    given = ["tiles.csv", "--labels", labels, "--dpi", 40]
    for kind in ("map", "rows", "factorization", "labels"):
        assert elbmf("plot", kind, "stream", "-o", "p.png", *given).code == 0
