"""Waiting for other processes.

A limit of time is there so that a test does not hang for ever; it is no measurement, and so long
that a machine with much else to do, which compiles the kernels meanwhile, stays below it.
"""

import time

PATIENCE = 900  # seconds


def wait_until(condition, process=None):
    """Wait until a condition holds, while a process, if one is given, runs."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert process is None or process.poll() is None, process.communicate()
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)
