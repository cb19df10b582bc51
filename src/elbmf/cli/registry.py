"""The commands: a new one is a file next to this one, and one line in `COMMANDS`."""

import argparse
import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, cast

from elbmf.cli.console import Console

__all__ = ["COMMANDS", "Command", "CommandModule"]


class CommandModule(Protocol):
    """What the file of a command has."""

    EXAMPLES: str

    def configure(self, parser: argparse.ArgumentParser, arguments: Sequence[str]) -> None:
        """Add the command's arguments; ``arguments`` are those about to be parsed."""

    def run(self, args: argparse.Namespace, console: Console) -> int:
        """Do it and return the exit code."""


@dataclass(frozen=True)
class Command:
    """A command and the module that implements it, which is imported only when it is used.

    Parameters
    ----------
    name : str
        What the user types.
    summary : str
        One line for the list of commands.
    module : str
        A `CommandModule`.
    """

    name: str
    summary: str
    module: str

    def load(self) -> CommandModule:
        """Import the module."""
        return cast(CommandModule, importlib.import_module(self.module))


COMMANDS: tuple[Command, ...] = (
    Command("fit", "Factorize a matrix and save the result.", "elbmf.cli.commands.fit"),
    Command("rank", "Find out how many components a matrix has.", "elbmf.cli.commands.rank"),
    Command(
        "compare", "Run several methods on a matrix, side by side.", "elbmf.cli.commands.compare"
    ),
    Command(
        "report", "Make a page about a saved result, for a browser.", "elbmf.cli.commands.report"
    ),
    Command("transform", "Describe new rows by saved components.", "elbmf.cli.commands.transform"),
    Command("score", "Measure how well a saved result fits a matrix.", "elbmf.cli.commands.score"),
    Command(
        "enrich", "Find known sets of columns in saved components.", "elbmf.cli.commands.enrich"
    ),
    Command(
        "labels", "Compare saved components with labels of the rows.", "elbmf.cli.commands.labels"
    ),
    Command("plot", "Draw a picture of a saved result.", "elbmf.cli.commands.plot"),
    Command("convert", "Turn a matrix file into another format.", "elbmf.cli.commands.convert"),
    Command("info", "Look at a matrix file or a saved result.", "elbmf.cli.commands.info"),
    Command("data", "Get and prepare the data sets of the paper.", "elbmf.cli.commands.data"),
    Command(
        "reproduce", "Measure and draw the paper's figures anew.", "elbmf.cli.commands.reproduce"
    ),
    Command(
        "demo", "Factorize images of digits and draw what was found.", "elbmf.cli.commands.demo"
    ),
)
