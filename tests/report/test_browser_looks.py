"""Reports in a browser as they come: dark, small, printed, with hostile names, of any shape."""

import re

import numpy as np
import pytest
from browsing import Keys
from documents import document, factors, packed
from example import COLUMNS, LABELS, ROWS, A, M, N, U, V

from elbmf.report.page import render
from elbmf.utils.text import shortened

HOSTILE = [
    "<script>alert(1)</script>",
    "</script><script>window.harmed = true</script>",
    "<img src=x onerror='window.harmed = true'>",
    "\"quoted\" 'twice' `thrice`",
    "two\nlines\r\nand\ttabs",
    "\u202eright to left override",
    "\u05e2\u05d1\u05e8\u05d9\u05ea \u0627\u0644\u0639\u0631\u0628\u064a\u0629",
    "\U0001f469\u200d\U0001f469\u200d\U0001f467 emoji \U0001f600",
    "e\u0301" + "\u0301" * 60,
    "x" * 10_000,
    "\u200b",
    "",
    " ",
    "twin",
    "twin",
    "__proto__",
    "constructor",
    "\ud83d lone surrogate",
    "\x00\x07\x1b control",
    "&lt;b&gt; ${7*7} {{7*7}}",
]


def test_light_and_dark_can_be_read(opened):
    opened.go("component-1")
    light = opened.one("body").value_of_css_property("background-color")
    assert opened.faint() == []
    in_light = opened.picture()
    opened.prefer("dark")
    assert opened.one("body").value_of_css_property("background-color") != light
    assert opened.faint() == []
    opened.other_picture(in_light)
    opened.one("#theme").click()
    assert opened.one("body").value_of_css_property("background-color") == light
    opened.run("localStorage.clear(); delete document.documentElement.dataset.theme")


def test_fits_on_a_phone(opened):
    opened.size(390, 844, phone=True)
    assert opened.too_wide() == []
    bottom = opened.run("return document.getElementById('rank').getBoundingClientRect().top")
    assert bottom < 844
    opened.go("component-1")
    assert opened.too_wide() == []
    assert opened.run("return document.getElementById('main').inert")
    opened.one("#close-detail").click()
    assert not opened.run("return document.getElementById('main').inert")
    opened.at("#matrix-canvas", 100, 100).perform()
    opened.type_into("#search-input", "gene")
    opened.until("return document.querySelectorAll('[aria-selected=true]').length")
    assert opened.too_wide() == []


def test_without_scripts_the_summary_is_there(browser, page):
    address = browser.open_page(page)
    browser.allow_scripts(False)
    try:
        browser.driver.get(address)
        text = browser.one("#plain").text
        for part in ("need scripts", "A report", f"{N} rows and {M} columns", COLUMNS[0]):
            assert part in text
        assert not browser.one("#app").is_displayed()
    finally:
        browser.allow_scripts(True)


def test_prints(opened):
    opened.prefer("dark")
    pages = len(re.findall(rb"/Type\s*/Page\b", opened.pdf()))
    assert 2 <= pages < 10
    opened.prefer("dark", media="print")
    for hidden in (".bar", "#components-filter", "#matrix-zoom", "#matrix-readout"):
        assert not opened.one(hidden).is_displayed()
    for shown in ("#title", "#figures", "#matrix-canvas", "#components-table", "#labels", "#made"):
        assert opened.one(shown).is_displayed()
    assert (
        opened.run("return getComputedStyle(document.querySelector('td.covered')).display")
        != "none"
    )


@pytest.mark.parametrize("width", [1280, 390])
def test_hostile_names_are_shown_as_text(browser, width):
    n, m = 40, 20
    A, U, V = factors(n, m, 3, seed=2)
    columns = (HOSTILE * 2)[:m]
    made = document(
        A,
        U,
        V,
        row_names=(HOSTILE * 3)[:n],
        column_names=columns,
        labels=(HOSTILE * 3)[:n],
        title=HOSTILE[0],
    )
    made["summary"]["sentences"] = HOSTILE[:10]
    made["summary"]["warnings"] = HOSTILE[:6]
    made["recipe"]["parameters"] = {name: name for name in HOSTILE}
    made["recipe"]["command"] = HOSTILE[1] + HOSTILE[9]
    made["components"][0]["labels"] = [
        {"name": name, "size": 3, "overlap": 2, "fold": 2.0, "log10_p": -5.0, "members": HOSTILE}
        for name in HOSTILE
    ]
    address = browser.open_page(render(made))
    browser.size(width, 900, phone=width < 1000)
    assert browser.text("#title") == HOSTILE[0]
    assert browser.too_wide() == []
    browser.type_into("#search-input", "<script>alert(1)")
    browser.until("return document.querySelectorAll('[aria-selected=true]').length")
    assert set(browser.texts("#search-results .what")) == {HOSTILE[0]}
    assert browser.too_wide() == []
    browser.press(Keys.ESCAPE)
    for component in range(3):
        browser.go(f"component-{component}")
        assert browser.too_wide() == []
    for column, name in enumerate(columns):
        browser.go(f"column-{column}")
        assert browser.too_wide() == []
        title = browser.text("#detail-title")
        if name in HOSTILE[:4]:
            assert title == name
        elif name.strip() == "":
            assert title == ("no name" if name == "" else "blank name")
        elif len(name) > 1000:
            assert title == shortened(name, 200)
    assert not browser.run("return window.harmed")
    assert not browser.all("main img, aside img, main script")
    assert browser.run("return ({}).polluted") is None
    assert browser.logs() == ([], [address])


def _kept(made):
    """Leave out most rows and columns."""
    for side in ("rows", "columns"):
        held = np.ones(5, dtype=int)
        made[side] |= {
            "kept": packed(range(0, 10, 2), "u4"),
            "names": packed([f"kept {i}" for i in range(5)], "json"),
            "place": packed(range(5, 10), "u4"),
            "ones": packed(held, "u4"),
            "held": packed(held, "u1"),
            "holders": packed(held, "u1"),
            "support": packed(held, "u1"),
            "nearest": packed(held, "u2"),
            "nearest_support": packed(held, "u1"),
        }
    return made


def _many(k):
    return document(*factors(k, k, k), labels=[f"{i % 70}" for i in range(k)])


def _emptied():
    A, U, V = factors(30, 20, 3)
    U[:, 1], V[2] = False, False
    return document(A, U, V)


SHAPES = {
    "one component": lambda: document(*factors(30, 20, 1), row_names=ROWS[:30]),
    "one row and column": lambda: document(*factors(1, 1, 1)),
    "200 components": lambda: _many(200),
    "without data": lambda: document(A, U, V, row_names=ROWS, labels=LABELS, data=False),
    "without names": lambda: document(A, U, V),
    "empty components": _emptied,
    "all empty": lambda: document(A, U & False, V & False),
    "some lines kept": lambda: _kept(document(A, U, V)),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_opens(browser, shape):
    made = SHAPES[shape]()
    address = browser.open_page(render(made))
    assert browser.too_wide() == []
    last = len(made["components"]) - 1
    assert len(browser.all("#components-table tbody tr")) == last + 1
    assert browser.one("#labels").is_displayed() == (made["labels"] is not None)
    for place in (
        f"component-{last}",
        "component-0",
        "row-0",
        "column-0",
        "row-1",
        "component-999",
    ):
        browser.go(place)
        assert browser.too_wide() == []
    box = browser.one("#matrix-canvas").rect
    browser.at("#matrix-canvas", box["width"] * 0.6, box["height"] * 0.6).perform()
    browser.until("return /component/.test(document.getElementById('matrix-readout').textContent)")
    for button in ("zoom-in", "zoom-blocks", "zoom-reset"):
        browser.run("document.getElementById(arguments[0]).click()", button)
    browser.picture()
    browser.type_into("#search-input", "1")
    browser.until("return /found/i.test(document.getElementById('search-note').textContent)")
    assert not re.search("NaN|undefined|null", browser.run("return document.body.innerText"))
    assert browser.logs() == ([], [address])
