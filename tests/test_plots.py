"""Pictures."""

import sys

import numpy as np
import pytest

from elbmf import plots
from elbmf.errors import InputError, MissingExtraError


def test_image_grid_draws_each_image_under_its_title(tmp_path):
    pytest.importorskip("matplotlib")
    images = np.arange(7 * 4).reshape(7, 2, 2) % 2 == 0
    figure = plots.image_grid(images, [f"image {i}" for i in range(7)], columns=3)
    drawn = [axis for axis in figure.axes if axis.images]
    assert [axis.get_title() for axis in drawn] == [f"image {i}" for i in range(7)]
    np.testing.assert_array_equal(drawn[3].images[0].get_array(), images[3])
    assert len(figure.axes) == 9
    plots.save(figure, tmp_path / "grid.png")
    assert (tmp_path / "grid.png").read_bytes().startswith(b"\x89PNG")


def test_image_grid_without_titles_or_images():
    pytest.importorskip("matplotlib")
    assert len(plots.image_grid(np.ones((1, 2, 3))).axes) == 1
    assert not plots.image_grid(np.ones((0, 2, 3))).axes[0].images


def test_image_grid_refuses_what_are_no_images():
    pytest.importorskip("matplotlib")
    with pytest.raises(InputError, match="3 dimensions"):
        plots.image_grid(np.ones((2, 2)))
    with pytest.raises(InputError, match="2 images; got 1"):
        plots.image_grid(np.ones((2, 2, 2)), ["one"])


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"elbmf\[plots\]"):
        plots.image_grid(np.ones((1, 2, 2)))
