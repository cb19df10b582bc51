"""Reports as a browser shows them: search, sort, zoom, details, keys, dark, phone, print."""

import re

import numpy as np
import pytest
from browsing import Browser, Keys
from documents import document, factors, packed
from selenium.webdriver.support.ui import WebDriverWait

from elbmf.report.page import render

N, M, K = 60, 40, 4
A, U, V = factors(N, M, K)
# A row and a column that no component holds.
U[7], V[:, 9] = False, False
ROWS = [f"sample {row:02d}" for row in range(N)]
COLUMNS = [f"gene-{column:02d}" for column in range(M)]
LABELS = [f"kind {'ABC'[row % 3]}" for row in range(N)]
# Of the picture in the canvas, which has numbers of components at its left and top.
LEFT, TOP = 34, 20

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


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    browser = Browser(tmp_path_factory.mktemp("browser"))
    yield browser
    browser.quit()


def full(**changes):
    return document(A, U, V, row_names=ROWS, column_names=COLUMNS, labels=LABELS, **changes)


@pytest.fixture(scope="module")
def page():
    return render(full())


@pytest.fixture
def opened(browser, page):
    """Open a report with everything; afterwards nothing may have gone wrong."""
    browser.open_page(page)
    yield browser
    assert browser.logs()[0] == []


def covered_columns(component):
    return int(V[component].sum())


def order_of(memberships):
    return sorted(range(len(memberships)), key=lambda line: tuple(~memberships[line]))


def cell(browser, row_place, column_place):
    """Return the point in the middle of a cell of the whole matrix."""
    box = browser.one("#matrix-canvas").rect
    x = LEFT + (column_place + 0.5) * (box["width"] - LEFT) / M
    return x, TOP + (row_place + 0.5) * (box["height"] - TOP) / N


def picture(browser):
    """Return what the canvas shows, once it is drawn."""
    return browser.driver.execute_async_script(
        """const done = arguments[arguments.length - 1];
        requestAnimationFrame(() => requestAnimationFrame(() =>
          done(document.getElementById("matrix-canvas").toDataURL())))"""
    )


def differs(browser, before):
    """Wait for a picture other than one before, and return it."""
    wait = WebDriverWait(browser.driver, 20, 0.02)
    return wait.until(lambda _: (now := picture(browser)) != before and now)


def test_opens_without_errors_or_requests(browser, page):
    address = browser.open_page(page)
    errors, requests = browser.logs()
    assert errors == []
    assert requests == [address]
    assert browser.run("return performance.getEntriesByName('elbmf-shown').length") == 1
    assert browser.text("h1") != ""
    assert browser.one("#title").text == "A report"
    assert f"{N} rows and {M} columns" in browser.one("#sentences").text
    assert "Recall" in browser.one("#figures").text
    assert browser.one("#rank .chart").is_displayed()
    assert not browser.one("#plain").is_displayed()
    assert len(browser.all("#components-table tbody tr")) == K
    assert browser.one("#made pre").text == "elbmf fit data.csv --components 5 --seed 0"
    assert len(browser.all("#made .chart")) == 3


def test_table_sorts_by_each_column(opened):
    components = full()["components"]

    def shown():
        rows = "return [...document.querySelectorAll('#components-table tbody tr')]"
        return [int(each) for each in opened.run(f"{rows}.map((row) => row.dataset.component)")]

    for key in ("rows", "columns", "precision", "recall", "covered", "alone", "bits_saved"):
        values = [each[key] for each in components]
        header = f"#components-table th[data-key={key}]"
        for direction in ("descending", "ascending"):
            opened.one(f"{header} button").click()
            assert opened.one(header).get_attribute("aria-sort") == direction
            ordered = sorted(values, reverse=direction == "descending")
            assert [values[each] for each in shown()] == ordered
        assert len(opened.all("th[aria-sort]")) == 1
    opened.one("#components-table th[data-key=component] button").click()
    assert shown() == list(range(K))


def test_components_are_found_by_the_name_of_a_member(opened):
    column = int(np.flatnonzero(V.sum(axis=0) == 1)[-1])
    opened.type_into("#components-filter", COLUMNS[column].upper())
    opened.until(
        "return /^\\d+ component/.test(document.getElementById('components-note').textContent)"
    )
    rows = opened.all("#components-table tbody tr")
    assert [int(row.get_attribute("data-component")) for row in rows] == list(
        np.flatnonzero(V[:, column])
    )
    assert COLUMNS[column] in opened.texts(".match")[0]
    opened.type_into("#components-filter", "")
    assert len(opened.all("#components-table tbody tr")) == K


def test_search_tells_which_components_hold_a_row_and_why(opened):
    row = int(np.flatnonzero(U.sum(axis=1) >= 1)[3])
    opened.press("/")
    assert opened.focused().get_attribute("id") == "search-input"
    opened.press(ROWS[row])
    opened.until("return document.querySelectorAll('[aria-selected=true]').length")
    assert "row" in opened.one("#search-results [aria-selected=true]").text
    opened.press(Keys.ENTER)
    opened.until("return document.getElementById('detail').dataset.shown")
    assert opened.one("#detail-title").text == ROWS[row]
    reasons = opened.texts(".reasons li > span:first-child")
    assert reasons == [
        f"has {int((A[row] & V[held]).sum())} of the {covered_columns(held)} columns"
        f" of component {held}"
        for held in np.flatnonzero(U[row])
    ]
    assert f"label {LABELS[row]}" in opened.one("#detail").text
    before = picture(opened)
    opened.one(".detail-content > button").click()
    differs(opened, before)


def test_search_lists_names_that_begin_with_the_text_first(opened):
    opened.type_into("#search-input", "gene-1")
    opened.until("return document.querySelectorAll('[aria-selected=true]').length")
    assert opened.texts("#search-results .what") == [f"gene-1{i}" for i in range(10)]
    opened.press(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_UP)
    chosen = opened.focused().get_attribute("aria-activedescendant")
    assert opened.one(f"#{chosen} .what").text == "gene-11"
    opened.press(Keys.ESCAPE)
    assert not opened.one("#search-popup").is_displayed()


def test_lines_in_no_component_say_what_they_would_fit(opened):
    opened.go("row-7")
    support = A[7].astype(int) @ V.T
    best = int(support.argmax())
    assert "In no component" in opened.one("#detail").text
    assert opened.texts(".reasons li > span:first-child") == [
        f"has {support[best]} of the {covered_columns(best)} columns of component {best}"
    ]
    opened.go("column-1000")
    assert "no such column" in opened.one("#detail").text


def test_pointing_at_the_matrix_tells_what_is_there(opened):
    rows, columns = order_of(U), order_of(V.T)
    for row_place, column_place in ((3, 2), (30, 20), (N - 1, M - 1)):
        opened.at("#matrix-canvas", *cell(opened, row_place, column_place)).perform()
        row, column = rows[row_place], columns[column_place]
        opened.until(
            "return document.getElementById('matrix-readout').textContent.includes(arguments[0])",
            f"{ROWS[row]} × {COLUMNS[column]}",
        )
        told = opened.one("#matrix-readout").text
        held = np.flatnonzero(U[row] & V[:, column])
        assert [int(each) for each in re.findall(r"component (\d+)", told)] == list(held)
        expected = {(1, 1): "a one, covered", (1, 0): "a one, missed", (0, 1): "but covered"}
        assert expected.get((int(A[row, column]), int(len(held) > 0)), "a zero") in told


def test_clicking_a_place_opens_its_component(opened):
    rows, columns = order_of(U), order_of(V.T)
    opened.at("#matrix-canvas", *cell(opened, 1, 1)).click().perform()
    opened.until("return document.getElementById('detail').dataset.shown")
    held = np.flatnonzero(U[rows[1]] & V[:, columns[1]])
    assert opened.run("return location.hash") in [f"#component-{each}" for each in held]


def test_matrix_zooms_and_moves(opened):
    opened.until("return document.getElementById('matrix-canvas').clientWidth > 0")
    canvas = opened.one("#matrix-canvas")
    whole = picture(opened)
    zoomed = "return document.getElementById('matrix-frame').classList.contains('zoomed')"
    # A wheel that has just moved the page does not zoom.
    opened.at("#matrix-canvas", 200, 100).pause(0.4).perform()
    opened.run(
        """arguments[0].dispatchEvent(new WheelEvent("wheel", {deltaY: -300, cancelable: true,
        clientX: arguments[0].getBoundingClientRect().left + 200,
        clientY: arguments[0].getBoundingClientRect().top + 100}))""",
        canvas,
    )
    assert opened.run(zoomed)
    by_wheel = picture(opened)
    opened.at("#matrix-canvas", 300, 150).click_and_hold().move_by_offset(
        60, 40
    ).release().perform()
    dragged = picture(opened)
    opened.run("document.getElementById('matrix-frame').focus()")
    opened.press(Keys.ARROW_RIGHT, Keys.ARROW_DOWN)
    moved = picture(opened)
    opened.press("+")
    closer = picture(opened)
    assert len({whole, by_wheel, dragged, moved, closer}) == 5
    assert opened.run("return document.getElementById('detail').hidden")
    opened.press("0")
    assert not opened.run(zoomed)
    opened.one("#zoom-in").click()
    assert opened.run(zoomed)
    opened.at("#matrix-canvas", 300, 150).double_click().perform()
    assert not opened.run(zoomed)
    assert opened.run("return document.getElementById('detail').hidden")


def test_matrix_shows_data_reconstruction_or_errors(opened):
    pictures = set()
    for mode, legend in (
        ("errors", "covered ones missed ones covered zeros"),
        ("data", "ones"),
        ("reconstruction", "covered cells"),
    ):
        opened.one(f"[data-mode={mode}]").click()
        pictures.add(picture(opened))
        assert opened.one("#matrix-legend").text.split() == legend.split()
        assert opened.one(f"[data-mode={mode}]").get_attribute("aria-checked") == "true"
    assert len(pictures) == 3
    assert f"{K} components show as blocks" in opened.text("#matrix-text")


def test_detail_of_a_component(browser):
    A, U, V = factors(200, 50, 2, seed=1)
    browser.open_page(
        render(document(A, U, V, row_names=[f"r{i}" for i in range(200)])), "#component-1"
    )
    rows, columns = int(U[:, 1].sum()), int(V[1].sum())
    share = 100 * A[np.ix_(U[:, 1], V[1])].mean()
    lead = browser.until("return document.querySelector('.lead')?.textContent")
    assert f"Component 1: {rows} rows share {columns} columns; {share:.0f} % of these" in lead
    browser.run("document.querySelectorAll('.members')[1].id = 'all-rows'")
    while browser.all("#all-rows + .more"):
        count = len(browser.texts("#all-rows li"))
        browser.run("document.querySelector('#all-rows + .more').click()")
        browser.until(
            "return document.querySelectorAll('#all-rows li').length > arguments[0]", count
        )
    shown = browser.texts("#all-rows a")
    assert sorted(shown) == sorted(f"r{row}" for row in np.flatnonzero(U[:, 1]))
    fits = A[np.ix_(U[:, 1], V[1])].mean(axis=1)
    assert browser.texts("#all-rows .fit")[0] == f"{100 * fits.max():.0f} %"
    text = browser.one("#detail").text
    for part in ("Where it errs", "Members that fit worst", "Outside, but would nearly fit"):
        assert part in text
    assert browser.one(".block-picture canvas").is_displayed()
    assert browser.logs()[0] == []


def test_overlaps_lead_to_other_components(opened):
    opened.go("component-1")
    other = next(each for each in full()["components"][1]["overlaps"])["component"]
    opened.one(f"#detail table a[href='#component-{other}']").click()
    opened.until(
        "return document.getElementById('detail').dataset.shown === arguments[0]",
        f"component-{other}",
    )
    assert opened.one("#components-table [aria-current]").get_attribute("data-component") == str(
        other
    )


def test_keys(opened):
    opened.press("?")
    assert opened.one("#keys").is_displayed()
    opened.press(Keys.ESCAPE)
    assert not opened.one("#keys").is_displayed()
    opened.run("document.querySelector('#components-table tbody tr').focus()")
    opened.press(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_UP)
    assert opened.focused().get_attribute("data-component") == "1"
    opened.press(Keys.ENTER)
    opened.until("return document.getElementById('detail').dataset.shown === 'component-1'")
    assert opened.focused().get_attribute("id") == "detail-title"
    opened.press("n")
    opened.until("return document.getElementById('detail').dataset.shown === 'component-2'")
    opened.press("p")
    opened.until("return document.getElementById('detail').dataset.shown === 'component-1'")
    opened.press(Keys.ESCAPE)
    opened.until("return document.getElementById('detail').hidden")
    assert opened.focused().get_attribute("data-component") == "1"
    opened.driver.back()
    opened.until("return document.getElementById('detail').dataset.shown === 'component-1'")


def test_labels(opened):
    labels = full()["labels"]
    assert opened.texts(".classes td:first-child") == [each["name"] for each in labels["classes"]]
    assert len(opened.all(".heat")) == K * len(labels["classes"])
    best = labels["classes"][0]["component"]
    opened.run("document.querySelector('.classes a').click()")
    opened.until(
        "return document.getElementById('detail').dataset.shown === arguments[0]",
        f"component-{best}",
    )


def test_light_and_dark_can_be_read(opened):
    opened.go("component-1")
    light = opened.one("body").value_of_css_property("background-color")
    assert opened.faint() == []
    in_light = picture(opened)
    opened.prefer("dark")
    assert opened.one("body").value_of_css_property("background-color") != light
    assert opened.faint() == []
    differs(opened, in_light)
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


def test_fingers(opened):
    opened.size(390, 844, phone=True)
    script = "arguments[0].scrollIntoView({block: 'center'})"
    opened.run(script, opened.one("#matrix-canvas"))
    left, top = opened.run(
        "const box = document.getElementById('matrix-canvas').getBoundingClientRect();"
        "return [box.left, box.top]"
    )
    x, y = cell(opened, 3, 2)
    opened.touch([(left + x, top + y)])
    row, column = order_of(U)[3], order_of(V.T)[2]
    opened.until(
        "return document.getElementById('matrix-readout').textContent.includes(arguments[0])",
        f"{ROWS[row]} × {COLUMNS[column]}",
    )
    assert opened.run("return document.getElementById('detail').hidden")
    before = picture(opened)
    middle = (left + 150, top + 100)
    opened.touch(
        *(
            [(middle[0] - step, middle[1]), (middle[0] + step, middle[1])]
            for step in (20, 30, 45, 60)
        )
    )
    differs(opened, before)
    assert opened.run("return document.querySelector('.matrix.zoomed') !== null")


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
            assert title == name[:199] + "…"
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
    picture(browser)
    browser.type_into("#search-input", "1")
    browser.until("return /found/i.test(document.getElementById('search-note').textContent)")
    assert not re.search("NaN|undefined|null", browser.run("return document.body.innerText"))
    assert browser.logs() == ([], [address])
