"""Whatever is written where there is no room: one error that names it, and nothing left."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import numpy as np
import pytest
from scipy import sparse

from elbmf import plots
from elbmf.errors import DiskFullError, InputError
from elbmf.io import LabelledMatrix, SavedModel, export_result, save_model, write
from elbmf.io.records import write_records
from elbmf.io.write_back import write_back

resource = pytest.importorskip("resource", reason="limits are a thing of Unix")


@contextmanager
def little_room(size: int) -> Iterator[None]:
    """Let no file grow beyond some bytes, as on a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def labelled() -> LabelledMatrix:
    cells = np.random.default_rng(0).random((200, 100)) < 0.3
    rows, columns = [f"r{i}" for i in range(200)], [f"c{j}" for j in range(100)]
    return LabelledMatrix(sparse.csr_array(cells), rows, columns)


def model() -> SavedModel:
    generator = np.random.default_rng(0)
    U, V = generator.random((200, 9)) < 0.5, generator.random((9, 100)) < 0.5
    return SavedModel(U, V, labelled().row_names, labelled().column_names)


def picture():
    figure = plots.new_figure(4, 4)
    figure.subplots().imshow(np.random.default_rng(0).random((50, 50)))
    return figure


# Room, of which there is too little for the whole and enough to begin.
SIZES = [0, 700, 2500]

RECORDS = [{"name": f"row {at} {hash((at, 1))}", "value": at} for at in range(500)]

WRITERS = {
    **{
        name: lambda path: write(path, labelled())
        for name in ("a.csv", "a.tsv", "a.csv.gz", "a.mtx", "a.npz", "a.npy", "a.matrix")
    },
    "a.dat": lambda path: write(path, labelled()),
    "records.csv": partial(write_records, records=RECORDS),
    "records.json": partial(write_records, records=RECORDS),
    "export.json": lambda path: export_result(path, model()),
    "export": lambda path: export_result(path, model(), labelled().values, format="csv"),
    "model": lambda path: save_model(path, model(), tsv=True),
    "picture.png": lambda path: plots.save(picture(), path),
    "picture.svg": lambda path: plots.save(picture(), path),
}

FORMATS = {
    "a.h5ad": lambda path: write(path, labelled()),
    "a.parquet": lambda path: write(path, labelled()),
    "records.parquet": partial(write_records, records=RECORDS),
}


def assert_clean(tmp_path, name, write_there, size):
    path = tmp_path / name
    with little_room(size), pytest.raises((DiskFullError, InputError)) as info:
        write_there(path)
    assert name in str(info.value)
    assert "\n" not in str(info.value)
    assert list(tmp_path.iterdir()) == []
    # What was there stays.
    write_there(path)
    before = path.read_bytes() if path.is_file() else None
    if before is not None and name != "export.json":
        with little_room(size), pytest.raises(DiskFullError):
            write_there(path)
        assert path.read_bytes() == before
        assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", WRITERS)
def test_nothing_is_left(tmp_path, name, size):
    assert_clean(tmp_path, name, WRITERS[name], size)


@pytest.mark.formats
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", FORMATS)
def test_nothing_is_left_of_formats_of_others(tmp_path, name, size):
    assert_clean(tmp_path, name, FORMATS[name], size)


@pytest.mark.formats
def test_a_file_that_is_written_into_stays(tmp_path):
    path = tmp_path / "a.h5ad"
    write(path, labelled())
    before = path.read_bytes()
    for room in (0, 1000, len(before), len(before) + 2000, len(before) + 1_000_000):
        with little_room(room), pytest.raises(DiskFullError, match=r"no room for a\.h5ad"):
            write_back(path, model())
        assert path.read_bytes() == before
        assert list(tmp_path.iterdir()) == [path]
    write_back(path, model())
    assert path.stat().st_size < len(before) + 200_000
