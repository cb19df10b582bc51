"""Signals that end a command: what is half done is undone, and the exit code says which it was.

Ctrl-C may also be a wish: then the first asks a run to end well, and only the second ends it.
"""

import os
import signal
import sys
import threading
import time
from _thread import start_new_thread
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, Self

from elbmf.utils.signals import ENDING

__all__ = ["INTERRUPTED", "Ending", "Interrupt", "ending_well"]

INTERRUPTED = 130
"""Exit code of a run that was asked to end."""

# After so many seconds, a signal that was lost is sent again.
_AGAIN = 0.001


class Ending:
    """What signals have asked for: the first lets all be undone, the second ends the process.

    Attributes
    ----------
    quiet : bool
        Whether nothing is said of it.
    """

    def __init__(self, *, at_once: bool) -> None:
        self.quiet = False
        self._at_once = at_once  # Whether a second signal may end the process
        self._number: int | None = None
        self._lost = False
        self._over = False
        self._told = False
        self._hook: Any = None

    @property
    def code(self) -> int | None:
        """The exit code, if a signal came."""
        return None if self._number is None else 128 + self._number

    def tell(self) -> None:
        """Say, once and in a line, that the command has been ended."""
        if self.quiet or self._told:
            return
        self._told = True
        said = "aborted" if self._number in (None, signal.SIGINT) else "terminated"
        with suppress(OSError):  # The terminal may have been closed.
            # A plain write: the buffered stream may be in use by what was interrupted.
            os.write(2, f"elbmf: {said}\n".encode())

    def undo(self) -> None:
        """Remove what is half done, if a signal came."""
        if self._number is not None:
            _remove_unfinished()

    def over(self) -> None:
        """Take note that the command has done all that it had to do: there is nothing to undo."""
        self._over = True

    def on_signal(self, number: int, frame: FrameType | None) -> None:
        """Raise KeyboardInterrupt, or end at once where that has been done before."""
        again = self._number is not None and not self._lost
        self._lost = False
        self._number = self._number or number
        if self._at_once and (again or self._over):
            _remove_unfinished()
            if not self._over:
                self.tell()
            os._exit(128 + self._number)
        if not self._over:
            raise KeyboardInterrupt

    def on_lost(self, unraisable: Any) -> None:
        """Send a signal again where the exception that it raised came to nothing.

        That happens where C calls Python and takes no exception: in callbacks and finalizers.
        """
        if self._number is None:
            self._hook(unraisable)
        elif isinstance(unraisable.exc_value, KeyboardInterrupt):
            self._lost = True
            # The threads of threading take locks that may be held by what was interrupted.
            start_new_thread(_send_again, (self._number,))

    @contextmanager
    def hearing(self) -> Iterator[None]:
        """Within this context, signals come here."""
        previous: dict[int, Any] = {}
        self._hook = sys.unraisablehook
        try:
            sys.unraisablehook = self.on_lost
            for number in ENDING:
                handler = signal.getsignal(number)
                # A shell that has it ignored for a job in the background means it.
                if handler not in (signal.SIG_IGN, None):
                    previous[number] = handler
                    signal.signal(number, self.on_signal)
            yield
        finally:
            self.undo()
            for number, handler in previous.items():
                signal.signal(number, handler)
            sys.unraisablehook = self._hook


def _remove_unfinished() -> None:
    # It takes a while to import, and where it is not, nothing has been begun.
    known = sys.modules.get("elbmf.utils.atomic")
    getattr(known, "remove_unfinished", lambda: None)()


def _send_again(number: int) -> None:
    time.sleep(_AGAIN)
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, number)
    else:
        signal.raise_signal(number)


@contextmanager
def ending_well(*, to_the_end: bool) -> Iterator[Ending]:
    """Within this context, signals that end the program let what is half done be undone.

    Where it lasts to the end of the process, a second signal ends that at once.
    """
    ending = Ending(at_once=to_the_end)
    if threading.current_thread() is not threading.main_thread():
        yield ending  # only the main thread may say what a signal does
        return
    with ending.hearing():
        yield ending


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
            if callable(self._previous):
                self._previous(number, frame)
            raise KeyboardInterrupt
        self.requested = True
        if self._waiting:
            raise KeyboardInterrupt
        if self._announces:
            # A plain write: the buffered stream may be in use by what was interrupted.
            os.write(2, b"\nStopping after this step; press Ctrl-C again to abort at once.\n")
