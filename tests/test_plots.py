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


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"elbmf\[plots\]"):
        plots.image_bands({"one": np.ones((1, 2, 2))})
