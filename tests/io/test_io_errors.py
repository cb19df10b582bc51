"""Files that are missing, damaged, or not what they are called; options that do not exist."""

import builtins
import gzip
import os
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

from elbmf.errors import DiskFullError, FileFormatError, InputError
from elbmf.io import FORMATS, LabelledMatrix, format_of, read, write

SUFFIXES = [known.suffixes[0] for known in FORMATS]
WRITTEN = [known for known in FORMATS if known.write is not None]
FILES = [known.suffixes[0] for known in WRITTEN if not known.folder]
RNG = np.random.default_rng(0)
TABLE = LabelledMatrix(
    sparse.csr_array(RNG.random((40, 30)) < 0.3), None, [f"gene{j}" for j in range(30)]
)
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(200))


@pytest.mark.parametrize("suffix", [*SUFFIXES, ".csv.gz"])
def test_missing(tmp_path, suffix):
    with pytest.raises(InputError, match="no such file"):
        read(tmp_path / f"nothing{suffix}")


@pytest.mark.parametrize("suffix", FILES)
def test_folder(tmp_path, suffix):
    folder = tmp_path / f"folder{suffix}"
    folder.mkdir()
    with pytest.raises(InputError, match="is a folder"):
        read(folder)
    with pytest.raises(InputError, match="is a folder"):
        write(folder, TABLE)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_empty(tmp_path, suffix):
    path = tmp_path / f"empty{suffix}"
    path.touch()
    with pytest.raises(FileFormatError, match="empty"):
        read(path)


def test_empty_once_decompressed(tmp_path):
    path = tmp_path / "empty.csv.gz"
    path.write_bytes(gzip.compress(b""))
    with pytest.raises(FileFormatError, match="empty once decompressed"):
        read(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(InputError, match="not a regular file"):
        read(tmp_path / "pipe.csv")


@pytest.mark.parametrize(
    "suffix", [".csv.gz", ".mtx", ".mtx.gz", ".npz", ".npy", ".parquet", ".h5ad"]
)
@pytest.mark.parametrize("kept", [0.3, 0.7, 0.95])
def test_truncated(tmp_path, suffix, kept):
    path = tmp_path / f"a{suffix}"
    write(path, TABLE)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * kept)])
    with pytest.raises(FileFormatError, match="cut off") as caught:
        read(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("other", [known.suffixes[0] for known in WRITTEN])
def test_of_another_format(tmp_path, suffix, other):
    if {suffix, other} <= {".csv", ".tsv", ".dat"} or {suffix, other} <= {".tsv", ".dat", ".rmp"}:
        return  # Text all of them; see below for what tells them apart.
    write(tmp_path / f"a{other}", TABLE)
    path = tmp_path / f"b{suffix}"
    (tmp_path / f"a{other}").rename(path)
    if suffix == other:
        assert read(path).shape == TABLE.shape
        return
    with pytest.raises(FileFormatError, match=format_of(path).name) as caught:
        read(path)
    if not format_of(tmp_path / f"a{other}").text:
        assert f"format {format_of(tmp_path / f'a{other}').name}" in str(caught.value)


def test_csv_called_fimi(tmp_path):
    write(tmp_path / "a.dat", TABLE, format="csv")
    with pytest.raises(FileFormatError, match="looks like a table"):
        read(tmp_path / "a.dat")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_picture(tmp_path, suffix):
    path = tmp_path / f"a{suffix}"
    path.write_bytes(PNG)
    with pytest.raises(FileFormatError, match="PNG image"):
        read(path)
    path.write_bytes(gzip.compress(PNG))
    with pytest.raises(FileFormatError, match=r"PNG image|gzip"):
        read(path)


@pytest.mark.parametrize("suffix", FILES)
def test_not_readable(tmp_path, suffix, monkeypatch):
    path = tmp_path / f"a{suffix}"
    write(path, TABLE)
    original = builtins.open

    def deny(file, mode="r", *args, **kwargs):
        if str(file) == str(path):
            raise PermissionError(13, "Permission denied", str(file))
        return original(file, mode, *args, **kwargs)

    # chmod would not keep root from reading.
    monkeypatch.setattr(builtins, "open", deny)
    with pytest.raises(InputError, match="permission denied"):
        read(path)


def test_not_writable(tmp_path, monkeypatch):
    with pytest.raises(InputError, match="does not exist"):
        write(tmp_path / "no" / "a.csv", TABLE)
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="not a folder"):
        write(tmp_path / "file" / "a.csv", TABLE)

    def deny(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(builtins, "open", deny)
    with pytest.raises(InputError, match="permission denied"):
        write(tmp_path / "a.csv", TABLE)


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "a.npz"
    write(path, TABLE)
    before = path.read_bytes()

    def fail(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez_compressed", fail)
    with pytest.raises(DiskFullError, match="No space left"):
        write(path, TABLE)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_writing_through_a_link_keeps_the_link(tmp_path):
    real = tmp_path / "real.csv"
    real.touch()
    link = tmp_path / "link.csv"
    link.symlink_to(real)
    write(link, TABLE)
    assert link.is_symlink()
    assert read(real).shape == TABLE.shape


@pytest.mark.parametrize("name", ["a.docx", "a", "a.gz", "a.md.gz"])
def test_unknown_suffix_lists_the_known_ones(tmp_path, name):
    with pytest.raises(InputError) as caught:
        read(tmp_path / name)
    for known in FORMATS:
        for suffix in known.suffixes:
            assert suffix in str(caught.value)


def test_unknown_format_lists_the_known_ones(tmp_path):
    with pytest.raises(InputError, match=r"'spss'.*csv.*parquet"):
        read(tmp_path / "a.csv", format="spss")


def test_binary_formats_are_not_gzipped(tmp_path):
    with pytest.raises(InputError, match="only text formats"):
        write(tmp_path / "a.npz.gz", TABLE)


@pytest.mark.parametrize("known", WRITTEN, ids=lambda known: known.name)
def test_options_of_other_formats(tmp_path, known):
    path = tmp_path / f"a{known.suffixes[0]}"
    if known.write is None:
        with pytest.raises(InputError, match="can only be read"):
            write(path, TABLE)
    else:
        write(path, TABLE)
    with pytest.raises(InputError) as caught:
        read(path, volume=11)
    for part in ("'volume'", known.name, *(known.read_options or ["none"])):
        assert part in str(caught.value)
    if known.write is not None:
        with pytest.raises(InputError, match="'volume'"):
            write(path, TABLE, volume=11)


def test_options_are_listed():
    options = {known.name: set(known.read_options) for known in FORMATS}
    wide = {"header", "row_names", "layout", "decimal", "thousands", "marks", "columns", "drop"}
    assert options["csv"] == {*wide, "delimiter", "encoding"}
    assert options["excel"] == {*wide, "sheet"}
    assert options["h5ad"] == {"layer"}
    assert options["mtx"] == set()


def test_names_and_values_are_checked():
    with pytest.raises(InputError, match=r"30 columns.*got 2"):
        LabelledMatrix(TABLE.values, None, ["a", "b"])
    with pytest.raises(InputError, match="position 1"):
        LabelledMatrix(np.eye(2), ["a", 7])
    with pytest.raises(InputError, match="single string"):
        LabelledMatrix(np.eye(2), "ab")
    with pytest.raises(InputError, match="2 dimensions"):
        LabelledMatrix(np.arange(3))
    with pytest.raises(InputError, match="complex"):
        LabelledMatrix(np.eye(2) * 1j)


def test_tables_are_canonical_and_leave_the_source_alone():
    source = sparse.csr_array(
        (np.array([1, 2, 3, 0]), np.array([2, 0, 0, 1]), np.array([0, 4])), shape=(1, 3)
    )
    table = LabelledMatrix(source)
    assert table.values.indices.tolist() == [0, 2]
    assert table.values.data.tolist() == [5, 1]
    assert source.indices.tolist() == [2, 0, 0, 1]


def test_importing_needs_no_optional_package():
    code = (
        "import sys\n"
        "blocked = ('pandas', 'pyarrow', 'h5py', 'anndata')\n"
        "for name in blocked: sys.modules[name] = None\n"
        "import elbmf.io\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
