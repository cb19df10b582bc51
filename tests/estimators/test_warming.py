"""Kernels that are ready before the first request."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from elbmf import ELBMF, load, warm_up
from elbmf.errors import InputError
from elbmf.kernels.compiling import compiling_seconds

A = (np.random.default_rng(0).random((20, 9)) < 0.4).astype(int)


def test_a_model_describes_rows_without_compiling_once_it_is_warm(tmp_path):
    fitted = ELBMF(2, effort=0.1, random_state=0, max_components_per_row=1).fit(A)
    fitted.save(tmp_path / "model")
    model = load(tmp_path / "model")
    state = {name: value for name, value in vars(model).items() if name != "components_"}
    assert warm_up(model) >= 0
    assert {name: value for name, value in vars(model).items() if name != "components_"} == state
    before = compiling_seconds()
    np.testing.assert_array_equal(model.transform(A), fitted.transform(A))
    model.score(np.where(A > 0, A, np.nan))
    assert compiling_seconds() == before


@pytest.mark.filterwarnings("ignore:X does not have valid feature names:UserWarning")
def test_without_a_model_there_is_what_any_describes_rows_with():
    warm_up()
    model = load(Path(__file__).parents[1] / "io" / "models_0_1_0" / "fitted")
    before = compiling_seconds()
    model.transform(model.components_)
    assert compiling_seconds() == before


@pytest.mark.parametrize("word", ["zscore", 0.5])
def test_a_model_that_binarizes_is_warmed(word):
    warm_up(ELBMF(2, effort=0, binarize=word, random_state=0).fit(A + 0.1 * A[::-1]))


def test_a_class_is_fitted_so_that_its_fits_compile_nothing():
    warm_up(ELBMF)
    before = compiling_seconds()
    ELBMF(3, effort=0.1, random_state=1).fit(A)
    assert compiling_seconds() == before


def test_what_cannot_be_warmed_says_what_can():
    with pytest.raises(NotFittedError):
        warm_up(ELBMF())
    with pytest.raises(InputError, match=r"a class of methods such as elbmf\.ELBMF; got str"):
        warm_up("elbmf")
