"""Each picture beside the one it was; ``ELBMF_NEW_PICTURES=1 pytest tests/plots`` makes them anew.

Look at what has changed before committing it.
"""

import os
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from cases import CASES, factors
from matplotlib import style
from matplotlib.image import imread
from PIL import Image
from scipy.ndimage import gaussian_filter

from elbmf import plots

BASELINE = Path(__file__).parent / "baseline"
DPI = 60

# Root of the mean squared difference, of 255, after what is finer than a few pixels is blurred:
# versions of matplotlib shape letters differently. With the version that a picture was made with,
# which it says itself, there is next to none.
SAME_VERSION, OTHER_VERSION, BLUR = 0.5, 9, 1.5


def _pixels(path):
    return 255 * gaussian_filter(imread(path)[:, :, :3].astype(np.float64), (BLUR, BLUR, 0))


def _difference(expected, path):
    seen, wanted = _pixels(path), _pixels(expected)
    assert seen.shape == wanted.shape
    return np.sqrt(np.mean((seen - wanted) ** 2))


def _drawn(case, path):
    with style.context("default"):
        plots.save(CASES[case](), path, dpi=DPI)
    return path


@pytest.mark.parametrize("case", CASES)
def test_a_picture_is_what_it_was(case, tmp_path):
    expected = BASELINE / f"{case}.png"
    if os.environ.get("ELBMF_NEW_PICTURES"):
        BASELINE.mkdir(exist_ok=True)
        _drawn(case, expected)
        return
    with Image.open(expected) as picture:
        same = f"version{matplotlib.__version__}," in picture.info["Software"]
    difference = _difference(expected, _drawn(case, tmp_path / f"{case}.png"))
    assert difference <= (SAME_VERSION if same else OTHER_VERSION), (
        f"{tmp_path / case}.png is not {expected}"
    )


def test_a_picture_that_changes_is_told(tmp_path):
    A, U, V = factors()
    with style.context("default"):
        ax = plots.new_figure(5, 4).subplots()
        # The same matrix, three of sixty rows of one component lost.
        U[np.flatnonzero(U[:, 0])[:3], 0] = False
        plots.reordered_matrix((U, V), A, what="errors", ax=ax)
        plots.save(ax, tmp_path / "changed.png", dpi=DPI)
    assert _difference(BASELINE / "matrix-errors.png", tmp_path / "changed.png") > OTHER_VERSION


def test_there_is_no_picture_too_many_and_none_is_large():
    files = list(BASELINE.iterdir())
    assert {file.stem for file in files} == set(CASES)
    assert max(file.stat().st_size for file in files) < 30_000
