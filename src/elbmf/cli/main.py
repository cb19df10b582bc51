"""The entry point. It imports next to nothing, so that signals find it prepared from the start."""

import atexit
import os
import sys
from collections.abc import Sequence
from contextlib import suppress

from elbmf.cli.interrupt import INTERRUPTED, Ending, ending_well

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line, by default that of the process, which then ends with it.

    Returns the exit code: 0, 2 for bad input or usage, 130 when interrupted, 143 when terminated.
    """
    with ending_well(to_the_end=argv is None) as ending:
        code = INTERRUPTED
        try:
            from elbmf.cli.dispatch import run

            code = run(argv, ending)
            ending.over()
        except KeyboardInterrupt:
            ending.tell()
        except BaseException:
            # Whatever comes of an end in the midst of something, it is the end that was asked for.
            if ending.code is None:
                raise
            ending.tell()
        if argv is None:
            _leave(code, ending)
        return code if ending.code is None else ending.code


def _leave(code: int, ending: Ending) -> None:
    """End the process, but for the interpreter, which takes its time to be taken apart.

    It answers no signals any more then, so that they would end the process in their own way.
    """
    try:
        ending.undo()
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):  # Whoever reads it has gone.
                if stream is not None:
                    stream.flush()
    finally:
        os._exit(code if ending.code is None else ending.code)
