"""What all tests share."""

import pytest
from hypothesis import HealthCheck, settings

# The first example of a test may compile a kernel: no deadline. The examples are the same in every
# run, for everyone; `make random` draws others.
settings.register_profile(
    "fixed",
    deadline=None,
    max_examples=60,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.register_profile(
    "random", parent=settings.get_profile("fixed"), derandomize=False, print_blob=True
)
settings.load_profile("fixed")


@pytest.fixture(params=[1, 2, 5])
def n_jobs(request):
    return request.param
