"""An alarm that ends compiled kernels: when the time is up, or when somebody says so."""

import math
import threading
import time
from typing import Self

import numpy as np

__all__ = ["Alarm"]


class Alarm:
    """A flag that kernels look at while they run, and that is raised at a time.

    The time counts within its context.
    """

    def __init__(self, deadline: float = math.inf) -> None:
        self.deadline = deadline  # As of `time.perf_counter`
        self.flag = np.zeros(1, dtype=np.uint8)
        self._timer: threading.Timer | None = None

    def __enter__(self) -> Self:
        if self.deadline < math.inf:
            left = max(0.0, self.deadline - time.perf_counter())
            self._timer = threading.Timer(min(left, threading.TIMEOUT_MAX), self.ring)
            self._timer.daemon = True
            self._timer.start()
        return self

    def __exit__(self, *exception: object) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def ring(self) -> None:
        """Let everyone who looks at the flag come to an end."""
        self.flag[0] = 1

    def reset(self) -> None:
        """Undo `ring`, unless the time is up."""
        self.flag[0] = time.perf_counter() >= self.deadline

    @property
    def rung(self) -> bool:
        """Whether it is time to end."""
        return bool(self.flag[0]) or time.perf_counter() >= self.deadline
