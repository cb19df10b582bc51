"""What reports really say, in a browser: the content and the page go together."""

import numpy as np
import pytest

from elbmf.analysis.enrichment import NamedSet
from elbmf.datasets import load_digits, make_tiles
from elbmf.estimators import GreConD
from elbmf.estimators.saving import data_notes, saved_model
from elbmf.io import SavedModel
from elbmf.io.model_info import RankChoice
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.report import KnownLabels, KnownSets
from elbmf.report.content import Content
from elbmf.report.limits import Limits
from elbmf.report.page import render

ROWS = [f"<script>row {at}</script>" for at in range(60)]
COLUMNS = [f"column & {at}" for at in range(40)]


def _tiles():
    made = make_tiles((60, 40), 4, height=(12, 18), noise=0.05, random_state=0)
    A = BooleanMatrix.from_array(made.A)
    info = {"data": data_notes("tiles.csv", A), "warnings": ["<b>Beware</b>"]}
    return SavedModel(made.U, made.V, ROWS, COLUMNS, info), A


def _digits():
    values, columns, digits = load_digits()
    A = BooleanMatrix.from_array(values)
    model = GreConD(n_components=12).fit(A)
    labels = KnownLabels([str(digit) for digit in digits], "digit")
    return Content(saved_model(model, A, None, columns), A, labels=labels).within()


def _with_all():
    model, A = _tiles()
    model.info.rank_search = RankChoice(criterion="mdl", n_components=4, highest=5)
    model.info.history = {"rank": [0, 4, 5], "loss": [9, 3, 2], "mdl": [90.0, 30.0, 31.0]}
    model.info.command = "elbmf fit tiles.csv -k auto"
    labels = KnownLabels(["left", "right", None] * 20, "side")
    members = np.flatnonzero(model.V.toarray()[0])
    sets = [NamedSet("<i>set</i>", "", tuple(COLUMNS[at] for at in members))]
    return Content(model, A, labels=labels, sets=KnownSets(sets, "sets.gmt")).within()


def _without_data():
    return Content(_tiles()[0], None).within()


def _of_a_stream():
    V = _tiles()[0].V
    info = {"stream": {"rows": 1000}, "data": {"ones": 9000, "shape": [1000, 40]}}
    return Content(SavedModel(np.zeros((0, 4)), V, None, COLUMNS, info), None).within()


def _with_few_lines():
    return Content(
        *_tiles(), limits=Limits(rows=20, columns=15, members=3, blocks=1, cells=100)
    ).within()


def _empty():
    return Content(
        SavedModel(np.zeros((3, 2)), np.zeros((2, 3))), BooleanMatrix.from_array(np.eye(3))
    ).within()


@pytest.mark.parametrize(
    "make", [_digits, _with_all, _without_data, _of_a_stream, _with_few_lines, _empty]
)
def test_everything_opens_without_an_error(browser, make):
    said = make()
    address = browser.open_page(render(said))
    rows = "return document.querySelectorAll('#components-table tbody tr').length"
    assert browser.run(rows) == len(said["components"])
    for at in range(min(3, len(said["components"]))):
        browser.go(f"component-{at}")
    for kind in ("row", "column"):
        if said[f"{kind}s"]["count"]:
            browser.go(f"{kind}-1")
    shown = browser.run("return document.getElementById('matrix').checkVisibility()")
    assert shown == bool(said["rows"]["count"])
    errors, requests = browser.logs()
    assert errors == []
    assert {request.partition("#")[0] for request in requests} == {address}
    assert browser.run("return document.querySelectorAll('script').length") < 10


def test_missing_cells_are_told_from_zeros(browser):
    values = np.array([[1, np.nan, 0], [1, 1, 0]])
    model = SavedModel(np.ones((2, 1)), np.array([[1, 1, 0]]), ["r", "s"], ["a", "b", "c"], {})
    browser.open_page(render(Content(model, BooleanMatrix.from_array(values)).within()))
    assert "missing cells are left blank" in browser.one("#matrix-legend").text
    readout = "return document.getElementById('matrix-readout').innerText"
    told, before = {}, browser.run(readout)
    for across in (0.2, 0.5, 0.9):
        for down in (0.3, 0.8):
            box = browser.one("#matrix-canvas").rect
            browser.at("#matrix-canvas", across * box["width"], down * box["height"]).perform()
            browser.until(f"{readout} !== arguments[0]", before)
            before = browser.run(readout)
            name, cell, *_ = before.splitlines()
            told[name] = cell
    assert told == {
        "r × a": "a one, covered",
        "s × a": "a one, covered",
        "r × b": "missing",
        "s × b": "a one, covered",
        "r × c": "a zero, or missing",
        "s × c": "a zero, or missing",
    }


def test_components_of_a_stream_are_not_called_empty(browser):
    said = _of_a_stream()
    browser.open_page(render(said))
    browser.go("component-0")
    columns = said["components"][0]["columns"]
    assert browser.text("#detail .lead") == f"Component 0 has {columns} columns."
    line = said["components"][0]["top_columns"][0][0]
    browser.go(f"column-{line}")
    assert browser.text("#detail .reasons li") == "a member of component 0"
