"""The site is built, without warnings, and asks nothing of the network."""

import importlib
import re
import subprocess
import sys
import zlib

import pytest
from pages import DOCS, ROOT

import elbmf

# Modules whose public names the reference has.
_MODULES = sorted(
    re.search(r"automodule:: ([\w.]+)", page.read_text("utf-8"))[1]
    for page in (DOCS / "api").glob("*.md")
    if page.stem != "index"
)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Build all but the gallery, whose examples take their time, and the pictures."""
    pytest.importorskip("sphinx", reason="sphinx is not installed: pip install 'elbmf[docs]'")
    out = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-n", "-q"]
    options = ["-D", "plot_gallery=0", "-j", "1", "-d", str(out / "kept")]
    done = subprocess.run(
        [*command, *options, str(DOCS), str(out / "html")],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr[-5000:]
    return out / "html"


def test_pages_ask_nothing_of_the_network(site):
    remote = re.compile(
        rb"<(?:script|link|img|iframe|source)[^>]*\s(?:src|href)=\"(?:https?:)?//"
        rb"|@import\s+url\(|url\(['\"]?(?:https?:)?//"
    )
    pages = [*site.rglob("*.html"), *site.rglob("*.css")]
    assert len(pages) > 50
    for page in pages:
        found = remote.search(page.read_bytes())
        assert not found, f"{page}: {found[0]}"


def test_every_public_name_is_in_the_reference(site):
    assert {"elbmf.io", "elbmf.estimators", "elbmf.plots", "elbmf.datasets"} <= set(_MODULES)
    lines = (site / "objects.inv").read_bytes().split(b"\n", 4)
    listed = zlib.decompress(lines[4]).decode()
    names = {line.split(" ", 1)[0] for line in listed.splitlines()}
    for module in _MODULES:
        for name in importlib.import_module(module).__all__:
            thing = getattr(importlib.import_module(module), name)
            # Tables and numbers are told of where they are used.
            if callable(thing) and getattr(thing, "__doc__", None):
                assert f"{module}.{name}" in names, f"{module}.{name}"
    last = {name.rsplit(".", 1)[-1] for name in names}
    assert set(elbmf.__all__) - {"__version__"} <= last


def test_the_command_line_is_in_the_reference(site):
    from elbmf.cli.registry import COMMANDS

    page = (site / "commands.html").read_text("utf-8")
    for command in COMMANDS:
        assert f'id="elbmf-{command.name}"' in page
    assert "--extra-weight" in page
