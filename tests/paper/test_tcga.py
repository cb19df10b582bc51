"""Gene expressions as UCSC Xena publishes them."""

import numpy as np
import pytest
from damage import cut, dense, refused, write
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from elbmf.errors import InputError
from elbmf.paper.sources import tcga

TEXT = "sample\tS1\tS2\tS3\tS4\nTP53\t1.5\t1.25\t9.75\t1\nA2M\t0\t8.5\t0\t0\n"
EXPECTED = np.array([[0, 0], [0, 1], [1, 0], [0, 0]])


def expressions(values, samples=None, genes=None):
    samples = samples or [f"TCGA-{i:02d}-01" for i in range(values.shape[1])]
    genes = genes or [f"G{j}" for j in range(values.shape[0])]
    lines = ["\t".join(["sample", *samples])]
    for gene, row in zip(genes, values.tolist(), strict=True):
        lines.append(
            "\t".join([gene, *("NA" if np.isnan(value) else repr(value) for value in row)])
        )
    return "\n".join(lines) + "\n"


def slow_cells(values, z, upper, log):
    """Return samples × genes, one gene at a time; NaN where a value is missing."""
    cells = np.zeros(values.shape[::-1])
    for j, row in enumerate(values):
        if log:
            row = np.log10(np.maximum(row, 0) + 1)
        known = row[~np.isnan(row)]
        for i, value in enumerate(row):
            if np.isnan(value):
                cells[i, j] = np.nan
            elif upper is None:
                cells[i, j] = value - known.mean() > z * known.std()
            else:
                cells[i, j] = value > np.quantile(known, 1 - upper)
    return cells


@given(
    values=hnp.arrays(
        float,
        st.tuples(st.integers(1, 70), st.integers(2, 9)),
        elements=st.floats(-1, 20).map(lambda value: round(value, 4)),
    ),
    hidden=st.sampled_from([0.0, 0.2, 1.0]),
    z=st.sampled_from([0.5, 1.645]),
    upper=st.sampled_from([None, 0.05, 0.3]),
    log=st.booleans(),
    missing=st.sampled_from(["unknown", "zero"]),
)
def test_ones_are_the_high_values_of_each_gene(
    tmp_path_factory, values, hidden, z, upper, log, missing
):
    values[np.random.default_rng(0).random(values.shape) < hidden] = np.nan
    path = write(tmp_path_factory.mktemp("xena") / "HiSeqV2.gz", expressions(values))
    found = tcga.load(path, z=z, upper=upper, log=log, missing=missing)
    expected = slow_cells(values, z, upper, log)
    assert found.matrix.n_missing == (np.isnan(expected).sum() if missing == "unknown" else 0)
    if missing == "zero":
        expected = np.nan_to_num(expected)
    np.testing.assert_array_equal(dense(found), expected)
    assert found.matrix.column_names == [f"G{j}" for j in range(values.shape[0])]
    assert bool(found.notes) == bool(np.isnan(values).any())


@pytest.mark.parametrize("name", ["HiSeqV2", "HiSeqV2.gz", "HiSeqV2.zip"])
def test_files(tmp_path, name):
    found = tcga.load(write(tmp_path / name, TEXT), z=1.5)
    assert found.matrix.row_names == ["S1", "S2", "S3", "S4"]
    assert found.matrix.column_names == ["TP53", "A2M"]
    assert found.matrix.values.dtype == bool
    assert found.row_labels == {}
    np.testing.assert_array_equal(dense(found), EXPECTED)


LABELS = {
    "TCGA_phenotype_denseDataOnlyDownload.tsv.gz": (
        "sample\tsample_type_id\tsample_type\t_primary_disease\n"
        "S4\t1\tPrimary Tumor\tglioma\nS1\t11\tSolid Tissue Normal\tglioma\n"
        "S2\t1\tPrimary Tumor\tbreast, invasive\nX\t1\tPrimary Tumor\tother\n"
    ),
    "Survival_SupplementalTable_S1_20171025_xena_sp": (
        "sample\t_PATIENT\tcancer type abbreviation\tgender\n"
        "S4\tS\tglioma\tMALE\nS1\tS\tglioma\tMALE\nS2\tS\tbreast, invasive\tFEMALE\n"
    ),
    "mine.csv": 'sampleID,kind\nS4,glioma\nS1,glioma\nS2,"breast, invasive"\n',
}


@pytest.mark.parametrize("name", LABELS)
def test_labels(tmp_path, name):
    path = write(tmp_path / "HiSeqV2", TEXT)
    table = write(tmp_path / name, LABELS[name])
    options = {"labels": table, "label_column": "kind"} if name == "mine.csv" else {}
    found = tcga.load(path, **options)
    assert found.row_labels["cancer type"] == ["glioma", "breast, invasive", "", "glioma"]
    assert ("sample type" in found.row_labels) == ("sample_type" in LABELS[name])
    assert found.notes == [f"{name} does not have the cancer type of 1 samples."]


def test_damaged_labels(tmp_path):
    path = write(tmp_path / "HiSeqV2", TEXT)
    table = tmp_path / "labels.tsv"
    for text, parts in (
        ("", ["empty"]),
        ("sample\tage\nS1\t4\n", ["line 1", "'_primary_disease'", "sample, age"]),
        ("sample\t_primary_disease\nS1\tglioma\nS2\n", ["line 3", "2 fields", "found 1"]),
        ("sample\t_primary_disease\nX\tglioma\n", ["'S1'", "'X'"]),
        ("sample\t_primary_disease\nS1\ta\nS1\tb\n", ["line 3", "'S1'", "'b'", "'a'"]),
        ("sample\t_primary_disease\nS1\té\n".encode("latin-1"), ["line 2", "0xe9"]),
    ):
        refused(tcga.load, path, str(table), *parts, labels=write(table, text))
    with pytest.raises(InputError, match="no such file"):
        tcga.load(path, labels=tmp_path / "nothing.tsv")


def test_genes_of_the_same_name_are_told_apart(tmp_path):
    values = np.arange(12.0).reshape(4, 3)
    path = write(tmp_path / "a", expressions(values, genes=["A", "B", "A", "A"]))
    found = tcga.load(path)
    assert found.matrix.column_names == ["A", "B", "A (2)", "A (3)"]
    assert found.notes == ["2 genes have the name of another; they got a number behind it."]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", ["empty"]),
        ("sample,S1,S2\nTP53,1,2\n", ["line 1", "separated by tabs"]),
        ("sample\tS1\tS2\n", ["2 samples", "no gene"]),
        ("sample\tS1\tS1\nTP53\t1\t2\n", ["line 1", "sample 'S1' comes twice", "1 and 2"]),
        ("sample\tS1\tS2\nTP53\t1\t2\nA2M\t1\n", ["line 3", "2 numbers", "found 2: ", "cut off"]),
        ("sample\tS1\tS2\nTP53\t1\t2\nA2M\n", ["line 3", "2 numbers", "cut off"]),
        ("sample\tS1\tS2\nTP53\t1\t2\nA2M\t1\t2\t3\n", ["line 3", "found 4: "]),
        ("sample\tS1\tS2\nTP53\t1\thigh\n", ["line 2, field 3", "'high'"]),
        ("sample\tS1\tS2\nTP53\t1\t1e999\n", ["line 2, field 3", "finite"]),
        ("sample\tS1\tS2\n\nTP53\t1\t2\n", ["line 2", "blank"]),
    ],
)
def test_damaged(tmp_path, text, parts):
    path = write(tmp_path / "HiSeqV2", text)
    refused(tcga.load, path, str(path), *parts)


def test_damaged_bytes(tmp_path):
    for name in ("a.gz", "a.zip"):
        path = cut(write(tmp_path / name, expressions(np.random.default_rng(0).random((50, 20)))))
        refused(tcga.load, path, str(path), "damaged or cut off")
    latin = TEXT.replace("A2M", "é").encode("latin-1")
    refused(tcga.load, write(tmp_path / "l", latin), "line 3", "0xe9")


def test_options(tmp_path):
    path = write(tmp_path / "a", TEXT)
    for option, value in (("missing", "drop"), ("upper", 1.5)):
        with pytest.raises(InputError, match=option):
            tcga.load(path, **{option: value})
