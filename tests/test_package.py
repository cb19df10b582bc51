"""The package as a whole: its public names, and what they need to be imported."""

import subprocess
import sys

import pytest

import elbmf


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
    for name in names:
        assert run(f"import elbmf; print(elbmf.{name}.__name__)") == f"elbmf.{name}\n"
        assert name in dir(elbmf)


def test_methods_are_known_by_name_without_importing_them():
    code = "import sys, elbmf.estimators as e; print(len(e.METHODS), 'sklearn' in sys.modules)"
    assert run(code) == "8 False\n"
