"""Fig. 7 on digits, and on small files in place of the real data."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from elbmf import plots
from elbmf.errors import InputError
from elbmf.paper.experiments import Settings, case_study
from elbmf.paper.experiments.case_study import EXPERIMENT

# What is measured once is looked at by many.
pytestmark = pytest.mark.xdist_group("case study")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a small labelled matrix under the name of a real one: blocks and noise."""
    folder = tmp_path_factory.mktemp("data")
    generator = np.random.default_rng(0)
    labels = np.repeat(["EUR", "AFR", "EAS"], 15)
    A = generator.random((45, 30)) < 0.05
    for position, label in enumerate(["EUR", "AFR", "EAS"]):
        A[np.ix_(labels == label, np.arange(10 * position, 10 * position + 10))] = True
    sparse.save_npz(folder / "genomes1k_peddy.npz", sparse.csr_array(A))
    lines = [f"row{at}\tx\t{label}" for at, label in enumerate(labels)]
    text = "\n".join(["id\tpop\tsuperpop", *lines, ""])
    (folder / "genomes1k_peddy.rows.tsv.gz").write_bytes(gzip.compress(text.encode()))
    (folder / "genomes1k_peddy.json").write_text("{}")
    return folder


@pytest.fixture(scope="module")
def tables(folder):
    """What is measured on that matrix, with three components."""
    found = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(case_study, "_SEEDS", 2)
        for method in ("target", "plain", "refined", "balanced"):
            task = {"data": "genomes1k_peddy", "n_components": 3, "method": method}
            rows = EXPERIMENT.measure(task, Settings(data=(folder,), n_jobs=1))
            for name in rows:
                found.setdefault(name, []).extend(rows[name])
    return found


def test_digits_are_always_there_and_files_where_they_are(folder):
    assert {(task["data"], task["n_components"]) for task in EXPERIMENT.tasks(Settings())} == {
        ("digits", 10)
    }
    found = EXPERIMENT.tasks(Settings(data=(Path("nowhere"), folder)))
    assert list(dict.fromkeys((task["data"], task["n_components"]) for task in found)) == [
        ("digits", 10),
        ("genomes1k_peddy", 5),
        ("genomes1k_peddy", 28),
    ]
    assert [task["method"] for task in found[:4]] == ["target", "plain", "refined", "balanced"]


def test_large_sets_are_for_full_runs(folder, monkeypatch):
    monkeypatch.setattr(case_study, "_QUICK_ONES", 0)
    assert EXPERIMENT.tasks(Settings(data=(folder,))) == []
    assert len(EXPERIMENT.tasks(Settings(full=True, data=(folder,)))) == 3 * 4


def test_a_set_without_its_labels_is_told(tmp_path):
    sparse.save_npz(tmp_path / "tcga.npz", sparse.csr_array(np.eye(3, dtype=bool)))
    (tmp_path / "tcga.json").write_text("{}")
    task = {"data": "tcga", "n_components": 1, "method": "target"}
    with pytest.raises(InputError, match="tcga: the rows have no labels 'cancer type', only none"):
        EXPERIMENT.measure(task, Settings(data=(tmp_path,)))


def test_groups_that_are_there_are_found(tables):
    methods = ["target", "plain", "refined", "balanced"]
    assert [row["method"] for row in tables["separation"]] == methods
    for row in tables["clusters"]:
        assert row["nmi"] == pytest.approx(1)
        assert row["ari"] == pytest.approx(1)
    assert len(tables["clusters"]) == 2 * len(methods)
    assert len(tables["embedding"]) == 45 * len(methods)
    assert len(tables["nmi"]) == 3 * 3 * 3
    best = {(row["groups"], row["label"]): row["nmi"] for row in tables["best"]}
    for label in ("AFR", "EAS", "EUR"):
        assert best["refined: components", label] == pytest.approx(1)
        assert best["target: clusters", label] == pytest.approx(1)
    assert len(best) == 3 * (1 + 1 + 2 * 3)


def test_the_diagonal_of_the_map_holds_the_partners(tables):
    refined = [row for row in tables["nmi"] if row["method"] == "refined"]
    matrix = case_study._matrix(refined)
    np.testing.assert_allclose(np.diag(matrix), 1)


def test_a_picture_for_each_factorization(tables, tmp_path):
    pytest.importorskip("matplotlib")
    figures = EXPERIMENT.draw(tables)
    expected = {f"genomes1k_peddy-k3-{method}" for method in ("plain", "refined", "balanced")}
    assert set(figures) == expected
    figure = figures["genomes1k_peddy-k3-refined"]
    target, reconstruction, heat_map, _ = figure.axes
    assert sum(len(points.get_offsets()) for points in target.collections) == 45
    assert sum(len(points.get_offsets()) for points in reconstruction.collections) == 45
    assert [tick.get_text() for tick in heat_map.get_yticklabels()] == ["AFR", "EAS", "EUR"]
    plots.save(figure, tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 0


def test_more_classes_than_colours_differ_in_shape(tables):
    pytest.importorskip("matplotlib")
    count = len(plots.CLASS_COLOURS) + 1
    many = {
        "embedding": [
            {"data": "d", "method": method, "row": at, "x": at, "y": 0, "label": f"{at:02}"}
            for method in ("target", "plain")
            for at in range(count)
        ],
        "separation": [
            {"data": "d", "method": method, "purity": 0.5} for method in ("target", "plain")
        ],
        "nmi": [
            {
                "data": "d",
                "method": "plain",
                "component": 0,
                "place": 0,
                "nmi": 0,
                "label": f"{at:02}",
            }
            for at in range(count)
        ],
    }
    points = EXPERIMENT.draw(many)["d-plain"].axes[0].collections
    shapes = [tuple(map(tuple, each.get_paths()[0].vertices)) for each in points]
    colours = [tuple(each.get_facecolor()[0]) for each in points]
    assert len(set(zip(shapes, colours, strict=True))) == count
    assert colours[0] == colours[-1]


def test_claims_are_checked_on_what_was_measured(tables):
    separation, clusters, sparse_map, one_to_one, best, thyroid = EXPERIMENT.claims(tables)
    assert "genomes1k_peddy" in separation.refined
    assert clusters.refined_holds is False  # nothing is better than what is perfect
    assert "1.000 to 1.000" in clusters.refined
    assert one_to_one.refined_holds is True
    assert one_to_one.refined == "genomes1k_peddy-k3 1.00"
    assert sparse_map.plain.startswith("genomes1k_peddy")
    assert best.refined == "genomes1k_peddy-k3 1.000 beside 1.000"
    assert (thyroid.plain_holds, thyroid.refined_holds) == (None, None)


def test_shown_rows_keep_the_shares_of_the_classes():
    labels = np.array(["a"] * 600 + ["b"] * 300 + ["c"] * 100)
    shown = case_study._shown_rows(labels, 100, seed=0)
    assert len(set(shown)) == 100
    counts = [int(np.sum(labels[shown] == label)) for label in "abc"]
    np.testing.assert_allclose(counts, [60, 30, 10], atol=1)
    np.testing.assert_array_equal(case_study._shown_rows(labels, 1000, seed=0), np.arange(1000))


def test_digits_are_read_with_their_labels():
    A, labels = case_study._open("digits", Settings())
    assert A.shape == (1797, 64)
    assert sorted(set(labels)) == list("0123456789")


def test_purity_is_the_share_of_like_neighbours():
    plane = np.repeat([[0.0, 0.0], [9.0, 9.0]], 20, axis=0) + np.random.default_rng(0).random(
        (40, 2)
    )
    apart = np.repeat(["a", "b"], 20)
    assert case_study._purity(plane, apart) == 1
    assert case_study._purity(plane, np.array(list("ab") * 20)) == pytest.approx(0.5, abs=0.15)
