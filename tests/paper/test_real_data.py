"""Fig. 6: tasks, rows, claims and the picture."""

import numpy as np
import pytest
from scipy import sparse

from elbmf.errors import InputError
from elbmf.paper.experiments import Settings
from elbmf.paper.experiments.compared import PAPERS_BINAPS, mark_of
from elbmf.paper.experiments.experiment import PLAIN, REFINED
from elbmf.paper.experiments.real_data import EXPERIMENT, methods

METHODS = list(methods(full=True))
COLUMNS = [
    "set",
    "method",
    "status",
    "relative_loss",
    "similarity",
    "recall",
    "precision",
    "seconds",
    "peak_memory",
    "rank",
    "n",
    "m",
    "ones",
]


def _save(folder, name, ones, columns=30):
    """Write a matrix with so many ones, on the diagonal of blocks."""
    cells = np.zeros((max(10, ones // 4), columns), dtype=np.uint8)
    cells.ravel()[:ones] = 1
    sparse.save_npz(folder / f"{name}.npz", sparse.csr_matrix(cells))
    (folder / f"{name}.json").write_text("{}")


def _row(name, method, **figures):
    row = {
        "set": name,
        "method": method,
        "status": "finished",
        "relative_loss": 0.5,
        "similarity": 0.95,
        "recall": 0.5,
        "precision": 0.9,
        "seconds": 1.0,
        "peak_memory": 1 << 20,
        "rank": 20,
        "n": 100,
        "m": 50,
        "ones": 900,
    }
    return {**row, **figures}


def _table(figures, sets=("small", "large")):
    """Make a table in which each method has the same figures on all sets."""
    return {
        "results": [
            _row(name, method, n=100 * (1 + at), ones=900 * (1 + at), **figures.get(method, {}))
            for at, name in enumerate(sets)
            for method in METHODS
        ]
    }


def _claim(tables, words):
    (found,) = [claim for claim in EXPERIMENT.claims(tables) if words in claim.says]
    return found


def test_digits_are_always_there_and_sets_come_by_their_ones(tmp_path):
    assert {task["set"] for task in EXPERIMENT.tasks(Settings())} == {"digits"}
    _save(tmp_path, "few", 40)
    _save(tmp_path, "more", 400)
    tasks = EXPERIMENT.tasks(Settings(data=(tmp_path,)))
    assert [task["set"] for task in tasks] == ["few", "more", "digits"]
    assert all(task["methods"] == list(methods(full=False)) for task in tasks)
    tasks = EXPERIMENT.tasks(Settings(full=True, data=(tmp_path,)))
    assert [task["methods"] for task in tasks if task["set"] == "few"] == [[m] for m in METHODS]


def test_large_sets_are_for_full_runs(tmp_path, monkeypatch):
    monkeypatch.setattr("elbmf.paper.experiments.real_data._QUICK_ONES", 100)
    _save(tmp_path, "few", 40)
    _save(tmp_path, "more", 400)
    quick, full = (
        {task["set"] for task in EXPERIMENT.tasks(Settings(full=full, data=(tmp_path,)))}
        for full in (False, True)
    )
    assert quick == {"few"}
    assert full == {"few", "more", "digits"}


@pytest.mark.parametrize(
    ("name", "full", "rank"), [("tcga", True, 33), ("tcga", False, 20), ("else", True, 20)]
)
def test_ranks_are_the_papers(tmp_path, name, full, rank):
    _save(tmp_path, name, 200, columns=40)
    settings = Settings(full=full, data=(tmp_path,))
    tables = EXPERIMENT.measure({"set": name, "methods": ["grecond"]}, settings)
    (row,) = tables["results"]
    assert list(row) == COLUMNS
    assert (row["status"], row["rank"], row["ones"]) == ("finished", rank, 200)
    assert (row["n"], row["m"]) == (50, 40)


@pytest.mark.slow
def test_methods_run_on_digits_and_refinement_lowers_the_loss():
    task = {"set": "digits", "methods": [REFINED, PLAIN, "sofa"]}
    rows = EXPERIMENT.measure(task, Settings())["results"]
    assert [row["method"] for row in rows] == task["methods"]
    assert all(0 < row["recall"] < 1 and row["seconds"] > 0 for row in rows)
    refined, plain, sofa = (row["relative_loss"] for row in rows)
    assert refined < plain
    assert refined < sofa


def test_unknown_sets_are_an_error_that_names_the_folders(tmp_path):
    task = {"set": "nowhere", "methods": ["grecond"]}
    with pytest.raises(InputError, match=rf"'nowhere' is not prepared in .*{tmp_path.name}"):
        EXPERIMENT.measure(task, Settings(data=(tmp_path,)))


def test_each_method_has_a_mark_of_its_own():
    looks = [mark_of(method) for method in METHODS]
    assert len({str(look) for _, look in looks}) == len({title for title, _ in looks}) == 11


def test_claims_hold_for_plain_and_refined_separately():
    figures = {method: {"relative_loss": 0.6} for method in METHODS}
    figures[PLAIN] = {"relative_loss": 0.7}
    figures[REFINED] = {"relative_loss": 0.4}
    tables = _table(figures)
    for words in ("lower loss than Primp", "outperformed by ELBMF", "lowest loss of all"):
        claim = _claim(tables, words)
        assert (claim.plain_holds, claim.refined_holds) == (False, True)
        assert "0 of 2" in claim.plain
        assert "2 of 2" in claim.refined
    assert "small (0.700 beside 0.600)" in _claim(tables, "lower loss than Primp").plain
    claim = _claim(tables, "considerably higher")
    assert claim.refined == "higher in 12 of 12 cases, by at least 5% in 12"


def test_equal_losses_are_lowest_but_not_lower():
    tables = _table({})
    assert _claim(tables, "lowest loss of all").refined_holds
    assert not _claim(tables, "lower loss than Primp").refined_holds
    assert not _claim(tables, "considerably higher").refined_holds


def test_claims_about_runtimes_know_what_a_time_limit_is():
    limit = {"status": "time limit", "seconds": 5.0}
    lost = {"status": "time limit", "seconds": None, "relative_loss": None, "recall": None}
    tables = _table({"asso": lost, "primp": limit, "orm": {"seconds": 0.5}})
    claim = _claim(tables, "In most cases")
    assert claim.refined == (
        "slower on: asso 2 of 2, grecond 0 of 2, orm 0 of 2, sofa 0 of 2, primp 2 of 2 sets"
    )
    assert not claim.refined_holds
    # Where both were ended, nobody knows.
    tables = _table({REFINED: limit, "primp": limit})
    assert _claim(tables, "much slower").refined_holds is None
    assert _claim(tables, "much slower").plain_holds


def test_claims_about_rivals_alone():
    tables = _table({"asso": {"recall": 0.7}})
    claim = _claim(tables, "comparable loss")
    assert claim.plain == "median difference: relative loss 0.000, similarity 0.000, recall 0.200"
    assert not claim.plain_holds
    assert claim.refined_holds is None
    binaps = {PAPERS_BINAPS: {"recall": 0.99, "similarity": 0.3}}
    assert _claim(_table(binaps), "Binaps surpasses").refined_holds
    assert _claim(_table(binaps), "high similarity").refined_holds
    assert not _claim(_table({}), "high similarity").refined_holds
    nmf = {"nmf": {"relative_loss": 0.4}}
    assert _claim(_table(nmf), "occasionally").plain == (
        "below in 4 of 4 cases on the larger half of the sets"
    )


def test_claims_about_one_set_need_that_set():
    assert _claim(_table({}), "Netflix").refined_holds is None
    tables = _table({}, sets=("netflix",))
    assert _claim(tables, "Netflix").refined_holds is False
    lost = {method: {"status": "time limit"} for method in METHODS}
    tables = _table({**lost, REFINED: {}, "binaps": {}}, sets=("netflix",))
    assert _claim(tables, "Netflix").refined_holds
    tables = _table({"primp": {"relative_loss": 0.7}}, sets=("cerebellum", "other"))
    assert _claim(tables, "Cerebellum").refined_holds


def test_no_claim_holds_where_nothing_was_measured():
    lost = {"status": "failed", "relative_loss": None, "similarity": None, "recall": None}
    tables = _table({method: {**lost, "seconds": None} for method in METHODS})
    for claim in EXPERIMENT.claims(tables):
        assert claim.plain_holds is None
        assert claim.refined_holds is None


def test_figure_has_a_mark_for_each_set_and_method():
    figures = {
        "binaps": {"relative_loss": 6.5},
        "asso": {"status": "failed", **dict.fromkeys(("relative_loss", "seconds", "recall"))},
        "orm": {"status": "time limit"},
    }
    figure = EXPERIMENT.draw(_table(figures))["real-data"]
    loss, _, _, runtime = figure.axes
    assert runtime.get_yscale() == "log"
    # One mark each, and a ring around those that were ended.
    assert len(loss.lines) == 2 * len(METHODS) + 2
    # What is beyond the axis is written out.
    assert [text.get_text() for text in loss.texts] == ["6.5", "6.5"]
    assert [label.get_text().split("\n")[0] for label in runtime.get_xticklabels()] == [
        "small",
        "large",
    ]
    (legend,) = figure.legends
    labels = [text.get_text() for text in legend.get_texts()]
    assert labels[-2:] == ["ended by the time limit", "no result"]
    assert len(labels) == len(METHODS) + 2
