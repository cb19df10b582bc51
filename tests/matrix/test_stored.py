"""Matrices in folders: what is stored is what comes back, and damage is told."""

import errno
import json
import os
import shutil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elbmf import ELBMF, GreConD
from elbmf.errors import DiskFullError, FileFormatError, InputError
from elbmf.matrix.array_files import BLOCK, ArrayWriter
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.matrix.on_disk import DiskMatrix, FolderWriter, store
from strategies import examples, masked_arrays


@pytest.fixture
def A():
    mask = np.random.default_rng(1).random((40, 30)) < 0.02
    return BooleanMatrix.from_array(np.random.default_rng(0).random((40, 30)) < 0.2, missing=mask)


def assert_same(first, second):
    assert first.shape == second.shape
    for side in (0, 1):
        for mine, theirs in zip(first.lines(side), second.lines(side), strict=True):
            assert mine.dtype == theirs.dtype
            np.testing.assert_array_equal(mine, theirs)
    np.testing.assert_array_equal(first.to_csr().toarray(), second.to_csr().toarray())
    assert (first.missing is None) == (second.missing is None)
    if first.missing is not None:
        assert_same(first.missing, second.missing)


@given(case=masked_arrays(), wide=st.booleans())
@examples(30)
def test_what_is_stored_comes_back(tmp_path_factory, case, wide):
    cells, mask = case
    if wide:  # more columns than two bytes can number
        cells, mask = (np.pad(X, ((0, 0), (0, (1 << 16) + 5))) for X in (cells, mask))
    A = BooleanMatrix.from_array(cells, missing=mask)
    path = tmp_path_factory.mktemp("stored") / "A.matrix"
    stored = store(A, path)
    stored.verify()
    assert_same(stored, A)
    assert_same(DiskMatrix(path), A)


def test_names_come_back_whatever_is_in_them(tmp_path, A):
    names = ["a", "", "two\nlines", 'quote"', "é☃", "\\"] + [f"r{i}" for i in range(34)]
    stored = store(A, tmp_path / "A.matrix", row_names=names)
    assert stored.names(0) == names
    assert stored.names(1) is None


def test_all_methods_take_it(tmp_path, A):
    stored = store(A, tmp_path / "A.matrix")
    for model in (ELBMF(4, random_state=0), GreConD(4)):
        expected = model.fit_transform(A)
        np.testing.assert_array_equal(model.fit_transform(stored), expected)
        np.testing.assert_array_equal(model.transform(stored), model.transform(A))
        assert model.score(stored) == model.score(A)


def damage(path, change):
    data = bytearray(path.read_bytes())
    change(data)
    path.write_bytes(data)


FILES = ["rows.starts", "rows.ones", "columns.starts", "columns.ones", "missing.rows.ones"]


@pytest.mark.parametrize("name", FILES)
def test_files_cut_short_or_gone_are_told(tmp_path, A, name):
    path = store(A, tmp_path / "A.matrix").path / f"{name}.npy"
    damage(path, lambda data: data.pop())
    with pytest.raises(FileFormatError, match=rf"{name}.npy: expected \d+ bytes .* truncated"):
        DiskMatrix(tmp_path / "A.matrix")
    damage(path, lambda data: data.clear())
    with pytest.raises(FileFormatError, match=rf"{name}.npy: expected an npy file"):
        DiskMatrix(tmp_path / "A.matrix")
    path.unlink()
    with pytest.raises(FileFormatError, match=rf"{name}.npy: is missing"):
        DiskMatrix(tmp_path / "A.matrix")


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("limit", [None, 1])
def test_a_changed_byte_is_told_before_anything_is_fitted(tmp_path, A, name, limit):
    stored = store(A, tmp_path / "A.matrix")

    def flip(data):
        data[-1] ^= 1

    damage(stored.path / f"{name}.npy", flip)
    with pytest.raises(FileFormatError, match=rf"{name}.npy: .* checksum differs"):
        ELBMF(3, memory_limit=limit).fit(DiskMatrix(stored.path))


def test_blocks_have_checksums_of_their_own(tmp_path):
    writer = ArrayWriter(tmp_path / "a.npy", np.uint16, BLOCK)
    entries = np.arange(BLOCK, dtype=np.uint16)
    for piece in np.array_split(entries, 7):
        writer.write(piece)
    assert len(writer.close()["crc32"]) == 2
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), entries)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda note: note.pop("shape"), "matrix.json: shape is missing"),
        (lambda note: note.update(format="other"), "does not describe"),
        (lambda note: note.update(version=99), "version 99, which is newer"),
        (lambda note: note["arrays"].pop("rows.ones"), "does not name the array 'rows.ones'"),
    ],
)
def test_a_note_that_is_none_is_told(tmp_path, A, change, message):
    path = store(A, tmp_path / "A.matrix").path / "matrix.json"
    note = json.loads(path.read_text())
    change(note)
    path.write_text(json.dumps(note))
    with pytest.raises(FileFormatError, match=message):
        DiskMatrix(tmp_path / "A.matrix")


def test_what_is_no_matrix_folder_is_told(tmp_path, A):
    (tmp_path / "file.matrix").write_text("?")
    for place in (tmp_path, tmp_path / "nothing", tmp_path / "file.matrix"):
        with pytest.raises(FileFormatError, match=r"matrix folder"):
            DiskMatrix(place)
    stored = store(A, tmp_path / "A.matrix", row_names=[str(i) for i in range(40)])
    names = stored.path / "rows.names.json"
    names.write_text('"1"\n')
    with pytest.raises(FileFormatError, match="expected 40 names, one a line; found 1"):
        stored.names(0)
    for text in ("{", "1\n", '"\\ud800"\n', "[" * 5000):
        names.write_text(text)
        with pytest.raises(FileFormatError, match="is damaged"):
            stored.names(0)


def test_other_folders_are_not_replaced(tmp_path, A):
    path = tmp_path / "A.matrix"
    store(A, path)
    with pytest.raises(InputError, match="already exists"):
        store(A, path)
    store(A, path, overwrite=True)
    (tmp_path / "other").mkdir()
    with pytest.raises(InputError, match="is not a matrix folder"):
        store(A, tmp_path / "other", overwrite=True)


def test_nothing_half_written_is_left(tmp_path, A):
    path = tmp_path / "A.matrix"

    def write():
        with FolderWriter(path) as writer:
            writer.array("rows.ones", np.uint16, 5).write(np.arange(3))
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(DiskFullError, match=r"no room for A.matrix \(No space left"):
        write()
    assert list(tmp_path.iterdir()) == []
    # What a killed writer left behind is in nobody's way.
    for name in (".A.matrix.0123456789ab.part", ".A.matrix.ba9876543210.former"):
        (tmp_path / name).mkdir()
        os.utime(tmp_path / name, (0, 0))
    assert_same(store(A, path), A)
    assert {each.name for each in tmp_path.iterdir()} == {"A.matrix", name}
    shutil.rmtree(path)
    (tmp_path / name).rename(path)
    (path / "matrix.json").touch()
    assert_same(store(A, path, overwrite=True), A)
    assert [each.name for each in tmp_path.iterdir()] == ["A.matrix"]


def test_a_folder_that_is_removed_while_it_is_written_is_told(tmp_path, A):
    def write():
        with FolderWriter(tmp_path / "A.matrix") as writer:
            shutil.rmtree(writer.part)
            writer.array("rows.ones", np.uint16, 5)

    with pytest.raises(InputError, match=r"A.matrix: could not be written, for somebody has rem"):
        write()
    assert list(tmp_path.iterdir()) == []


def test_what_came_about_meanwhile_is_not_replaced(tmp_path, A):
    path = tmp_path / "A.matrix"

    def write():
        with FolderWriter(path) as writer:
            for side in (0, 1):
                starts, ones = A.lines(side)
                writer.pattern(side, starts, [ones[: A.ones]], A.shape[1 - side])
            writer.note(A.shape, A.ones)
            path.mkdir()
            (path / "mine").touch()

    with pytest.raises(InputError, match="is not a matrix folder"):
        write()
    assert [each.name for each in path.iterdir()] == ["mine"]


def test_of_two_who_write_one_folder_the_last_one_wins(tmp_path, A):
    other = BooleanMatrix.from_array(np.eye(3))
    path = tmp_path / "A.matrix"
    with FolderWriter(path, overwrite=True) as writer:
        assert_same(store(other, path), other)
        for pattern, missing in ((A, False), (A.missing, True)):
            for side in (0, 1):
                starts, ones = pattern.lines(side)
                whole = [ones[: pattern.ones]]
                writer.pattern(side, starts, whole, A.shape[1 - side], missing=missing)
        writer.note(A.shape, A.ones, A.n_missing)
    assert_same(DiskMatrix(path), A)
    assert [each.name for each in tmp_path.iterdir()] == ["A.matrix"]
