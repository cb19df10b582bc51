"""Flags follow from the classes of the methods and the formats of files."""

import argparse
import inspect
from numbers import Integral, Real
from typing import Any

import pytest
from sklearn.utils._param_validation import Interval, StrOptions

from elbmf.cli.matrices import add_format_options, format_options
from elbmf.cli.solver_flags import Parameter, add_flags, by_any_name, given, parameters_of
from elbmf.estimators import METHODS
from elbmf.io import FORMATS, Format, formats


@pytest.mark.parametrize("method", METHODS)
def test_every_parameter_has_a_flag_with_help(method: str) -> None:
    names = set(inspect.signature(METHODS[method]).parameters)
    parameters = parameters_of(METHODS[method])
    assert names - {"init", "callback"} <= {parameter.name for parameter in parameters}
    assert "callback" not in {parameter.name for parameter in parameters}
    for parameter in parameters:
        assert parameter.description, parameter.name
        text = parameter.help(names)
        assert "`" not in text
        assert "callable" not in text


@pytest.mark.parametrize("method", METHODS)
def test_defaults_can_be_said(method: str) -> None:
    parser = argparse.ArgumentParser()
    add_flags(parser, parameters_of(METHODS[method]))
    assert given(parser.parse_args([])) == {}
    for parameter in parameters_of(METHODS[method]):
        if parameter.default is None or parameter.is_switch:
            continue
        args = parser.parse_args([parameter.flags[0], str(parameter.default)])
        assert given(args) == {parameter.name: parameter.default}


def test_usual_flags() -> None:
    flags = {parameter.name: parameter.flags for parameter in parameters_of(METHODS["elbmf"])}
    assert flags["n_components"] == ("-k", "--n-components")
    assert flags["random_state"] == ("--seed", "--random-state")
    assert flags["n_jobs"] == ("-j", "--n-jobs")
    assert flags["max_iter"] == ("--max-iter",)
    assert flags["init"] == ("--init",)
    assert "callback" not in flags


def test_every_option_of_every_format_has_a_flag() -> None:
    for action, prefix in (("read", ""), ("write", "output-")):
        parser = argparse.ArgumentParser()
        add_format_options(parser, action, prefix)
        text = parser.format_help()
        for known in FORMATS:
            for option in known.options(action):
                assert f"--{prefix}{option.name.replace('_', '-')}" in text
                assert option.help in known.option_help.values()
    args = parser.parse_args(["--output-layout", "pairs"])
    assert format_options(args, "write", "output_") == {"layout": "pairs"}


def test_the_type_of_an_option_is_that_of_the_parameter(monkeypatch: Any) -> None:
    def read(path: Any, *, depth: int = 3, loose: bool = False, scale: float | None = None) -> Any:
        raise AssertionError

    added = Format("odd", (".odd",), "odd files", read)
    monkeypatch.setattr(formats, "FORMATS", (*FORMATS, added))
    parser = argparse.ArgumentParser()
    add_format_options(parser, "read")
    args = parser.parse_args(["--depth", "7", "--no-loose", "--scale", "0.5", "--header"])
    expected = {"depth": 7, "loose": False, "scale": 0.5, "header": True}
    assert format_options(args, "read") == expected
    assert "of the format odd" in parser.format_help()


NUMBER = Interval(Real, 0, 1, closed="both")
COUNT = Interval(Integral, 1, None, closed="left")


@pytest.mark.parametrize(
    ("constraints", "text", "value"),
    [
        ([COUNT], "3", 3),
        ([NUMBER], "0.5", 0.5),
        ([NUMBER, callable, None], "1", 1.0),
        ([COUNT, NUMBER], "2", 2),
        ([COUNT, NUMBER], "0.25", 0.25),
        ([COUNT, StrOptions({"auto"})], "auto", "auto"),
        ([COUNT, StrOptions({"auto"})], "4", 4),
        ([COUNT, None], "none", None),
        ([StrOptions({"none", "some"})], "none", "none"),
        (["random_state"], "7", 7),
        ([Integral], "-7", -7),
        ([str], "any text", "any text"),
    ],
)
def test_values_are_read_as_the_constraints_allow(
    constraints: list[Any], text: str, value: Any
) -> None:
    parsed = Parameter("p", None, constraints, "").parse(text)
    assert parsed == value
    assert type(parsed) is type(value)


@pytest.mark.parametrize(
    ("constraints", "text", "message"),
    [
        ([COUNT], "0", r"an int in the range \[1, inf\)"),
        ([NUMBER, callable], "2", r"a float in the range \[0.0, 1.0\], got '2'"),
        ([NUMBER], "nan", "a float in the range"),
        ([StrOptions({"b", "a"}), COUNT], "c", "or one of a, b"),
        (["random_state"], "-1", "a whole number"),
    ],
)
def test_other_values_are_refused(constraints: list[Any], text: str, message: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match=message):
        Parameter("p", None, constraints, "").parse(text)


@pytest.mark.parametrize(
    ("constraints", "default", "expected"),
    [
        ([callable, None], None, False),
        (["array-like"], None, False),
        ([StrOptions({"random"}), tuple], "random", False),
        ([StrOptions({"random", "svd"}), tuple], "random", True),
        (["boolean"], True, True),
        ([bool], True, True),
        ([NUMBER], 0.5, True),
        ([str], "x", True),
    ],
)
def test_what_has_no_text_has_no_flag(constraints: list[Any], default: Any, expected: bool) -> None:
    assert Parameter("p", default, constraints, "").has_choice is expected


def test_names_in_files_may_be_those_of_flags() -> None:
    values = {"k": 3, "max-iter": 4, "seed": 5, "lam": 0.1}
    expected = {"n_components": 3, "max_iter": 4, "random_state": 5, "lam": 0.1}
    assert by_any_name(METHODS["elbmf"], values) == expected
