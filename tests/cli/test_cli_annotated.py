"""What biologists have: h5ad files with labels, genes by cells, counts that want logarithms."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from elbmf.binarizers import ZScoreBinarizer
from elbmf.io import LabelledMatrix, load_model, model_in, read, write

COUNTS = np.random.default_rng(0).poisson(0.3, (16, 10))
COUNTS[:8, :5] += 20
COUNTS[8:, 5:] += 5
CELLS, GENES = [f"cell{i}" for i in range(16)], [f"gene{j}" for j in range(10)]
FIT = ("-k", 2, "--effort", 0, "--max-iter", 30, "--seed", 0)


@pytest.fixture
def tables(elbmf: Any) -> Any:
    """Counts as cells by genes, and the other way round."""
    table = LabelledMatrix(COUNTS, CELLS, GENES)
    write("cells.csv", table)
    write("genes.csv", table.transposed())
    return elbmf


@pytest.fixture
def cells(elbmf: Any) -> Any:
    """An h5ad file with labels and a layer."""
    ad, pd = pytest.importorskip("anndata"), pytest.importorskip("pandas")
    obs = {"kind": ["T"] * 8 + ["B"] * 8, "batch": pd.Categorical([1, 2] * 8), "note": CELLS}
    obs["depth"] = np.arange(16.0)
    made = ad.AnnData(
        COUNTS.astype(np.float32),
        obs=pd.DataFrame(obs, index=CELLS),
        var=pd.DataFrame(index=GENES),
    )
    made.layers["seen"] = (COUNTS > 0).astype(np.float32)
    made.write_h5ad("cells.h5ad")
    return elbmf


def test_genes_by_cells_are_turned(tables: Any) -> None:
    how = ("--log1p", "--binarize", "zscore:0.5")
    turned = tables("fit", "genes.csv", "--transpose", *how, *FIT, "-o", "turned", "--json")
    plain = tables("fit", "cells.csv", *how, *FIT, "-o", "plain", "--json")
    assert turned.code == plain.code == 0
    one, other = load_model("turned"), load_model("plain")
    assert (one.U != other.U).nnz == (one.V != other.V).nnz == 0
    assert (one.row_names, one.column_names) == (CELLS, GENES)
    assert one.info.data.options == {"transpose": True}
    assert one.info.parameters["binarize"] == "log1p:zscore:0.5"
    expected = ZScoreBinarizer(0.5).fit(np.log1p(COUNTS)).limits_
    np.testing.assert_allclose(one.info.binarize_limits, expected)
    # Whoever looks at the result reads alike, without being told again.
    for command in (("score", "turned"), ("score", "turned", "genes.csv")):
        score = tables(*command, "--json").json["measures"]
        assert score == turned.json["measures"]
    run = tables("transform", "turned", "genes.csv", "-o", "U.csv")
    assert "genes.csv: read with --transpose, as the data of the model was." in run.err
    np.testing.assert_array_equal(read("U.csv").values.toarray(), one.U.toarray())
    assert tables("transform", "turned", "cells.csv", "--no-transpose", "-o", "W.csv").code == 0
    assert Path("W.csv").read_bytes() == Path("U.csv").read_bytes()
    assert tables("report", "turned").code == 0
    assert "could not be used" not in Path("turned/report.html").read_text()


@pytest.mark.parametrize("target", ["there.csv", "there.matrix"])
def test_conversions_turn_a_matrix(tables: Any, target: str) -> None:
    assert tables("convert", "genes.csv", target, "--transpose", "--binarize", 0).code == 0
    found = read(target)
    np.testing.assert_array_equal(found.values.toarray(), COUNTS > 0)
    assert (found.row_names, found.column_names) == (CELLS, GENES)


def test_a_folder_is_turned_whatever_the_order_of_its_columns(tables: Any) -> None:
    Path("a.dat").write_text("10 2\n30 2\n")
    assert tables("convert", "a.dat", "a.matrix", "--transpose").code == 0
    found = read("a.matrix")
    assert found.row_names == ["2", "10", "30"]
    np.testing.assert_array_equal(found.values.toarray(), [[1, 1], [1, 0], [0, 1]])


@pytest.mark.parametrize("command", ["info", "rank", "bound", "compare", "cover", "stability"])
def test_every_command_turns_a_matrix(tables: Any, command: str) -> None:
    rest = {
        "info": ("--json",),
        "rank": ("--max", 1, "--effort", 0, "-o", "found"),
        "bound": ("-k", 1, "--time-limit", 1),
        "compare": ("-k", 1, "--methods", "grecond"),
        "cover": ("--effort", 0, "-o", "found"),
        "stability": ("-k", 1, "--runs", 1, "--effort", 0, "-o", "found"),
    }[command]
    tables("convert", "genes.csv", "ones.csv", "--binarize", 0)
    run = tables(command, "ones.csv", "--transpose", *rest)
    assert run.code == 0, run.err
    if command == "info":
        assert tuple(run.json["shape"]) == COUNTS.shape
    elif Path("found").is_dir():
        folder = "found/model" if command == "rank" else "found"
        assert load_model(folder).row_names == CELLS


def test_logarithms_of_what_becomes_ones(tables: Any) -> None:
    for how, value in (("1.5", "log1p:1.5"), ("positive", "positive"), ("nonzero", "nonzero")):
        flags = ("--log1p", "--binarize", how, *FIT)
        assert tables("fit", "cells.csv", *flags, "-o", "r", "--overwrite").code == 0
        assert load_model("r").info.parameters["binarize"] == value
    assert tables("score", "r", "cells.csv", "--log1p", "--binarize", 1.5).code == 0
    tables("fit", "cells.csv", "--log1p", *FIT, "-o", "s").assert_error("--log1p", "--binarize")
    Path("values.csv").write_text("name,a,b\nx,-0.5,1\ny,1,0\n")
    run = tables("convert", "values.csv", "o.csv", "--log1p", "--binarize", "zscore")
    run.assert_error("values.csv", "-0.5 at row 'x', column 'a'", "Leave log1p out")


def test_streams_are_not_turned(tables: Any) -> None:
    run = tables(
        "fit", "--stream", "cells.csv", "--transpose", "--method", "sofa", "-k", 2, "-o", "r"
    )
    run.assert_error("--stream", "--transpose")


@pytest.mark.formats
def test_a_result_is_kept_in_the_file_of_its_data(cells: Any) -> None:
    ad = pytest.importorskip("anndata")
    flags = ("--layer", "seen", *FIT, "-o", "r", "--write-back")
    run = cells("fit", "cells.h5ad", *flags)
    assert "Wrote obsm/X_elbmf, varm/elbmf and uns/elbmf into cells.h5ad" in run.err
    made, saved = ad.read_h5ad("cells.h5ad"), load_model("r")
    np.testing.assert_array_equal(made.obsm["X_elbmf"], saved.U.toarray())
    np.testing.assert_array_equal(made.varm["elbmf"], saved.V.toarray().T)
    assert model_in(made).info == saved.info
    np.testing.assert_array_equal(made.X, COUNTS)
    # New rows are read from the same layer.
    run = cells("transform", "r", "cells.h5ad", "-o", "U.csv")
    assert "read with --layer seen" in run.err
    np.testing.assert_array_equal(read("U.csv").values.toarray(), saved.U.toarray())


@pytest.mark.formats
def test_what_cannot_be_written_back_is_said_before_the_work(cells: Any) -> None:
    cells("fit", "tiles.csv", "-k", 2, "-o", "r", "--write-back").assert_error("tiles.csv", "h5ad")
    for flag in ("--transpose", "--stream"):
        run = cells("fit", "cells.h5ad", flag, "-k", 2, "-o", "r", "--write-back")
        run.assert_error("--write-back", flag)
    assert not Path("r").exists()


@pytest.mark.formats
def test_labels_are_columns_of_obs(cells: Any) -> None:
    assert cells("fit", "cells.h5ad", "--layer", "seen", *FIT, "-o", "r").code == 0
    run = cells("labels", "r", "cells.h5ad")
    assert [line for line in run.out.split("\n") if line in ("kind", "batch", "note")] == [
        "kind",
        "batch",
    ]
    found = cells("labels", "r", "cells.h5ad", "--json").json["components"]
    assert {(each["column"], each["label"]) for each in found} == {
        *(("kind", label) for label in "BT"),
        *(("batch", label) for label in "12"),
    }
    alone = cells("labels", "r", "cells.h5ad", "--column", "kind", "--json").json["components"]
    assert [each["label"] for each in alone] == ["B", "T"] * 2
    assert "column" not in alone[0]
    cells("labels", "r", "cells.h5ad", "--column", "dpth").assert_error("'dpth'", "'kind'")
    numbers = ("the column 'depth' of obs holds numbers", "'kind'", "adata.obs['depth']")
    cells("labels", "r", "cells.h5ad", "--column", "depth").assert_error(*numbers)
    assert cells("plot", "map", "r", "--labels", "cells.h5ad", "-o", "map.png").code == 0
    assert cells("report", "r", "--labels", "cells.h5ad", "-o", "r.html").code == 0
