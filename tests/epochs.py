"""Epochs with any schedule, and what goes with it one by one."""

from dataclasses import replace

import numpy as np

from elbmf.relaxation import palm


def ipalm(
    engine,
    U,
    Vt,
    *,
    schedule,
    beta=0.0,
    balance=False,
    step="spectral",
    dtype=np.float32,
    **options,
):
    number = np.dtype(dtype).name
    whole = replace(schedule, beta=beta, balance=balance, step=step, dtype=number)
    return palm.ipalm(engine, U, Vt, schedule=whole, **options)
