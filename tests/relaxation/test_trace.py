"""What is recorded of each epoch."""

import numpy as np

from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.relaxation.engines import MemoryEngine
from elbmf.relaxation.half_step import (
    Factor,
    Iterate,
    Strength,
)
from elbmf.relaxation.palm import State
from elbmf.relaxation.slabs import cut
from elbmf.relaxation.trace import Trace


def test_the_trace_weighs_rounded_errors_as_the_relaxation_does():
    A = BooleanMatrix.from_array([[1, 1, 0], [0, 0, 1]])
    U, Vt = np.array([[1.0], [0.0]]), np.array([[1.0], [0.0], [1.0]])
    engine, resident = MemoryEngine(cut(A)), Factor(Iterate(U), np.float64, inertia=False)
    engine.load(resident, Iterate(Vt))
    state = State(
        iteration=1,
        engine=engine,
        resident=resident,
        loss=8.0,
        gap=0.0,
        flips=0,
        lam=0.0,
        strength=Strength(0.0, 0.0),
        seconds=0.0,
    )
    for weight, loss in ((1, 3), (2.5, 6.0)):  # two ones are not covered, and a zero is
        trace = Trace(A, "full", weight_of_ones=weight)
        trace.record(state)
        assert trace.history()["rounded_loss"].tolist() == [loss]
        assert trace.history()["loss_gap"].tolist() == [8 - loss]
    engine.close()


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
