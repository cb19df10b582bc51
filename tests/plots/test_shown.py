"""What a notebook is given of pictures without pyplot, and nothing where it has one anyway."""

import io

import numpy as np
import pytest
from cases import RESULTS, factors, history, search
from matplotlib.figure import Figure
from matplotlib.image import imread

from elbmf import plots


def _shown(drawn):
    """Read the picture that a notebook is given, and how wide it is to be."""
    content, told = drawn._repr_png_()
    return imread(io.BytesIO(content)), told["width"]


A, U, V = factors()
MADE = {
    "one": lambda: plots.row_map((U, V)),
    "with a colour bar": lambda: plots.component_overlap((U, V)),
    "several": lambda: plots.factorization((U, V), A),
    "as many as needed": lambda: plots.component_lists((U, V), A),
    "below each other": lambda: plots.rank_curve(*search()),
    "of a history": lambda: plots.trace(history()),
    "shared axes": lambda: plots.comparison(RESULTS),
    "parts of a figure": lambda: plots.image_bands({"a": np.eye(3)[None], "b": np.eye(3)[None]}),
    "the figure": lambda: plots.figure_of(plots.factorization((U, V), A)),
}


@pytest.mark.parametrize("kind", MADE)
def test_what_is_returned_is_shown_as_its_figure(kind, tmp_path):
    picture, width = _shown(MADE[kind]())
    # One made anew, for what is drawn again has been laid out before.
    plots.save(MADE[kind](), tmp_path / "saved.png", dpi=170)
    np.testing.assert_array_equal(picture, imread(tmp_path / "saved.png"))
    assert picture.shape[1] == pytest.approx(2 * width, abs=2)
    assert (picture != picture[0, 0]).any()


def test_several_axes_are_a_tuple_still():
    drawn = plots.factorization((U, V), A)
    data, rebuilt, errors = drawn
    assert drawn == (data, rebuilt, errors)
    assert isinstance(drawn, tuple)
    for each in drawn:
        assert plots.figure_of(each) is plots.figure_of(drawn)


def test_each_axes_of_a_figure_shows_all_of_it():
    def made(at):
        figure = plots.new_figure(6, 3)
        axes = figure.subplots(1, 2)
        plots.row_map((U, V), ax=axes[0])
        assert plots.component_overlap((U, V), ax=axes[1]) is axes[1]
        return [*axes, figure][at]

    pictures = [_shown(made(at))[0] for at in range(3)]
    np.testing.assert_array_equal(pictures[0], pictures[2])
    np.testing.assert_array_equal(pictures[1], pictures[2])


def test_axes_of_other_figures_are_left_to_who_made_them():
    """Those of pyplot would be shown twice."""
    assert not hasattr(plots.row_map((U, V), ax=Figure().subplots()), "_repr_png_")
    assert plots.factorization((U, V), A, axes=Figure().subplots(1, 3))._repr_png_() is None


def test_nothing_is_shown_of_what_is_empty():
    assert plots.new_figure(3, 2)._repr_png_() is None
    assert plots.image_bands({"none": np.empty((0, 2, 2))})._repr_png_() is None


def test_a_figure_takes_axes_of_all_kinds():
    figure = plots.new_figure(3, 2)
    round_one = figure.add_subplot(1, 2, 1, projection="polar")
    own = figure.add_subplot(1, 2, 2)
    assert figure.add_subplot(own) is own
    twin = own.twinx()
    assert round_one.name == "polar"
    assert {type(own), type(twin)} == {type(figure.add_subplot())}
