"""Where text goes: results to stdout, everything else to stderr."""

import json
import logging
import sys
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import IO, Any

from elbmf.errors import DoubtfulComponentWarning, visible
from elbmf.utils.screen import compiling_shown

__all__ = ["Console"]


class Console:
    """Writes results, notes, warnings and the one line that keeps changing.

    If quiet, there are no notes and no progress. Verbosity 1 shows what the library logs, 2 also
    its details and the traceback of errors.
    """

    def __init__(self, quiet: bool = False, verbosity: int = 0) -> None:
        self.quiet = quiet
        self.verbosity = verbosity
        self.warnings: list[str] = []
        self._status_shown = False

    @property
    def shows_progress(self) -> bool:
        """Whether stderr is a terminal that someone may be watching."""
        return not self.quiet and sys.stderr.isatty()

    def result(self, text: str) -> None:
        """Write to stdout."""
        self.status("")
        text = visible(text, lines=True)
        try:
            sys.stdout.write(text + "\n")
        except UnicodeEncodeError:
            encoding = sys.stdout.encoding
            sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding) + "\n")

    def result_json(self, value: dict[str, Any]) -> None:
        """Write one JSON object to stdout."""
        from elbmf.io.plain import plain  # here, for --version must not wait for numpy

        self.result(json.dumps(plain(value), indent=2, allow_nan=False))

    def result_stream(self) -> IO[bytes]:
        """Return stdout for bytes."""
        self.status("")
        sys.stdout.flush()
        return sys.stdout.buffer

    def note(self, text: str) -> None:
        """Write to stderr, unless quiet."""
        if not self.quiet:
            self._to_stderr(text)

    def warn(self, text: str) -> None:
        """Write a warning to stderr and keep it."""
        self.warnings.append(text)
        self._to_stderr(f"elbmf: warning: {text}")

    def error(self, text: str) -> None:
        """Write an error to stderr."""
        self._to_stderr(f"elbmf: error: {text}")

    def status(self, line: str) -> None:
        """Replace the line that keeps changing; an empty one removes it."""
        if line or self._status_shown:
            sys.stderr.write(f"\r{visible(line)}\x1b[K")
            sys.stderr.flush()
        self._status_shown = bool(line)

    def _to_stderr(self, text: str) -> None:
        self.status("")
        sys.stderr.write(visible(text, lines=True) + "\n")
        sys.stderr.flush()

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Show warnings as plain lines and, when verbose, what the library logs."""
        logger = logging.getLogger("elbmf")
        handler = _LogHandler(self)
        level = logger.level
        with warnings.catch_warnings(), self._compiling_shown():
            # The user's own data and parameters, not the inner life of the packages below.
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", UserWarning)
            warnings.simplefilter("always", RuntimeWarning)
            # The table of components says that.
            warnings.simplefilter("ignore", DoubtfulComponentWarning)
            warnings.showwarning = self._show_warning
            logger.addHandler(handler)
            if self.verbosity:
                logger.setLevel(logging.INFO if self.verbosity <= 1 else logging.DEBUG)
            try:
                yield
            finally:
                logger.removeHandler(handler)
                logger.setLevel(level)
                self.status("")

    def _compiling_shown(self) -> AbstractContextManager[None]:
        """Tell where the progress is that kernels are compiled, unless that is in the log."""
        if self.verbosity:
            return nullcontext()
        return compiling_shown(self.status if self.shows_progress else lambda _: None)

    def _show_warning(self, message: Warning | str, *_: Any, **__: Any) -> None:
        self.warn(" ".join(str(message).split()))


class _LogHandler(logging.Handler):
    """Sends log records to a console."""

    def __init__(self, console: Console) -> None:
        super().__init__()
        self._console = console

    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno >= logging.WARNING:
            self._console.warn(record.getMessage())
        elif self._console.verbosity:
            self._console.note(f"{record.name}: {record.getMessage()}")
