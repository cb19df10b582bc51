"""Names from the data as text that any font can show, in a line of bounded length."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Any

from elbmf.utils.text import shortened
from elbmf.utils.vocabulary import Vocabulary

__all__ = ["EMPTY", "name_within", "shown_name", "text_width", "words_of", "wrapped"]

EMPTY = "(empty)"
"""What stands for a name without any character."""

# Characters between which a name is cut to the room that it has.
_LEAST, _MOST = 4, 120

# Accents upon accents would be drawn across the lines above and below.
_PILED_MARKS = re.compile("([\u0300-\u036f\u20d0-\u20ff]{2})[\u0300-\u036f\u20d0-\u20ff]+")

_LACKING = "\N{WHITE SQUARE}"


def shown_name(name: object, most: int = 32) -> str:
    """Return what to draw for a name.

    White space of any kind is one space, what has no glyph in the fonts of matplotlib is a square,
    what is too long lacks its middle, and dollar signs begin no formula.

    Parameters
    ----------
    name : object
        The name, as a rule a string.
    most : int, default=32
        Characters at most.
    """
    text = str(name)
    if len(text) > 4 * most:  # before anything is done that costs time for each character
        text = f"{text[: 2 * most]}…{text[-2 * most :]}"
    text = _PILED_MARKS.sub(
        r"\1",
        "".join(
            character
            for character in " ".join(text.split())
            # Control characters, also those that turn the direction of what follows.
            if unicodedata.category(character) not in ("Cc", "Cf")
        ),
    )
    drawn = "".join(map(_with_glyph, shortened(text, most))).strip()
    return drawn.replace("$", r"\$") or EMPTY


def name_within(name: object, points: float, size: float) -> str:
    """Return what to draw for a name, as much of it as there is room for.

    Parameters
    ----------
    name : object
        The name, see `shown_name`.
    points : float
        Room. A few characters are shown even where there is less.
    size : float
        Size of type, in points as well.
    """
    fits, too_many = _LEAST, _MOST + 1
    if text_width(shown_name(name, _MOST), size) <= points:
        return shown_name(name, _MOST)
    while too_many - fits > 1:
        middle = (fits + too_many) // 2
        if text_width(shown_name(name, middle), size) <= points:
            fits = middle
        else:
            too_many = middle
    return shown_name(name, fits)


def wrapped(text: str, points: float, size: float) -> str:
    """Break a text of our own into lines that are no wider than some points."""
    lines: list[str] = []
    for word in text.split(" "):
        if lines and text_width(f"{lines[-1]} {word}", size) <= points:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return "\n".join(lines)


def text_width(text: str, size: float) -> float:
    """Return how many points wide a text is, as `shown_name` made it."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    plain = text.replace(r"\$", "$")
    width, _, _ = text_to_path.get_text_width_height_descent(
        plain, FontProperties(size=size), ismath=False
    )
    # Pixels round letters up.
    return 1.02 * float(width)


def _with_glyph(character: str) -> str:
    if character.isascii() or any(ord(character) in glyphs for glyphs in _known_glyphs()):
        return character
    return _LACKING if any(ord(_LACKING) in glyphs for glyphs in _known_glyphs()) else "?"


def _known_glyphs() -> list[frozenset[int]]:
    """Return which characters the fonts have that text is drawn in."""
    from matplotlib.font_manager import FontProperties, findfont

    return [
        _glyphs_of(findfont(FontProperties(family=[family])))
        for family in FontProperties().get_family()
    ]


@lru_cache(maxsize=16)
def _glyphs_of(path: str) -> frozenset[int]:
    from matplotlib.font_manager import get_font

    return frozenset(get_font(path).get_charmap())


def words_of(model: Any) -> Vocabulary:
    """Return what rows, columns and components are called, as a result notes it."""
    noted = getattr(model, "info", getattr(model, "saved_info_", None))
    words = getattr(getattr(noted, "data", None), "words", None)
    return words if isinstance(words, Vocabulary) else Vocabulary()
