"""Names from tables beside a matrix file."""

import gzip

import numpy as np
import pytest
from scipy import sparse

from elbmf.errors import FileFormatError
from elbmf.io import LabelledMatrix, read, to_folder, write
from elbmf.io.side_tables import write_side

VALUES = np.array([[1, 0, 1], [0, 1, 1]])
NAMES = ["first", 'a\t"b"\r\n'], ["x", "", "<y>"]


def _matrix(folder, **tables):
    sparse.save_npz(folder / "data.npz", sparse.csr_array(VALUES))
    for side, columns in tables.items():
        write_side(folder / f"data.{side}.tsv.gz", columns)
    return folder / "data.npz"


@pytest.mark.parametrize("suffix", ["npz", "npy", "mtx", "mtx.gz"])
def test_names_are_taken_from_the_tables_beside(tmp_path, suffix):
    _matrix(tmp_path, rows={"kind": ["a", "b"], "id": NAMES[0]}, cols={"id": NAMES[1]})
    path = tmp_path / f"data.{suffix}"
    write(path, LabelledMatrix(VALUES))
    table = read(path)
    assert (table.row_names, table.column_names) == NAMES
    stored = to_folder(path, tmp_path / "other.matrix")
    assert (stored.names(0), stored.names(1)) == NAMES


def test_names_in_the_file_win(tmp_path):
    path = _matrix(tmp_path, rows={"id": ["no", "no"]}, cols={"id": ["p", "q", "r"]})
    write(path, LabelledMatrix(VALUES, ["yes", "indeed"]))
    table = read(path)
    assert table.row_names == ["yes", "indeed"]
    assert table.column_names == ["p", "q", "r"]


def test_the_first_column_of_distinct_values_has_the_names(tmp_path):
    kinds = {"kind": ["a", "a", "b"], "gene": ["g1", "g2", "g3"], "also": ["x", "y", "z"]}
    path = _matrix(tmp_path, cols=kinds)
    (tmp_path / "data.rows.tsv").write_text("Patient\tsex\nann\tf\nbob\tm\n")
    table = read(path)
    assert table.row_names == ["ann", "bob"]
    assert table.column_names == ["g1", "g2", "g3"]


def test_a_table_without_names_is_warned_of(tmp_path):
    path = _matrix(tmp_path, rows={"label": ["a", "a"], "note": ["x", ""]})
    with pytest.warns(UserWarning, match=r"data\.rows\.tsv\.gz: is not used.*'label', 'note'"):
        table = read(path)
    assert table.row_names is None


def test_a_table_of_another_matrix_is_refused(tmp_path):
    path = _matrix(tmp_path, cols={"id": ["p", "q"]})
    with pytest.raises(FileFormatError, match=r"data\.cols\.tsv\.gz: expected 3 lines.*found 2"):
        read(path)
    with pytest.raises(FileFormatError, match="move it away"):
        to_folder(path, tmp_path / "other.matrix")
    (tmp_path / "data.cols.tsv.gz").write_bytes(gzip.compress(b"id\np\nq\nr\tmore\n"))
    with pytest.raises(FileFormatError, match=r"line 4: expected 1 fields.*found 2"):
        read(path)
