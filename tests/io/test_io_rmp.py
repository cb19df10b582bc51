"""Files of RMPlib: users and their permissions."""

import gzip
import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from io_helpers import NAMES, dense, tables

from elbmf.errors import FileFormatError, InputError
from elbmf.io import LabelledMatrix, files, read, to_folder, write
from strategies import examples

SETTINGS = examples(60, suppress_health_check=[HealthCheck.function_scoped_fixture])
ODD_NAMES = NAMES.filter(lambda name: name and not set(name) & set("\t\n\r\0"))
USERS = ODD_NAMES.filter(lambda name: name.encode().strip() and name[0] not in "#\ufeff")

RMPLIB = b"""\xef\xbb\xbf# Name: made_up.rmp\r
#\tone user per line\r
\r
u0\tp4\tp1\r
u1\r
u2\tp1\tp1\t\r
  \t\r
u0\tp9\r
"""


def from_bytes(tmp_path, content, name="a.rmp"):
    (tmp_path / name).write_bytes(content)
    return read(tmp_path / name)


def granted(table):
    """Return the permissions of each user."""
    columns = table.column_labels()
    return {
        user: {columns[j] for j in np.flatnonzero(row)}
        for user, row in zip(table.row_labels(), dense(table), strict=True)
    }


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize("block", [1, 4 << 20])
def test_what_rmplib_has(tmp_path, monkeypatch, zipped, block):
    monkeypatch.setattr(files, "_BLOCK_BYTES", block)
    content = gzip.compress(RMPLIB) if zipped else RMPLIB
    found = from_bytes(tmp_path, content, "a.rmp.gz" if zipped else "a.rmp")
    assert found.row_names == ["u0", "u1", "u2"]
    assert found.column_names == ["p4", "p1", "p9"]
    assert found.values.dtype == bool
    np.testing.assert_array_equal(dense(found), [[1, 1, 1], [0, 0, 0], [0, 1, 0]])


def test_the_last_line_may_lack_its_end(tmp_path):
    assert granted(from_bytes(tmp_path, b"ann\tread\nbob\twrite")) == {
        "ann": {"read"},
        "bob": {"write"},
    }


@SETTINGS
@given(table=tables(names=ODD_NAMES, named=True, unique=True), data=st.data())
def test_odd_names_come_back(tmp_path, table, data):
    rows = table.shape[0]
    users = data.draw(st.lists(USERS, min_size=rows, max_size=rows, unique=True))
    table = LabelledMatrix(table.values, users, table.column_names)
    path = tmp_path / "table.rmp"
    write(path, table)
    if not table.values.nnz:
        with pytest.raises(FileFormatError, match="no permission in any line"):
            read(path)
        return
    found = read(path)
    assert found.row_names == users
    assert granted(found) == granted(table)
    assert dense(found).any(axis=0).all()


@SETTINGS
@given(
    lines=st.lists(st.text("ab#é \t\r", max_size=6), max_size=8),
    end=st.sampled_from(["\n", "\r\n"]),
)
def test_conversion_takes_and_refuses_what_reading_does(tmp_path, lines, end):
    path = tmp_path / "a.rmp"
    path.write_bytes((end.join(lines) + end).encode())
    try:
        expected = read(path)
    except FileFormatError as error:
        with pytest.raises(FileFormatError, match=re.escape(str(error))):
            to_folder(path, tmp_path / "a.matrix")
        return
    A = to_folder(path, tmp_path / "a.matrix")
    np.testing.assert_array_equal(A.to_csr().toarray(), dense(expected))
    assert (A.names(0), A.names(1)) == (expected.row_names, expected.column_names)
    wanted = {}
    for line in lines:
        if line.strip(" \t\r") and not line.startswith("#"):
            user, *permissions = line.removesuffix("\r").split("\t")
            wanted.setdefault(user, set()).update(filter(None, permissions))
    assert granted(expected) == wanted


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (b"# a remark\n\n", "no permission in any line"),
        (b"ann,read\nbob,write\n", "separated by tabs.*format='csv'"),
        (b"ann\tread\n# x\n\tread\n", "line 3: expected a user.*tab at the start"),
        (b"ann\tread\rbob\twrite\r", "carriage return that ends no line"),
        (b"ann\tread\nbob\tcaf\xe9\n", "line 2.*UTF-8"),
        (b"ann\tread\x00\n", "binary"),
    ],
)
def test_bad_files(tmp_path, content, match):
    with pytest.raises(FileFormatError, match=match):
        from_bytes(tmp_path, content)


@pytest.mark.parametrize("user", ["", " ", "#1", "\ufeffann", "a\tb", "a\nb", "a\rb", "bob"])
def test_names_that_are_no_users(tmp_path, user):
    with pytest.raises(InputError, match="name"):
        write(tmp_path / "a.rmp", LabelledMatrix(np.eye(2), [user, "bob"], ["#", "x"]))
    assert not (tmp_path / "a.rmp").exists()


def test_other_values_are_refused(tmp_path):
    with pytest.raises(InputError, match="Binarise"):
        write(tmp_path / "a.rmp", LabelledMatrix(2 * np.eye(2)))
