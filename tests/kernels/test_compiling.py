"""Compiling kernels and keeping what was compiled."""

import ast
import gc
import importlib
import logging
import pickle
import sys
from pathlib import Path

import numba
import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher

import elbmf
from elbmf.kernels import bits, compiling
from elbmf.kernels.compiling import address_of, call_at, compiling_seconds, kernel, source_files
from elbmf.relaxation.kernels import products, prox
from elbmf.search.kernels import coordinate_descent


@pytest.fixture
def nothing_kept(monkeypatch):
    """Where numba finds no place at all: kernels are compiled by each process."""

    def refuse(*_):
        raise RuntimeError("cannot cache function")

    monkeypatch.setattr(compiling, "_KernelCache", refuse)


def test_kernels_compile_where_nothing_can_be_kept(nothing_kept):
    @kernel()
    def double(x):
        return 2 * x

    assert double(21) == 42


def stamp(function):
    return function._cache._cache_file._source_stamp


def test_kept_kernels_depend_on_their_own_files_alone():
    assert stamp(prox.elb_exact) != stamp(bits.count_hits)
    assert len(stamp(prox.elb_exact)) == 64  # a hash of the files, not a time and a size
    assert stamp(products.pull_indices) == stamp(products.push_bytes)


def test_a_kernel_depends_on_the_files_of_all_that_it_calls():
    files = {path.name for path in source_files(Path(coordinate_descent.__file__))}
    assert files == {
        "bits.py",
        "compiling.py",
        "coordinate_descent.py",
        "intrinsics.py",
        "lines.py",
        "rows.py",
        "sets.py",
    }


def test_kernels_import_only_what_their_fingerprint_knows():
    package = Path(elbmf.__file__).parent
    for path in package.rglob("kernels/*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module.startswith("elbmf"):
                imported = package.joinpath(*node.module.split(".")[1:]).with_suffix(".py")
                assert imported in source_files(path)


def test_kept_kernels_of_another_state_are_not_unpickled(tmp_path, monkeypatch):
    index = bits.count_hits._cache._cache_file
    path = tmp_path / "index.nbi"
    monkeypatch.setattr(index, "_index_path", str(path))
    gone = b"celbmf.search.kernels.rows\nNoLongerThere\n."
    with pytest.raises(AttributeError, match="NoLongerThere"):
        pickle.loads(gone)
    path.write_bytes(pickle.dumps(numba.__version__) + gone)
    assert index._load_index() == {}


def test_numba_has_the_private_parts_that_keeping_kernels_rests_on():
    """Without these, kernels are kept by the time of their own file: stale after a change below.

    What to do when this fails: look in numba/core/caching.py for what tells one state of a source
    file from another, and set it in `elbmf.kernels.compiling.kernel`.
    """
    index = bits.count_hits._cache._cache_file
    assert index._source_stamp == compiling._fingerprint(Path(bits.__file__))
    assert index._version.startswith(numba.__version__)


def test_kernels_compile_where_numba_has_no_such_parts(monkeypatch):
    class Other:
        """A dispatcher that keeps what it compiles in a way of its own."""

        def __init__(self, function):
            self.function = function

        def enable_caching(self):
            self.keeps = True

        def __call__(self, *arguments):
            return self.function(*arguments)

    monkeypatch.setattr(compiling, "njit", lambda **options: Other)

    @kernel()
    def double(x):
        return 2 * x

    assert double(21) == 42
    assert double.keeps


@pytest.fixture
def imported(tmp_path, monkeypatch):
    """Import a kernel of a file of its own, as many processes would, one after the other."""
    (tmp_path / "doubling.py").write_text(
        "from elbmf.kernels.compiling import kernel\n\n"
        "@kernel()\ndef double(x):\n    return 2 * x\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")

    def anew():
        sys.modules.pop("doubling", None)
        return importlib.import_module("doubling").double

    yield anew
    sys.modules.pop("doubling", None)


@pytest.fixture
def nothing_writable(monkeypatch):
    """As in the image of a container that may only be read, for a user without a home."""

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    compiling._warn_that_nothing_is_kept.cache_clear()

    def now():
        monkeypatch.setattr("numba.core.caching.tempfile.TemporaryFile", refuse)
        monkeypatch.setattr(type(bits.count_hits._cache._cache_file), "_open_for_write", refuse)

    return now


def test_what_was_kept_is_loaded_where_nothing_may_be_written(imported, nothing_writable):
    assert imported()(21) == 42
    nothing_writable()
    double, before = imported(), compiling_seconds()
    assert double(21) == 42
    assert compiling_seconds() == before
    assert double(0.5) == 1  # nobody had compiled it for this type
    assert compiling_seconds() > before


def test_what_was_kept_elsewhere_is_loaded_and_what_is_new_is_kept(imported, tmp_path, monkeypatch):
    assert imported()(21) == 42
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "chosen"))
    double, before = imported(), compiling_seconds()
    assert double(21) == 42
    assert compiling_seconds() == before
    assert not [*(tmp_path / "chosen").rglob("*.nbi")]
    assert double(0.5) == 1
    assert [*(tmp_path / "chosen").rglob("*.nbi")]


@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
@pytest.mark.parametrize(
    "damaged",
    [
        lambda content: content[: len(content) // 2],
        lambda content: content[:-40] + bytes([content[-40] ^ 1]) + content[-39:],
        lambda content: b"celbmf\nNoLongerThere\n.",
        lambda content: b"",
    ],
    ids=["cut", "flipped", "other", "empty"],
)
def test_what_was_kept_and_is_damaged_is_compiled_and_kept_again(
    imported, tmp_path, suffix, damaged
):
    assert imported()(21) == 42
    (kept,) = tmp_path.rglob(f"*{suffix}")
    kept.write_bytes(damaged(kept.read_bytes()))
    double, before = imported(), compiling_seconds()
    assert double(21) == 42
    assert compiling_seconds() > before
    double, before = imported(), compiling_seconds()
    assert double(21) == 42
    assert compiling_seconds() == before


def test_kernels_run_where_keeping_them_fails(imported, tmp_path, caplog):
    compiling._warn_that_nothing_is_kept.cache_clear()
    assert imported()(21) == 42
    (kept,) = tmp_path.rglob("*.nbi")
    kept.unlink()
    kept.mkdir()
    assert imported()(21) == 42
    # How long compiling takes may be told, too.
    assert sum(each.levelname == "WARNING" for each in caplog.records) == 1


def test_kernels_are_kept_where_numba_has_changed_how_it_does_that(imported, tmp_path, monkeypatch):
    def other(function, fingerprint):
        raise AttributeError("no such part")

    monkeypatch.setattr(compiling, "_KernelCache", other)
    double = imported()
    assert double(21) == 42
    assert [*tmp_path.rglob("*.nbi")]
    assert stamp(double) == compiling._fingerprint(tmp_path / "doubling.py")


def test_it_is_said_once_that_nothing_can_be_kept(imported, nothing_writable, caplog):
    nothing_writable()
    double = imported()
    assert (double(21), double(0.5)) == (42, 1)
    assert [each.levelname for each in caplog.records] == ["WARNING"]
    assert "Set NUMBA_CACHE_DIR to a folder that may be written" in caplog.text


def modules():
    package = Path(elbmf.__file__).parent
    return [(path, path.relative_to(package.parent)) for path in package.rglob("*.py")]


def test_helpers_are_called_by_kernels_alone():
    """Called from Python, they would crash."""
    helpers = set()
    for _, path in modules():
        if path.parent.name == "kernels" and path.stem != "__init__":
            module = ".".join(path.with_suffix("").parts)
            for name, value in vars(importlib.import_module(module)).items():
                if isinstance(value, Dispatcher) and value.targetoptions.get("no_cpython_wrapper"):
                    helpers.add(name)
    assert {"cost_of", "unite_into"} <= helpers
    for file, path in modules():
        if path.parent.name != "kernels":
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ImportFrom) and "kernels" in (node.module or ""):
                    assert not helpers & {alias.name for alias in node.names}, path


def test_a_kernel_calls_another_by_its_address():
    @kernel(allocates=False)
    def weighted(numbers, weight):
        total = 0
        for i in range(numbers.shape[0]):
            total += weight * numbers[i]
        return total

    @kernel()
    def twice(address, numbers, weight):
        return 2 * call_at(address, (numbers, weight))

    numbers = np.arange(5)
    address = address_of(weighted, numbers, 0)
    assert twice(address, numbers, 3) == 60


def test_an_error_of_a_kernel_that_was_called_by_its_address_is_raised():
    @kernel()
    def fail(x):
        if x > 1:
            raise ValueError("too much")
        return x

    @kernel()
    def call(address, x):
        return call_at(address, (x,))

    address = address_of(fail, 0)
    assert call(address, 1) == 1
    with pytest.raises(ValueError, match="too much"):
        call(address, 2)


@pytest.mark.parametrize("enabled", [True, False])
def test_the_clock_runs_while_compiling_and_the_collector_is_left_as_it_was(nothing_kept, enabled):
    @kernel()
    def triple(x):
        return 3 * x

    before = compiling_seconds()
    (gc.enable if enabled else gc.disable)()
    try:
        assert triple(14) == 42
        assert gc.isenabled() == enabled
    finally:
        gc.enable()
    after = compiling_seconds()
    assert after > before
    assert triple(15) == 45
    assert compiling_seconds() == after


def test_on_a_terminal_it_is_said_once_that_kernels_are_compiled(
    slow_compiler, no_lines, monkeypatch, capsys
):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    for _ in range(2):
        slow_compiler.on_start(None)
        slow_compiler.on_end(None)
    assert capsys.readouterr().err == (
        "elbmf: compiling kernels, once on this machine, usually in less than a minute\n"
    )


def test_elsewhere_it_is_logged(slow_compiler, no_lines, capsys, caplog):
    with caplog.at_level(logging.INFO, logger="elbmf"):
        slow_compiler.on_start(None)
        slow_compiler.on_end(None)
    assert "compiling kernels, once" in caplog.text
    assert capsys.readouterr().err == ""
