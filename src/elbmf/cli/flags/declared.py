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

import ast
import importlib
import importlib.util
import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Declared", "declared_by", "declared_formats", "parse_parameters"]

IN_PYTHON = "In Python"
"""How a paragraph begins that is not for the command line."""

_TYPE = re.compile(r'\s*(\{[^}]*\}|\([^)]*\)|"[^"]*"|[^,]+?)\s*(?:,|\bor\b|$)')


@dataclass(frozen=True)
class Declared:
    """A parameter as its docstring declares it.

    Parameters
    ----------
    name : str
        As in the signature.
    types : tuple of str
        What it may be, as far as types have names: ``"int"``, ``"None"``, ``"callable"``, …
    words : tuple of str
        The words that it may be.
    default : object
        Its default; None where the docstring says no more than that it is optional.
    paragraphs : tuple of str
        What it is.
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


def parse_parameters(docstring: str) -> dict[str, Declared]:
    """Return what the section "Parameters" of a docstring declares, by name.

    Raises
    ------
    ValueError
        When an entry does not keep to the grammar.
    """
    found: dict[str, Declared] = {}
    for head, body in _entries(docstring):
        names, colon, spec = head.partition(" : ")
        if not colon:
            raise ValueError(f"expected 'name : type', found {head!r}")
        types, words, default = _specified(spec)
        blocks = "\n".join(body).strip().split("\n\n")
        paragraphs = tuple(" ".join(block.split()) for block in blocks)
        for name in names.split(", "):
            found[name] = Declared(name, types, words, default, paragraphs)
    return found


def _entries(docstring: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the first line and the others of each entry of the section."""
    lines = iter(inspect.cleandoc(docstring).splitlines())
    for line in lines:
        if line == "Parameters" and set(next(lines, "")) == {"-"}:
            break
    entry: tuple[str, list[str]] | None = None
    for line in lines:
        if line and set(line) == {"-"}:
            return  # what seemed to be an entry was the title of the next section
        if line.startswith(" ") or not line:
            if entry is not None:
                entry[1].append(line.strip())
        else:
            if entry is not None:
                yield entry
            entry = (line, [])
    if entry is not None:
        yield entry


def _specified(spec: str) -> tuple[tuple[str, ...], tuple[str, ...], Any]:
    """Return types, words and default of what stands behind the colon of an entry."""
    spec, has_default, literal = spec.partition(", default=")
    default = ast.literal_eval(literal) if has_default else None
    types: list[str] = []
    words: list[str] = []
    for part in _TYPE.findall(spec.removesuffix(", optional")):
        if part.startswith(('"', "{")):
            value = ast.literal_eval(part.replace("{", "[").replace("}", "]"))
            words += [value] if isinstance(value, str) else value
        else:
            types.append(part)
    return tuple(types), tuple(words), default


def declared_by(owner: str | Callable[..., Any]) -> list[Declared]:
    """Return the parameters of a class, or the keyword-only ones of a function.

    Parameters
    ----------
    owner : str or callable
        ``"module:name"``, of which only the source is read, or the thing itself.
    """
    docstring, names = _of_object(owner) if callable(owner) else _of_source(owner)
    known = parse_parameters(docstring)
    return [known[name] for name in names if name in known]


def _of_object(owner: Callable[..., Any]) -> tuple[str, list[str]]:
    parameters = inspect.signature(owner).parameters.values()
    if not isinstance(owner, type):
        keyword_only = [each.name for each in parameters if each.kind is each.KEYWORD_ONLY]
        return owner.__doc__ or "", keyword_only
    documented = (each.__doc__ or "" for each in owner.__mro__)
    docstring = next((each for each in documented if any(_entries(each))), "")
    return docstring, [each.name for each in parameters]


def _of_source(place: str) -> tuple[str, list[str]]:
    module, _, name = place.partition(":")
    found = (each for each in _parsed(module).body if isinstance(each, _NAMED))
    node = next((each for each in found if each.name == name), None)
    docstring = "" if node is None else ast.get_docstring(node) or ""
    if isinstance(node, ast.FunctionDef):
        return docstring, [each.arg for each in node.args.kwonlyargs]
    for each in [] if node is None else node.body:
        if isinstance(each, ast.FunctionDef) and each.name == "__init__":
            arguments = [*each.args.args[1:], *each.args.kwonlyargs]
            return docstring, [argument.arg for argument in arguments]
    # Made elsewhere, or by a base: only the class itself can tell.
    return _of_object(getattr(importlib.import_module(module), name))


_NAMED = (ast.ClassDef, ast.FunctionDef)


def _parsed(module: str) -> ast.Module:
    """Parse the file of a module; packages above it are not imported, as `find_spec` would."""
    top, *below = module.split(".")
    spec = importlib.util.find_spec(top)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"there is no module {module!r}", name=module)
    path = Path(spec.origin)
    if below:
        path = path.parent.joinpath(*below)
        path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return ast.parse(path.read_text(encoding="utf-8"))


def declared_formats() -> list[dict[str, Any]]:
    """Return name, suffixes and description of each file format, and whether it is written.

    They are read from the files that declare what `elbmf.io.formats.FORMATS` lists.
    """
    tree = _parsed("elbmf.io.formats")
    homes = {
        alias.name: node.module
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }
    listed = next(
        node.value
        for node in tree.body
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "FORMATS"
    )
    assert isinstance(listed, ast.Tuple)
    names = [ast.unparse(each) for each in listed.elts]
    return [_declared_format(homes[name], name) for name in names]


def _declared_format(module: str, name: str) -> dict[str, Any]:
    call = next(
        node.value
        for node in _parsed(module).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name
    )
    assert isinstance(call, ast.Call)
    told = {each.arg: each.value for each in call.keywords}
    return {
        **{key: ast.literal_eval(told[key]) for key in ("name", "suffixes", "description")},
        "writes": "write" in told,
    }
