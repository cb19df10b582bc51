"""What reports really say, in a browser: the content and the page go together."""

import numpy as np
import pytest

from elbmf.analysis.enrichment import NamedSet
from elbmf.datasets import load_digits, make_tiles
from elbmf.estimators import GreConD
from elbmf.estimators.saving import data_notes, saved_model
from elbmf.io import SavedModel
from elbmf.io.model_info import (
    ComponentStability,
    RankChoice,
    SignificanceInfo,
    StabilityInfo,
)
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


def _trusted():
    model, A = _tiles()
    U, V = model.U.toarray(), model.V.toarray()
    model.info.stability = StabilityInfo(
        runs=20,
        resample="rows:0.8",
        stability=0.6,
        components=[
            ComponentStability(
                recurrence=0.9 - 0.2 * at,
                found_in=1 - 0.3 * at,
                rows=np.linspace(0, 1, U[:, at].sum()).tolist(),
                columns=np.linspace(1, 0.5, V[at].sum()).tolist(),
            )
            for at in range(4)
        ],
        consensus=[[1, 0.4, 0], [0.4, 1, 0.2], [0, 0.2, 1]],
    )
    model.info.significance = SignificanceInfo(samples=99, p_values=[0.04, 1, 0.01, 0.06])
    return model, A


def _with_trust():
    return Content(*_trusted()).within()


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
    "make",
    [_digits, _with_all, _with_trust, _without_data, _of_a_stream, _with_few_lines, _empty],
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


def test_trust_is_shown_where_it_is_noted(browser):
    model, A = _trusted()
    browser.open_page(render(Content(model, A).within()), "#component-0")
    browser.until("return document.querySelector('.badges')?.textContent")
    assert browser.texts(".badge") == ["recurs 90 %", "p 0.04"]
    assert browser.texts(".badge.good") == ["recurs 90 %", "p 0.04"]
    show = "document.querySelectorAll('.block .more').forEach((each) => each.click())"
    browser.run(show)
    members, firm = model.U.toarray()[:, 0], model.margins(A).rows.toarray()[:, 0]
    columns = model.V.toarray()[0]
    count = int(members.sum() + columns.sum())
    shown = "return document.querySelectorAll('.block:has(.pair + .note) .members li').length"
    browser.until(f"{shown} === arguments[0]", count)
    rows = browser.run(
        """return [...document.querySelectorAll(".block:has(.pair + .note) .members li")]
          .map((each) => [
            each.querySelector("a").getAttribute("href"),
            each.querySelector(".margin").textContent,
            Number(each.querySelector(".who").style.getPropertyValue("--returns")),
          ])
          .filter(([href]) => href.startsWith("#row"))"""
    )
    lines = [int(href.removeprefix("#row-")) for href, _, _ in rows]
    assert {*lines} == {*np.flatnonzero(members)}
    assert [margin for _, margin, _ in rows] == [f"+{firm[line]:g}" for line in lines]
    assert (np.diff(firm[lines]) <= 0).all()
    often = dict(zip(np.flatnonzero(members), np.linspace(0, 1, members.sum()), strict=True))
    assert [returns for _, _, returns in rows] == pytest.approx([often[line] for line in lines])
    browser.go(f"row-{lines[0]}")
    assert f"+{firm[lines[0]]:g}" in browser.texts(".reasons .margin")
    browser.run("document.querySelector('th[data-key=p_value] button').click()")
    assert browser.texts("td.p_value") == ["0.01", "0.04", "0.06", "1"]
    assert browser.texts("td.recurrence") == ["50 %", "90 %", "30 %", "70 %"]
    assert browser.logs()[0] == []


def test_rows_that_stay_together_are_dark(browser):
    browser.open_page(render(Content(*_trusted()).within()))
    browser.until("return document.querySelector('canvas.consensus')")
    read = """const { width, height } = document.querySelector("canvas.consensus");
      const ink = document.querySelector("canvas.consensus").getContext("2d");
      return [width, height, ...ink.getImageData(0, 0, width, height).data]"""
    width, height, *pixels = browser.run(read)
    shown = np.reshape(pixels, (3, 3, 4))[..., 3] / 255
    assert (width, height) == (3, 3)
    np.testing.assert_allclose(shown, [[1, 0.4, 0], [0.4, 1, 0.2], [0, 0.2, 1]], atol=0.003)
    assert browser.run("return document.getElementById('to-consensus').checkVisibility()")
    assert browser.logs()[0] == []
    browser.run("document.getElementById('theme').click()")
    *_, red, green, blue, share = browser.run(read)
    assert share == 255
    assert [red, green, blue] != pixels[-4:-1]
    browser.run("localStorage.clear(); delete document.documentElement.dataset.theme")
    browser.logs()  # It tells of reading twice.


def test_no_map_is_shown_where_rows_were_not_resampled(browser):
    browser.open_page(render(Content(*_tiles()).within()))
    assert not browser.run("return document.getElementById('to-consensus').checkVisibility()")
    assert not browser.all("canvas")[1:]


def test_how_stable_each_number_of_components_is(browser):
    curves = "return [...document.querySelectorAll('.curves figcaption')].map((e) => e.innerText)"
    table = {
        "rank": np.arange(4),
        "loss": np.array([9, 4, 3, 3]),
        "mdl": np.array([90.0, 40, 30, 35]),
    }
    stable = {"stability": np.array([np.nan, 1, 0.9, 0.5])}
    for given, told in ((table, []), (table | stable, ["stability"])):
        ranks = {"table": given, "criterion": "mdl"}
        model, A = _tiles()
        model.info.rank_search = RankChoice(criterion="mdl", n_components=4, highest=5)
        browser.open_page(render(Content(model, A, ranks=ranks).within()))
        assert browser.run(curves)[2:] == told
        assert browser.logs()[0] == []


def test_no_badge_is_shown_where_nothing_is_noted(browser):
    browser.open_page(render(Content(*_tiles()).within()), "#component-0")
    browser.until("return document.querySelector('.members')")
    assert not browser.all(".badge")
    assert not browser.all(".returning")
    assert not browser.all("td.p_value, td.recurrence")
    assert browser.all(".members .margin")
