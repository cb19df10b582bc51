"""Sections of numpydoc docstrings, and those that a class shares with its bases."""

import inspect
import re
from collections.abc import Collection, Sequence

__all__ = ["entries", "with_inherited"]

_TITLE = re.compile(r"^(\S.*)\n-+\n", re.MULTILINE)


def entries(docstring: str, section: str = "Parameters") -> dict[str, tuple[str, str]]:
    """Return the first line and the indented rest of each entry of a section, by its names."""
    found = re.split(r"^(?=\S)", _sections(docstring).get(section, ""), flags=re.MULTILINE)
    heads_and_rests = (entry.strip("\n").partition("\n") for entry in found if entry.strip())
    return {head.partition(" : ")[0]: (head, rest) for head, _, rest in heads_and_rests}


def with_inherited(docstring: str, bases: Sequence[str], parameters: Collection[str]) -> str:
    """Complete the parameters and attributes of a class by what its bases tell of them.

    Of a parameter that has only its name there, a base says the rest. Parameters that are not named
    at all come last; attributes are in the order of the bases, its own last.

    Parameters
    ----------
    docstring : str
        That of the class.
    bases : sequence of str
        Those of its bases, the nearest first.
    parameters : collection of str
        What the class takes; what else a base takes is left out.
    """
    sections = {**dict.fromkeys(("", "Parameters", "Attributes"), ""), **_sections(docstring)}
    for section in ("Parameters", "Attributes"):
        known: dict[str, tuple[str, str]] = {}
        for base in reversed(bases):
            known |= entries(base, section)
        own = entries(docstring, section)
        if section == "Attributes":
            every = known | own
        else:
            every = {
                name: known.get(name, entry) if entry[0] == name else entry
                for name, entry in own.items()
            }
            every |= {name: known[name] for name in known if name in parameters and name not in own}
        sections[section] = "\n".join(line for entry in every.values() for line in entry if line)
    intro = sections.pop("")
    titled = (f"{title}\n{'-' * len(title)}\n{text}" for title, text in sections.items() if text)
    return "\n\n".join(part.strip("\n") for part in (intro, *titled))


def _sections(docstring: str) -> dict[str, str]:
    """Return the text under each title; what comes before them has none."""
    parts = ["", *_TITLE.split(inspect.cleandoc(docstring) + "\n")]
    return dict(zip(parts[::2], parts[1::2], strict=True))
