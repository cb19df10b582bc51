"""What is built for others: a wheel with all that the package needs, installed on its own."""

import os
import site
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import elbmf

pytest.importorskip("hatchling")

ROOT = Path(__file__).parents[1]
SOURCES = {
    path.relative_to(ROOT / "src").as_posix()
    for path in (ROOT / "src" / "elbmf").rglob("*")
    if path.is_file() and "__pycache__" not in path.parts
}


def run(*command, **options):
    """Run a program without the checkout, and return what it prints."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    found = subprocess.run(
        [*map(str, command)], env=clean, capture_output=True, text=True, check=False, **options
    )
    assert found.returncode == 0, found.stderr
    return found.stdout


def build(kind, source, folder):
    run(sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", folder, cwd=source)
    (made,) = Path(folder).glob("*.tar.gz" if kind == "sdist" else "*.whl")
    return made


@pytest.fixture(scope="module")
def sdist(tmp_path_factory):
    return build("sdist", ROOT, tmp_path_factory.mktemp("sdist"))


@pytest.fixture(scope="module")
def wheel(sdist, tmp_path_factory):
    """A wheel made from what the sdist has."""
    folder = tmp_path_factory.mktemp("wheel")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (source,) = folder.iterdir()
    return build("wheel", source, folder / "built")


@pytest.mark.slow
def test_the_sdist_has_the_package_and_little_else(sdist):
    with tarfile.open(sdist) as archive:
        names = {Path(*Path(each.name).parts[1:]).as_posix() for each in archive if each.isfile()}
    assert {name.removeprefix("src/") for name in names if name.startswith("src/")} == SOURCES
    assert {name for name in names if not name.startswith("src/")} == {
        *(".gitignore", "CHANGELOG.md", "CITATION.cff", "LICENSE", "PKG-INFO", "README.md"),
        "pyproject.toml",
    }


@pytest.mark.slow
def test_the_wheel_has_the_package_and_what_describes_it(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        (place,) = (name for name in names if name.endswith("METADATA"))
        told = archive.read(place).decode()
    assert {name for name in names if name.startswith("elbmf/")} == SOURCES
    assert {"elbmf/py.typed", "elbmf/report/static/page.html"} <= SOURCES
    assert not [name for name in names if name.endswith((".nbi", ".nbc", ".pyc"))]
    assert {Path(name).name for name in names if not name.startswith("elbmf/")} == {
        *("LICENSE", "METADATA", "RECORD", "WHEEL", "entry_points.txt"),
    }
    assert f"\nVersion: {elbmf.__version__}\n" in told
    for minor in (11, 12, 13):
        assert f"\nClassifier: Programming Language :: Python :: 3.{minor}\n" in told


@pytest.mark.slow
def test_the_wheel_runs_where_there_is_no_checkout(wheel, tmp_path):
    run(sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv")
    (python,) = (tmp_path / "venv").glob("bin/python")
    run(sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-deps", wheel)
    (home,) = (tmp_path / "venv").glob("lib/python*/site-packages")
    # The packages that it needs are those of this environment; its own come first.
    (home / "theirs.pth").write_text("\n".join(site.getsitepackages()))
    told = run(python, "-c", "import elbmf; print(elbmf.__file__); elbmf.ELBMF", cwd=tmp_path)
    assert Path(told.strip()) == home / "elbmf" / "__init__.py"
    command = python.parent / "elbmf"
    assert run(command, "--version", cwd=tmp_path).split()[-1] == elbmf.__version__
    assert "usage: elbmf fit" in run(command, "fit", "--help", cwd=tmp_path)
    assert "patents" in run(command, "data", "list", cwd=tmp_path)
