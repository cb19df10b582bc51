"""Work shared among threads."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elbmf.utils import threads
from elbmf.utils.threads import over_ranges


@given(
    length=st.integers(0, 3000),
    n_jobs=st.integers(1, 9),
    few_and_long=st.booleans(),
    patience=st.sampled_from([0.0, 1e-6, 1e-5, 5e-4, 1e9]),
)
def test_ranges_cover_everything_once(length, n_jobs, few_and_long, patience):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threads, "_SECONDS_WITHOUT_THREADS", patience)
        ranges = over_ranges(range, length, n_jobs, few_and_long=few_and_long)
    assert [i for part in ranges for i in part] == list(range(length))
