"""The words of a field for rows, columns and components: users, permissions and roles, for one.

What the terminal and the report say is written with the words of matrices, and put into those of
the field where it is shown, all in the same way: `Vocabulary.spoken` here, and ``spoken`` in the
scripts of the report. Names from the data are never passed through it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Self

from elbmf.errors import InputError

__all__ = ["VOCABULARIES", "Vocabulary"]

_MATRIX_WORDS = ("row", "column", "component")

# Not within names of files, flags or settings, such as rows.csv, --row-weights or rows:0.8.
_PATTERN = r"""(?<![\w./\\'"#-])(?:(an?) )?({})(?![\w(/]|[.:-]\w)"""

# Before these letters a word takes "an", but not before a u that is spoken as in user.
_VOWEL = re.compile("[aeio]|u(?!ni|s)", re.IGNORECASE)


@dataclass(frozen=True)
class Vocabulary:
    """What rows, columns and components are called.

    Parameters
    ----------
    words : (str, str) for each of "row", "column" and "component"
        One of them, and several.
    phrases : mapping of str to str
        What else is said otherwise.
    """

    words: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    phrases: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, text: str | None) -> Self:
        """Read what a user wrote: a word of `VOCABULARIES`, or three words.

        Each of the three is that for one row, column and component; where several are not called
        the same with an s, as in ``person/people``.
        """
        if text is None:
            return cls()
        if text in VOCABULARIES:
            words, phrases = VOCABULARIES[text]
        else:
            words, phrases = text, {}
        given = [each.strip() for each in words.split(",")]
        if len(given) != len(_MATRIX_WORDS):
            raise InputError(
                f"vocabulary: expected {', '.join(VOCABULARIES)} or three words, for a row, a "
                f"column and a component, such as user,permission,role; got {text!r}."
            )
        return cls(
            {known: _forms(each) for known, each in zip(_MATRIX_WORDS, given, strict=True)},
            phrases,
        )

    @cached_property
    def table(self) -> dict[str, str]:
        """What is said in place of what, the longest first; empty where nothing is."""
        found = dict(self.phrases)
        for known, (one, several) in self.words.items():
            found |= {known: one, f"{known}s": several}
        return dict(sorted(found.items(), key=lambda item: -len(item[0])))

    @cached_property
    def pattern(self) -> str | None:
        """A regular expression of what is said otherwise, with an article before it, if any is."""
        if not self.table:
            return None
        return _PATTERN.format("|".join(map(re.escape, self.table)))

    def spoken(self, text: str) -> str:
        """Return a text of our own in the words of the field."""
        if self.pattern is None:
            return text
        return re.sub(self.pattern, self._replaced, text, flags=re.IGNORECASE)

    def _replaced(self, found: re.Match[str]) -> str:
        article, said = found.groups()
        word = self.table[said.lower()]
        if said[0].isupper():
            word = word[0].upper() + word[1:]
        if article is None:
            return word
        return f"{article[0]}{'n' if _VOWEL.match(word) else ''} {word}"


def _forms(given: str) -> tuple[str, str]:
    """Return the words for one and for several."""
    one, _, several = (part.strip() for part in given.partition("/"))
    if not one or ("/" in given and not several) or not all(map(_is_word, (one, several or one))):
        raise InputError(
            f"vocabulary: expected a word such as role or person/people; got {given!r}."
        )
    if several:
        return one, several
    if one.endswith("s"):
        raise InputError(
            f"vocabulary: expected the word for one; got {given!r}, which ends in s. Give that for "
            f"one, such as role; if {given!r} is one, give both, such as basis/bases."
        )
    return one, f"{one[:-1]}ies" if re.search("[^aeiou]y$", one) else f"{one}s"


def _is_word(text: str) -> bool:
    return all(part.isalpha() for part in re.split("[ -]", text))


VOCABULARIES: Mapping[str, tuple[str, Mapping[str, str]]] = MappingProxyType(
    {
        "roles": (
            "user,permission,role",
            {
                "one is missed": "permission is missing from roles",
                "ones are missed": "permissions are missing from roles",
                "missed ones": "permissions missing from roles",
                "zero is covered": "permission is too many",
                "zeros are covered": "permissions are too many",
                "covered ones": "permissions that roles give",
                "covered zero": "permission too many",
                "covered zeros": "permissions too many",
                "zeros that are covered": "permissions too many",
                "ones that no component covers": "permissions that no role gives",
                "ones covered": "permissions given",
                "pair is a one": "has the permission",
                "pair is a zero": "does not have the permission",
                "pair is missing, or not known": "may have the permission, which is not known",
                "component covers it": "role gives it",
                "components cover it": "roles give it",
                "missed": "missing",
                "extra": "too many",
            },
        ),
        "biology": ("sample,gene,program", {}),
        "baskets": ("basket,item,itemset", {}),
    }
)
"""Words that are ready: for a row, a column and a component, and what else is said otherwise."""
