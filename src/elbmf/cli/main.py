"""The entry point. It imports next to nothing, so that signals find it prepared from the start."""

from collections.abc import Sequence

from elbmf.cli.interrupt import INTERRUPTED, ending_well

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line, by default that of the process.

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
        return code if ending.code is None else ending.code
