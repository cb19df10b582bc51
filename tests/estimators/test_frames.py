"""Data frames of plain numbers: checked all at once, with the outcome of scikit-learn's checks."""

import warnings

import numpy as np
import pandas as pd
import pytest

from elbmf import GreConD
from elbmf.estimators import base

GENERATOR = np.random.default_rng(0)
A = (GENERATOR.random((20, 6)) < 0.4).astype(int)
NAMES = list("abcdef")
FRAME = pd.DataFrame(A, columns=NAMES)

FRAMES = {
    "the same": FRAME,
    "one row": FRAME.iloc[:1],
    "Booleans": FRAME.astype(bool),
    "several types": FRAME.astype({"a": bool, "b": np.uint8, "c": np.float32, "d": np.uint64}),
    "missing cells": FRAME.astype(float).mask(GENERATOR.random(A.shape) < 0.1),
    "nullable types": FRAME.astype({"a": "Int64", "b": "boolean"}),
    "sparse columns": FRAME.astype(pd.SparseDtype(np.int64, 0)),
    "text": FRAME.astype({"a": str}),
    "other names": FRAME.rename(columns={"a": "z"}),
    "another order": FRAME[NAMES[::-1]],
    "a column less": FRAME[NAMES[:-1]],
    "a column more": FRAME.assign(g=1),
    "the same name twice": FRAME.set_axis([*"aacdef"], axis=1),
    "numbers for names": FRAME.set_axis(range(6), axis=1),
    "numbers for names, too few": FRAME[NAMES[:-1]].set_axis(range(5), axis=1),
    "names of two kinds": FRAME.set_axis([*"abcde", 6], axis=1),
    "names in two levels": FRAME.set_axis(pd.MultiIndex.from_product([["x"], NAMES]), axis=1),
    "no rows": FRAME.iloc[:0],
    "no columns": FRAME[[]],
    "a two": FRAME.replace({"c": {1: 2}}),
    "infinity": FRAME.astype(float).replace({"c": {1.0: np.inf}}),
    "complex numbers": FRAME.astype({"b": complex}),
}


def outcome(act, frame):
    """Return what comes of a frame: an array or an error, and what is warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = act(frame)
        except (ValueError, TypeError) as error:
            found = type(error), str(error)
    return found, [str(each.message) for each in caught]


def fitted(frame):
    model = GreConD(2)
    U = model.fit_transform(frame)
    return U, model.n_features_in_, list(getattr(model, "feature_names_in_", []))


@pytest.mark.parametrize("kind", FRAMES)
def test_frames_are_taken_and_refused_as_if_each_column_were_looked_at(kind, monkeypatch):
    named, nameless = (GreConD(2).fit(X) for X in (FRAME, A))
    acts = [named.transform, nameless.transform, named.score, fitted]
    quick = [outcome(act, FRAMES[kind]) for act in acts]
    monkeypatch.setattr(base, "plain_cells", lambda frame: None)
    for one, other in zip(quick, [outcome(act, FRAMES[kind]) for act in acts], strict=True):
        np.testing.assert_equal(one, other)


def test_a_row_of_many_columns_is_described_without_a_look_at_each(monkeypatch):
    model = GreConD(2).fit(FRAME)

    def refuse(*_):
        raise AssertionError("a column was looked at")

    monkeypatch.setattr(pd.DataFrame, "__getitem__", refuse)
    np.testing.assert_array_equal(model.transform(FRAME), model.membership_)
