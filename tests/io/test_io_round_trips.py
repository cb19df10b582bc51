"""What is written is read back the same, for every format that can be written."""

import gzip

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given
from hypothesis import strategies as st
from io_helpers import NAMES, assert_same, dense, tables
from scipy import sparse

from elbmf.errors import InputError
from elbmf.io import FORMATS, LabelledMatrix, read, write
from strategies import examples

NUMERIC = (bool, np.int64, np.float64)
SETTINGS = examples(60, suppress_health_check=[HealthCheck.function_scoped_fixture])
PLAIN_NAMES = st.text(
    st.characters(codec="utf-8", exclude_categories=["Zs", "Cc"], exclude_characters=',;"'),
    min_size=1,
    max_size=5,
).filter(lambda name: name.split() == [name] and name.encode().split() == [name.encode()])


def through(tmp_path, table, suffix, read_options=None, **write_options):
    path = tmp_path / f"table{suffix}"
    write(path, table, **write_options)
    return read(path, **(read_options or {}))


@SETTINGS
@given(table=tables())
@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz"])
def test_binary_text_tables_are_detected_whatever_their_names(tmp_path, table, suffix):
    # An empty first cell beside names means that the first column holds row names.
    assume(table.row_names is not None or (table.column_names or ["a"])[0].strip() != "")
    assert_same(through(tmp_path, table, suffix), table)


@SETTINGS
@given(table=tables(missing=True))
@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_missing_cells_do_not_change_what_is_detected(tmp_path, table, suffix):
    assume(table.row_names is not None or (table.column_names or ["a"])[0].strip() != "")
    assert_same(through(tmp_path, table, suffix), table)


@SETTINGS
@given(table=tables(dtypes=NUMERIC, names=PLAIN_NAMES, named=True, unique=True, missing=True))
@pytest.mark.parametrize(
    "known",
    [known for known in FORMATS if known.write and not known.folder],
    ids=lambda known: known.name,
)
def test_missing_cells_are_kept_or_refused(tmp_path, table, known):
    path = tmp_path / f"table{known.suffixes[0]}"
    if table.n_missing and not known.keeps_missing:
        message = (
            f"{path.name}: the matrix has {table.n_missing} missing cells.*{known.name} cannot"
        )
        with pytest.raises(InputError, match=message):
            write(path, table)
        assert not path.exists()
    elif known.keeps_missing:
        write(path, table)
        told = {"header": True, "row_names": True} if known.name in ("csv", "tsv") else {}
        told |= {"layout": "wide"} if known.name == "parquet" else {}
        assert_same(read(path, **told), table, names=known.keeps_names)


@SETTINGS
@given(table=tables(dtypes=NUMERIC, names=PLAIN_NAMES, named=True, unique=True, missing=True))
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_pairs_keep_missing_cells(tmp_path, table, suffix):
    assume(table.values.nnz > 0)
    options = {"layout": "pairs"} | ({} if suffix == ".parquet" else {"header": True})
    found = through(tmp_path, table, suffix, options, layout="pairs")
    np.testing.assert_equal(entries(found), entries(table))


@SETTINGS
@given(table=tables(dtypes=NUMERIC))
@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_numeric_text_tables_with_told_names(tmp_path, table, suffix):
    told = {
        "header": table.column_names is not None,
        "row_names": table.row_names is not None,
    }
    assert_same(through(tmp_path, table, suffix, told), table)


@SETTINGS
@given(table=tables(dtypes=NUMERIC, names=NAMES.filter(bool), named=True, unique=True))
@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet"])
def test_pairs_keep_every_entry(tmp_path, table, suffix):
    if table.values.nnz == 0:
        return
    options = {"layout": "pairs"} | ({} if suffix == ".parquet" else {"header": True})
    found = through(tmp_path, table, suffix, options, layout="pairs")
    assert entries(found) == entries(table)


def entries(table):
    coo = table.values.tocoo()
    rows, columns = table.row_labels(), table.column_labels()
    triples = zip(coo.row, coo.col, coo.data.tolist(), strict=True)
    return {(rows[i], columns[j]): value for i, j, value in triples}


@SETTINGS
@given(table=tables(dtypes=NUMERIC, named=False))
@pytest.mark.parametrize("suffix", [".mtx", ".mtx.gz", ".npy"])
def test_formats_without_names(tmp_path, table, suffix):
    found = through(tmp_path, table, suffix)
    assert_same(found, table)
    # The Matrix Market writer of scipy does not note the type of a matrix without entries.
    assert found.values.dtype == table.values.dtype or table.values.nnz == 0


@SETTINGS
@given(table=tables(dtypes=(*NUMERIC, np.uint8, np.float32)))
def test_npz(tmp_path, table):
    found = through(tmp_path, table, ".npz")
    assert_same(found, table)
    assert found.values.dtype == table.values.dtype
    assert (sparse.load_npz(tmp_path / "table.npz") != table.values).nnz == 0


@SETTINGS
@given(table=tables(dtypes=NUMERIC))
def test_parquet(tmp_path, table):
    found = through(tmp_path, table, ".parquet", {"layout": "wide"})
    np.testing.assert_array_equal(dense(found), dense(table))
    assert found.row_names == table.row_names
    assert found.column_names == table.column_labels()


@SETTINGS
@given(table=tables(dtypes=NUMERIC))
def test_h5ad(tmp_path, table):
    found = through(tmp_path, table, ".h5ad")
    np.testing.assert_array_equal(dense(found), dense(table))
    assert found.row_names == table.row_labels()
    assert found.column_names == table.column_labels()


@SETTINGS
@given(table=tables(names=PLAIN_NAMES, unique=True))
@pytest.mark.parametrize("suffix", [".dat", ".fimi.gz"])
def test_fimi_keeps_rows_and_the_columns_that_occur(tmp_path, table, suffix):
    found = through(tmp_path, table, suffix)
    assert found.shape[0] == table.shape[0]
    labels = table.column_labels()
    order = [labels.index(name) for name in found.column_names]
    np.testing.assert_array_equal(dense(found), dense(table)[:, order])
    dropped = sorted(set(range(table.shape[1])) - set(order))
    assert not dense(table)[:, dropped].any()


def test_every_format_describes_itself():
    for known in FORMATS:
        assert known.description
        assert all(suffix.startswith(".") for suffix in known.suffixes)


@pytest.mark.parametrize("suffix", [".csv.gz", ".mtx.gz", ".dat.gz", ".rmp.gz"])
def test_equal_tables_give_equal_files_and_gz_means_gzip(tmp_path, suffix):
    table = LabelledMatrix(sparse.csr_array(np.eye(3, dtype=bool)))
    first, second = tmp_path / f"a{suffix}", tmp_path / f"b{suffix}"
    write(first, table)
    write(second, table)
    assert first.read_bytes() == second.read_bytes()
    assert gzip.decompress(first.read_bytes())


@pytest.mark.parametrize("suffix", [".csv", ".mtx", ".fimi", ".rmp"])
def test_gzip_is_recognised_without_its_suffix(tmp_path, suffix):
    table = LabelledMatrix(sparse.csr_array(np.eye(3, dtype=bool)))
    write(tmp_path / f"a{suffix}.gz", table)
    plain = tmp_path / f"b{suffix}"
    (tmp_path / f"a{suffix}.gz").rename(plain)
    np.testing.assert_array_equal(dense(read(plain)), np.eye(3))


def test_explicit_format_overrides_the_suffix(tmp_path):
    path = tmp_path / "data.txt"
    path.write_text("0\t1\n1\t1\n")
    np.testing.assert_array_equal(dense(read(path, format="tsv")), [[0, 1], [1, 1]])
