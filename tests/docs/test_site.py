"""The site is built, without warnings, and asks nothing of the network."""

import importlib
import inspect
import re
import shutil
import subprocess
import sys
import zlib

import pytest
from pages import DOCS, ROOT

import elbmf
from elbmf.cli.registry import COMMANDS

pytestmark = pytest.mark.docs

# Modules whose public names the reference has.
_MODULES = sorted(
    re.search(r"automodule:: ([\w.]+)", page.read_text("utf-8"))[1]
    for page in (DOCS / "api").glob("*.md")
    if page.stem != "index"
)


@pytest.mark.slow
def test_the_site(tmp_path):
    """One test, so that it is built once: all but the gallery, whose examples take their time."""
    # A copy, for the build writes beside the pages; pictures that are there need not be drawn.
    made = shutil.ignore_patterns("gallery", "__pycache__")
    shutil.copytree(DOCS, tmp_path / "docs", ignore=made)
    shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=made)
    shutil.copy(ROOT / "CHANGELOG.md", tmp_path)
    site = tmp_path / "site"
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-n", "-q"]
    done = subprocess.run(
        [
            *command,
            "-D",
            "plot_gallery=0",
            "-D",
            "report_effort=0",
            str(tmp_path / "docs"),
            str(site),
        ],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-5000:]
    _assert_nothing_is_asked_of_the_network(site)
    _assert_every_public_name_is_in_the_reference(site)
    _assert_the_command_line_is_in_the_reference(site)


def _assert_nothing_is_asked_of_the_network(site):
    remote = re.compile(
        rb"<(?:script|link|img|iframe|source)[^>]*\s(?:src|href)=\"(?:https?:)?//"
        rb"|@import\s+url\(|url\(['\"]?(?:https?:)?//"
    )
    pages = [*site.rglob("*.html"), *site.rglob("*.css")]
    assert len(pages) > 50
    for page in pages:
        found = remote.search(page.read_bytes())
        assert not found, f"{page}: {found[0]}"


def _assert_every_public_name_is_in_the_reference(site):
    assert {"elbmf.io", "elbmf.estimators", "elbmf.plots", "elbmf.datasets"} <= set(_MODULES)
    lines = (site / "objects.inv").read_bytes().split(b"\n", 4)
    names = {line.split(" ", 1)[0] for line in zlib.decompress(lines[4]).decode().splitlines()}
    for module in _MODULES:
        public = importlib.import_module(module)
        for name in public.__all__:
            # Tables and numbers are told of where they are used.
            if inspect.isroutine(getattr(public, name)) or inspect.isclass(getattr(public, name)):
                assert f"{module}.{name}" in names, f"{module}.{name}"
    last = {name.rsplit(".", 1)[-1] for name in names}
    assert set(elbmf.__all__) - {"__version__"} <= last


def _assert_the_command_line_is_in_the_reference(site):
    page = (site / "commands.html").read_text("utf-8")
    for command in COMMANDS:
        assert f'id="elbmf-{command.name}"' in page
    assert "--extra-weight" in page
