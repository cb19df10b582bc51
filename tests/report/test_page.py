"""The page of a report as text: what is in it, and that names cannot become more than names."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from importlib.resources import files

import numpy as np
import pytest
from documents import document, factors, packed
from hypothesis import given
from hypothesis import strategies as st

from elbmf.report.page import _SCRIPTS, render
from strategies import examples

STATIC = files("elbmf.report") / "static"
A, U, V = factors(6, 5, 2)


class _Elements(HTMLParser):
    """Collects elements, and the text of scripts, styles and all else."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.elements, self.raw, self.text = [], [], []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_data(self, data):
        raw = self.cdata_elem is not None
        (self.raw if raw else self.text).append((self.elements[-1] if raw else None, data))

    def content(self, **wanted):
        return "".join(
            data for (_, attributes), data in self.raw if wanted.items() <= attributes.items()
        )


def _tags(page):
    return [tag for tag, _ in page.elements]


def test_the_document_comes_back_from_the_page():
    made = document(A, U, V, row_names=list("abcdef"), labels=list("xxyyxy"))
    parsed = _Elements(render(made))
    assert json.loads(parsed.content(id="document")) == json.loads(json.dumps(made))


names = st.lists(
    st.one_of(
        st.text(st.characters(exclude_categories=()), max_size=30),
        st.sampled_from(
            ["</script>", "<!--<script>", "]]>", "${title}", "$$", "\u2028", "\ud800", "\x00"]
        ),
    ),
    min_size=6,
    max_size=6,
)


@examples(15)
@given(names)
def test_no_name_becomes_markup(texts):
    plain = _Elements(render(document(A, U, V, row_names=["a"] * 6, labels=["a"] * 6)))
    made = document(A, U, V, row_names=texts, column_names=texts[:5], labels=texts, title=texts[0])
    made["summary"]["sentences"] = texts
    made["summary"]["warnings"] = texts[:2]
    made["recipe"]["parameters"] = dict.fromkeys(texts, texts[1])
    page = render(made)
    page.encode("utf-8")
    parsed = _Elements(page)
    assert [tag for tag in _tags(parsed) if tag != "p"] == [
        tag for tag in _tags(plain) if tag != "p"
    ]
    assert json.loads(parsed.content(id="document")) == json.loads(json.dumps(made))
    assert not re.search("[<>&\u2028\u2029]", parsed.content(id="document"))


def test_only_the_one_style_and_script_may_run():
    page = render(document(A, U, V))
    parsed = _Elements(page)
    policy = next(
        attributes["content"]
        for tag, attributes in parsed.elements
        if attributes.get("http-equiv") == "Content-Security-Policy"
    )

    def known(tag):
        source = re.search(f"<{tag}>(.*?)</{tag}>", page, re.DOTALL)[1]
        return base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()

    assert "default-src 'none'" in policy
    assert f"script-src 'sha256-{known('script')}'" in policy
    assert f"style-src 'sha256-{known('style')}'" in policy
    assert "unsafe" not in policy
    scripts = [attributes for tag, attributes in parsed.elements if tag == "script"]
    assert [each.get("type") for each in scripts] == ["application/json"] * 3 + [None]
    assert not any({"src", "style", "onclick"} & set(each) for _, each in parsed.elements)


def test_nothing_is_loaded_from_elsewhere():
    addresses = set(re.findall(r"(?:https?:)?//[\w.]+\.\w+[^\s\"']*", render(document(A, U, V))))
    # The name of a language of drawings, which is never looked up.
    assert addresses == {"http://www.w3.org/2000/svg"}


def test_every_script_is_used_and_none_writes_markup():
    scripts = {each.name for each in STATIC.iterdir() if each.name.endswith(".js")}
    assert scripts == set(_SCRIPTS)
    assert len(_SCRIPTS) == len(scripts)
    dangerous = re.compile(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment"
        r"|setHTML|DOMParser|srcdoc|\beval\b|new Function|javascript:|setAttribute\(\"style\""
    )
    for name in sorted(scripts):
        assert not dangerous.search((STATIC / name).read_text(encoding="utf-8")), name


def test_the_essentials_are_there_without_scripts():
    made = document(A, U, V, column_names=["<b>", "&amp;", "'\"", "d", "e"], title="What & <why>")
    made["summary"]["warnings"] = ["Beware of <i>"]
    text = " ".join(data for _, data in _Elements(render(made)).text)
    for expected in (
        *("What & <why>", "Beware of <i>", "6 rows and 5 columns were factorized"),
        *("<b>", "&amp;", "'\"", made["summary"]["rank"]["text"]),
    ):
        assert expected in text


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_what_is_not_finite_is_not_known(value):
    made = document(A, U, V)
    made["summary"]["measures"]["relative_loss"] = float(value)
    parsed = _Elements(render(made))
    assert json.loads(parsed.content(id="document"))["summary"]["measures"]["relative_loss"] is None


def test_names_of_lines_that_were_left_out():
    made = document(A, U, V)
    made["rows"] |= {"kept": packed([1, 4], "u4"), "names": packed(["one", "four"], "json")}
    made["components"][0]["top_rows"] = [(4, 1.0), (1, 0.9), (2, 0.8)]
    made["components"][1]["top_rows"] = []
    parsed = _Elements(render(made))
    assert any("four, one, 2" in data for _, data in parsed.text)
    first = json.loads(parsed.content(id="first-names"))
    assert first == {"rows": [[1, "one"], [4, "four"]], "columns": []}
