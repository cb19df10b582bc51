"""Reports of whole data sets in a browser, driven through all that people do there."""

import pytest
from browsing import Keys

from elbmf import ELBMF
from elbmf.datasets import make_tiles
from elbmf.io import LabelledMatrix, SavedModel
from elbmf.paper.catalog import open_prepared
from elbmf.report import write_report
from real_data import prepared

_ROWS = "return [...document.querySelectorAll('#components-table tbody tr')]"


def _real(name, label):
    data = open_prepared(prepared(name))
    model = ELBMF(8, max_iter=25, effort=0.02, random_state=0).fit(data.matrix.values)
    return model, data.matrix, data.row_labels[label]


def _generated():
    """Make a matrix of the shape of much data; its tiles are the components."""
    made = make_tiles(
        (20_000, 500_000), 12, height=(50, 300), width=(500, 4000), noise=5e-5, random_state=0
    )
    names = [f"patient {i}" for i in range(20_000)], [f"variant {j}" for j in range(500_000)]
    return SavedModel(made.U, made.V, *names), LabelledMatrix(made.A, *names), None


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda: _real("newsgroups20", "group"), id="newsgroups20"),
        pytest.param(lambda: _real("genomes1k_peddy", "superpop"), id="genomes1k_peddy"),
        pytest.param(_generated, id="20,000 × 500,000"),
    ],
)
def test_a_report_is_used(browser, tmp_path, make):
    model, data, labels = make()
    path = tmp_path / "report.html"
    write_report(path, model, data, labels=labels)
    assert path.stat().st_size < 10e6
    address = browser.open_page(path.read_text("utf-8"))
    n, m = data.shape
    assert f"{n:,} rows and {m:,} columns" in browser.one("#sentences").text
    _sort(browser)
    _open_by_keyboard(browser)
    _zoom(browser)
    _search(browser, data.column_names[m // 2])
    assert browser.one("#labels").is_displayed() == (labels is not None)
    assert browser.too_wide() == []
    errors, requests = browser.logs()
    assert errors == []
    assert {request.partition("#")[0] for request in requests} == {address}


def _sort(browser):
    browser.one("#components-table th[data-key=rows] button").click()
    shown = browser.run(f"{_ROWS}.map((row) => row.dataset.component)")
    browser.one("#components-table th[data-key=rows] button").click()
    assert sorted(shown) == sorted(browser.run(f"{_ROWS}.map((row) => row.dataset.component)"))
    assert shown != browser.run(f"{_ROWS}.map((row) => row.dataset.component)")


def _open_by_keyboard(browser):
    browser.run(f"{_ROWS}[0].focus()")
    browser.press(Keys.ARROW_DOWN, Keys.ENTER)
    second = browser.run(f"{_ROWS}[1].dataset.component")
    browser.until(
        "return document.getElementById('detail').dataset.shown === arguments[0]",
        f"component-{second}",
    )
    assert "of these cells are ones" in browser.one("#detail").text
    browser.press(Keys.ESCAPE)
    browser.until("return document.getElementById('detail').hidden")


def _zoom(browser):
    browser.at("#matrix-canvas", 200, 100).perform()
    before = browser.picture()
    browser.one("#zoom-in").click()
    closer = browser.other_picture(before)
    browser.run("document.getElementById('matrix-frame').focus()")
    browser.press(Keys.ARROW_RIGHT)
    moved = browser.other_picture(closer)
    browser.one("#zoom-reset").click()
    browser.other_picture(moved)


def _search(browser, name):
    browser.run("document.activeElement.blur()")
    browser.press("/")
    browser.press(*name)
    browser.until(
        """return [...document.querySelectorAll('#search-results [role=option]')]
          .some((each) => each.textContent.includes(arguments[0]))""",
        name,
    )
    browser.press(Keys.ENTER)
    browser.until("return /^column-/.test(document.getElementById('detail').dataset.shown || '')")
    assert name in browser.one("#detail").text
    browser.press(Keys.ESCAPE)
