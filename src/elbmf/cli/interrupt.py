"""Ctrl-C as a wish: the first asks a run to end well, the second ends it at once."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Self

__all__ = ["INTERRUPTED", "Interrupt", "ending_well"]

INTERRUPTED = 130
"""Exit code of a run that was asked to end."""

_TERMINATED = 128 + signal.SIGTERM


@contextmanager
def ending_well() -> Iterator[None]:
    """Within this context, SIGTERM lets what is half done be undone, as SIGINT does."""

    def end(number: int, frame: FrameType | None) -> None:
        raise SystemExit(_TERMINATED)

    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may say what a signal does
        return
    previous = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous)


class Interrupt:
    """Within this context, the first SIGINT only sets `requested`.

    If nobody waits, that is, looks at `requested`, SIGINT does what it always does.
    """

    def __init__(self, *, waits: bool = True, announces: bool = False) -> None:
        self.requested = False
        self._waits = waits
        self._announces = announces
        self._waiting = False
        self._previous: Any = None

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Within this context, such as a wait for input that may never come, SIGINT ends it.

        `requested` is set all the same.
        """
        self._waiting = True
        try:
            yield
        except KeyboardInterrupt:
            if not self.requested:
                raise
        finally:
            self._waiting = False

    def __enter__(self) -> Self:
        # Only the main thread may say what a signal does, and a shell that had it ignored for a
        # job in the background meant it.
        main = threading.current_thread() is threading.main_thread()
        if self._waits and main and signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
            self._previous = signal.signal(signal.SIGINT, self._on_signal)
        return self

    def __exit__(self, *_: object) -> None:
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True
        if self._waiting:
            raise KeyboardInterrupt
        if self._announces:
            # A plain write: the buffered stream may be in use by what was interrupted.
            os.write(2, b"\nStopping after this step; press Ctrl-C again to abort at once.\n")
