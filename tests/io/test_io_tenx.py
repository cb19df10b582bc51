"""What Cell Ranger writes: folders and HDF5 files, and what is wrong with some."""

import gzip

import numpy as np
import pytest
from io_helpers import dense
from scipy import sparse
from scipy.io import mmwrite

from elbmf.errors import FileFormatError, InputError
from elbmf.io import read, to_folder

pytestmark = pytest.mark.formats

COUNTS = sparse.csc_matrix(np.random.default_rng(0).poisson(0.5, (6, 4)))
IDS = [f"ENSG{i}" for i in range(6)]
SYMBOLS = ["A", "B", "A", "CD3", "A-1", "A"]
UNIQUE = ["A", "B", "A-2", "CD3", "A-1", "A-3"]
KINDS = [*["Gene Expression"] * 3, "Antibody Capture", *["Gene Expression"] * 2]
GENES = [0, 1, 2, 4, 5]
BARCODES = [f"AAC{i}-1" for i in range(4)]


def folder_of(path, *, version=3, zipped=True, counts=COUNTS, kinds=KINDS):
    """Write a folder as version 2 or 3 does."""
    path.mkdir()
    ending = ".gz" if zipped else ""
    features = [IDS, SYMBOLS, kinds] if version == 3 else [IDS, SYMBOLS]
    lines = {
        "features" if version == 3 else "genes": zip(*features, strict=True),
        "barcodes": zip(BARCODES),
    }
    for name, each in lines.items():
        text = "".join("\t".join(line) + "\n" for line in each).encode()
        (path / f"{name}.tsv{ending}").write_bytes(gzip.compress(text) if zipped else text)
    mmwrite(path / "matrix.mtx", counts)
    if zipped:
        (path / "matrix.mtx.gz").write_bytes(gzip.compress((path / "matrix.mtx").read_bytes()))
        (path / "matrix.mtx").unlink()
    return path


def h5_of(path, groups, *, kinds=KINDS, genomes=("GRCh38",) * 6):
    """Write a file as version 3 does for the group "matrix", and as version 2 for others."""
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as file:
        for name in groups:
            group = file.create_group(name)
            for part in ("data", "indices", "indptr", "shape"):
                group[part] = getattr(COUNTS, part)
            group["barcodes"] = np.array(BARCODES, "S")
            if name != "matrix":
                group["genes"], group["gene_names"] = np.array(IDS, "S"), np.array(SYMBOLS, "S")
                continue
            for title, texts in zip(
                ("id", "name", "feature_type", "genome"),
                (IDS, SYMBOLS, kinds, genomes),
                strict=True,
            ):
                group[f"features/{title}"] = np.array(texts, "S")
    return path


@pytest.mark.parametrize("zipped", [True, False])
@pytest.mark.parametrize("version", [2, 3])
def test_folders(tmp_path, version, zipped):
    found = read(folder_of(tmp_path / "filtered", version=version, zipped=zipped))
    genes = GENES if version == 3 else range(6)
    np.testing.assert_array_equal(dense(found), COUNTS.toarray().T[:, genes])
    assert found.row_names == BARCODES
    expected = ["A", "B", "A-2", "A-1", "A-3"] if version == 3 else UNIQUE
    assert found.column_names == expected


def test_options_choose_features_and_their_names(tmp_path):
    path = folder_of(tmp_path / "filtered")
    assert read(path, names="id").column_names == [IDS[at] for at in GENES]
    assert read(path, all_features=True).column_names == UNIQUE
    with pytest.raises(InputError, match="'symbol' or 'id'; got 'name'"):
        read(path, names="name")
    peaks = folder_of(tmp_path / "peaks", kinds=["Peaks"] * 6)
    assert read(peaks).shape == (4, 6)


def test_h5_of_version_3(tmp_path):
    path = h5_of(tmp_path / "a.h5", ["matrix"], genomes=["human"] * 4 + ["mouse"] * 2)
    found = read(path)
    np.testing.assert_array_equal(dense(found), COUNTS.toarray().T[:, GENES])
    assert found.row_names == BARCODES
    assert read(path, genome="mouse").column_names == ["A-1", "A"]
    assert read(path, genome="human", all_features=True, names="id").column_names == IDS[:4]
    with pytest.raises(InputError, match=r"no genome 'rat'\. It has human, mouse"):
        read(path, genome="rat")


def test_h5_of_version_2(tmp_path):
    path = h5_of(tmp_path / "a.h5", ["GRCh38"])
    np.testing.assert_array_equal(dense(read(path)), COUNTS.toarray().T)
    assert read(path).column_names == UNIQUE
    both = h5_of(tmp_path / "b.h5", ["GRCh38", "mm10"])
    assert read(both, genome="mm10", names="id").column_names == IDS
    with pytest.raises(InputError, match="2 genomes: GRCh38, mm10"):
        read(both)
    with pytest.raises(InputError, match="no genome 'rat'"):
        read(both, genome="rat")


@pytest.mark.parametrize("transpose", [False, True])
@pytest.mark.parametrize("make", [folder_of, lambda path: h5_of(path, ["matrix"])])
def test_they_become_folders_of_a_matrix(tmp_path, make, transpose):
    path = make(tmp_path / "a.h5")
    A = to_folder(path, tmp_path / "a.matrix", binarize=0, transpose=transpose)
    expected = read(path, transpose=transpose)
    np.testing.assert_array_equal(A.to_csr().toarray(), dense(expected) > 0)
    assert [A.names(0), A.names(1)] == [expected.row_names, expected.column_names]


@pytest.mark.parametrize("convert", [False, True])
def test_folders_that_lack_something(tmp_path, convert):
    def refused(path, match):
        with pytest.raises(FileFormatError, match=match):
            to_folder(path, tmp_path / "a.matrix", binarize=0) if convert else read(path)

    wide = folder_of(tmp_path / "wide", counts=sparse.csc_matrix(np.ones((6, 5))))
    refused(wide, "6 rows and 4 columns, as the files beside.*found 6 and 5")
    long = folder_of(tmp_path / "long", counts=sparse.csc_matrix(np.ones((7, 4))))
    refused(long, "6 rows and 4 columns, as the files beside.*found 7 and 4")
    bare = folder_of(tmp_path / "bare")
    (bare / "barcodes.tsv.gz").unlink()
    refused(bare, r"bare: expected a file barcodes\.tsv\.gz")
    (bare / "features.tsv.gz").write_bytes(gzip.compress(b"ENSG1\n"))
    refused(bare, r"features\.tsv\.gz, line 1: expected an id and a name")
    (bare / "features.tsv.gz").write_bytes(b"\xff\xfe")
    refused(bare, r"features\.tsv\.gz: expected UTF-8")


def test_h5_that_is_none_or_leads_elsewhere(tmp_path):
    h5py = pytest.importorskip("h5py")
    path = h5_of(tmp_path / "a.h5", ["matrix"])
    with h5py.File(path, "a") as file:
        del file["matrix/data"]
    with pytest.raises(FileFormatError, match="expected 'data' in the group '/matrix'"):
        read(path)
    other = h5_of(tmp_path / "b.h5", ["matrix"])
    with h5py.File(path, "a") as file:
        file["matrix/data"] = h5py.ExternalLink(str(other), "matrix/data")
    with pytest.raises(FileFormatError, match="expected 'data'"):
        read(path)
    with h5py.File(path, "w") as file:
        file["x"] = [1]
    with pytest.raises(FileFormatError, match="10x-h5, with a group 'matrix', found no group"):
        read(path)
    whole = other.read_bytes()
    other.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FileFormatError, match="cut off"):
        read(other)
