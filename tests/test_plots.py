"""Pictures."""

import sys

import numpy as np
import pytest

from elbmf import plots
from elbmf.errors import InputError, MissingExtraError


def test_image_bands_draw_each_image_in_its_band(tmp_path):
    images = np.arange(7 * 4).reshape(7, 2, 2) % 2 == 0
    figure = plots.image_bands({"seven": images, "two": ~images[:2]}, columns=3)
    first, second = figure.subfigs
    assert [part.get_suptitle() for part in figure.subfigs] == ["seven", "two"]
    drawn = [axis.images[0].get_array() for axis in first.axes if axis.images]
    np.testing.assert_array_equal(drawn, images)
    assert len(first.axes) == 9
    assert len(second.axes) == 3
    plots.save(figure, tmp_path / "bands.png")
    assert (tmp_path / "bands.png").read_bytes().startswith(b"\x89PNG")


def test_image_bands_refuse_what_are_no_images():
    with pytest.raises(InputError, match="'flat': images must have 3 dimensions"):
        plots.image_bands({"flat": np.ones((2, 2))})


def _search(count, chosen):
    rank = np.arange(count + 1)
    table = {
        "rank": rank,
        "relative_loss": 1 / (1 + rank),
        "mdl": 1e5 + (rank - chosen) ** 2.0,
        "bai_ng_1": np.where(rank < chosen, -rank, -np.inf),
        "held_out": np.where(rank % 2 == chosen % 2, np.abs(rank - chosen), np.nan),
    }
    return table, dict.fromkeys(("mdl", "bai_ng_1", "held_out"), chosen)


@pytest.mark.parametrize("chosen", [0, 1, 12, 30])
def test_rank_curve_draws_loss_and_criterion_and_names_the_choice(tmp_path, chosen):
    table, choices = _search(30, chosen)
    figure = plots.rank_curve(table, choices)
    upper, lower = figure.axes
    for axis, name in ((upper, "relative_loss"), (lower, "mdl")):
        curve, line, mark = axis.lines
        np.testing.assert_array_equal(curve.get_xydata(), np.c_[table["rank"], table[name]])
        assert list(line.get_xdata()) == [chosen, chosen]
        assert mark.get_xydata().tolist() == [[chosen, table[name][chosen]]]
    assert lower.texts[0].get_text() == f"least with {chosen} component{'s' * (chosen != 1)}"
    assert upper.get_ylabel() == "relative loss"
    assert (lower.get_title("left"), lower.get_ylabel()) == ("Description length (MDL)", "bits")
    assert lower.get_xlabel() == "number of components"
    plots.save(figure, tmp_path / "ranks.png")
    # What is written stays within the picture.
    box = lower.texts[0].get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= figure.bbox.x1


@pytest.mark.parametrize("criterion", ["bai_ng_1", "held_out"])
def test_rank_curve_leaves_out_what_is_not_finite(tmp_path, criterion):
    table, choices = _search(450, 300)
    figure = plots.rank_curve(table, choices, criterion)
    curve = figure.axes[1].lines[0]
    assert np.isfinite(curve.get_ydata()).all()
    assert len(curve.get_xdata()) == np.isfinite(table[criterion]).sum()
    assert curve.get_marker() == "None"  # dots would run into each other
    plots.save(figure, tmp_path / "ranks.svg")


def test_rank_curve_refuses_a_criterion_that_is_not_there():
    table, choices = _search(3, 1)
    with pytest.raises(InputError, match="no 'aic'; got rank"):
        plots.rank_curve(table, choices, "aic")


def test_suffixes_are_those_of_pictures():
    assert {"png", "pdf", "svg"} <= set(plots.suffixes())


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"elbmf\[plots\]"):
        plots.image_bands({"one": np.ones((1, 2, 2))})
