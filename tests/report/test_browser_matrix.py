"""The matrix of a report in a browser: pointing, zoom, modes, fingers."""

import re

import numpy as np
from browsing import Keys
from example import COLUMNS, ROWS, A, K, M, N, U, V, order_of

# Of the picture in the canvas, which has numbers of components at its left and top.
LEFT, TOP = 34, 20


def cell(browser, row_place, column_place):
    """Return the point in the middle of a cell of the whole matrix."""
    box = browser.one("#matrix-canvas").rect
    x = LEFT + (column_place + 0.5) * (box["width"] - LEFT) / M
    return x, TOP + (row_place + 0.5) * (box["height"] - TOP) / N


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
    x, y = cell(opened, 1, 1)
    far_x, far_y = cell(opened, N - 1, M - 1)
    # Where the pointer goes meanwhile does not matter.
    away = round(far_x - x), round(far_y - y)
    opened.at("#matrix-canvas", x, y).click().move_by_offset(*away).perform()
    opened.until("return document.getElementById('detail').dataset.shown")
    held = np.flatnonzero(U[rows[1]] & V[:, columns[1]])
    assert opened.run("return location.hash") in [f"#component-{each}" for each in held]


def test_enter_opens_what_is_in_the_middle(opened):
    held = np.flatnonzero(U[order_of(U)[N // 2]] & V[:, order_of(V.T)[M // 2]])
    opened.run("document.getElementById('matrix-frame').focus()")
    opened.press(Keys.ENTER)
    shown = opened.until("return document.getElementById('detail').dataset.shown")
    assert shown in [f"component-{each}" for each in held]


def test_matrix_zooms_and_moves(opened):
    opened.until("return document.getElementById('matrix-canvas').clientWidth > 0")
    canvas = opened.one("#matrix-canvas")
    whole = opened.picture()
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
    by_wheel = opened.picture()
    opened.at("#matrix-canvas", 300, 150).click_and_hold().move_by_offset(
        60, 40
    ).release().perform()
    dragged = opened.picture()
    opened.run("document.getElementById('matrix-frame').focus()")
    opened.press(Keys.ARROW_RIGHT, Keys.ARROW_DOWN)
    moved = opened.picture()
    opened.press("+")
    closer = opened.picture()
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
        pictures.add(opened.picture())
        assert opened.one("#matrix-legend").text.split() == legend.split()
        assert opened.one(f"[data-mode={mode}]").get_attribute("aria-checked") == "true"
    assert len(pictures) == 3
    assert f"{K} components show as blocks" in opened.text("#matrix-text")


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
    before = opened.picture()
    middle = (left + 150, top + 100)
    opened.touch(
        *(
            [(middle[0] - step, middle[1]), (middle[0] + step, middle[1])]
            for step in (20, 30, 45, 60)
        )
    )
    opened.other_picture(before)
    assert opened.run("return document.querySelector('.matrix.zoomed') !== null")
