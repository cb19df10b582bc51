"""Fits side by side: what is finished is kept, what is ended early is not."""

import time
from threading import Event

import pytest

from elbmf.errors import InputError
from elbmf.estimators.pool import side_by_side


def test_what_is_finished_is_kept_when_a_run_fails():
    finished = {1: "known"}

    def work(run, ask):
        if run == 3:
            raise InputError("no good")
        return f"run {run}"

    with pytest.raises(InputError, match="no good"):
        side_by_side(work, 4, finished, 1)
    assert finished == {0: "run 0", 1: "known", 2: "run 2"}


@pytest.mark.parametrize("interrupts", [False, True])
def test_runs_that_are_ended_leave_nothing(interrupts):
    finished, begun, told = {}, Event(), []

    def work(run, ask):
        if run == 0:
            begun.wait()
            return "whole"
        begun.set()
        while not ask(None):
            time.sleep(0.001)
        return "part"

    def tell(done):
        told.append(done)
        if interrupts:
            raise KeyboardInterrupt
        return True

    try:
        side_by_side(work, 5, finished, 2, tell)
    except KeyboardInterrupt:
        assert interrupts
    assert finished == {0: "whole"}
    assert told == [1]
