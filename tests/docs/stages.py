"""The stages of the pages: the files that they name, small, and what is smaller than they say."""

import shutil
import zipfile
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from pages import ROOT
from running import Stage
from scipy import sparse
from stories import permissions, ratings

from elbmf import estimators
from elbmf.cli import main
from elbmf.datasets import make_tiles
from elbmf.io import LabelledMatrix, formats, write
from elbmf.paper.catalog import PreparedData, save_prepared
from elbmf.relaxation import engines, regularizers

__all__ = ["STAGES", "registries_restored"]


@contextmanager
def registries_restored():
    """Forget the methods, engines, formats and regularisers that a page adds."""
    tables = (estimators.METHODS, engines.ENGINES, regularizers.REGULARIZERS)
    before = [dict(table) for table in tables]
    known = formats.FORMATS
    try:
        yield
    finally:
        formats.FORMATS = known
        for table, entries in zip(tables, before, strict=True):
            table.clear()
            table.update(entries)


def two_groups(stack=None):
    """Patients and genes in two groups, as a table; some of the rows again, labels and sets."""
    header = ",".join(["name", *(f"gene{j}" for j in range(6))])
    lines = [
        f"patient{i}," + ",".join("1" if (i < 4) == (j < 3) else "0" for j in range(6))
        for i in range(9)
    ]
    Path("data.csv").write_text("\n".join([header, *lines]) + "\n")
    Path("new.csv").write_text("\n".join([header, *lines[2:6]]) + "\n")
    assert main(["convert", "data.csv", "counts.h5ad", "--quiet"]) == 0
    kinds = [f"patient{i}\t{'ill' if i < 4 else 'well'}" for i in range(9)]
    Path("patients.tsv").write_text("\n".join(["id\tkind", *kinds]) + "\n")
    Path("pathways.gmt").write_text("one\tfirst\tgene0\tgene1\tgene2\ntwo\t\tgene3\tgene4\n")


def shoppers(stack=None):
    """The table that comes with the examples."""
    Path("examples").mkdir()
    shutil.copy(ROOT / "examples" / "shopping.csv", "examples")


def groups_and_shoppers(stack):
    """Both of them."""
    two_groups()
    shoppers()


def existing_roles(stack):
    """A role that a company has already."""
    Path("existing.csv").write_text("role,right1,right2\njoiner,1,1\n")


def numbers(stack):
    """Tables of ratings and of expression."""
    draw = np.random.default_rng(0)
    names = [f"r{i}" for i in range(12)], [f"c{j}" for j in range(8)]
    stars = LabelledMatrix(sparse.csr_array(draw.integers(1, 6, (12, 8))), *names)
    write("ratings.csv", stars)
    expression = LabelledMatrix(sparse.csr_array(draw.gamma(1, 2, (12, 8))), *names)
    write("expression.csv", expression)
    write("expression.h5ad", expression)


def noisy_and_clean(stack):
    """Tiles with noise and without, small."""
    tiles = make_tiles((30, 20), 2, height=(8, 10), noise=0.05, random_state=0)
    write("data.csv", LabelledMatrix(tiles.A))
    write("noisy.csv", LabelledMatrix(tiles.A))
    write("clean.csv", LabelledMatrix(tiles.truth))
    return {"A": tiles.A}


def archives(stack):
    """A Netflix archive of two movies, and a prepared set of one's own."""
    with zipfile.ZipFile("archive.zip", "w") as archive:
        archive.writestr("movie_titles.csv", "1,2003,Dinosaur\n2,2004,Isle\n")
        archive.writestr("combined_data_1.txt", "1:\n6,5,2005-01-01\n7,2,2005-01-01\n")
        for number in (2, 3, 4):
            archive.writestr(f"combined_data_{number}.txt", f"{number}:\n7,4,2005-01-01\n")
    letters = LabelledMatrix(sparse.csr_array(np.eye(3, dtype=bool)), list("abc"), list("xyz"))
    save_prepared("my data", "letters", PreparedData(letters, {"case": ["lower"] * 3}))


def large(stack):
    """Small stand-ins of what is large: files, a cluster of two workers, a stream."""
    import dask.array
    from distributed import LocalCluster

    tiles = make_tiles((60, 40), 3, height=(12, 20), random_state=0)
    A = tiles.A
    names = [f"u{i}" for i in range(60)], [f"i{j}" for j in range(40)]
    table = LabelledMatrix(A, *names)
    for name in ("big.tsv.gz", "ratings.tsv.gz"):
        write(name, table, layout="pairs")
    write("data.npz", table)
    write("matrix.npz", table)
    write("table.csv", table)
    write("baskets.dat.gz", table)
    dask.array.from_array(A.toarray().astype(np.int8), chunks=(30, 40)).to_zarr("counts.zarr")
    cluster = stack.enter_context(
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=False,
            protocol="tcp",
            host="127.0.0.1",
            dashboard_address=":0",
        )
    )
    rows = A.toarray()
    return {
        "A": A,
        "batches": [rows[:30], rows[30:]],
        "new_rows": rows[:5],
        "words": {"tcp://127.0.0.1:8786": cluster.scheduler_address},
        "python": {'Client("tcp://127.0.0.1:8786")': f'Client("{cluster.scheduler_address}")'},
    }


# Small ranks for small tables.
_FEW = {"20": "2", "50": "2"}

_NETWORK = "needs the network"
_SERVICE = "starts a service that does not end; the stage has one"

STAGES = {
    "README.md": Stage(groups_and_shoppers, words={"20": "2", "30": "3"}),
    "CONTRIBUTING.md": Stage(
        not_run={
            ".venv/bin/python -m pytest -q tests/utils": "runs within the tests",
            ".venv/bin/pip install pre-commit": _NETWORK,
            ".venv/bin/pre-commit install --install-hooks -t pre-commit -t pre-push": _NETWORK,
        }
    ),
    "docs/binarize.md": Stage(numbers, words={"20": "2", "30": "2"}),
    "docs/compare.md": Stage(
        noisy_and_clean,
        words={
            "data.csv -k 20": "data.csv -k 2 --methods grecond",
            "--methods elbmf,asso": "--methods sofa",
            "5": "2",
        },
        python={"A, 20": "A, 2"},
    ),
    "docs/data.md": Stage(
        archives,
        words={"0.1": "0.002"},
        not_run={"elbmf data prepare movielens --download": _NETWORK},
    ),
    "docs/files.md": Stage(),
    "docs/scale.md": Stage(
        large,
        words={**_FEW, "cuda": "cpu --max-iter 20"},
        python={
            '"cuda"': '"cpu", max_iter=20',
            "ELBMF(20": "ELBMF(2",
            "n_components=50": "n_components=2",
        },
        not_run={
            f"dask {what} --no-dashboard": _SERVICE
            for what in (
                "scheduler --host 127.0.0.1 --port 8786",
                "worker tcp://127.0.0.1:8786 --nthreads 1",
            )
        },
    ),
    "docs/scikit-learn.md": Stage(),
    "docs/start.md": Stage(shoppers),
    "docs/guides/biology.md": Stage(),
    "docs/guides/recommender.md": Stage(ratings),
    "docs/guides/access-control.md": Stage(permissions),
    "docs/guides/fewest-roles.md": Stage(
        existing_roles,
        # What is shown of these is found at once, and the search for less goes on.
        words={
            "--max-loss 100": "--max-loss 100 --effort 0.1",
            "--keep existing.csv": "--keep existing.csv --effort 0.1",
            "--max-components-per-row 3": "--max-components-per-row 3 --effort 0.1",
        },
    ),
    "docs/guides/baskets.md": Stage(),
    "docs/guides/service.md": Stage(shoppers, words={"0": "0 --effort 0"}),
    "docs/guides/comparing.md": Stage(),
    "docs/index.md": Stage(noisy_and_clean, words={"20": "2"}, python={"=20": "=2"}),
    "docs/ranks.md": Stage(),
    "docs/rates.md": Stage(),
    "docs/significance.md": Stage(
        two_groups,
        words={"1": "1 --effort 0", "significance result": "significance result --samples 2"},
        python={"random_state=0)\nprint": "random_state=0, samples=2)\nprint"},
    ),
    "docs/stability.md": Stage(
        noisy_and_clean, words={"20": "2 --runs 2 --effort 0"}, python={"runs=5": "runs=2"}
    ),
    "docs/report.md": Stage(two_groups, words={"20": "2"}, python={"=20": "=5, max_iter=50"}),
    "docs/plots.md": Stage(two_groups, python={"max_iter=50": "max_iter=50, effort=0"}),
    "docs/parameters.md": Stage(noisy_and_clean),
    "docs/method.md": Stage(),
    "docs/extending/regularizer.md": Stage(two_groups),
    "docs/extending/method.md": Stage(two_groups),
    "docs/extending/engine.md": Stage(),
    "docs/extending/format.md": Stage(two_groups),
    "docs/extending/figure.md": Stage(two_groups),
    **{
        f"docs/methods/{name}.md": Stage(two_groups)
        for name in (*estimators.METHODS, "index")
        if name != "elbmf"
    },
}
STAGES["docs/methods/index.md"] = Stage()
