"""``elbmf explain``: which components a row or a cell is in, and why, for those who ask."""

import argparse
from collections.abc import Callable, Sequence
from typing import Any

from elbmf.cli.console import Console
from elbmf.cli.flags.shared import add_binarize, add_n_jobs, add_reader_options, add_result
from elbmf.cli.text.tables import shorten, table
from elbmf.errors import InputError, visible
from elbmf.utils.text import counted, number, percent

__all__ = ["EXAMPLES", "configure", "run"]

EXAMPLES = """\
examples:
  elbmf explain roles --row ann              which components ann is in, and why
  elbmf explain roles --row ann --column pay --json
                                             which of them give the cell, and who else has it

The row may be named, or told by its number from 0 where rows have no names; so may the column. The
matrix tells how much of each component the row has; without it, only the components are known."""


def configure(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> None:
    """Add the arguments."""
    parser.usage = "elbmf explain RESULT [DATA] --row NAME [--column NAME] [options]"
    add_result(parser, "the matrix, if it is not where it was or was changed")
    parser.add_argument("--row", metavar="NAME", required=True, help="the row to explain")
    parser.add_argument("--column", metavar="NAME", help="one cell of it alone")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    add_n_jobs(parser)
    add_binarize(parser, " (default: what the result was fit with)")
    add_reader_options(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    """Load, find the data, explain."""
    from elbmf.cli.results import found_data, load
    from elbmf.io import explain
    from elbmf.report.inputs import described_by

    model = load(args.result)
    found = found_data(model, args, console)
    if found.A is None:
        console.note(f"{args.result}: {found.note}")
    subject = described_by(model, found.A, found.row_names, args.n_jobs)
    try:
        said = explain(subject.model, args.row, args.column, subject.A)
    except InputError as error:
        # Every other part is names.
        told = (
            str(part) if at % 2 else model.info.data.words.spoken(str(part))
            for at, part in enumerate(error.parts)
        )
        raise InputError(f"{args.result}: ", *told) from None
    if args.json:
        console.result_json({"result": args.result, **said})
    else:
        of = _row_text if args.column is None else _cell_text
        spoken = model.info.data.words.spoken
        rows = [said, *said.get("others", ())]
        texts = [of(each, spoken) for each in rows]
        if len(rows) > 1:
            texts = [
                spoken("row") + f" {each['place']}: {text}"
                for each, text in zip(rows, texts, strict=True)
            ]
            texts.insert(0, spoken(f"{len(rows)} rows") + f" are called {visible(args.row)}.")
        console.result("\n\n".join(texts))
    return 0


_Spoken = Callable[[str], str]


def _row_text(said: dict[str, Any], spoken: _Spoken) -> str:
    held, nearest = said["components"], said.get("nearest")
    if held:
        head = visible(said["row"]) + spoken(f" is in {counted(len(held), 'component')}.")
        head += f"\n\n{_table(held, 'column_names', 'column names', spoken)}"
    else:
        head = visible(said["row"]) + spoken(" is in no component.")
    if nearest is not None:
        had = number(nearest["columns_had"])
        head += spoken(
            f" Component {nearest['component']} is nearest: it has {had} of its "
            f"{counted(nearest['columns'], 'column')}."
        )
    errors = [
        f"{spoken(what)}: {shorten(said[key], width=70)}"
        for key, what in (
            ("missed", "ones that no component covers"),
            ("extra", "zeros that are covered"),
        )
        if said.get(key)
    ]
    return "\n".join([head, *([""] if errors else []), *errors])


def _cell_text(said: dict[str, Any], spoken: _Spoken) -> str:
    value = {True: "a one", False: "a zero", None: "missing, or not known"}[said["value"]]
    covering = said["components"]
    # As a phrase that some fields say otherwise; the names are that pair.
    value = spoken(f"pair is {value}").removeprefix("pair ")
    head = f"{visible(said['row'])} × {visible(said['column'])} {value}, and "
    if covering:
        one = len(covering) == 1
        by = spoken(f"{counted(len(covering), 'component')} cover{'s' * one} it.")
        return f"{head}{by}\n\n{_table(covering, 'row_names', 'row names', spoken)}"
    others = said["components_of_row"]
    whose = "The row is in no component."
    if others:
        many = "components" if len(others) > 1 else "component"
        whose = f"The row is in {many} {', '.join(map(str, others))}, without that column."
    return head + spoken(f"no component covers it. {whose}")


def _table(components: Sequence[dict[str, Any]], names: str, title: str, spoken: _Spoken) -> str:
    headers = ["component", "rows", "columns", "columns had", "share", title]
    lines = [
        [
            str(each["component"]),
            number(each["rows"]),
            number(each["columns"]),
            "–" if each["columns_had"] is None else number(each["columns_had"]),
            "–" if each["share"] is None else percent(each["share"]),
            shorten(each[names]),
        ]
        for each in components
    ]
    return table([spoken(each) for each in headers], lines, left=[5])
