"""Links between pages, and paths and commands that they name, lead somewhere."""

import re

import pytest
from pages import DOCS, ROOT, pages

from elbmf.cli.registry import COMMANDS
from elbmf.estimators import METHODS

# Folders of the package whose files are named without it.
_PACKAGE = ROOT / "src" / "elbmf"
_ROOMS = sorted(path.parent.name for path in _PACKAGE.glob("*/__init__.py"))

# What the build makes: pictures by name, and the gallery.
_PICTURES = re.compile(r"_pictures/([\w-]+)\.svg$")


def _prose(text):
    return re.sub(r"^(`{3,}).*?^\1$", "", text, flags=re.M | re.S)


@pytest.mark.parametrize("name", pages())
def test_links_lead_somewhere(name, monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS))
    path = pages()[name]
    for target in re.findall(r"\]\(([^)\s]+)\)", _prose(path.read_text("utf-8"))):
        if re.match(r"https?:", target):
            continue
        file, _, anchor = target.partition("#")
        if match := _PICTURES.search(file):
            assert match[1] in _pictures(), target
        elif file.endswith("gallery/index.rst"):
            assert (ROOT / "examples" / "GALLERY_HEADER.rst").exists()
        else:
            other = (path.parent / file).resolve() if file else path
            assert other.exists(), target
            if anchor:
                assert anchor in _anchors(other.read_text("utf-8")), target


@pytest.mark.parametrize("name", pages())
def test_files_exist(name):
    text = pages()[name].read_text("utf-8")
    named = re.findall(r"(?<![\w/.])((?:benchmarks|tests|docs|examples|elbmf)/[\w./-]+\.\w+)", text)
    named += re.findall(rf"`((?:{'|'.join(_ROOMS)})/[\w./]*)`", text)
    named += re.findall(r"`(\w+\.py)`", text)
    for file in named:
        places = (ROOT / file, ROOT / "src" / file, _PACKAGE / file)
        assert any(place.exists() for place in places), file


@pytest.mark.parametrize("name", pages())
def test_commands_and_methods_exist(name):
    text = pages()[name].read_text("utf-8")
    known = {command.name for command in COMMANDS} | {"COMMAND"}
    assert set(re.findall(r"\belbmf ([a-z]+)(?=[ `\n])", "\n".join(_commands(text)))) <= known
    assert set(re.findall(r"--method (\w+)", text)) <= {*METHODS, "NAME", "drawn"}


def test_every_method_has_a_page():
    assert {path.stem for path in (DOCS / "methods").glob("*.md")} == {*METHODS, "index"} - {
        "elbmf"
    }


def _commands(text):
    """Return what stands in code, in line or in blocks."""
    return re.findall(r"`(elbmf [^`]*)`", text) + re.findall(r"^\$ (elbmf .*)$", text, re.M)


def _pictures():
    from pictures import method, printed, rivals

    return {*method.PICTURES, *printed.PICTURES, *rivals.PICTURES}


def _anchors(text):
    headings = re.findall(r"^#+ (.*)$", _prose(text), re.M)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
