"""What all tests share."""

import os

import pytest
from hypothesis import HealthCheck, settings

# The first example of a test may compile a kernel: no deadline. Fixed examples in automated runs.
settings.register_profile(
    "default",
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.register_profile("ci", parent=settings.get_profile("default"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")


@pytest.fixture(params=[1, 2, 5])
def n_jobs(request):
    return request.param
