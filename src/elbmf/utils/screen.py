"""Where Python shows a line that keeps changing: in a notebook, on a terminal, or in a log."""

import logging
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from elbmf.errors import visible

__all__ = ["Screen", "compiling_shown"]

# Notebooks redraw a line slowly; a log, where none is redrawn, is to stay short.
_SECONDS_IN_NOTEBOOK = 0.25
_SECONDS_IN_LOG = 10.0


@contextmanager
def compiling_shown(status: Callable[[str], None]) -> Iterator[None]:
    """Show in a line that keeps changing when kernels are being compiled, and how long already."""
    # By its name, as what compiles takes long to import.
    logger = logging.getLogger("elbmf.kernels.compiling.lines")
    handler = _Line(status)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


class _Line(logging.Handler):
    """Shows the last message alone."""

    def __init__(self, status: Callable[[str], None]) -> None:
        super().__init__()
        self._status = status

    def emit(self, record: logging.LogRecord) -> None:
        self._status(record.getMessage()[: shutil.get_terminal_size().columns - 1])


class Screen:
    """A line on stderr, or in the output of the cell of a notebook."""

    def __init__(self) -> None:
        self._cell: Any = None
        self._in_notebook = _in_notebook()
        self._on_terminal = not self._in_notebook and sys.stderr is not None and sys.stderr.isatty()
        self._next = 0.0

    @property
    def shows_progress(self) -> bool:
        """Whether lines go anywhere."""
        return self._in_notebook or sys.stderr is not None

    def status(self, line: str) -> None:
        """Replace the line; an empty one removes it."""
        line = visible(line)
        if self._on_terminal:
            sys.stderr.write(f"\r{line}\x1b[K")
            sys.stderr.flush()
            return
        between = _SECONDS_IN_NOTEBOOK if self._in_notebook else _SECONDS_IN_LOG
        if line and time.monotonic() < self._next:
            return
        self._next = time.monotonic() + between
        if self._in_notebook:
            self._show_in_cell(line)
        elif line:
            sys.stderr.write(f"{line}\n")
            sys.stderr.flush()

    def _show_in_cell(self, line: str) -> None:
        from IPython.display import display

        content = {"text/plain": line}
        if self._cell is None:
            self._cell = display(content, raw=True, display_id=True)
        else:
            self._cell.update(content, raw=True)


def _in_notebook() -> bool:
    """Whether code runs in a kernel of Jupyter, whose cells can show what changes."""
    if "ipykernel" not in sys.modules:
        return False
    from IPython import get_ipython

    return getattr(get_ipython(), "kernel", None) is not None
