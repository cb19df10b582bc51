"""Methods that go wrong, for tests of comparisons: their processes import this file.

They do so on matrices with more rows than those on which kernels are compiled.
"""

import os
import signal
import sys
import time

import numpy as np

from elbmf import GreConD
from elbmf.estimators.base import FittedFactors
from elbmf.utils.progress import FitProgress

FEW_ROWS = 40


class _Troubled(GreConD):
    def _factorize(self, A, generator):
        if A.shape[0] > FEW_ROWS:
            return self._go_wrong(A)
        return super()._factorize(A, generator)


class Raises(_Troubled):
    def _go_wrong(self, A):
        sys.stdout.write("this is no event\n")
        raise ArithmeticError("cannot go on")


class RunsOutOfMemory(_Troubled):
    def _go_wrong(self, A):
        np.empty(1 << 62, dtype=np.int8)


class IsKilled(_Troubled):
    def _go_wrong(self, A):
        os.kill(os.getpid(), signal.SIGKILL)


class Endless(_Troubled):
    """Never asks whether it is to end."""

    def _go_wrong(self, A):
        while True:
            time.sleep(0.01)


class Slow(_Troubled):
    """Goes on until it is asked to end, and then has two components."""

    def _go_wrong(self, A):
        iteration = 0
        while not self._tell(FitProgress(iteration=iteration, loss=float("inf"), seconds=0.0)):
            iteration += 1
            time.sleep(0.01)
        found = GreConD(2).fit(A.to_csr())
        return FittedFactors(found.membership_, found.components_, iteration, "callback")
