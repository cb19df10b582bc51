"""Flags follow from the docstrings of the methods, which agree with what the methods take."""

import argparse
import inspect
from numbers import Integral, Real
from pathlib import Path
from typing import Any, ClassVar

import pytest

from elbmf.cli.flags.constraints import FROM_FILES
from elbmf.cli.flags.declared import (
    Parameter,
    declared_by,
    declared_formats,
    format_options,
    parse_parameters,
)
from elbmf.cli.flags.parameters import (
    add_flags,
    by_any_name,
    check_values,
    given,
    parameters_of,
)
from elbmf.cli.flags.shared import add_reader_options, reader_options
from elbmf.errors import InputError
from elbmf.estimators import METHODS, method
from elbmf.estimators.rank_search import RankSearch
from elbmf.estimators.schedule_flags import flags_of
from elbmf.io import FORMATS, Format, formats
from elbmf.io.formats.format import options_of
from elbmf.paper.catalog.sets import DATA_SETS, loader_of
from elbmf.utils.constraints import Interval, Options, StrOptions

CLASSES = {name: (METHODS[name], method(name)) for name in METHODS} | {
    "search": ("elbmf.estimators.rank_search:RankSearch", RankSearch)
}


@pytest.mark.parametrize("name", CLASSES)
def test_docstrings_agree_with_signatures(name: str) -> None:
    place, known = CLASSES[name]
    signature = inspect.signature(known).parameters
    found = declared_by(place)
    assert sorted(each.name for each in found) == sorted(signature)
    for each in found:
        assert each.default == signature[each.name].default, each.name
        assert each.paragraphs, each.name
    assert declared_by(known) == found


@pytest.mark.parametrize("name", CLASSES)
def test_docstrings_agree_with_constraints(name: str) -> None:
    place, known = CLASSES[name]
    for each in declared_by(place):
        constraints = known._parameter_constraints[each.name]
        typed = {"int", "float", "bool", "str", "path", "None"} & {*each.types}
        if each.default is None:
            typed.add("None")
        allowed = {kind for constraint in constraints for kind in _types_of(constraint)}
        if each.name in ("device", "regularizer"):  # whose words may become more
            allowed.add("str")
        assert typed == allowed, each.name
        options = [known for known in constraints if type(known) is StrOptions]
        if each.words or "str" not in each.types:
            assert {word for known in options for word in known.options} == {*each.words}, each.name


def _types_of(constraint: Any) -> list[str]:
    """Return what a docstring calls a constraint; nothing for words and what only Python says."""
    if constraint is None:
        return ["None"]
    if isinstance(constraint, StrOptions):
        # Those of our own stand for texts of some form.
        return [] if type(constraint) is StrOptions else ["str"]
    if isinstance(constraint, Interval | Options):
        return ["int" if issubclass(constraint.type, Integral) else "float"]
    if isinstance(constraint, str):
        return {"boolean": ["bool"], "random_state": ["int", "None"]}.get(constraint, [])
    return ["path"] if constraint is str else []


@pytest.mark.parametrize("name", DATA_SETS)
def test_docstrings_of_loaders_agree_with_signatures(name: str) -> None:
    options = {
        each.name: each.default
        for each in inspect.signature(loader_of(name)).parameters.values()
        if each.kind is each.KEYWORD_ONLY
    }
    found = declared_by(f"{DATA_SETS[name].loader}:load")
    assert {each.name: each.default for each in found} == options
    assert all(each.has_choice for each in found)


def test_formats_are_those_of_the_registry() -> None:
    declared = {known.name: known for known in declared_formats()}
    assert list(declared) == [known.name for known in FORMATS]
    for known in FORMATS:
        found = declared[known.name]
        assert (found.suffixes, found.description) == (known.suffixes, known.description)
        assert {each.name for each in found.reading} == known.read_options.keys()
        assert (found.writing is None) == (known.write is None)
        if known.write is not None:
            assert {each.name for each in found.writing} == options_of(known.write).keys()


def test_options_of_a_format_that_a_program_adds_become_flags(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def read(path: Path, *, skip: int = 0, plain: bool = False) -> Any:
        raise NotImplementedError

    added = Format("mine", (".mine",), "of mine", read, option_help={"skip": "lines to skip"})
    monkeypatch.setattr(formats, "FORMATS", (*FORMATS, added))
    parser = argparse.ArgumentParser()
    add_reader_options(parser)
    assert "lines to skip" in parser.format_help()
    args = parser.parse_args(["--skip", "3", "--plain"])
    assert reader_options(args) == {"skip": 3, "plain": True}


@pytest.mark.parametrize("name", METHODS)
def test_every_parameter_has_a_flag_with_help(name: str) -> None:
    names = set(inspect.signature(method(name)).parameters)
    parameters = parameters_of(METHODS[name])
    names |= flags_of(dict.fromkeys(names)).keys()
    assert names - {"callback", "schedule", "verbose", *FROM_FILES} == {
        parameter.name for parameter in parameters
    }
    for parameter in parameters:
        text = parameter.help(names)
        assert text
        assert "`" not in text
        for word in ("callable", "Python", "transformer", "your own, of"):
            assert word not in text


@pytest.mark.parametrize("name", METHODS)
def test_defaults_can_be_said(name: str) -> None:
    parser = argparse.ArgumentParser()
    add_flags(parser, parameters_of(METHODS[name]))
    assert given(parser.parse_args([])) == {}
    for parameter in parameters_of(METHODS[name]):
        if parameter.default is None or parameter.is_switch:
            continue
        args = parser.parse_args([parameter.flags[0], str(parameter.default)])
        assert given(args) == {parameter.name: parameter.default}
        check_values(method(name), given(args))


def test_usual_flags() -> None:
    flags = {parameter.name: parameter.flags for parameter in parameters_of(METHODS["elbmf"])}
    assert flags["n_components"] == ("-k", "--n-components")
    assert flags["random_state"] == ("--seed", "--random-state")
    assert flags["n_jobs"] == ("-j", "--n-jobs")
    assert flags["max_iter"] == ("--max-iter",)
    assert flags["init"] == ("--init",)
    assert "callback" not in flags


def test_every_option_of_every_format_has_a_flag() -> None:
    options = {option for known in FORMATS for option in known.read_options}
    assert options == format_options("reading").keys()
    for name, option in format_options("reading").items():
        assert "of the format" not in option.description, name


DOCSTRING = """Do something.

    Parameters
    ----------
    count : int or "auto", default=3
        How many,
        on two lines.

        In Python also a callable.
    low, high : float, optional
        Bounds.
    how : {"a", "b-c"} or (U, V), default="a"
        In which way.
    what : int, RandomState instance or None
        Anything.

    Attributes
    ----------
    other : str
        No parameter.
    """


def test_the_grammar_of_docstrings() -> None:
    bound = (("float",), (), None, ("Bounds.",))
    assert parse_parameters(DOCSTRING) == {
        "count": Parameter(
            "count",
            ("int",),
            ("auto",),
            3,
            ("How many, on two lines.", "In Python also a callable."),
        ),
        "low": Parameter("low", *bound),
        "high": Parameter("high", *bound),
        "how": Parameter("how", ("(U, V)",), ("a", "b-c"), "a", ("In which way.",)),
        "what": Parameter(
            "what", ("int", "RandomState instance", "None"), (), None, ("Anything.",)
        ),
    }
    assert parse_parameters(DOCSTRING)["count"].description == "How many, on two lines."
    assert parse_parameters("No parameters.") == {}


@pytest.mark.parametrize(
    "entry", ["count int\n    How many.", "count: int\n    How many.", "count : int, default=x"]
)
def test_what_is_not_in_the_grammar_is_an_error(entry: str) -> None:
    with pytest.raises(ValueError, match=r"expected 'name : type'|malformed"):
        parse_parameters(f"Do.\n\nParameters\n----------\n{entry}\n")


@pytest.mark.parametrize(
    ("types", "words", "text", "value"),
    [
        (("int",), (), "3", 3),
        (("float",), (), "0.5", 0.5),
        (("float", "callable", "None"), (), "1", 1.0),
        (("int", "float"), (), "2", 2),
        (("int", "float"), (), "0.25", 0.25),
        (("int",), ("auto",), "auto", "auto"),
        (("int",), ("auto",), "4", 4),
        (("int", "None"), (), "none", None),
        ((), ("none", "some"), "none", "none"),
        (("int",), (), "-7", -7),
        (("str",), (), "any text", "any text"),
        (("path-like",), (), "a.tsv", "a.tsv"),
        (("float", "str"), (), "300MB", "300MB"),
    ],
)
def test_values_are_read_as_the_types_allow(
    types: tuple[str, ...], words: tuple[str, ...], text: str, value: Any
) -> None:
    parsed = Parameter("p", types, words).parse(text)
    assert parsed == value
    assert type(parsed) is type(value)


@pytest.mark.parametrize(
    ("types", "words", "text", "message"),
    [
        (("int",), (), "x", "must be a whole number, got 'x'"),
        (("float", "callable"), (), "x", "must be a number, got 'x'"),
        (("int",), ("b", "a"), "c", "must be a whole number or one of b, a, got 'c'"),
        ((), ("a",), "c", "must be one of a, got 'c'"),
    ],
)
def test_other_texts_are_refused(
    types: tuple[str, ...], words: tuple[str, ...], text: str, message: str
) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match=message):
        Parameter("p", types, words).parse(text)


class _Method:
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "count": [Interval(Integral, 1, None, closed="left"), None],
        "share": [Interval(Real, 0, 1, closed="both"), callable],
        "word": [StrOptions({"a"})],
        "seed": ["random_state"],
    }


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"count": 0}, r"count must be an int in the range \[1, inf\); got 0\."),
        ({"count": 2.5}, r"count must be an int in the range \[1, inf\); got 2\.5\."),
        ({"count": 1, "share": 2}, r"share must be a float in the range \[0\.0, 1\.0\]; got 2\."),
        ({"share": float("nan")}, "share must be a float in the range"),
        ({"word": "b"}, "word must be a str among"),
        ({"seed": -1}, "seed must be .*; got -1"),
    ],
)
def test_other_values_are_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        check_values(_Method, values)
    check_values(_Method, {"count": 1, "share": 0.5, "word": "a", "seed": 3, "unknown": 5})


@pytest.mark.parametrize(
    ("types", "words", "default", "expected"),
    [
        (("callable", "None"), (), None, False),
        (("array-like",), (), None, False),
        (("(U, V)",), ("random",), "random", False),
        (("(U, V)",), ("random", "svd"), "random", True),
        (("bool",), (), True, True),
        (("float",), (), 0.5, True),
        (("str",), (), "x", True),
    ],
)
def test_what_has_no_text_has_no_flag(
    types: tuple[str, ...], words: tuple[str, ...], default: Any, expected: bool
) -> None:
    assert Parameter("p", types, words, default).has_choice is expected


def test_names_in_files_may_be_those_of_flags() -> None:
    values = {"k": 3, "max-iter": 4, "seed": 5, "lam": 0.1}
    expected = {"n_components": 3, "max_iter": 4, "random_state": 5, "lam": 0.1}
    assert by_any_name(METHODS["elbmf"], values) == expected
