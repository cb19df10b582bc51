"""Data handed over beside a model: its cells read as the model's were, and its names."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.utils import check_array

from elbmf.binarizers import Binarize, binarized, binarizer_of, is_number, with_nan
from elbmf.estimators.base import BooleanFactorizer
from elbmf.io import SavedModel
from elbmf.io.annotated import named_values
from elbmf.io.frames import is_frame, with_numbers
from elbmf.io.table import NamedValues, is_annotated
from elbmf.matrix.boolean_matrix import BooleanMatrix

__all__ = ["matrix_of", "read_matrix"]


def matrix_of(model: Any, data: Any) -> BooleanMatrix:
    """Read data as that of a model was read.

    Parameters
    ----------
    model : BooleanFactorizer, SavedModel or anything else
        What is neither says nothing about how data is read.
    data : array-like, sparse matrix, data frame, AnnData, BooleanMatrix or LabelledMatrix
    """
    if isinstance(model, BooleanFactorizer):
        with warnings.catch_warnings():
            # An array is looked at as the rows of the fit were: it is the array of their frame.
            warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
            return model._read(data, None, reset=False)
    if not isinstance(model, SavedModel):
        values = named_values(data)
        return BooleanMatrix.from_array(
            values.values if isinstance(values, NamedValues) else values
        )
    how = model.binarizer()
    layer = model.info.data.options.get("layer") if is_annotated(data) else None
    # What is no word has learned from the data of the model already.
    return read_matrix(data, how, learned=not isinstance(how, str), layer=layer)


def read_matrix(
    # As for `BooleanFactorizer.fit`
    X: Any,
    binarize: Binarize = None,  # How values become ones
    missing: Any = None,
    *,
    learned: bool = False,  # Whether a transformer is fitted already
    layer: str | None = None,  # Of an AnnData
) -> BooleanMatrix:
    """Read data as `fit` does."""
    X = named_values(X, layer)
    if isinstance(X, NamedValues):
        X = X.values
    if isinstance(X, BooleanMatrix):
        return BooleanMatrix.from_array(X, missing=missing)
    read = with_numbers(X) if is_frame(X) else X
    values = check_array(
        read, accept_sparse=True, accept_large_sparse=True, ensure_all_finite=False
    )
    if np.ma.is_masked(X):
        # The validation looks through the mask.
        values = np.ma.masked_array(values, mask=np.ma.getmaskarray(X))
    if binarize is None or is_number(binarize):
        return BooleanMatrix.from_array(values, binarize, missing)
    values = with_nan(values, missing)
    return binarized(values, binarize if learned else binarizer_of(binarize).fit(values))[0]
