"""The pages and their code blocks."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"

NOTEBOOK = "docs/notebook.md"
"""The page whose blocks are cells, which `test_notebook` runs in a kernel."""

# What the build makes beside the pages.
_MADE = {"_build", "_pictures", "gallery"}


@dataclass(frozen=True)
class Block:
    """A fenced block.

    Parameters
    ----------
    language : str
        What stands behind the fence.
    text : str
        What is between the fences.
    line : int
        Of the opening fence, counted from 1.
    """

    language: str
    text: str
    line: int

    @property
    def is_directive(self) -> bool:
        return self.language.startswith("{")


def pages():
    """Return the README, CONTRIBUTING and all pages, by their paths from the root."""
    found = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
    return {
        path.relative_to(ROOT).as_posix(): path
        for path in found
        if not _MADE & set(path.relative_to(ROOT).parts)
    }


def blocks(text):
    """Return the fenced blocks of a page."""
    found = []
    fence = None
    for number, line in enumerate(text.split("\n"), start=1):
        match = re.match(r"(`{3,}|:{3,})(.*)$", line)
        if fence is None:
            if match:
                fence, language, start, body = match[1], match[2].strip(), number, []
        elif match and match[1] == fence and not match[2].strip():
            found.append(Block(language, "\n".join([*body, ""]) if body else "", start))
            fence = None
        else:
            body.append(line)
    assert fence is None, f"the block that begins in line {start} does not end"
    return found
