"""The package: its public names, what they import, and folders that are as the README says."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import elbmf
from elbmf.estimators import METHODS

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "elbmf"
ENTRIES = sorted(path for path in PACKAGE.iterdir() if path.name != "__pycache__")
ROOMS = sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))


def test_the_public_names_are_there():
    for name in elbmf.__all__:
        assert getattr(elbmf, name) is not None
        assert name in dir(elbmf)
    with pytest.raises(AttributeError, match="module 'elbmf' has no attribute 'nothing'"):
        _ = elbmf.nothing


def run(code):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout


def test_packages_load_as_attributes():
    names = ("datasets", "plots", "io", "report", "relaxation")
    # Each from a package that is imported anew; what it needs of others is there already.
    code = f"""
import sys
for name in {names}:
    for module in [module for module in sys.modules if module.partition(".")[0] == "elbmf"]:
        del sys.modules[module]
    import elbmf
    print(getattr(elbmf, name).__name__)
"""
    assert run(code).split() == [f"elbmf.{name}" for name in names]
    assert set(names) <= set(dir(elbmf))


def test_methods_are_known_by_name_without_importing_them():
    code = "import sys, elbmf.estimators as e; print(len(e.METHODS), 'sklearn' in sys.modules)"
    assert run(code) == f"{len(METHODS)} False\n"


def test_the_package_can_be_seen_at_a_glance():
    assert len(ENTRIES) <= 22, "put what is new into a room"


def test_the_map_has_every_entry_and_no_other():
    text = (ROOT / "README.md").read_text("utf-8")
    table = text.partition("| room | what is in it |")[2].partition("\n\n")[0]
    named = re.findall(r"^\| `([^`]+)` \| \S", table, re.M)
    assert sorted(named) == sorted(
        f"{path.name}/" if path.is_dir() else path.name for path in ENTRIES
    )


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: path.stem)
def test_every_module_says_what_it_is(path):
    assert ast.get_docstring(ast.parse(path.read_text("utf-8")))


def test_every_folder_is_a_package():
    folders = {path.parent for path in PACKAGE.rglob("*.py")}
    assert all((folder / "__init__.py").exists() for folder in folders)


def test_every_room_has_its_tests_and_no_other_folder_has():
    folders = {path.parent.name for path in (ROOT / "tests").glob("*/test_*.py")}
    assert folders == {*ROOMS, "docs"}
