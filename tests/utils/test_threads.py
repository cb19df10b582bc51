"""Work shared among threads."""

from hypothesis import given
from hypothesis import strategies as st

from elbmf.utils.threads import over_ranges


@given(length=st.integers(0, 100), n_jobs=st.integers(1, 9))
def test_ranges_cover_everything_once(length, n_jobs):
    ranges = over_ranges(lambda low, high: range(low, high), length, n_jobs)
    assert [i for part in ranges for i in part] == list(range(length))
