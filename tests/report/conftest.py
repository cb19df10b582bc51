"""What tests of reports share."""

import pytest
from example import full

from elbmf.report.page import render


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    from browsing import Browser

    browser = Browser(tmp_path_factory.mktemp("browser"))
    yield browser
    browser.quit()


@pytest.fixture(scope="session")
def page():
    return render(full())


@pytest.fixture
def opened(browser, page):
    """Open a report with everything; afterwards nothing may have gone wrong."""
    browser.open_page(page)
    yield browser
    assert browser.logs()[0] == []
