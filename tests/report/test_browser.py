"""Reports in a browser: table, search, details, keys and labels."""

import numpy as np
from browsing import Keys
from documents import document, factors
from example import COLUMNS, LABELS, ROWS, A, K, M, N, U, V, full

from elbmf.report import WrittenReport
from elbmf.report.page import render
from elbmf.utils.text import percent


def covered_columns(component):
    return int(V[component].sum())


def test_opens_without_errors_or_requests(browser, page):
    address = browser.open_page(page)
    errors, requests = browser.logs()
    assert errors == []
    assert requests == [address]
    assert browser.run("return performance.getEntriesByName('elbmf-shown').length") == 1
    assert browser.text("h1") != ""
    assert browser.one("#title").text == "A report"
    assert f"{N} rows and {M} columns" in browser.one("#sentences").text
    greatest = int(np.argmax([each["covered"] for each in full()["components"]]))
    link = browser.one("#sentences a")
    assert link.text == f"Component {greatest}"
    assert link.get_attribute("href").endswith(f"#component-{greatest}")
    assert "Recall" in browser.one("#figures").text
    assert browser.one("#rank .chart").is_displayed()
    assert not browser.one("#plain").is_displayed()
    assert len(browser.all("#components-table tbody tr")) == K
    assert browser.one("#made pre").text == "elbmf fit data.csv --components 5 --seed 0"
    assert len(browser.all("#made .chart")) == 3


def test_table_sorts_by_each_column(opened):
    opened.size(1600, 900)  # beside the best label and set, there is less room
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


def test_shares_are_written_as_in_sentences(browser):
    shares = [0, 0.00003, 0.0004, 0.03, 0.0996, 0.5, 0.934, 0.9996, 1]
    made = document(*factors(90, 40, len(shares)))
    for each, share in zip(made["components"], shares, strict=True):
        each["precision"] = share
    browser.open_page(render(made))
    written = [
        percent(share).replace("less than", "<").replace("more than", ">") for share in shares
    ]
    assert browser.texts("#components-table td.precision") == written


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
    before = opened.picture()
    opened.one(".detail-content > button").click()
    opened.other_picture(before)


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


def test_detail_of_a_component(browser):
    A, U, V = factors(200, 50, 2, seed=1)
    browser.open_page(
        render(document(A, U, V, row_names=[f"r{i}" for i in range(200)])), "#component-1"
    )
    rows, columns = int(U[:, 1].sum()), int(V[1].sum())
    share = percent(A[np.ix_(U[:, 1], V[1])].mean()).replace(" ", "\u00a0")
    lead = browser.until("return document.querySelector('.lead')?.textContent")
    assert f"Component 1: {rows} rows share {columns} columns; {share} of these" in lead
    browser.run("document.querySelectorAll('.members')[1].id = 'all-rows'")
    while browser.all("#all-rows + .more"):
        count = len(browser.texts("#all-rows li"))
        browser.run("document.querySelector('#all-rows + .more').click()")
        browser.until(
            "return document.querySelectorAll('#all-rows li').length > arguments[0]", count
        )
    shown = browser.texts("#all-rows a")
    fits = A[:, V[1]].sum(axis=1)
    ranked = sorted(np.flatnonzero(U[:, 1]), key=lambda row: (-fits[row], A[row].sum()))
    assert shown == [f"r{row}" for row in ranked]
    assert browser.texts("#all-rows .fit")[0] == percent(fits[ranked[0]] / columns)
    text = browser.one("#detail").text
    for part in ("Where it errs", "Members that hardly belong", "Outside, nearest to it"):
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
    assert opened.texts("#labels .classes td:first-child") == [
        each["name"] for each in labels["classes"]
    ]
    assert len(opened.all(".heat")) == K * len(labels["classes"])
    best = labels["classes"][0]["best"]["component"]
    opened.run("document.querySelector('#labels .classes a').click()")
    opened.until(
        "return document.getElementById('detail').dataset.shown === arguments[0]",
        f"component-{best}",
    )


def test_many_components_and_labels(browser):
    labels = full()["labels"]
    classes = [labels["classes"][0] | {"name": f"label {at}"} for at in range(500)]
    many = labels | {"classes": classes, "nmi": [[0.5] * 500] * 1000, "order": list(range(1000))}
    browser.open_page(render(full() | {"labels": many}))
    assert browser.logs()[0] == []
    assert len(browser.all(".heat-map")) == 1


def test_costs_are_not_called_wrong_cells(browser):
    made = document(*factors(30, 20, 2))
    for weight, title in (("1.0", "Wrong cells after"), ("0.25", "Cost, errors weighed, after")):
        made["recipe"]["parameters"] = {"extra_weight": weight}
        browser.open_page(render(made))
        assert f"{title} each stage" in browser.texts("#made h3")


def test_within_a_notebook_its_addresses_are_its_own(browser, page, tmp_path):
    (tmp_path / "report.html").write_text(page, encoding="utf-8")
    notebook = tmp_path / "notebook.html"
    shown = WrittenReport(tmp_path / "report.html")._repr_html_()
    notebook.write_text(f"<!doctype html><title>A notebook</title>{shown}", encoding="utf-8")
    browser.size(1280, 900)
    browser.driver.get(notebook.as_uri())
    browser.driver.switch_to.frame(browser.one("iframe"))
    try:
        browser.until("return 'ready' in document.documentElement.dataset")
        browser.one("#sentences a").click()
        browser.until("return document.getElementById('detail').dataset.shown")
        browser.press(Keys.ESCAPE)
        browser.until("return !document.getElementById('detail').dataset.shown")
        browser.one('nav a[href="#components"]').click()
        assert browser.run("return location.href") == "about:srcdoc#components"
        assert browser.one("#components-table").is_displayed()
    finally:
        browser.driver.switch_to.default_content()
    assert browser.driver.title == "A notebook"
    assert browser.logs()[0] == []
