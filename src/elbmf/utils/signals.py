"""Signals that end the program, held off where it must not end."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

__all__ = ["ENDING", "undisturbed"]

ENDING = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)
"""Signals by which a user or the system asks a program to end."""


@contextmanager
def undisturbed() -> Iterator[None]:
    """Within this context, signals that end the program wait; it should take no time.

    Only in the main thread, which is the one that signals disturb.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    waiting: dict[int, None] = {}
    previous: dict[int, Any] = {}

    def wait(number: int, frame: FrameType | None) -> None:
        waiting[number] = None

    try:
        for number in ENDING:
            handler = signal.getsignal(number)
            # None is one that was not set from Python, and cannot be set again from here.
            if handler not in (signal.SIG_IGN, None):
                previous[number] = handler
                signal.signal(number, wait)
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
        for number in waiting:
            signal.raise_signal(number)
