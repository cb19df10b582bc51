"""Matrix folders with wrong content and right checksums: told, before any kernel takes them."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from elbmf.errors import FileFormatError
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.matrix.on_disk import DiskMatrix, store
from forging import forge_matrix, write_array

OTHER = BooleanMatrix.from_array(np.eye(4))
RNG = np.random.default_rng(0)
VALUES, MASK = RNG.random((40, 30)) < 0.2, RNG.random((40, 30)) < 0.03


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    place = tmp_path_factory.mktemp("good")
    store(BooleanMatrix.from_array(VALUES), place / "plain")
    store(BooleanMatrix.from_array(VALUES, missing=MASK), place / "gaps")
    return place


@pytest.fixture
def forged(folders, tmp_path):
    """Return what makes a copy of a folder with other content."""

    def forge(change, of="plain"):
        shutil.rmtree(tmp_path / "A", ignore_errors=True)
        shutil.copytree(folders / of, tmp_path / "A")
        change(tmp_path / "A")
        return tmp_path / "A"

    return forge


def with_array(name, change, **note):
    """Return what changes an array and its checksums, and what else is noted."""

    def forge(folder):
        path = folder / "matrix.json"
        content = json.loads(path.read_text())
        array = np.load(folder / f"{name}.npy")
        content["arrays"][name] = write_array(folder / f"{name}.npy", change(array))
        path.write_text(json.dumps({**content, **note}))

    return forge


def with_note(change):
    def forge(folder):
        content = json.loads((folder / "matrix.json").read_text())
        change(content)
        (folder / "matrix.json").write_text(json.dumps(content))

    return forge


def entry(at, value):
    def change(array):
        array[at] = value
        return array

    return change


def swapped(array):
    array[[0, 1]] = array[[1, 0]]
    return array


ONES = int(VALUES.sum())

# Those that kernels would read or write beyond their arrays for, among others.
FORGERIES = {
    "out of range": (with_array("rows.ones", entry(3, 200)), "rows.ones.npy: the positions in row"),
    "not in order": (with_array("rows.ones", swapped), "must ascend and be below 30"),
    "out of range by columns": (with_array("columns.ones", entry(-17, 40)), "in column 29 must"),
    "behind the last": (with_array("rows.ones", entry(-1, 7)), "expected 16 zeros behind"),
    "starts too far": (with_array("rows.starts", entry(5, 10**9)), "rows.starts.npy: expected whe"),
    "starts below 0": (with_array("columns.starts", entry(0, -8)), "in order from 0 to"),
    "ends elsewhere": (with_array("rows.starts", entry(-1, ONES + 9)), f"order from 0 to {ONES}"),
    "fewer ones": (with_note(lambda note: note.update(ones=10)), "expected 26 entries, its note"),
    "another shape": (with_note(lambda note: note.update(shape=[5, 30])), "expected 6 entries"),
    "a negative shape": (with_note(lambda note: note.update(shape=[-40, 30])), "shape[0] must be"),
    "objects": (
        with_note(lambda note: note["arrays"]["rows.starts"].update(dtype="|O")),
        "expected entries of type <i8, its note says '|O'",
    ),
    "wider numbers": (
        with_array("rows.ones", lambda array: array.astype("<i4")),
        "expected entries of type <u2, its note says '<i4'",
    ),
    "a header of its own": (
        lambda folder: np.save(folder / "rows.ones.npy", np.zeros(ONES + 16, ">u2")),
        "rows.ones.npy: expected an npy file that says",
    ),
    "no checksums": (
        with_note(lambda note: note["arrays"]["rows.ones"].update(crc32=[])),
        "expected 1 checksums in its note, found 0",
    ),
    "other rows": (
        with_array("rows.ones", lambda array: _moved(array)),
        "the ones by rows are not those by columns",
    ),
}


def _moved(array):
    """Move the first one of a row whose neighbour is free."""
    starts = np.concatenate([[0], np.cumsum(VALUES.sum(axis=1))])
    for at in starts[:-1]:
        if array[at] > 0:
            array[at] -= 1
            return array
    raise AssertionError


@pytest.mark.parametrize(("change", "said"), FORGERIES.values(), ids=FORGERIES)
def test_what_is_wrong_is_told(forged, change, said):
    folder = forged(change)
    with pytest.raises(FileFormatError) as error:
        DiskMatrix(folder).verify()
    assert said in str(error.value)
    with pytest.raises(FileFormatError):
        DiskMatrix(folder).to_csr()


SCRIPT = """
import sys
from elbmf import ELBMF, GreConD
from elbmf.errors import FileFormatError
from elbmf.matrix.on_disk import DiskMatrix

for folder in sys.argv[1:]:
    for model in (ELBMF(3, max_iter=3), ELBMF(3, max_iter=3, memory_limit=1000), GreConD(3)):
        try:
            model.fit(DiskMatrix(folder))
        except FileFormatError:
            continue
        raise AssertionError(folder)
print("all told")
"""


def test_no_fit_takes_it(forged, tmp_path):
    """In a process of its own, which it used to kill."""
    kept = []
    for name, (change, _) in FORGERIES.items():
        kept.append(tmp_path / name.replace(" ", "_"))
        forged(change).rename(kept[-1])
    package = str(Path(sys.modules["elbmf"].__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *kept],
        env={**os.environ, "PYTHONPATH": package},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout.strip()) == (0, "all told"), done.stderr


def test_a_missing_cell_is_no_one(forged):
    """As is noted of both sides of both."""
    both = BooleanMatrix.from_array(VALUES), BooleanMatrix.from_array(VALUES & (np.arange(30) < 9))

    def change(folder):
        note = json.loads((folder / "matrix.json").read_text())
        for side, name in enumerate(("rows", "columns")):
            for prefix, A in zip(("", "missing."), both, strict=True):
                for what, array in zip(("starts", "ones"), A.lines(side), strict=True):
                    key = f"{prefix}{name}.{what}"
                    note["arrays"][key] = write_array(folder / f"{key}.npy", array)
        note.update(ones=both[0].ones, missing=both[1].ones)
        (folder / "matrix.json").write_text(json.dumps(note))

    folder = forged(change, "gaps")
    with pytest.raises(FileFormatError, match="are missing cells, too"):
        DiskMatrix(folder).verify()
    with pytest.raises(FileFormatError, match="are missing cells, too"):
        DiskMatrix(folder).piece(0, 0, 40)


@pytest.mark.parametrize("seed", range(8))
def test_forgeries_are_told_or_are_no_such(forged, seed):
    for turn in range(40):
        generator = np.random.default_rng([seed, turn])
        of = "gaps" if turn % 2 else "plain"
        folder = forged(lambda path: forge_matrix(generator, path), of)  # noqa: B023
        try:
            A = DiskMatrix(folder)
            starts = [A.starts(side) for side in (0, 1)]
            piece, _ = A.piece(turn % 2, 3, 20)
            assert (np.diff(piece[0]) >= 0).all()
            assert piece[1].max(initial=0) < A.shape[1 - turn % 2]
            same = A.to_csr().toarray()
        except FileFormatError:
            continue
        # What is nowhere looked at, such as the names of what else is noted, or nothing at all.
        np.testing.assert_array_equal(same, VALUES & ~(MASK if of == "gaps" else np.False_))
        np.testing.assert_array_equal(np.diff(starts[0]), same.sum(axis=1))


@pytest.mark.parametrize("name", ["rows.ones.npy", "matrix.json", "rows.names.json"])
@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_what_is_no_file_is_told_and_not_waited_for(forged, name, make):
    def change(folder):
        (folder / name).unlink(missing_ok=True)
        make(folder / name)

    folder = forged(change)
    with pytest.raises(FileFormatError, match=rf"{name}: is no file"):
        DiskMatrix(folder).names(0)


def test_files_that_change_while_they_are_in_use_are_told(forged):
    folder = forged(lambda path: None)
    A = DiskMatrix(folder)
    A.verify()
    A.verify()
    path = folder / "columns.ones.npy"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(FileFormatError, match=r"columns.ones.npy: has been written to since"):
        A.verify()


def test_folders_that_are_replaced_while_they_are_in_use_stay_what_they_were(forged):
    folder = forged(lambda path: None)
    A = DiskMatrix(folder)
    A.verify()
    store(BooleanMatrix.from_array(~VALUES), folder, overwrite=True)
    A.verify()
    np.testing.assert_array_equal(A.to_csr().toarray(), VALUES)
    np.testing.assert_array_equal(DiskMatrix(folder).to_csr().toarray(), ~VALUES)


@pytest.mark.parametrize("change", [shutil.rmtree, lambda path: store(OTHER, path, overwrite=True)])
def test_folders_that_go_before_they_are_looked_at_are_told(forged, change):
    folder = forged(lambda path: None)
    A = DiskMatrix(folder)
    change(folder)
    with pytest.raises(FileFormatError, match=r"has been removed, replaced or written to since"):
        A.verify()


def test_where_lines_start_is_known_without_the_ones(forged):
    A = DiskMatrix(forged(with_array("rows.ones", entry(3, 200))))
    np.testing.assert_array_equal(np.diff(A.starts(0)), VALUES.sum(axis=1))
    with pytest.raises(FileFormatError):
        A.lines(0)
    A = DiskMatrix(forged(with_array("rows.starts", entry(3, 200))))
    with pytest.raises(FileFormatError):
        A.starts(0)


def test_what_this_process_wrote_is_not_looked_at_again(tmp_path, monkeypatch):
    A = store(BooleanMatrix.from_array(VALUES), tmp_path / "A")
    monkeypatch.setattr(DiskMatrix, "look", None)
    A.verify()
    DiskMatrix(tmp_path / "A").verify()
    path = tmp_path / "A" / "rows.ones.npy"
    path.write_bytes(path.read_bytes())
    with pytest.raises(TypeError):
        DiskMatrix(tmp_path / "A").verify()
