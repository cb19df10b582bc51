"""CSV and TSV files: what they may look like, and what is reported about them."""

import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from io_helpers import dense
from scipy import sparse

from elbmf.errors import FileFormatError, InputError
from elbmf.io import LabelledMatrix, files, read, write


def read_text(tmp_path, text, suffix=".csv", **options):
    path = tmp_path / f"t{suffix}"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read(path, **options)


EXPECTED = [[1, 0, 1], [0, 1, 0]]


@pytest.mark.parametrize(
    "text",
    [
        "1,0,1\n0,1,0\n",
        "1,0,1\n0,1,0",
        "1,0,1\r\n0,1,0\r\n",
        "1,0,1\r\n0,1,0",
        "1,0,1\n0,1,0\n\n\n",
        "1,0,1\n0,1,0\n  \n\r\n",
        "\ufeff1,0,1\n0,1,0\n",
        "1.0,0.0,1.0\n0.0,1.0,0.0\n",
        "True,FALSE,true\nfalse,TRUE,False\n",
        "yes,No,YES\nno,Yes,no\n",
        '\ufeff"id";"a";"b";"c"\r\n"p1";"yes";"no";"yes"\r\n"p2";"no";"yes";"no"\r\n',
        '"1","0","1"\n"0","1","0"\n',
        " 1, 0,1\n0,1 ,0\n",
        "1,0,1\n0,1.0,0\n",
        "1;0;1\n0;1;0\n",
        "1\t0\t1\n0\t1\t0\n",
        "a,b,c\n1,0,1\n0,1,0\n",
        '"a,1",b,c\n1,0,1\n0,1,0\n',
        "x;y;z\n1;0;1\n0;1;0\n",
        'n,x,y,z\n"r,1",1,0,1\n"r\n2",0,1,0\n',
        'n,x,y,z\n"r""1",1,0,1\n5" pipe,0,1,0\n',
        "n,x,y,z\nlonger name,1,0,1\nb,0,1,0",
    ],
)
@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_forms_of_the_same_table(tmp_path, text, suffix):
    table = read_text(tmp_path, text, suffix)
    np.testing.assert_array_equal(dense(table), EXPECTED)
    assert table.values.dtype == bool


def test_quoted_names(tmp_path):
    table = read_text(tmp_path, 'n,"a,b","c ""d"""\n"r\n1",1,0\nr2,0,1\n')
    assert table.row_names == ["r\n1", "r2"]
    assert table.column_names == ["a,b", 'c "d"']


def test_numbers_keep_their_values_and_narrowest_type(tmp_path):
    ints = read_text(tmp_path, "3,0\n-1,2\n")
    assert ints.values.dtype == np.int64
    floats = read_text(tmp_path, "0.5,0\n1e3,2\n")
    assert floats.values.dtype == np.float64
    np.testing.assert_array_equal(dense(floats), [[0.5, 0], [1000, 2]])


def test_other_delimiter_and_encoding(tmp_path):
    table = read_text(tmp_path, "ä b\n1 0\n".encode("latin-1"), delimiter=" ", encoding="latin-1")
    assert table.column_names == ["ä", "b"]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("1,0,1\n0,1\n", ["line 2", "expected 3 fields", "found 2"]),
        ("1,0\n\n0,1\n", ["line 2", "expected 2 fields", "blank"]),
        ("a,b\n1,0\n0,x\n", ["line 3", "field 2", "column 'b'", "'x'"]),
        ("a,b\n1,0\n0,-\n", ["line 3", "field 2", "'-'", "0 or a missing value", "empty or NA"]),
        ("a,b\n1,n/a\n0,1\n", ["line 2", "field 2", "'n/a'", "missing", "empty or NA"]),
        ("a,b\n1,NAN1\n0,1\n", ["line 2", "field 2", "'NAN1'"]),
        ("1,0,\n0,1\n", ["line 2", "expected 3 fields", "found 2"]),
        ("who,b,c\nx,1,0\ny,1\n", ["line 3", "(the name of the row, column 'b', column 'c')"]),
        ("x,1,0\ny,1\n", ["line 2", "expected 3 fields separated", "found 2"]),
        ("a,b\n1,0\n,\n0,1\n", ["line 3", "all fields are empty", "Remove the line", "NA"]),
        ("n,a,b\nr,1,0\n , , \n", ["line 3", "all fields are empty"]),
        # A delimiter too many in every line is no column of missing values.
        ("1,0,\n0,1,\n", ["field 3", "no title", "empty in every line", "delimiter"]),
        ("a,b\n1,0,\n0,1,\n", ["field 3", "no title", "empty in every line"]),
        ("a,b,\n1,0,\n0,1,\n", ["field 3", "no title", "empty in every line"]),
        (",1,0\n,0,1\n", ["field 1", "no title", "empty in every line"]),
        ("a,b\n1,inf\n0,1\n", ["line 2", "field 2", "'inf'", "finite"]),
        ("a,b\n1,1_0\n0,1\n", ["line 2", "field 2", "'1_0'"]),
        ("n,a\nr,0\n'q,x\n", ["line 3", "field 2", "column 'a'", "'x'"]),
        ('n,a\n"r\n1",0\nr2,y\n', ["line 4", "field 2", "'y'"]),
        ('n,a\nr,0\n"open,1\n', ["line 3", "quote"]),
        ("a,b\n", ["header", "no line of data"]),
        ("\n\n", ["blank"]),
        ("1,0\r0,1\r", ["line feed"]),
        (b"a,\xe9\n1,0\n", ["line 1", "utf-8", "0xe9", "latin-1"]),
        (b"\xff\xfea\x00,\x00b\x00\n\x00\x31", ["UTF-16", "truncated data"]),
    ],
)
def test_errors_say_where_and_what(tmp_path, text, parts):
    with pytest.raises(FileFormatError) as caught:
        read_text(tmp_path, text)
    for part in ["t.csv", *parts]:
        assert part in str(caught.value)


MISSING_SIGNS = ["", " ", "NA", "NaN", "nan", "null", "NULL", "?", '""', '"NA"']


@pytest.mark.parametrize("sign", MISSING_SIGNS)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["1,{0},1", "0,1,0"], [[1, np.nan, 1], [0, 1, 0]]),
        (["{0},1,1", "0,1,0"], [[np.nan, 1, 1], [0, 1, 0]]),
        (["1,0,1", "0,1,{0}"], [[1, 0, 1], [0, 1, np.nan]]),
        (["x,y", "1,{0}", "0,1"], [[1, np.nan], [0, 1]]),
        (["x,y", "2.5,{0}", "0,-1"], [[2.5, np.nan], [0, -1]]),
        (["n,x,y", "r,{0},{0}", "s,0,1"], [[np.nan, np.nan], [0, 1]]),
        (["n,x,y", "r,1,{0}", "s,0,{0}"], [[1, np.nan], [0, np.nan]]),
        (["2001,2002,2003", "1,{0},0", "0,1,1"], [[1, np.nan, 0], [0, 1, 1]]),
        (["1,1,0", "2,{0},0", "3,1,1"], [[1, 0], [np.nan, 0], [1, 1]]),
    ],
)
def test_missing_cells(tmp_path, lines, expected, line_end, sign):
    text = line_end.join([*lines, ""]).format(sign)
    for suffix, delimiter in ((".csv", ","), (".csv", ";"), (".tsv", "\t")):
        table = read_text(tmp_path, text.replace(",", delimiter), suffix)
        np.testing.assert_array_equal(dense(table), expected)
        assert table.n_missing == np.isnan(expected).sum()


@pytest.mark.parametrize("sign", MISSING_SIGNS)
def test_missing_values_of_pairs(tmp_path, sign):
    text = f"b,x,1\na,y,{sign}\na,y,{sign}\n"
    np.testing.assert_array_equal(
        dense(read_text(tmp_path, text, layout="pairs")), [[1, 0], [0, np.nan]]
    )
    with pytest.raises(FileFormatError, match="different values"):
        read_text(tmp_path, text + "a,y,1\n", layout="pairs")


def test_lines_are_counted_across_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_BLOCK_BYTES", 16)
    good = "n,a,b\n" + "".join(f'"r\n{i}",1,0\n' for i in range(50))
    assert read_text(tmp_path, good).shape == (50, 2)
    with pytest.raises(FileFormatError, match="line 102, field 3"):
        read_text(tmp_path, good + "x,0,-\n")
    with pytest.raises(FileFormatError, match=r"line 102: .*blank"):
        read_text(tmp_path, good + "\n" * 40 + "x,0,1\n")
    assert read_text(tmp_path, good + "\n" * 40).shape == (50, 2)


@pytest.mark.parametrize("block_bytes", [1, 7, 64, 1 << 20])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_blocks_of_any_size_give_the_same(tmp_path, monkeypatch, block_bytes, line_end):
    monkeypatch.setattr(files, "_BLOCK_BYTES", block_bytes)
    rng = np.random.default_rng(0)
    values = rng.random((40, 7)) < 0.3
    lines = [f"row{i * 37}," + ",".join("01"[int(v)] for v in row) for i, row in enumerate(values)]
    lines[20] = lines[20].replace("0", "0.0")
    table = read_text(tmp_path, line_end.join(["n," + ",".join("abcdefg"), *lines, ""]))
    np.testing.assert_array_equal(dense(table), values)


def test_memory_stays_far_below_the_dense_table(tmp_path):
    rows, columns = 200, 20_000
    table = LabelledMatrix(sparse.eye_array(rows, columns, format="csr", dtype=bool))
    path = tmp_path / "wide.csv"
    write(path, table)
    tracemalloc.start()
    found = read(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.shape == (rows, columns)
    # One block of 4 MB in a few forms; one Python object per cell would be 8 bytes and more.
    assert peak < 100 * 2**20


def test_pairs(tmp_path):
    table = read_text(tmp_path, "b,x\na,y\nb,x\nb,y\n", layout="pairs")
    assert table.row_names == ["b", "a"]
    assert table.column_names == ["x", "y"]
    np.testing.assert_array_equal(dense(table), [[1, 1], [0, 1]])
    assert table.values.dtype == bool


def test_pairs_with_values(tmp_path):
    table = read_text(tmp_path, "b,x,2\na,y,0\nb,x,2\n", layout="pairs")
    np.testing.assert_array_equal(dense(table), [[2, 0], [0, 0]])


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a,x,1\na,x,2\n", ["'a'", "'x'", "different values"]),
        ("a\nb\n", ["2 fields", "found 1"]),
        ("a,x\nb\n", ["line 2", "expected 2 fields", "found 1"]),
        ("a,x\nb,\n", ["line 2", "column", "empty"]),
        ("a,x,1\nb,y,z\n", ["line 2", "field 3", "'z'"]),
        ("row,column\n", ["no pairs"]),
        ("a,x,\nb,y,\n", ["field 3", "empty in every line", "delimiter"]),
    ],
)
def test_errors_in_pairs(tmp_path, text, parts):
    with pytest.raises(FileFormatError) as caught:
        read_text(tmp_path, text, layout="pairs")
    for part in parts:
        assert part in str(caught.value)


@pytest.mark.parametrize(
    "options",
    [
        {"header": "yes"},
        {"header": 1},
        {"row_names": None},
        {"layout": "long"},
        {"delimiter": ",,"},
        {"delimiter": "a"},
        {"encoding": "utf-99"},
        {"encoding": "utf-16"},
    ],
)
def test_option_values_are_checked(tmp_path, options):
    with pytest.raises(InputError):
        read_text(tmp_path, "0,1\n1,0\n", **options)


def test_what_text_cannot_hold_is_refused(tmp_path):
    empty = LabelledMatrix(sparse.csr_array((0, 3), dtype=bool))
    with pytest.raises(InputError, match="0 x 3"):
        write(tmp_path / "t.csv", empty)
    eye = np.eye(2, dtype=bool)
    with pytest.raises(InputError, match="more than once"):
        write(tmp_path / "t.csv", LabelledMatrix(eye, ["a", "a"]), layout="pairs")
    with pytest.raises(InputError, match="empty"):
        write(tmp_path / "t.csv", LabelledMatrix(eye, None, ["a", ""]), layout="pairs")
    with pytest.raises(InputError, match="NUL"):
        write(tmp_path / "t.csv", LabelledMatrix(eye, None, ["a", "\0"]))
    with pytest.raises(InputError, match="surrogates"):
        write(tmp_path / "t.csv", LabelledMatrix(eye, None, ["a", "\ud800"]))
    assert list(tmp_path.iterdir()) == []


class TestTitlesOfPairs:
    def path(self, tmp_path, text: str) -> Path:
        (tmp_path / "pairs.csv").write_text(text, encoding="utf-8")
        return tmp_path / "pairs.csv"

    def test_one_usual_title_that_does_not_come_again_is_a_header(self, tmp_path) -> None:
        path = self.path(tmp_path, "wer;permission\nann;git\nann;ci\n")
        assert read(path, layout="pairs").row_names == ["ann"]
        assert read(path, layout="pairs", header=False).row_names == ["wer", "ann"]

    def test_a_usual_word_that_comes_again_is_a_name(self, tmp_path) -> None:
        path = self.path(tmp_path, "ann,user\nbob,user\nann,git\n")
        assert read(path, layout="pairs").shape == (2, 2)

    def test_a_first_line_that_is_alone_among_many_is_a_header_and_said_to_be(
        self, tmp_path
    ) -> None:
        pairs = "".join(f"p{i % 5},r{i % 7}\n" for i in range(30))
        path = self.path(tmp_path, "wer,was\n" + pairs)
        with pytest.warns(UserWarning, match="'wer' and 'was' do not come again"):
            assert read(path, layout="pairs").shape == (5, 7)
        assert read(path, layout="pairs", header=False).shape == (6, 8)
        few = self.path(tmp_path, "ann,git\n" + pairs[:60])
        assert "ann" in read(few, layout="pairs").row_names

    def test_two_of_more_fields_are_chosen_in_the_order_that_is_said(self, tmp_path) -> None:
        text = "wer;wo;n;was\nann;Rome;7;git\nbob;Rome;0;ci\n"
        path = self.path(tmp_path, text)
        table = read(path, layout="pairs", columns="wer,was")
        assert (table.row_names, table.column_names) == (["ann", "bob"], ["git", "ci"])
        turned = read(path, layout="pairs", columns=["was", "wer"], drop="bob")
        assert (turned.row_names, turned.column_names) == (["git", "ci"], ["ann"])
        assert read(path, layout="pairs", drop="wo,n").shape == (2, 2)
        valued = read(path, layout="pairs", columns=["was", "wer", "n"])
        assert valued.values.toarray().tolist() == [[7, 0], [0, 0]]
        with pytest.raises(FileFormatError, match="columns='wer,was'"):
            read(path, layout="pairs")
        with pytest.raises(FileFormatError, match="'wo', 'n', 'was', with columns"):
            read(path, layout="pairs", columns="was")
        words = self.path(tmp_path, text.replace("n;", "x;").replace("7", "a").replace("0", "b"))
        with pytest.raises(FileFormatError, match=r"layout='pairs' columns='wer,was'"):
            read(words)


def test_marks_are_ones_and_empty_cells_beside_them_zeros(tmp_path):
    text = "who,a,b,c\nann,x,,\nbob,,X,\ncyd,,,\n"
    table = read_text(tmp_path, text, marks="x")
    assert dense(table).tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 0]]
    assert table.n_missing == 0
    with pytest.raises(FileFormatError, match=r"an empty cell a 0, pass marks='x'"):
        read_text(tmp_path, text)
    with pytest.raises(FileFormatError, match="the cell is 'NA'"):
        read_text(tmp_path, text.replace("X", "NA"), marks="x")
    with pytest.raises(FileFormatError, match="the cell is 'y'"):
        read_text(tmp_path, text.replace("X", "y"), marks="x,v")
