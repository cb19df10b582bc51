"""The commands: a new one is a file in ``cli/commands``, and one line in `COMMANDS`."""

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
    """A command: what the user types, and a line for the list of commands.

    Its file in ``cli/commands`` has the same name, and is imported only when it is used.
    """

    name: str
    summary: str

    def load(self) -> CommandModule:
        """Import its file."""
        return cast(CommandModule, importlib.import_module(f"elbmf.cli.commands.{self.name}"))


COMMANDS: tuple[Command, ...] = (
    Command("fit", "Factorize a matrix and save the result."),
    Command("rank", "Find out how many components a matrix has."),
    Command("stability", "Find out which components return when the data is resampled."),
    Command("cover", "Explain a matrix by the fewest components."),
    Command("bound", "Prove how low the loss of a matrix can be."),
    Command("compare", "Run several methods on a matrix, side by side."),
    Command("report", "Make a page about a saved result, for a browser."),
    Command("transform", "Describe new rows by saved components."),
    Command("score", "Measure how well a saved result fits a matrix."),
    Command("enrich", "Find known sets of columns in saved components."),
    Command("labels", "Compare saved components with labels of the rows."),
    Command("significance", "Test whether saved components are more than chance."),
    Command("plot", "Draw a picture of a saved result."),
    Command("explain", "Tell why a row of a saved result has what it has."),
    Command("export", "Write a saved result for other systems, as JSON or tables."),
    Command("convert", "Turn a matrix file into another format."),
    Command("info", "Look at a matrix file or a saved result."),
    Command("data", "Get and prepare the data sets of the paper."),
    Command("reproduce", "Measure and draw the paper's figures again."),
    Command("demo", "Factorize images of digits and draw what was found."),
)
