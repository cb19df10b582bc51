"""Data frames are read as files are, and what cannot be read is named."""

import datetime
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elbmf import ELBMF
from elbmf.errors import InputError
from elbmf.io import LabelledMatrix, from_frame, read, to_frame, write
from strategies import examples

WORDS = {
    "yes": 1.0,
    "No": 0.0,
    "TRUE": 1.0,
    "false": 0.0,
    "1": 1.0,
    "0": 0.0,
    " ": np.nan,
    "NA": np.nan,
}


def people() -> pd.DataFrame:
    return pd.DataFrame({"vpn": [1, 0], "mail": [1, 1], "erp": [0, 1]}, index=["Ann", "Bob"])


@examples(40)
@given(st.lists(st.lists(st.sampled_from(sorted(WORDS)), min_size=2, max_size=2), min_size=1))
def test_words_mean_what_they_mean_in_a_file(tmp_path_factory, rows):
    frame = pd.DataFrame(rows, columns=["a", "b"], index=[f"row {at}" for at in range(len(rows))])
    path = tmp_path_factory.mktemp("frames") / "table.csv"
    frame.to_csv(path, index_label="id")
    table, expected = from_frame(frame), [[WORDS[cell] for cell in row] for row in rows]
    np.testing.assert_array_equal(table.values.toarray(), expected)
    stored = read(path, header=True, row_names=True)
    np.testing.assert_array_equal(stored.values.toarray(), expected)
    assert (table.row_names, table.column_names) == (stored.row_names, stored.column_names)


@pytest.mark.parametrize("kind", ["category", "string", "object"])
def test_types_of_pandas_that_hold_words_are_read(kind):
    frame = people().replace({0: "no", 1: "yes"}).astype(kind)
    frame.iloc[0, 0] = None
    values = from_frame(frame).values.toarray()
    np.testing.assert_array_equal(values, [[np.nan, 1, 0], [0, 1, 1]])


@pytest.mark.formats
def test_frames_of_polars_are_read():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"a": ["yes", "no", None], "b": [1, 0, 1], "c": [True, None, False]})
    values = from_frame(frame).values.toarray()
    np.testing.assert_array_equal(values, [[1, 1, 1], [0, 0, np.nan], [np.nan, 1, 0]])
    assert ELBMF(1, random_state=0).fit(frame).feature_names_in_.tolist() == ["a", "b", "c"]


def test_missing_cells_of_nullable_types_are_missing():
    frame = people().astype("boolean")
    frame.iloc[1, 2] = pd.NA
    np.testing.assert_array_equal(from_frame(frame).values.toarray(), [[1, 1, 0], [0, 1, np.nan]])


def test_a_frame_that_is_read_is_left_as_it_is():
    frame = people().replace({0: "no", 1: "yes"})
    before = frame.copy()
    from_frame(frame)
    pd.testing.assert_frame_equal(frame, before)


@pytest.mark.parametrize(
    ("name", "cells", "said"),
    [
        ("Sex", ["f", "m"], "row 'Ann', column 'Sex': the cell is 'f'"),
        ("born", [pd.Timestamp("1970-01-01")] * 2, "column 'born': the cell is '1970-01-01 00:00"),
        (
            "since",
            [1, datetime.date(2001, 2, 3)],
            "row 'Bob', column 'since': the cell is '2001-02",
        ),
        ("tags", [["x"], ["y"]], r"column 'tags': the cell is \['x'\]"),
        ("state", ["n/a", "yes"], "column 'state': the cell is 'n/a', which may mean 0 or"),
    ],
)
@pytest.mark.parametrize("use", ["fit", "transform", "score"])
def test_a_column_that_does_not_belong_is_named(name, cells, said, use):
    frame = people().assign(**{name: cells})
    model = ELBMF(1, random_state=0)
    if use != "fit":
        model.fit(people().assign(**{name: 1}))
    with pytest.raises(InputError, match=f"{said}.*Leave columns out that do not belong: '{name}'"):
        getattr(model, use)(frame)


def test_all_columns_that_do_not_belong_are_counted():
    frame = people().assign(**{f"text {at}": "x" for at in range(5)})
    with pytest.raises(InputError, match="'text 0', 'text 1', 'text 2' and 2 more"):
        from_frame(frame)


def test_numbers_that_are_not_0_or_1_are_named_by_row_and_column():
    frame = people().assign(age=[33, 44])
    said = "All columns but column 'age' are 0/1.*33 at row 'Ann', column 'age'"
    with pytest.raises(InputError, match=said) as found:
        ELBMF(1).fit(frame)
    # A threshold would make ones of the whole column.
    assert str(found.value).endswith("Leave it out if it does not belong: X.drop(columns='age').")
    assert "binarize" not in str(found.value)
    model = ELBMF(1, random_state=0).fit(people())
    said = "^The cell 7 at row 'Bob', column 'vpn' must be 0, 1 or missing.$"
    with pytest.raises(InputError, match=said):
        model.transform(people().replace({"vpn": {0: 7}}))


def test_columns_of_the_same_name_are_refused():
    frame = people().set_axis(["vpn", "mail", "vpn"], axis=1)
    with pytest.raises(InputError, match="'vpn' is that of 2"):
        ELBMF(1).fit(frame)


def test_anything_but_a_frame_is_refused():
    with pytest.raises(InputError, match="Expected a data frame; got ndarray"):
        from_frame(np.eye(2))


def test_a_matrix_becomes_a_sparse_frame_and_back(tmp_path):
    values = np.array([[1, 0, np.nan], [0, 1, 0]])
    table = LabelledMatrix(values, ["Ann", "Bob"], ["vpn", "mail", "erp"])
    frame = to_frame(table)
    assert frame.sparse.density == pytest.approx(0.5)
    assert np.isnan(frame.loc["Ann", "erp"])
    back = from_frame(frame)
    np.testing.assert_array_equal(back.values.toarray(), values)
    write(tmp_path / "table.csv", back)
    again = to_frame(read(tmp_path / "table.csv"))
    pd.testing.assert_frame_equal(again, frame, check_dtype=False)


def test_a_frame_without_names_of_rows_counts_them():
    assert from_frame(people().reset_index(drop=True)).row_names is None
    assert to_frame(np.eye(2)).index.tolist() == [0, 1]


def test_decimal_commas_in_a_frame_are_told_of():
    frame = pd.DataFrame({"gene": [1, 0], "size": ["7,5", "1"]}, index=["a", "b"])
    with pytest.raises(InputError, match=r"'7,5', a number with marks.*elbmf\.io\.read.*'size'"):
        from_frame(frame)


def test_y_and_n_are_yes_and_no_where_a_column_has_nothing_else():
    frame = pd.DataFrame({"a": ["Y", "n", None], "b": ["J", pd.NA, "N"], "c": [1, 0, 1]})
    read = from_frame(frame).values.toarray()
    np.testing.assert_array_equal(read, [[1, 1, 1], [0, np.nan, 0], [np.nan, 0, 1]])
    # Beside others it may be a base of a genome, or a cell that nobody could read.
    with pytest.raises(InputError, match=r"'N'.*col\.map"):
        from_frame(pd.DataFrame({"a": ["A", "C"], "b": ["1", "N"]}).drop(columns="a"))


@pytest.mark.parametrize(
    ("X", "said"),
    [
        ("data.csv", r"elbmf\.io\.read"),
        (Path("data.csv"), r"elbmf\.io\.read"),
        (people().iloc[0], r"X\.iloc\[\[0\]\]"),
        (people().iloc[:0], "0 rows"),
        (pd.DataFrame(), "0 columns"),
        ([{"vpn": 1}], r"pandas\.DataFrame\(rows\)"),
        ([["milk", "bread"], ["tea"]], "MultiLabelBinarizer"),
    ],
)
def test_what_is_no_table_is_told_how_to_become_one(X, said):
    model = ELBMF(1, max_iter=5, effort=0, random_state=0).fit(people())
    for use in (model.fit, model.transform):
        with pytest.raises(InputError, match=said):
            use(X)


def test_columns_in_another_order_are_told_how_to_be_put_in_order():
    model = ELBMF(1, max_iter=5, effort=0, random_state=0).fit(people())
    said = r"must be in the same order[^$]*Use X\[model\.feature_names_in_\]\.$"
    for types in ({}, {"vpn": "Int64"}):
        other = people().astype(types)[people().columns[::-1]]
        with pytest.raises(InputError, match=said):
            model.transform(other)
        np.testing.assert_array_equal(
            model.transform(other[model.feature_names_in_]), model.membership_
        )
    with pytest.raises(ValueError, match=r"missing:\n- vpn\n$"):
        model.transform(people().drop(columns="vpn"))
