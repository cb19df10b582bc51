"""An argument parser that fills itself in when its command is the one that is run."""

import argparse
import difflib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

from elbmf.cli.registry import Command, CommandModule

__all__ = ["CommandParser", "UsageError", "rare"]


class UsageError(Exception):
    """The command line of a program or command is wrong."""

    def __init__(self, message: str, prog: str) -> None:
        super().__init__(message)
        self.prog = prog


def rare(action: argparse.Action | argparse._ArgumentGroup) -> None:
    """Let only ``--help-all`` show an argument, or a group of them."""
    action.rare = True  # type: ignore[union-attr]


class CommandParser(argparse.ArgumentParser):
    """The parser of one command, or of the program when no command is given.

    Nothing of the command is imported before its arguments are parsed, so that help and version
    are quick. The epilog may be what returns it.
    """

    module: CommandModule

    def __init__(
        self,
        command: Command | None = None,
        epilog: str | Callable[[], str] | None = None,
        **options: Any,
    ) -> None:
        options.setdefault("formatter_class", _HelpFormatter)
        super().__init__(allow_abbrev=False, **options)
        self._command = command
        self._configured = False
        self._epilog = epilog
        self._shows_all = False

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Parse, after adding the arguments of the command."""
        if self._command is not None and not self._configured:
            self._configured = True
            self.module = self._command.load()
            self.description = self._command.summary
            self._epilog = self.module.EXAMPLES
            self.module.configure(self, args or [])
            self.add_argument("-q", "--quiet", action="store_true", help="no notes, no progress")
            self.add_argument(
                "-v",
                "--verbose",
                action="count",
                default=0,
                help="say more on stderr; twice: also the traceback of an error",
            )
            # Without rare flags it is taken all the same, and does what --help does.
            purpose = "show all flags, also rare ones, and exit"
            self.add_argument(
                "--help-all",
                action=_HelpAll,
                help=purpose if self._rare_actions() else argparse.SUPPRESS,
            )
        found, unknown = super().parse_known_args(args, namespace)
        return found, self._late(found, unknown)

    def _late(self, found: argparse.Namespace, unknown: list[str]) -> list[str]:
        """Take an optional argument that comes after a flag, which argparse did not wait for."""
        if len(unknown) == 1 and not unknown[0].startswith("-"):
            for action in self._positionals._group_actions:
                if action.nargs == argparse.OPTIONAL and getattr(found, action.dest) is None:
                    setattr(found, action.dest, unknown[0])
                    return []
        return unknown

    def _rare_actions(self) -> list[argparse.Action]:
        return [
            action
            for group in self._action_groups
            for action in group._group_actions
            if hasattr(group, "rare") or hasattr(action, "rare")
        ]

    def format_help(self) -> str:
        """Return the help, without what is rare unless all is asked for."""
        self.epilog = self._epilog() if callable(self._epilog) else self._epilog
        with self._without([] if self._shows_all else self._rare_actions()):
            return super().format_help()

    @contextmanager
    def _without(self, actions: Sequence[argparse.Action]) -> Iterator[None]:
        shown = [action.help for action in actions]
        for action in actions:
            action.help = argparse.SUPPRESS
        try:
            yield
        finally:
            for action, text in zip(actions, shown, strict=True):
                action.help = text

    def print_all_help(self) -> None:
        """Print the help with what is rare."""
        self._shows_all = True
        self.print_help()

    def error(self, message: str) -> NoReturn:
        """Leave it to `main` to say what is wrong."""
        raise UsageError(message, self.prog)

    def unknown(self, arguments: Sequence[str]) -> NoReturn:
        """Complain about arguments that this command does not have."""
        known = [name for name in self._option_string_actions if name.startswith("--")]
        hints = []
        for argument in arguments:
            close = difflib.get_close_matches(argument.partition("=")[0], known, n=1)
            hints.append(f"{argument} (did you mean {close[0]}?)" if close else argument)
        self.error(f"unknown arguments: {' '.join(hints)}")


class _HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Room for long flags."""

    def __init__(self, prog: str, **options: Any) -> None:
        super().__init__(prog, max_help_position=28, **options)


class _HelpAll(argparse._HelpAction):
    """Prints all that there is to say."""

    def __call__(self, parser: Any, *_: Any, **__: Any) -> None:
        parser.print_all_help()
        parser.exit()
