"""An alarm that is looked at while something runs."""

import math
import time

import pytest

from elbmf.utils.alarm import Alarm


def test_it_rings_at_its_time_and_not_before():
    with Alarm(time.perf_counter() + 0.05) as alarm:
        while not alarm.flag[0]:
            time.sleep(0.001)
        assert time.perf_counter() >= alarm.deadline
        assert alarm.rung


@pytest.mark.parametrize("deadline", [math.inf, 1e30])
def test_one_that_is_far_away_rings_only_by_hand(deadline):
    with Alarm(deadline) as alarm:
        assert not alarm.rung
        alarm.ring()
        assert alarm.rung
        alarm.reset()
        assert not alarm.rung


def test_a_time_that_is_over_cannot_be_undone():
    alarm = Alarm(time.perf_counter() - 1)
    assert alarm.rung
    alarm.reset()
    assert alarm.rung
