"""The command line: one file per command, listed in `elbmf.cli.registry`."""

from elbmf.cli.main import main

__all__ = ["main"]
