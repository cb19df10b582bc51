"""What all tests share: examples that are the same for everyone, and what markers mean."""

import gc
import logging
import os
from importlib.util import find_spec

import pytest
from hypothesis import HealthCheck, settings

from elbmf.errors import MissingExtraError
from strategies import TIMES

# The first example of a test may compile a kernel: no deadline. The examples are the same in every
# run, for everyone; `make random` draws others.
settings.register_profile(
    "fixed",
    deadline=None,
    max_examples=60 * TIMES,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.register_profile(
    "random", parent=settings.get_profile("fixed"), derandomize=False, print_blob=True
)
settings.load_profile("fixed")

# What tests with a marker need that is not in the extra `test`, and the extra that has it.
NEEDS = {
    "browser": ("test-browser", ["selenium"]),
    "cluster": ("test-cluster", ["dask", "distributed"]),
    "docs": ("test-all", ["sphinx", "dask", "torch", "anndata"]),
    "formats": (
        "test-formats",
        ["anndata", "h5py", "openpyxl", "polars", "pyarrow", "python_calamine"],
    ),
    "home": ("test-home", ["ipykernel", "nbclient", "nbformat"]),
    "torch": ("test-torch", ["torch"]),
}


def lacking(marker):
    """Say what tests with a marker need and this environment does not have."""
    extra, packages = NEEDS[marker]
    missing = [package for package in packages if find_spec(package) is None]
    return missing and f"needs {', '.join(missing)}: pip install -e '.[{extra}]'"


def all_is_there():
    """Tell whether a package that is not there is an error, as in `make test`."""
    return os.environ.get("ELBMF_EXTRAS") == "required"


def pytest_configure(config):
    # Imports and tests are there to stay: to look for garbage among them, again and again, takes a
    # quarter of the time that collecting them does.
    gc.disable()
    reasons = [reason for marker in NEEDS if (reason := lacking(marker))]
    if reasons and all_is_there():
        raise pytest.UsageError("\n".join(reasons))


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call():
    """Skip what ends with the message that a package is not installed."""
    try:
        return (yield)
    except MissingExtraError as error:
        if all_is_there():
            raise
        pytest.skip(str(error))


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist looks for groups
def pytest_collection_modifyitems(config, items):
    for item in items:
        if "browser" in item.fixturenames:
            item.add_marker(pytest.mark.browser)
    for marker in NEEDS:
        if reason := lacking(marker):
            for item in items:
                if item.get_closest_marker(marker):
                    item.add_marker(pytest.mark.skip(reason=reason))
    if hasattr(config, "workerinput"):
        # Side by side, those that take long come first, so that none is left at the end.
        items.sort(key=lambda item: item.get_closest_marker("slow") is None)


def pytest_collection_finish():
    gc.freeze()
    gc.enable()


@pytest.fixture
def slow_compiler(monkeypatch):
    """A clock that takes each compilation for one that has gone on for long."""
    from elbmf.kernels import compiling

    monkeypatch.setattr(compiling, "_SECONDS_IN_SILENCE", -1.0)
    monkeypatch.setattr(compiling, "_SECONDS_BETWEEN_LINES", 0.0)
    return compiling._CompileClock()


@pytest.fixture
def no_lines(monkeypatch):
    """No line that shows progress; pytest listens where these do."""
    from elbmf.kernels import compiling

    monkeypatch.setattr(compiling, "_LINES", logging.Logger("no lines"))


@pytest.fixture(params=[1, 2, 5])
def n_jobs(request):
    return request.param
