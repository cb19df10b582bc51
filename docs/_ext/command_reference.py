"""Directives that write the reference of the command line from the parsers themselves.

``{elbmf-commands}`` is a section for every command, ``{elbmf-flags} NAME`` the flags of a method.
"""

import argparse
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import Directive

from elbmf.cli.parser import CommandParser, UsageError
from elbmf.cli.registry import COMMANDS, Command

# What is parsed to see all arguments of a command whose arguments depend on what is asked for.
_FORMS: dict[str, list[list[str]]] = {
    "data": [["list"], ["show"], ["prepare"], ["standin"]],
}
# Under which names argparse keeps the flags of a method.
_OF_METHOD = "method:"


class CommandReference(Directive):
    """A section for each command: usage, arguments, examples."""

    def run(self) -> list[nodes.Node]:
        """Make the sections."""
        return [_section(command) for command in COMMANDS]


class MethodFlags(Directive):
    """The flags that a method adds to ``elbmf fit``."""

    required_arguments = 1
    has_content: ClassVar[bool] = False

    def run(self) -> list[nodes.Node]:
        """Make the list."""
        fit = next(command for command in COMMANDS if command.name == "fit")
        parser = _configured(fit, ["--method", self.arguments[0]])
        flags = [action for action in parser._actions if action.dest.startswith(_OF_METHOD)]
        return [_arguments(parser, flags)]


def _section(command: Command) -> nodes.section:
    title = f"elbmf {command.name}"
    section = nodes.section(ids=[nodes.make_id(title)], names=[title])
    section += nodes.title(text=title)
    section += nodes.paragraph(text=command.summary)
    listed: set[str] = set()
    for form in _FORMS.get(command.name, [[]]):
        parser = _configured(command, form)
        if not listed:
            usage = " ".join(parser.format_usage().removeprefix("usage: ").split())
            section += nodes.literal_block(usage, usage, language="text")
        for group in parser._action_groups:
            new = [
                action
                for action in group._group_actions
                if action.help is not argparse.SUPPRESS and action.dest not in listed
            ]
            heading = group.title or ""
            if group.description:  # a list of what an argument may be
                section += nodes.rubric(text=heading.capitalize())
                section += nodes.literal_block(group.description, group.description)
            if not new:
                continue
            if form:
                heading = f"elbmf {command.name} {' '.join(form)}"
            elif heading in ("positional arguments", "options"):
                heading = {"options": "Options"}.get(heading, "Arguments")
            heading = heading[0].upper() + heading[1:] if not form else heading
            section += nodes.rubric(text=heading)
            section += _arguments(parser, new)
            listed.update(action.dest for action in new)
    section += nodes.rubric(text="Examples")
    examples = command.load().EXAMPLES.removeprefix("examples:\n")
    section += nodes.literal_block(examples, examples, language="text")
    return section


def _arguments(parser: CommandParser, actions: list[argparse.Action]) -> nodes.definition_list:
    formatter: Any = parser._get_formatter()
    items = nodes.definition_list(classes=["arguments"])
    for action in actions:
        item = nodes.definition_list_item()
        item += nodes.term("", "", nodes.literal(text=formatter._format_action_invocation(action)))
        words = formatter._expand_help(action) if action.help else ""
        item += nodes.definition("", nodes.paragraph(text=words))
        items += item
    return items


def _configured(command: Command, arguments: list[str]) -> CommandParser:
    """Return the parser of a command with all arguments that go with those given."""
    parser = CommandParser(command, prog=f"elbmf {command.name}")
    # What is missing from the command line does not matter here.
    with _no_folder_of_this_machine(), suppress(UsageError):
        parser.parse_known_args(arguments)
    return parser


@contextmanager
def _no_folder_of_this_machine() -> Iterator[None]:
    """Let the help name the variable that says where data is kept, and not the folder."""
    before = os.environ.get("ELBMF_DATA")
    os.environ["ELBMF_DATA"] = "$ELBMF_DATA"
    try:
        yield
    finally:
        if before is None:
            del os.environ["ELBMF_DATA"]
        else:
            os.environ["ELBMF_DATA"] = before


def setup(app: Any) -> dict[str, bool]:
    """Register the directives."""
    app.add_directive("elbmf-commands", CommandReference)
    app.add_directive("elbmf-flags", MethodFlags)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
