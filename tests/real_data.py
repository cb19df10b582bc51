"""The paper's data sets, for tests that want real data.

No machine has them by itself, and a run of the tests is the same on all: such tests are skipped,
unless ``ELBMF_TEST_DATA`` names a folder of prepared data (docs/data.md).
"""

import os

import pytest

from elbmf.paper.catalog import prepared_sets


def prepared(name):
    """Return the file of a data set, or skip the test."""
    folder = os.environ.get("ELBMF_TEST_DATA")
    if not folder:
        pytest.skip(f"wants the data set {name}: set ELBMF_TEST_DATA to a folder that has it")
    return prepared_sets([folder])[name]
