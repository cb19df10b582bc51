"""Reading in another process: what it brings, and that it harms nothing, whatever it does."""

import ctypes
import os
import sys
from pathlib import Path

import numpy as np
import pytest

from elbmf.errors import FileFormatError, InputError, Setting
from elbmf.io import apart
from elbmf.io.apart import done_apart
from elbmf.io.entries import Ending, Entries

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="no fork here")


@pytest.fixture
def path(tmp_path):
    """A file that is there, to be named in messages."""
    path = tmp_path / "a.h5ad"
    path.write_bytes(b"\x89HDF")
    return path


def children():
    """Return the processes that this one has begun and not waited for."""
    tasks = Path("/proc/self/task").glob("*/children")
    return {child for task in tasks for child in task.read_text().split()}


@pytest.fixture(autouse=True)
def nobody_is_left():
    """Other tests may have begun some that are still there."""
    before = children()
    yield
    assert children() <= before


def test_entries_and_ending_come_as_they_are(path):
    rows, columns = np.arange(3), np.array([2, 0, 1], np.uint8)
    values = np.array([1, np.nan, 0.5], np.float32)

    def work():
        yield Entries(rows, columns, values, "never")
        yield Entries(rows, columns)
        return Ending((3, 3), ["a", "\ud800", "é"], None)

    stream = apart.apart(path, "h5ad", work())
    first, second = next(stream), next(stream)
    np.testing.assert_array_equal(first.values, values)
    assert [each.dtype for each in (first.rows, first.columns, first.values)] == [
        each.dtype for each in (rows, columns, values)
    ]
    assert (first.repeated, second.repeated, second.values) == ("never", "same", None)
    with pytest.raises(StopIteration) as end:
        next(stream)
    assert end.value.value == Ending((3, 3), ["a", "\ud800", "é"], None)


def test_errors_come_with_their_parts(path):
    def refuse():
        raise FileFormatError("a.h5ad: take ", Setting("layer", "counts"), ".")

    with pytest.raises(FileFormatError) as told:
        done_apart(path, "h5ad", refuse)
    assert told.value.parts == ("a.h5ad: take ", Setting("layer", "counts"), ".")
    with pytest.raises(FileFormatError, match=r"a\.h5ad: not a valid h5ad file, .*KeyError 'X'"):
        done_apart(path, "h5ad", lambda: {}["X"])


def test_what_does_not_end_is_ended(path, monkeypatch):
    monkeypatch.setattr(apart, "_SECONDS", 0)

    def for_ever():
        while True:
            pass

    with pytest.raises(
        FileFormatError, match=r"a\.h5ad: not a valid h5ad file: reading it did not"
    ):
        done_apart(path, "h5ad", for_ever)


@pytest.mark.parametrize(
    ("end", "message"),
    [
        (lambda: ctypes.string_at(0), "reading it ended with SIGSEGV"),
        (os.abort, "reading it ended with SIGABRT"),
        (lambda: os._exit(3), "reading it ended"),
        (lambda: os.kill(os.getpid(), 9), "as it does when memory runs out"),
    ],
)
def test_a_crash_is_an_error_of_the_file(path, end, message, capfd):
    def work():
        yield Entries(np.arange(3), np.arange(3))
        end()

    stream = apart.apart(path, "h5ad", work())
    next(stream)
    with pytest.raises(InputError, match=message):
        next(stream)
    assert capfd.readouterr() == ("", "")


def test_memory_is_limited(path, monkeypatch):
    monkeypatch.setattr(apart, "_MEMORY", 1 << 26)
    with pytest.raises(InputError, match=r"a\.h5ad: not enough memory"):
        done_apart(path, "h5ad", lambda: len(bytearray(1 << 28)))


def test_who_needs_no_more_leaves_no_process(path):
    def work():
        while True:
            yield Entries(np.arange(9), np.arange(9))

    stream = apart.apart(path, "h5ad", work())
    next(stream)
    stream.close()


def test_without_another_process_files_are_read_in_this_one(path, monkeypatch):
    def full():
        raise OSError

    monkeypatch.setattr(os, "fork", full)
    assert done_apart(path, "h5ad", os.getpid) == os.getpid()
