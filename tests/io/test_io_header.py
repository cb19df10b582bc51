"""Which lines and columns of a text table are taken for names."""

import numpy as np
import pytest
from io_helpers import dense

from elbmf.errors import FileFormatError
from elbmf.io import read

BOTH, HEADER, ROWS, NONE = (True, True), (True, False), (False, True), (False, False)


def named(path, text, **options):
    path.write_text(text)
    table = read(path, **options)
    return (table.column_names is not None, table.row_names is not None), table


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0,1\n1,0\n", NONE),
        ("a,b\n1,0\n0,1\n", HEADER),
        ("r1,1,0\nr2,0,1\n", ROWS),
        (",a,b\nr1,1,0\nr2,0,1\n", BOTH),
        ("gene,a,b\nr1,1,0\nr2,0,1\n", BOTH),
        # The header lacks the field above the row names.
        ("a,b\nr1,1,0\nr2,0,1\n", BOTH),
        ("a,b\n1,1,0\n2,0,1\n", BOTH),
        # Quoted numbers are names.
        ('"","1","2"\n"1",1,0\n"2",0,1\n', BOTH),
        ('"0","1"\n1,0\n0,1\n', HEADER),
        ('"7",1,0\n"8",0,1\n', ROWS),
        # An index of numbers under an empty or telling title.
        (",a,b\n0,1,0\n1,0,1\n", BOTH),
        (",0,1\n0,1,0\n1,0,1\n2,1,1\n", BOTH),
        ("id,a,b\n17,1,0\n4,0,1\n", BOTH),
        ("id,a,b\n1,1,0\n0,0,1\n", HEADER),
        # Numeric ids as header: years, 0, 1, 2, and so on.
        ("2001,2002,2003\n1,0,0\n0,1,1\n", HEADER),
        ("0,1,2\n1,0,0\n0,1,1\n", HEADER),
        ("107,12,45\n1,0,0\n0,1,1\n", HEADER),
        ("r,2001,2002,2003\np1,1,0,0\np2,0,1,1\n", BOTH),
        ("0,1,2,3,4\n5,9,0,0,2\n1,0,0,7,2\n", HEADER),
        # Numbers that may well be data.
        ("0,1\n1,1\n0,0\n", NONE),
        ("3,0,0\n0,1,1\n1,1,0\n", NONE),
        ("3,7,5\n4,0,9\n", NONE),
        ("0,1,1\n1,0,0\n0,0,1\n", NONE),
        # A running number beside cells of 0 and 1.
        ("0,1,0\n1,0,0\n2,1,1\n", ROWS),
        ("1,1,0\n2,0,0\n3,1,1\n", ROWS),
        # Ids that are partly numbers.
        ("17,1,0\nA3,0,1\nB,1,1\n", ROWS),
        ("true,false\nfalse,true\n", NONE),
        ("yes,no\nno,yes\n", NONE),
        ("No,a\np1,yes\np2,no\n", BOTH),
        # Missing values make neither a header nor row names, nor do they hide one.
        ("1,0,NA\n0,1,1\n", NONE),
        ("1,0,\n0,1,1\n", NONE),
        (",0,1\n1,1,1\n1,0,0\n", NONE),
        ("1,0\nNA,1\n0,1\n", NONE),
        ("a,b\n1,NA\n,1\n", HEADER),
        ("2001,2002,2003\n1,,0\n0,1,1\n", HEADER),
        ("1,1,0\n2,?,0\n3,1,1\n", ROWS),
        (",a,b\nr1,,\nr2,0,NA\n", BOTH),
        ("0\n1\n1\n", NONE),
        ("x\n1\n1\n", HEADER),
    ],
)
def test_detection(tmp_path, text, expected):
    found, _ = named(tmp_path / "t.csv", text)
    assert found == expected


def test_names_are_the_right_ones(tmp_path):
    _, table = named(tmp_path / "t.csv", "gene,a,b\nr1,1,0\nr2,0,1\n")
    assert table.row_names == ["r1", "r2"]
    assert table.column_names == ["a", "b"]
    np.testing.assert_array_equal(dense(table), [[1, 0], [0, 1]])
    assert table.values.dtype == bool


@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("row_names", [True, False])
def test_forced(tmp_path, header, row_names):
    found, table = named(
        tmp_path / "t.csv", "0,1,1\n1,0,0\n1,1,1\n", header=header, row_names=row_names
    )
    assert found == (header, row_names)
    assert table.shape == (3 - header, 3 - row_names)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        # Unclear cells never make a header or row names; they are reported.
        ("1,0,none\n0,1,1\n", "line 1, field 3"),
        ("-,0,1\n1,1,1\n1,0,0\n", "line 1, field 1"),
        ("1,0\n.,1\n0,1\n", "line 2, field 1"),
        # One stray text in a column of numbers is not a name.
        ("a,b\n1,0\n1,0\nx,1\n0,1\n", "line 4, field 1"),
    ],
)
def test_what_is_reported_rather_than_taken_for_names(tmp_path, text, place):
    with pytest.raises(FileFormatError, match=place):
        named(tmp_path / "t.csv", text)


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("row,column\na,x\nb,y\n", 2),
        ("patient_id,gene\na,x\nb,y\n", 2),
        ("a,x\nb,y\n", 2),
        ("who,what\n1,2\n3,4\n", 2),
        ("who,what,much\na,x,1\nb,y,2\n", 2),
        ("a,x,1\nb,y,2\n", 2),
        ("1,2\n3,4\n", 2),
    ],
)
def test_header_of_pairs(tmp_path, text, rows):
    _, table = named(tmp_path / "t.csv", text, layout="pairs")
    assert table.shape == (rows, 2)


def test_a_slip_in_the_first_line_is_no_header(tmp_path):
    file = tmp_path / "slip.csv"
    file.write_text("1,O,1\n0,1,1\n1,1,0\n")
    with pytest.raises(FileFormatError, match=r"line 1: the first line has 'O' beside cells"):
        read(file)
    assert read(file, header=True).column_names == ["1", "O", "1"]
    file.write_text("inf,0,1\n0,1,1\n")
    with pytest.raises(FileFormatError, match=r"line 1, field 1.*'inf'.*not a finite number"):
        read(file)
