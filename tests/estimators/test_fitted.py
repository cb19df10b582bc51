"""What a fit leaves: attributes with types, and biclusters as scikit-learn has them."""

import re
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BiclusterMixin

from elbmf import ELBMF, RankSearch
from elbmf.datasets import make_tiles
from elbmf.estimators import ESTIMATORS
from elbmf.estimators import method as method_of

A = make_tiles((30, 20), 3, height=(5, 10), noise=0.02, random_state=0).A.toarray().astype(int)


@pytest.mark.parametrize(
    "kind", [*map(method_of, ESTIMATORS), RankSearch], ids=lambda kind: kind.__name__
)
def test_every_attribute_that_a_class_tells_of_has_a_type(kind):
    told = kind.__doc__.partition("Attributes\n")[2]
    names = re.findall(r"^ *(\w+_) : ", told, re.MULTILINE)
    hints = get_type_hints(kind)
    untyped = {name for name in names if not isinstance(getattr(kind, name, None), property)}
    assert len(untyped) >= 5
    assert untyped <= hints.keys()
    assert not any(hasattr(kind, name) for name in untyped)  # nothing is there before a fit


def matches(value, hint):
    """Whether a value is of a type, as far as it is spelled out."""
    origin, inner = get_origin(hint), get_args(hint)
    if hint is Any:
        return True
    if origin is np.ndarray:
        kind = get_args(inner[1])[0]
        return isinstance(value, np.ndarray) and (kind is Any or np.issubdtype(value.dtype, kind))
    if origin is dict:
        return all(
            matches(key, inner[0]) and matches(each, inner[1]) for key, each in value.items()
        )
    if origin is list:
        return all(matches(each, inner[0]) for each in value)
    if inner:
        return any(matches(value, each) for each in inner)
    return isinstance(value, hint)


def test_what_a_fit_leaves_is_of_these_types():
    assert matches(A, NDArray[np.int64])
    assert not matches(A, NDArray[np.bool_])
    for model in (ELBMF(2, random_state=0), RankSearch(ELBMF(random_state=0, effort=0.1), 2)):
        hints = {
            name: hint for name, hint in get_type_hints(type(model)).items() if name[-1] == "_"
        }
        left = {name: each for name, each in vars(model.fit(A)).items() if name in hints}
        assert len(left) >= 4
        assert [name for name, each in left.items() if not matches(each, hints[name])] == []


@pytest.mark.parametrize("name", ESTIMATORS)
def test_components_are_biclusters(name):
    model = method_of(name)(random_state=0)
    if model.n_components is not None:
        model.set_params(n_components=3)
    assert isinstance(model, BiclusterMixin)
    assert not hasattr(model, "rows_")
    model.fit(A)
    rows, columns = model.biclusters_
    assert rows.shape == (len(model.components_), 30)
    assert (rows.dtype, columns.dtype) == (np.bool_, np.bool_)
    assert model.get_indices(0)[0].tolist() == np.flatnonzero(model.membership_[:, 0]).tolist()
    for place, (height, width) in enumerate(map(model.get_shape, range(len(rows)))):
        inside = model.get_submatrix(place, sparse.csr_array(A))
        assert inside.shape == (height, width) == (rows[place].sum(), columns[place].sum())
    covered = np.any([np.outer(*pair) for pair in zip(rows, columns, strict=True)], axis=0)
    assert (covered != A).sum() == model.reconstruction_err_
