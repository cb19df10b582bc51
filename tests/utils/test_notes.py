"""Notes in JSON files: what is read fits the types of the fields, or an error says where not."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import pytest

from elbmf.errors import FileFormatError
from elbmf.utils.notes import ANY_NUMBER, AnyFloat, Count, Length, Notes, Within, read_note


@dataclass
class Inner(Notes):
    name: str
    kind: Literal["a", "b"] = "a"


@dataclass
class Outer(Notes):
    count: Count
    whole: int = 0
    share: Annotated[float, Within(0, 1)] = 0.5
    number: float = 0.0
    limit: AnyFloat = 0.0
    figures: Sequence[Annotated[float, ANY_NUMBER]] = ()
    pair: tuple[Count, str] | None = None
    three: Annotated[Sequence[int], Length(3)] = ()
    inner: dict[str, Inner] = field(default_factory=dict)
    any: Any = None


def read(tmp_path, text):
    (tmp_path / "note.json").write_text(text, encoding="utf-8", errors="surrogatepass")
    return read_note(Outer, tmp_path / "note.json", "Write it again.")


def test_what_fits_is_read(tmp_path):
    found = read(
        tmp_path,
        '{"count": 3, "share": 1, "limit": -Infinity, "figures": [NaN, 1, 2.5], "new": [1],'
        ' "pair": [0, "x"], "three": [1, 2, 3], "inner": {"x": {"name": "é"}}, "whole": null}',
    )
    assert (found.count, found.share, found.whole, found.pair) == (3, 1, 0, (0, "x"))
    assert found.inner["x"] == Inner(name="é")
    assert found.other == {"new": [1]}
    assert Outer.from_json(found.to_json()).to_json() == found.to_json()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not valid JSON, or cut off"),
        ('{"count": 3', "not valid JSON, or cut off"),
        ("\x80", "has halves|not valid JSON"),
        ("[]", "it must be an object, found []"),
        ("{}", "count is missing"),
        ('{"count": -1}', "count must be a whole number from 0 on, found -1"),
        ('{"count": true}', "count must be a whole number, found True"),
        ('{"count": 1.5}', "count must be a whole number, found 1.5"),
        ('{"count": 9223372036854775808}', "count must be a whole number from 0 on, found 9223"),
        (f'{{"count": {"1" * 5000}}}', "has a number that is too long"),
        ('{"count": 1, "whole": -9223372036854775809}', "a whole number that 64 bits can hold"),
        ('{"count": 1, "share": 1.5}', "share must be a number from 0 to 1, found 1.5"),
        ('{"count": 1, "share": NaN}', "share must be a number from 0 to 1, found nan"),
        ('{"count": 1, "number": 1e999}', "number must be a number that is finite, found inf"),
        ('{"count": 1, "limit": NaN}', "limit must be a number"),
        ('{"count": 1, "figures": [1, "2"]}', "figures[1] must be a number, found '2'"),
        ('{"count": 1, "pair": [1]}', "pair must be a list of 2, found [1]"),
        ('{"count": 1, "pair": [1, 2]}', "pair[1] must be text, found 2"),
        ('{"count": 1, "three": [1, 2]}', "three must be a list of 3, found [1, 2]"),
        ('{"count": 1, "inner": {"x": 1}}', "inner.x must be an object, found 1"),
        ('{"count": 1, "inner": {"x": {}}}', "inner.x.name is missing"),
        ('{"count": 1, "inner": {"x": {"name": "", "kind": 1}}}', "kind must be 'a' or 'b', found"),
        ('{"count": 1, "any": "\\ud800"}', "has halves of characters in its text"),
        ("[" * 100_000, "nested too deeply"),
        ('{"count": 1, "any": ' + "[" * 200 + "]" * 200 + "}", "nested too deeply"),
    ],
)
def test_what_does_not_fit_is_told_with_its_place(tmp_path, text, said):
    with pytest.raises(FileFormatError) as error:
        read(tmp_path, text)
    message = str(error.value)
    assert message.startswith(f"{tmp_path / 'note.json'}: ")
    assert any(each in message for each in said.split("|"))
    assert message.endswith(". Write it again.")
    assert "\n" not in message


def test_what_is_no_file_is_told_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for name, said in (("pipe", "is no file"), (".", "is no file"), ("x", "is missing")):
        with pytest.raises(FileFormatError, match=said):
            read_note(Outer, tmp_path / name, "Write it again.")
