"""What `write_report` returns: a path, which a notebook shows and a browser opens."""

import os
import webbrowser
from html.parser import HTMLParser
from pathlib import Path

import pytest

from elbmf import GreConD, write_report
from elbmf.datasets import make_tiles
from elbmf.errors import InputError
from elbmf.report import WrittenReport, written


@pytest.fixture
def report(tmp_path, monkeypatch):
    """A report below the folder that a notebook is in."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pages").mkdir()
    A = make_tiles((40, 30), 3, height=(10, 15), noise=0.05, random_state=0).A.toarray()
    return write_report("pages/a & <b> #1.html", GreConD(3).fit(A), A)


class _Tags(HTMLParser):
    def __init__(self, page):
        super().__init__()
        self.found = {}
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.found[tag] = dict(attrs)


def test_it_is_a_path(report):
    path = Path("pages/a & <b> #1.html")
    assert (report.path, str(report), os.fspath(report)) == (path, str(path), str(path))
    assert Path(report).is_file()
    with open(report, encoding="utf-8") as file:
        assert file.read().startswith("<!doctype html>")


def test_a_notebook_shows_the_page_and_where_it_is(report):
    shown = _Tags(report._repr_html_()).found
    assert list(shown) == ["p", "a", "iframe"]
    assert shown["a"]["href"] == "pages/a%20%26%20%3Cb%3E%20%231.html"
    assert "allow-same-origin" not in shown["iframe"]["sandbox"]
    page = Path(report).read_text(encoding="utf-8")
    assert shown["iframe"]["srcdoc"].replace(written._BASE, "") == page


def test_a_notebook_elsewhere_finds_no_link(report, tmp_path, monkeypatch):
    there = WrittenReport(report.path.absolute())
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert "a" not in _Tags(there._repr_html_()).found
    assert "iframe" in _Tags(there._repr_html_()).found


def test_a_large_page_is_linked_alone(report, monkeypatch):
    monkeypatch.setattr(written, "_MOST_SHOWN_BYTES", 1000)
    assert list(_Tags(report._repr_html_()).found) == ["p", "a"]
    assert "too large to be shown here" in report._repr_html_()


def test_a_browser_opens_it_where_there_is_one(report, monkeypatch):
    opened = []
    monkeypatch.setattr(webbrowser, "open", lambda address: opened.append(address) or True)
    report.open()
    assert opened == [report.path.absolute().as_uri()]
    monkeypatch.setattr(webbrowser, "open", lambda address: False)
    with pytest.raises(InputError, match="No browser was found"):
        report.open()


def test_what_is_gone_is_said_to_be(report):
    report.path.unlink()
    with pytest.raises(InputError, match="no longer there"):
        report.open()
    assert "no longer there" in report._repr_html_()
