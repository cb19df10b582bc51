"""Memory that is kept within bounds: scratch files, forgetting, and fits from the disk."""

import errno
import os
import tempfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from elbmf import ELBMF, Primp, RoundedNMF
from elbmf.datasets import make_tiles
from elbmf.errors import DiskFullError
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.matrix.on_disk import PagedMatrix, memory_needed, paged, store
from elbmf.matrix.paging import MemoryKeeper, expect, forget, scratch_array
from elbmf.relaxation.engines.base import TreeSum, merges
from elbmf.relaxation.starts import UniformRows
from waiting import wait_until


@pytest.mark.parametrize("array", [np.ones(5), "mapped"])
def test_forgetting_loses_nothing(tmp_path, array):
    if isinstance(array, str):
        array = scratch_array(tmp_path, (3, 50_000), np.float32)
        assert not array.any()
        array[:] = 1
        assert list(tmp_path.iterdir()) == []  # nothing is left, however the program ends
    part = array[1:]
    forget(part)
    expect(part)
    assert (array == 1).all()


def test_an_array_of_nothing(tmp_path):
    assert scratch_array(tmp_path, (0, 4), np.float32).shape == (0, 4)


def test_a_full_disk_is_told_at_once(tmp_path, monkeypatch):
    def fail(*arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", fail)
    with pytest.raises(
        DiskFullError, match=r"no room for scratch space of 400 kB .*No space"
    ) as info:
        scratch_array(tmp_path, (100_000,), np.float32)
    assert info.value.errno == errno.ENOSPC
    assert list(tmp_path.iterdir()) == []


def test_the_keeper_lets_mapped_arrays_not_grow(tmp_path):
    array = scratch_array(tmp_path, (20_000_000,), np.uint8)
    with MemoryKeeper(1_000_000) as keeper:
        before = resident()
        keeper.keep(array)
        array[:] = 1
        wait_until(lambda: resident() < before + 5_000_000)
    assert (array == 1).all()


def resident():
    if not os.path.exists("/proc/self/statm"):
        pytest.skip("the system does not tell how much memory there is")
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


MODELS = [
    ELBMF(4, random_state=0, max_iter=60, effort=0.1),
    ELBMF(4, random_state=0, max_iter=60, effort=0.1, extra_weight=3.0),
    Primp(4, random_state=0, max_iter=60, refine=True),
    RoundedNMF(4, random_state=0, max_iter=60),
]


@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize("shape", [(300, 200), (90, 500)])
@pytest.mark.parametrize("density", [0.02, 0.3])
def test_a_fit_from_the_disk_ends_with_the_same_bits(tmp_path, model, shape, density):
    A = make_tiles(shape, 4, height=(5, 30), noise=density, random_state=3).A
    missing = sparse.random(*shape, 0.01, "csr", random_state=0) != 0
    model.set_params(memory_limit=None)
    U = model.fit_transform(A, missing=missing)
    expected = (U, model.components_, model.reconstruction_err_, model.stages_)
    again = model.transform(A)
    model.set_params(memory_limit=1)
    for data in (A, store(BooleanMatrix.from_array(A, missing=missing), tmp_path / "A.matrix")):
        mask = missing if data is A else None
        U = model.fit_transform(data, missing=mask)
        found = (U, model.components_, model.reconstruction_err_, model.stages_)
        for mine, theirs in zip(found, expected, strict=True):
            np.testing.assert_array_equal(mine, theirs)
    np.testing.assert_array_equal(model.transform(A), again)
    assert [each.name for each in tmp_path.iterdir()] == ["A.matrix"]


def test_a_rank_is_found_from_the_disk_as_well():
    A = make_tiles((40, 60), 3, height=(5, 10), random_state=3).A
    there, here = (
        ELBMF("auto", random_state=0, max_iter=20, effort=0.1, memory_limit=limit).fit(A)
        for limit in (1, None)
    )
    np.testing.assert_array_equal(there.components_, here.components_)


def test_the_limit_decides(tmp_path, monkeypatch):
    A = BooleanMatrix.from_array(np.random.default_rng(0).random((200, 100)) < 0.1)
    placed = []
    factorize = ELBMF._factorize

    def spy(self, A, generator):
        placed.append(type(A))
        return factorize(self, A, generator)

    monkeypatch.setattr(ELBMF, "_factorize", spy)
    needed = memory_needed(A, 3, 4)
    for limit in (None, needed, needed - 1, f"{needed - 1}B"):
        ELBMF(3, random_state=0, max_iter=5, memory_limit=limit, effort=0).fit(A)
    assert placed == [BooleanMatrix, BooleanMatrix, PagedMatrix, PagedMatrix]
    monkeypatch.setattr("elbmf.estimators.relaxer.available_memory", lambda: 1)
    stored = store(A, tmp_path / "A.matrix")
    ELBMF(3, random_state=0, max_iter=5, effort=0).fit(stored)
    assert placed[-1] is PagedMatrix


def test_scratch_files_lie_beside_the_data_if_they_may(tmp_path, monkeypatch):
    A = BooleanMatrix.from_array(np.eye(9, dtype=bool))
    stored = store(A, tmp_path / "A.matrix")
    with paged(stored, 1) as there:
        assert there.scratch == tmp_path
    monkeypatch.setattr(os, "access", lambda *arguments: False)
    with paged(stored, 1) as there:
        assert str(there.scratch) == tempfile.gettempdir()


@pytest.mark.parametrize("limit", ["", "some", -1, 0])
def test_a_limit_that_is_none_is_told(limit):
    with pytest.raises(ValueError, match="memory_limit"):
        ELBMF(2, memory_limit=limit).fit(np.eye(3))


@given(st.lists(st.integers(0, 99), min_size=1, max_size=40), st.randoms())
def test_sums_along_a_tree_have_one_order(values, random):
    terms = [f"{value}" for value in values]
    order = list(range(len(terms)))
    random.shuffle(order)
    total = TreeSum(len(terms), lambda a, b: f"({a}+{b})")
    for position in order:
        total.put(position, terms[position])
    for into, other in merges(len(terms)):
        terms[into] = f"({terms[into]}+{terms[other]})"
    assert total.total == terms[0]
    assert eval(terms[0]) == sum(values)


@given(
    st.integers(0, 9),
    st.integers(1, 5),
    st.integers(0, 4),
    st.integers(0, 9),
    st.sampled_from([np.float32, np.float64]),
)
def test_uniform_rows_are_those_of_the_generator(rows, columns, before, low, dtype):
    mine, theirs = np.random.default_rng(7), np.random.default_rng(7)
    for generator in (mine, theirs):
        generator.random(before, dtype=np.float32)
    drawn = UniformRows((rows, columns), mine, dtype, scale=0.5)
    expected = theirs.random((rows, columns), dtype=dtype) * dtype(0.5)
    np.testing.assert_array_equal(drawn[:], expected)
    np.testing.assert_array_equal(drawn[low : low + 3], expected[low : low + 3])
    assert mine.random(3, dtype=np.float32).tolist() == theirs.random(3, dtype=np.float32).tolist()
