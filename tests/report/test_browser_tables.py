"""Reports in a browser: tables to download, known sets, and the words of a field."""

import csv
import io
from importlib.resources import files

import numpy as np
import pytest

from elbmf.analysis.enrichment import NamedSet
from elbmf.datasets import make_tiles
from elbmf.io import SavedModel
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.report import KnownLabels, KnownSets
from elbmf.report.content import Content
from elbmf.report.page import render
from elbmf.utils.vocabulary import Vocabulary
from waiting import wait_until

pytestmark = pytest.mark.browser

# Names that csv has to quote, and such that a spreadsheet would take for formulas.
ROWS = ["Doe, Jane", 'the "boss"', "two\nlines", "=1+1", "@home", "-5", "", " ä ", "\ttab", "row 9"]
COLUMNS = [f"column,{at}" for at in range(8)]


MADE = make_tiles((10, 8), 2, height=(4, 5), noise=0.05, random_state=1)


def _subject():
    return SavedModel(MADE.U, MADE.V, ROWS, COLUMNS), BooleanMatrix.from_array(MADE.A)


def _document(**more):
    model, A = _subject()
    members = [COLUMNS[at] for at in np.flatnonzero(model.V.toarray()[0])]
    sets = KnownSets([NamedSet("a, set", "", tuple(members))], "sets.gmt")
    labels = KnownLabels(["left" if held else "right" for held in model.U.toarray()[:, 0]], "side")
    return Content(model, A, labels=labels, sets=sets, **more).within()


@pytest.fixture
def downloads(browser, tmp_path):
    """Open the page, and return a function that clicks for a table and reads what was saved."""
    where = {"behavior": "allow", "downloadPath": str(tmp_path)}
    browser.driver.execute_cdp_cmd("Browser.setDownloadBehavior", where)
    browser.open_page(render(_document()))

    def download(name):
        path = tmp_path / f"{name}.csv"
        path.unlink(missing_ok=True)
        browser.one(f"[data-table={name}]").click()
        wait_until(lambda: path.exists() and path.stat().st_size > 0)
        return list(csv.reader(io.StringIO(path.read_bytes().decode(), newline="")))

    yield download
    errors, requests = browser.logs()
    assert errors == []
    assert all(address.startswith(("file:", "blob:file:")) for address in requests)


def test_tables_are_those_of_the_model(downloads, browser):
    model, _ = _subject()
    U, V = model.U.toarray(), model.V.toarray()
    titles, *lines = downloads("components")
    assert titles[:3] == ["component", "rows", "columns"]
    assert titles[-3:] == ["doubts", "best_label", "best_set"]
    assert [list(map(int, line[:3])) for line in lines] == [
        [at, U[:, at].sum(), V[at].sum()] for at in range(2)
    ]
    assert lines[0][-2] == "left"
    assert lines[1][-2] == ""
    # With a quote before what a spreadsheet takes for a formula, and then without.
    for harmless in (True, False):
        titles, *lines = downloads("rows")
        assert titles[:4] == ["row", "label", "component", "share"]
        starts = ("=", "+", "-", "@", "\t") if harmless else ()
        shown = [f"'{name}" if name.startswith(starts) and starts else name for name in ROWS]
        expected = [
            [name, str(at)]
            for name, held in zip(shown, U, strict=True)
            for at in (np.flatnonzero(held) if held.any() else [""])
        ]
        assert [[line[0], line[2]] for line in lines] == expected
        browser.one("#harmless").click()
    inside = {(line[0], line[2]): float(line[3]) for line in lines if line[2]}
    counts = MADE.A.astype(int) @ V.T
    for (name, at), share in inside.items():
        wanted = counts[ROWS.index(name), int(at)] / V[int(at)].sum()
        assert share == pytest.approx(wanted)
    titles, *lines = downloads("columns")
    held = [
        [COLUMNS[column], str(at)] for column in range(8) for at in np.flatnonzero(V[:, column])
    ]
    assert [line[:2] for line in lines if line[1]] == held


def test_tables_of_labels_and_sets(downloads, browser):
    model, _ = _subject()
    U, V = model.U.toarray(), model.V.toarray()
    titles, *lines = downloads("labels")
    left = dict(zip(titles, lines[0], strict=True))
    assert (left["label"], left["best_component"], left["nmi"]) == ("left", "0", "1")
    assert (int(left["overlap"]), int(left["rows"])) == (U[:, 0].sum(), U[:, 0].sum())
    titles, only = downloads("sets")
    found = dict(zip(titles, only, strict=True))
    assert (found["component"], found["set"], int(found["overlap"])) == ("0", "a, set", V[0].sum())
    assert found["in_both"].split(";") == [COLUMNS[at] for at in np.flatnonzero(V[0])]
    # The same is seen on the page, above the members of the component.
    assert browser.texts("#sets td.names") == ["a, set"]
    assert browser.texts("#components-table td.best") == ["left", "a, set", "–", "–"]
    browser.go("component-0")
    titles = browser.texts("#detail h3")
    assert (
        titles.index("Known sets: sets.gmt")
        < titles.index("Labels: side")
        < titles.index("Members")
    )


def test_the_page_speaks_in_the_words_of_the_field(browser):
    document = _document(vocabulary="roles")
    browser.open_page(render(document))
    shown = browser.run("return document.getElementById('app').innerText")
    assert document["title"] == "2 roles"
    assert "Roles" in browser.texts(".bar nav a")
    assert (
        browser.one("#search-input").get_attribute("placeholder") == "Search users and permissions"
    )
    assert "permissions missing from roles" in browser.text("#matrix-legend")
    titles = browser.texts("#components-table th")
    assert "Users" in titles
    assert "Permissions that fit best" in titles
    # Names of the data are as they are.
    assert "column,3" in shown
    # Long words have room where there is little.
    browser.size(390, 844)
    assert browser.too_wide() == []
    browser.size(1280, 900)
    browser.go("row-9")
    assert browser.text("#detail-title") == "row 9"
    assert browser.text("#detail .kind") == "user"
    assert browser.text("#detail .note").startswith("User 9 of 10, counted from 0")
    browser.type_into("#search-input", "role 1")
    browser.until("return document.querySelectorAll('#search-results li').length === 1")
    assert browser.text("#search-results .what") == "role 1"
    # What is left of the words of matrices is names.
    left = [
        line
        for line in browser.run("return document.getElementById('main').innerText").splitlines()
        if any(
            word in line.lower().split()
            for word in ("row", "rows", "column", "columns", "component")
        )
    ]
    assert all("row 9" in line for line in left), left


SENTENCES = [
    "Rows and columns; a row of a component, an 1 row.",
    "rows.csv has 3 rows: --row-weights, rows:0.8, 'row', component(s)",
    "2 ones are missed, 1 zero is covered; a component a column",
    "Component 3: components",
]


@pytest.mark.parametrize(
    "words", ["roles", "biology", "baskets", "owner,unit/units,useful item", None]
)
def test_page_and_terminal_speak_alike(browser, words):
    known = Vocabulary.of(words)
    source = (files("elbmf.report") / "static" / "vocabulary.js").read_text(encoding="utf-8")
    given = {"pattern": known.pattern, "table": [*known.table.items()]}
    found = browser.run(
        f"{source}; speak(arguments[0]); return arguments[1].map(spoken)", given, SENTENCES
    )
    assert found == [known.spoken(each) for each in SENTENCES]
