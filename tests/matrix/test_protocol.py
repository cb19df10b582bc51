"""What every matrix can do, wherever its cells are. Those on a cluster: test_dask_engine."""

from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elbmf.boolean import component_cover, cover
from elbmf.boolean.metrics import measures
from elbmf.matrix import BooleanMatrix, Matrix, as_matrix
from elbmf.matrix.on_disk import store
from elbmf.search.local import describe
from strategies import masked_arrays


class StackedMatrix(Matrix):
    """Rows in two pieces, the second of which is transposed when it can be."""

    in_one_place = False

    def __init__(self, values):
        half = values.shape[0] // 2
        self.pieces = [BooleanMatrix.from_array(part) for part in (values[:half], values[half:])]
        self.flipped = BooleanMatrix.from_array(np.ascontiguousarray(values[half:].T))
        self.shape = values.shape
        self.ones = sum(piece.ones for piece in self.pieces)
        self.n_missing = sum(piece.n_missing for piece in self.pieces)

    def fingerprint(self):
        return "".join(piece.fingerprint() for piece in self.pieces)

    def sum_over_pieces(self, count, U, V, n_jobs=None):
        half = self.pieces[0].shape[0]
        counted = (
            count(self.pieces[0], U[:half], V, n_jobs),
            count(self.flipped, np.ascontiguousarray(V.T), np.ascontiguousarray(U[half:].T), 1),
        )
        return reduce(add, counted)

    def map_rows(self, function, *arguments, n_jobs=None):
        return np.concatenate([function(piece, *arguments, n_jobs) for piece in self.pieces])


def on_disk(values, folder):
    return store(BooleanMatrix.from_array(values), folder / "A.matrix", overwrite=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("matrix")


@pytest.mark.parametrize("kind", ["disk", "pieces"])
@given(case=masked_arrays(), k=st.integers(1, 4), seed=st.integers(0, 99))
@settings(max_examples=30, deadline=None)
def test_all_matrices_have_the_same_figures(folder, kind, case, k, seed):
    A, mask = case
    values = np.where(mask, np.nan, A)
    here = BooleanMatrix.from_array(values)
    there = StackedMatrix(values) if kind == "pieces" else on_disk(values, folder)
    assert as_matrix(there) is there
    for name in ("shape", "ones", "cells", "known", "n_missing", "density"):
        assert getattr(there, name) == getattr(here, name), name
    generator = np.random.default_rng(seed)
    U, V = generator.random((A.shape[0], k)) < 0.5, generator.random((k, A.shape[1])) < 0.5
    assert cover(there, U, V) == cover(here, U, V)
    assert measures(there, U, V) == measures(here, U, V)
    counted = component_cover(here, U, V)
    for name in ("rows", "columns", "cells", "covered", "alone"):
        found = getattr(component_cover(there, U, V), name)
        np.testing.assert_array_equal(found, getattr(counted, name), name)
    np.testing.assert_array_equal(describe(there, V), describe(here, V))


def test_a_class_that_lacks_a_method_is_no_matrix():
    class Shapeless(Matrix):
        shape = (3, 4)

    with pytest.raises(TypeError, match="abstract"):
        Shapeless()
    assert not isinstance(np.eye(3), Matrix)
