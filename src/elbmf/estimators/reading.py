"""Data handed over beside a model: its cells read as the model's were, and its names."""

from __future__ import annotations

import warnings
from typing import Any, Literal

import numpy as np
from sklearn.utils import check_array

from elbmf.binarizers import Binarize, binarized, binarizer_of, is_number, with_nan
from elbmf.errors import InputError
from elbmf.estimators.base import BooleanFactorizer
from elbmf.io import FolderTable, SavedModel
from elbmf.io.annotated import named_values
from elbmf.io.frames import is_frame, with_numbers
from elbmf.io.matching import DifferentLinesError, in_order, line_order
from elbmf.io.table import NamedValues, is_annotated, names_of
from elbmf.matrix.boolean_matrix import BooleanMatrix

__all__ = ["matrix_of", "names_of_model", "read_matrix"]


def matrix_of(model: Any, data: Any, missing: Any = None) -> BooleanMatrix:
    """Read data as that of a model was read, its rows and columns in the order of the model.

    That is by their names, where both have such.

    Parameters
    ----------
    model : BooleanFactorizer, SavedModel or anything else
        What is neither says nothing about how data is read.
    data : array-like, sparse matrix, data frame, AnnData, BooleanMatrix or LabelledMatrix
    missing : array-like or sparse matrix, optional
        A mask of missing entries, in the order of the data.

    Raises
    ------
    InputError
        If both have names, and others.
    """
    if isinstance(model, BooleanFactorizer):
        data, missing = _in_order_of(model, data, missing, getattr(model, "layer_", None))
        with warnings.catch_warnings():
            # An array is looked at as the rows of the fit were: it is the array of their frame.
            warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
            return model._read(data, missing, reset=False)
    if not isinstance(model, SavedModel):
        values = named_values(data)
        return BooleanMatrix.from_array(
            values.values if isinstance(values, NamedValues) else values, missing=missing
        )
    how, layer = model.binarizer(), model.info.data.options.get("layer")
    data, missing = _in_order_of(model, data, missing, layer)
    # What is no word has learned from the data of the model already.
    return read_matrix(
        data,
        how,
        missing,
        learned=not isinstance(how, str),
        layer=layer if is_annotated(data) else None,
    )


def _in_order_of(
    model: BooleanFactorizer | SavedModel, data: Any, missing: Any, layer: str | None
) -> tuple[Any, Any]:
    """Put the lines of data, and of its mask, in the order of a model; as they came if they are."""
    theirs = names_of(data)
    if type(getattr(data, "columns", None)).__name__ == "RangeIndex":
        theirs = theirs[0], None  # These are only counted.
    ours = names_of_model(model)
    rows, columns = _order("rows", theirs[0], ours[0]), _order("columns", theirs[1], ours[1])
    if rows is None and columns is None:
        return data, missing
    if missing is not None:
        missing = in_order(BooleanMatrix.mask(missing).to_csr(), rows, columns)
    # What is in a folder is in one order, and is taken into memory for another.
    if not isinstance(data, FolderTable):
        data = named_values(data, layer if is_annotated(data) else None)
    if is_frame(data):
        return in_order(data, rows, columns), missing
    names = (
        names if order is None or names is None else [names[at] for at in order]
        for names, order in zip(theirs, (rows, columns), strict=True)
    )
    return NamedValues(in_order(data.values, rows, columns), *names), missing


def _order(what: Literal["rows", "columns"], theirs: Any, ours: Any) -> Any:
    """Return where ours are among theirs; None where that is the same place, or not known."""
    # How many there are is looked at where the data is used.
    if theirs is None or ours is None or len(theirs) != len(ours):
        return None
    try:
        return line_order(what, (len(theirs), theirs), (len(ours), ours))
    except DifferentLinesError as error:
        raise InputError("The data: ", *error.parts) from None


def names_of_model(model: Any) -> tuple[list[str] | None, list[str] | None]:
    """Return the names of rows and columns of a fitted estimator or saved model, if it has any."""
    if isinstance(model, SavedModel):
        return model.row_names, model.column_names
    # What has seen its rows in pieces keeps no names of them.
    found = (getattr(model, f"{each}_names_in_", None) for each in ("sample", "feature"))
    rows, columns = (None if each is None else [str(name) for name in each] for each in found)
    return rows, columns


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
