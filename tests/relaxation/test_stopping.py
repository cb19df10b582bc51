"""When the relaxation ends."""

from elbmf.relaxation.half_step import (
    Strength,
)
from elbmf.relaxation.palm import State
from elbmf.relaxation.stopping import StopRule


def state(epoch, loss=100.0, gap=0.3, flips=0, strength=0.1):
    return State(
        iteration=epoch,
        engine=None,
        resident=None,
        loss=loss,
        gap=gap,
        flips=flips,
        lam=1.0,
        strength=Strength(0.0, strength),
        seconds=0.0,
    )


def test_stop_when_boolean_or_out_of_epochs():
    rule = StopRule(tol=1e-6, patience=3, max_iter=10, ones=1000)
    assert rule(state(1, gap=1e-7)) == "boolean"
    assert rule(state(2, flips=1)) is None
    assert rule(state(10, flips=1)) == "max_iter"


def test_stop_when_settled():
    rule = StopRule(tol=1e-6, patience=3, max_iter=99, ones=1000)
    reasons = [rule(state(t, gap=1e-4, strength=1.5**t)) for t in range(1, 5)]
    assert reasons == [None, None, None, "settled"]


def test_stop_when_stalled_but_not_while_the_strength_grows():
    rule = StopRule(tol=1e-6, patience=3, max_iter=99, ones=1000)
    assert [rule(state(t)) for t in range(1, 5)] == [None, None, None, "stalled"]
    rule = StopRule(tol=1e-6, patience=3, max_iter=99, ones=1000)
    assert not any(rule(state(t, strength=1.01**t)) for t in range(1, 30))


def test_a_flip_or_a_change_of_the_loss_starts_the_wait_anew():
    rule = StopRule(tol=1e-6, patience=3, max_iter=99, ones=1000)
    for t in range(1, 40):
        assert rule(state(t, flips=int(t % 3 == 0))) is None
    rule = StopRule(tol=1e-6, patience=3, max_iter=99, ones=1000)
    for t in range(1, 40):
        assert rule(state(t, loss=100.0 - t)) is None
