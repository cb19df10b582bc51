"""Gene regulatory networks as GRAND and PANDA write them."""

import numpy as np
import pytest
from damage import cut, dense, refused, write
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from elbmf.errors import InputError
from elbmf.paper.sources import grand

WEIGHTS = np.array([[0.5, -3.25, 19.0, 0.0], [-20.0, 2.5, 1e-3, 7.125], [4.0, 4.5, -1.0, 0.25]])
FACTORS = ["AHR", "SP1", "ZNF'1"]
GENES = ["A2M", "BRCA1", "ENSG00000141510", "TP53"]


def wide(weights, factors, genes, delimiter=",", quote='"', corner=True):
    head = [f"{quote}{gene}{quote}" for gene in genes]
    lines = [delimiter.join([f"{quote}{quote}", *head] if corner else head)]
    for factor, row in zip(factors, weights, strict=True):
        lines.append(delimiter.join([f"{quote}{factor}{quote}", *map(repr, row.tolist())]))
    return "\n".join(lines) + "\n"


def edges(weights, factors, genes, delimiter=" ", motif=True, header=True):
    lines = [delimiter.join(["tf", "gene", "motif", "force"] if motif else ["tf", "gene", "w"])]
    for j, gene in enumerate(genes):
        for i, factor in enumerate(factors):
            middle = ["0"] if motif else []
            lines.append(delimiter.join([factor, gene, *middle, repr(float(weights[i, j]))]))
    return "\n".join(lines[0 if header else 1 :]) + "\n"


def slow_high(weights, z, upper, scope):
    """Say of each weight whether it is high among those of its scope, one by one."""
    high = np.zeros(weights.shape, dtype=bool)
    for i in range(weights.shape[0]):
        for j in range(weights.shape[1]):
            others = {"network": weights.ravel(), "gene": weights[:, j], "factor": weights[i]}
            among = others[scope]
            if upper is None:
                high[i, j] = weights[i, j] - among.mean() > z * among.std()
            else:
                high[i, j] = weights[i, j] > np.quantile(among, 1 - upper)
    return high


LAYOUTS = {
    "r.csv": wide(WEIGHTS, FACTORS, GENES),
    "plain.csv.gz": wide(WEIGHTS, FACTORS, GENES, quote=""),
    "table.txt": wide(WEIGHTS, FACTORS, GENES, "\t", quote="", corner=False),
    "windows.csv": wide(WEIGHTS, FACTORS, GENES, ";").replace("\n", "\r\n"),
    "panda.txt": edges(WEIGHTS, FACTORS, GENES),
    "panda.pairs": edges(WEIGHTS, FACTORS, GENES, "\t", header=False),
    "edges.csv.zip": edges(WEIGHTS, FACTORS, GENES, ",", motif=False) + "\n\n",
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_every_layout_gives_the_same_network(tmp_path, name):
    found = grand.load(write(tmp_path / name, LAYOUTS[name]), upper=0.25)
    assert found.matrix.row_names == FACTORS
    assert found.matrix.column_names == GENES
    assert found.matrix.values.dtype == bool
    assert found.notes == []
    np.testing.assert_array_equal(dense(found), slow_high(WEIGHTS, 1.645, 0.25, "network"))


@given(
    weights=hnp.arrays(
        float,
        hnp.array_shapes(min_dims=2, max_dims=2, min_side=2, max_side=7),
        elements=st.floats(-20, 20).map(lambda weight: round(weight, 3)),
    ),
    as_edges=st.booleans(),
    scope=st.sampled_from(["network", "gene", "factor"]),
    z=st.sampled_from([0.5, 1.645]),
    upper=st.sampled_from([None, 0.05, 0.3, 1.0]),
)
def test_ones_are_the_high_weights(tmp_path_factory, weights, as_edges, scope, z, upper):
    factors = [f"T{i}" for i in range(weights.shape[0])]
    genes = [f"g{j}" for j in range(weights.shape[1])]
    path = tmp_path_factory.mktemp("network") / "network.txt"
    write(path, (edges if as_edges else wide)(weights, factors, genes))
    found = grand.load(path, upper=upper, z=z, scope=scope)
    assert found.matrix.row_names == factors
    assert found.matrix.column_names == genes
    np.testing.assert_array_equal(dense(found), slow_high(weights, z, upper, scope))


def test_pairs_that_are_not_in_the_file_are_zeros_and_count_for_nothing(tmp_path):
    path = write(tmp_path / "e.txt", "A x 0 5\nA y 0 1\nB x 0 1.5\n")
    found = grand.load(path, upper=0.4)
    np.testing.assert_array_equal(dense(found), [[1, 0], [0, 0]])
    assert found.notes == ["1 pairs have no weight in the file and are zeros."]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", ["empty"]),
        (",a,b\n", ["ends after line 1", "transcription factors"]),
        ("x\ny\n", ["line 2", "separated by commas, tabs or blanks"]),
        (",a,b\nT,1,2\nU,1\n", ["line 3", "2 numbers", "found 2: ", "cut off"]),
        (",a,b\nT,1,2\nU,1,2,3\n", ["line 3", "found 4: "]),
        (",a,b\nT,1,2\nU,1,x\n", ["line 3, field 3", "'x'"]),
        (",a,b\nT,1,2\nU,NA,2\n", ["line 3, field 2", "'U' and 'a'", "missing"]),
        (",a,b\nT,1,2\n\nU,1,2\n", ["line 3", "blank"]),
        (",a,a\nT,1,2\n", ["line 1", "gene 'a' comes twice"]),
        (",a,\nT,1,2\n", ["line 1", "empty name"]),
        (",a,b\nT,1,2\nT,1,2\n", ["line 3", "'T' is in line 2 already"]),
        (",a,b,c,d\nT,1,2\n", ["line 2", "4 genes", "found 2"]),
        ("tf gene motif force\nT g 0 1\nT h 0\n", ["line 3", "4 fields", "found 3"]),
        ("T g 0 1\nT h 0 2\nT k 0 1,5\n", ["line 3, field 4", "'1,5'"]),
        ("T g 1\nT h nan\n", ["line 2, field 3 (weight)", "'nan'"]),
        ("T g 1\nT h 2\nT g 3\n", ["line 3", "'T', 'g' comes a second time"]),
        ("T\tg\t1\nT\t\t2\n", ["line 2, field 2 (gene)", "nothing"]),
    ],
)
def test_damaged(tmp_path, text, parts):
    path = write(tmp_path / "n.txt", text)
    options = {"layout": "edges"} if text.startswith("T") else {}
    refused(grand.load, path, str(path), *parts, **options)


def test_damaged_bytes(tmp_path):
    path = cut(write(tmp_path / "n.csv.gz", LAYOUTS["r.csv"]))
    refused(grand.load, path, str(path), "damaged or cut off")
    latin = LAYOUTS["plain.csv.gz"].replace("SP1", "SPé").encode("latin-1")
    refused(grand.load, write(tmp_path / "l.csv", latin), "line 3", "0xe9", "utf-8")
    latin = LAYOUTS["panda.txt"].replace("SP1", "SPé").encode("latin-1")
    refused(grand.load, write(tmp_path / "l.txt", latin), "line 3", "0xe9", "utf-8")


def test_options(tmp_path):
    path = write(tmp_path / "n.csv", LAYOUTS["r.csv"])
    for option, value in (("scope", "tissue"), ("layout", "long"), ("upper", 5)):
        with pytest.raises(InputError, match=option):
            grand.load(path, **{option: value})
    refused(grand.load, path, "line 1", "layout='wide'", layout="edges")
    with pytest.raises(InputError, match="no such file"):
        grand.load(tmp_path / "nothing.csv")
