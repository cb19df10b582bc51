"""Compiling kernels and keeping what was compiled."""

import ast
import pickle
from pathlib import Path

import numba
import pytest

import elbmf
from elbmf.kernels import bits
from elbmf.kernels.compiling import kernel, source_files
from elbmf.relaxation.kernels import products, prox
from elbmf.search.kernels import coordinate_descent


def test_kernels_compile_where_nothing_can_be_kept(monkeypatch):
    def refuse(self):
        raise RuntimeError("cannot cache function")

    monkeypatch.setattr("numba.core.dispatcher.Dispatcher.enable_caching", refuse)
    monkeypatch.setattr("numba.core.registry.CPUDispatcher.enable_caching", refuse)

    @kernel()
    def double(x):
        return 2 * x

    assert double(21) == 42


def stamp(function):
    return function._cache._cache_file._source_stamp


def test_kept_kernels_depend_on_their_own_files_alone():
    assert stamp(prox.apply) != stamp(bits.count_hits)
    assert len(stamp(prox.apply)) == 64  # a hash of the files, not a time and a size
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
