r"""Parameters as docstrings declare them, read from the source without importing it.

An entry of the section "Parameters" of a numpydoc docstring has this grammar::

    entry   = names " : " types [", optional" | ", default=" literal]
              an indented description, of paragraphs
    names   = name {", " name}
    types   = type {(", " | " or ") type}
    type    = "int" | "float" | "bool" | "str" | "path" | "path-like" | "None"
            | a word in quotes | "{" words in quotes "}" | anything else

Anything else, such as a callable, can only be given in Python, and so can what a paragraph that
begins with ``In Python`` tells of: it is left out on the command line.
"""

import argparse
import ast
import importlib
import importlib.util
import inspect
import re
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from elbmf.utils.docstrings import entries, with_inherited

__all__ = [
    "ALIASES",
    "DeclaredFormat",
    "Parameter",
    "declared_by",
    "declared_formats",
    "flag",
    "format_options",
    "parse_parameters",
]

IN_PYTHON = "In Python"
"""How a paragraph begins that is not for the command line."""

_TYPE = re.compile(r'\s*(\{[^}]*\}|\([^)]*\)|"[^"]*"|[^,]+?)\s*(?:,|\bor\b|$)')


ALIASES = {
    "checkpoint_every": ("--checkpoint-every", "--every"),
    "fixed_components": ("--keep",),
    "forbidden_cells": ("--forbid",),
    "feature_weight": ("--column-weights",),
    "max_components": ("--max",),
    "n_components": ("-k", "--n-components"),
    "n_jobs": ("-j", "--n-jobs"),
    "random_state": ("--seed", "--random-state"),
    "required_cells": ("--require",),
    "separate_columns": ("--separate",),
    "sample_weight": ("--row-weights",),
}
"""What parameters are also called on the command line and in configuration files."""

# What stands for a value in the help, where the kind of the value would not tell.
_METAVARS = {
    "binarize": "HOW",
    "checkpoint": "DIR",
    "checkpoint_every": "EPOCHS",
    "holdout": "SHARE",
    "max_components": "K",
    "memory_limit": "SIZE",
    "time_limit": "SECONDS",
}

# Types whose values can be typed, and how they are read; the narrowest first.
_NUMBERS: dict[str, Callable[[str], Any]] = {"int": int, "float": float}
_TEXTS = ("str", "path", "path-like", "Choice")


@dataclass(frozen=True)
class Parameter:
    """A parameter as its docstring declares it: types, as far as they have names, and words.

    The default is None where the docstring says no more than that it is optional.
    """

    name: str
    types: tuple[str, ...]
    words: tuple[str, ...] = ()
    default: Any = None
    paragraphs: tuple[str, ...] = ()

    @property
    def description(self) -> str:
        """What it is, without what only Python can say."""
        return " ".join(text for text in self.paragraphs if not text.startswith(IN_PYTHON))

    @property
    def is_switch(self) -> bool:
        """Whether it is given by a flag without a value."""
        return "bool" in self.types

    @property
    def numbers(self) -> list[Callable[[str], Any]]:
        """What reads the numbers that it may be."""
        return [read for kind, read in _NUMBERS.items() if kind in self.types]

    @property
    def is_repeated(self) -> bool:
        """Whether it is a list, of which a flag may give some each time."""
        return "Choice" in self.types

    @property
    def is_text(self) -> bool:
        """Whether it may be any text."""
        return any(kind in self.types for kind in _TEXTS)

    @property
    def flags(self) -> tuple[str, ...]:
        """What the user types."""
        return ALIASES.get(self.name, ("--" + self.name.strip("_").replace("_", "-"),))

    @property
    def has_choice(self) -> bool:
        """Whether there is anything to say about it on a command line."""
        if self.paragraphs and not self.description:
            return False
        others = [word for word in self.words if word != self.default]
        return bool(self.numbers or self.is_switch or others or self.is_text)

    @property
    def metavar(self) -> str:
        """What stands for its value in the help."""
        if self.name in _METAVARS:
            return _METAVARS[self.name]
        if self.is_repeated:
            return "NAME[,NAME]"
        if self.words and not self.numbers:
            return "{" + ",".join(self.words) + "}"
        short = self.flags[0]
        if not short.startswith("--"):
            return short.strip("-").upper()
        return "INT" if self.numbers == [int] else "X" if self.numbers else "TEXT"

    def parse(self, text: str) -> Any:
        """Read a value, or raise what argparse reports beside the flag."""
        if text in self.words:
            return text
        for read in self.numbers:
            try:
                return read(text)
            except ValueError:
                continue
        if "None" in self.types and text.lower() == "none":
            return None
        if self.is_text:
            return text
        expected = ["a number" if float in self.numbers else "a whole number"]
        expected = expected if self.numbers else []
        expected += [f"one of {', '.join(self.words)}"] if self.words else []
        raise argparse.ArgumentTypeError(f"must be {' or '.join(expected)}, got {text!r}")

    def help(self, names: Collection[str]) -> str:
        """Return the description with flags for the parameters in it, and the default."""
        pieces = self.description.replace("``", "`").split("`")
        # What stood between quotes is every other piece.
        pieces[1::2] = [flag(piece) if piece in names else piece for piece in pieces[1::2]]
        text = "".join(pieces)
        if self.default is not None:
            text += f" (default: {self.default})"
        return text.replace("%", "%%").strip()


def flag(name: str) -> str:
    """Return what the user types for a parameter, and not its single letter."""
    usual = "--" + name.strip("_").replace("_", "-")
    return next(each for each in ALIASES.get(name, (usual,)) if each.startswith("--"))


def parse_parameters(docstring: str) -> dict[str, Parameter]:
    """Return what the section "Parameters" of a docstring declares, by name.

    A ValueError tells of an entry that does not keep to the grammar.
    """
    found: dict[str, Parameter] = {}
    for head, body in entries(docstring).values():
        names, colon, spec = head.partition(" : ")
        if not colon:
            raise ValueError(f"expected 'name : type', found {head!r}")
        types, words, default = _specified(spec)
        blocks = body.strip().split("\n\n")
        paragraphs = tuple(" ".join(block.split()) for block in blocks)
        for name in names.split(", "):
            found[name] = Parameter(name, types, words, default, paragraphs)
    return found


def _specified(spec: str) -> tuple[tuple[str, ...], tuple[str, ...], Any]:
    """Return types, words and default of what stands behind the colon of an entry."""
    spec, has_default, literal = spec.partition(", default=")
    default = None
    if has_default:
        default = float(literal) if literal == "inf" else ast.literal_eval(literal)
    types: list[str] = []
    words: list[str] = []
    for part in _TYPE.findall(spec.removesuffix(", optional")):
        if part.startswith(('"', "{")):
            value = ast.literal_eval(part.replace("{", "[").replace("}", "]"))
            words += [value] if isinstance(value, str) else value
        else:
            types.append(part)
    return tuple(types), tuple(words), default


def declared_by(owner: str | Callable[..., Any]) -> list[Parameter]:
    """Return the parameters of a class, or the keyword-only ones of a function.

    Of ``"module:name"`` only the source is read.
    """
    docstring, names = _of_object(owner) if callable(owner) else _of_source(owner)
    return [known for known in parse_parameters(docstring).values() if known.name in names]


def _of_object(owner: Callable[..., Any]) -> tuple[str, list[str]]:
    parameters = inspect.signature(owner).parameters.values()
    if not isinstance(owner, type):
        keyword_only = [each.name for each in parameters if each.kind is each.KEYWORD_ONLY]
        return owner.__doc__ or "", keyword_only
    documented = (each.__doc__ or "" for each in owner.__mro__)
    docstring = next((each for each in documented if entries(each)), "")
    return docstring, [each.name for each in parameters]


def _of_source(place: str) -> tuple[str, list[str]]:
    module, _, name = place.partition(":")
    text = _source(module)
    # Of an estimator, what comes before its first method tells all; to parse that takes no time.
    head = re.search(rf"^@estimator\nclass {name}\b(?:.*\n)*?(?=    def |    @|\Z)", text, re.M)
    found = (each for each in ast.parse(head[0] if head else text).body if isinstance(each, _NAMED))
    node = next((each for each in found if each.name == name), None)
    if head and isinstance(node, ast.ClassDef):
        return _of_estimator(module, text, node)
    docstring = "" if node is None else ast.get_docstring(node) or ""
    if isinstance(node, ast.FunctionDef):
        return docstring, [each.arg for each in node.args.kwonlyargs]
    for each in [] if node is None else node.body:
        if isinstance(each, ast.FunctionDef) and each.name == "__init__":
            arguments = [*each.args.args[1:], *each.args.kwonlyargs]
            return docstring, [argument.arg for argument in arguments]
    if isinstance(node, ast.ClassDef) and not (node.bases or node.decorator_list):
        return docstring, []
    # Made elsewhere, or by a base: only the class itself can tell.
    return _of_object(getattr(importlib.import_module(module), name))


def _of_estimator(module: str, text: str, node: ast.ClassDef) -> tuple[str, list[str]]:
    """Do what `elbmf.estimators.base.estimator` does: add what the class shares with its bases."""
    homes = dict.fromkeys(re.findall(r"^class (\w+)", text, re.MULTILINE), module)
    for home, imported in _IMPORT.findall(text):
        homes |= dict.fromkeys(re.findall(r"\w+", imported), home)
    names = [
        ast.unparse(each.target)
        for each in node.body
        if isinstance(each, ast.AnnAssign) and "ClassVar" not in ast.unparse(each.annotation)
    ]
    docstrings = []
    for base in map(ast.unparse, node.bases):
        if base in homes:
            docstring, inherited = _of_source(f"{homes[base]}:{base}")
            docstrings.append(docstring)
            names += inherited
    fixed = [
        ast.unparse(each.target)
        for each in node.body
        if isinstance(each, ast.AnnAssign)
        and each.value is not None
        and "init=False" in ast.unparse(each.value)
    ]
    names = [name for name in names if name not in fixed]
    return with_inherited(ast.get_docstring(node) or "", docstrings, names), names


_IMPORT = re.compile(r"^from (elbmf\.\S+) import (\([^)]*\)|.*)$", re.MULTILINE)
_NAMED = (ast.ClassDef, ast.FunctionDef)


def _source(module: str) -> str:
    """Read the file of a module; packages above it are not imported, as `find_spec` would."""
    top, *below = module.split(".")
    spec = importlib.util.find_spec(top)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"there is no module {module!r}", name=module)
    path = Path(spec.origin)
    if below:
        path = path.parent.joinpath(*below)
        path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return path.read_text(encoding="utf-8")


@cache
def _parsed(module: str) -> ast.Module:
    return ast.parse(_source(module))


@dataclass(frozen=True)
class DeclaredFormat:
    """A file format as the help of commands needs it, with its options of reading and writing.

    These are keyword-only parameters of what reads and what writes it, None where nothing does.
    """

    name: str
    suffixes: tuple[str, ...]
    description: str
    reading: tuple[Parameter, ...]
    writing: tuple[Parameter, ...] | None


def declared_formats() -> list[DeclaredFormat]:
    """Return the file formats, in the order of `elbmf.io.formats.FORMATS`.

    They are read from the files that declare them, without importing these; formats that a program
    has added to the list come last.
    """
    built_in = ast.literal_eval(_assigned(_parsed("elbmf.io.formats"), "BUILT_IN"))
    found = [_declared_format(*place.split(":")) for place in built_in]
    names = {each.name for each in found}
    loaded = sys.modules.get("elbmf.io.formats")
    added = () if loaded is None else (each for each in loaded.FORMATS if each.name not in names)
    return [*found, *map(_added_format, added)]


def format_options(action: Literal["reading", "writing"]) -> dict[str, Parameter]:
    """Return the options of all formats by name."""
    found: dict[str, Parameter] = {}
    for known in declared_formats():
        for option in getattr(known, action) or ():
            found.setdefault(option.name, option)
    return found


def _assigned(tree: ast.Module, name: str) -> ast.expr:
    """Return what a name at the top of a module stands for."""
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else ()
        targets = [node.target] if isinstance(node, ast.AnnAssign) else targets
        if any(ast.unparse(target) == name for target in targets):
            assert isinstance(node, ast.Assign | ast.AnnAssign)
            assert node.value is not None
            return node.value
    raise LookupError(f"{name} is not assigned to")


@cache
def _declared_format(module: str, name: str) -> DeclaredFormat:
    tree = _parsed(module)
    call = _assigned(tree, name)
    assert isinstance(call, ast.Call)
    told = {each.arg: each.value for each in call.keywords}
    purposes = told.get("option_help")
    if isinstance(purposes, ast.Name):
        purposes = _assigned(tree, purposes.id)
    keys = ("name", "suffixes", "description")
    title, suffixes, description = (ast.literal_eval(told[key]) for key in keys)

    def options(function: ast.expr) -> tuple[Parameter, ...]:
        # Either the function itself, or one of whose arguments some are set.
        called = function.args[0] if isinstance(function, ast.Call) else function
        own = next(
            node
            for node in tree.body
            if isinstance(node, ast.FunctionDef) and node.name == ast.unparse(called)
        )
        kinds = {each.arg: ast.unparse(each.annotation or called) for each in own.args.kwonlyargs}
        return _options(kinds, ast.literal_eval(purposes) if purposes else {}, title)

    writing = options(told["write"]) if "write" in told else None
    return DeclaredFormat(title, suffixes, description, options(told["stream"]), writing)


def _added_format(known: Any) -> DeclaredFormat:
    def options(function: Callable[..., Any]) -> tuple[Parameter, ...]:
        kinds = {
            name: inspect.formatannotation(each.annotation)
            for name, each in inspect.signature(function).parameters.items()
            if each.kind is inspect.Parameter.KEYWORD_ONLY
        }
        return _options(kinds, known.option_help, known.name)

    writing = None if known.write is None else options(known.write)
    return DeclaredFormat(
        known.name, known.suffixes, known.description, options(known.stream), writing
    )


def _options(
    annotations: Mapping[str, str], purposes: Mapping[str, str], of: str
) -> tuple[Parameter, ...]:
    """Make options of parameters; the first word of an annotation says what kind each is."""
    found = []
    for name, annotation in annotations.items():
        word = annotation.strip("'").partition(" ")[0]
        kind = word if word in ("bool", "int", "float", "Choice") else "str"
        purpose = purposes.get(name, f"of the format {of}")
        found.append(Parameter(name, (kind,), paragraphs=(purpose,)))
    return tuple(found)
