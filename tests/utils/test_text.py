"""Numbers as they are written for people."""

import pytest

from elbmf.utils.text import counted, percent


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0, "0 %"),
        (0.00004, "less than 0.01 %"),
        (0.0004, "0.04 %"),
        (0.046, "4.6 %"),
        (0.5, "50 %"),
        (0.8748, "87 %"),
        (0.998, "99.8 %"),
        (0.9996, "more than 99.9 %"),
        (1, "100 %"),
    ],
)
def test_percent_rounds_neither_to_nothing_nor_to_all(share, text):
    assert percent(share) == text


def test_counted():
    assert [counted(count, "row") for count in (0, 1, 1797)] == ["0 rows", "1 row", "1,797 rows"]
