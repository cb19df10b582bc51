"""Flags that are the same in several commands: of matrices, results, and what is known of them."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from elbmf.cli.flags.declared import format_options
from elbmf.cli.flags.parameters import destination, parameters_of
from elbmf.cli.parser import rare
from elbmf.errors import InputError
from elbmf.estimators.registry import METHODS
from elbmf.utils.vocabulary import VOCABULARIES, Vocabulary

__all__ = [
    "DATA",
    "FIND",
    "LOOK",
    "OUTPUT",
    "PAGE",
    "add_binarize",
    "add_format_options",
    "add_label_column",
    "add_line_weights",
    "add_log1p",
    "add_matrix",
    "add_n_jobs",
    "add_name_matching",
    "add_parameter",
    "add_reader_options",
    "add_report",
    "add_result",
    "add_saving",
    "add_side_options",
    "add_unknown",
    "add_vocabulary",
    "add_write_back",
    "at_least_one",
    "given_options",
    "group_of",
    "reader_options",
    "settle_log1p",
    "side_options",
    "weight_files",
]

DATA, FIND, LOOK, OUTPUT = "data", "what to find", "how hard to look", "output"
"""Titles of flags that most people need."""

PAGE = "report.html"
"""What the report is called in the folder of its result."""


def group_of(parser: argparse.ArgumentParser, title: str) -> argparse._ArgumentGroup:
    """Return the group of arguments with a title, an empty one if there is none yet."""
    known = (group for group in parser._action_groups if group.title == title)
    return next(known, None) or parser.add_argument_group(title)


def add_matrix(parser: argparse.ArgumentParser) -> None:
    """Add the matrix to factorize."""
    group = group_of(parser, DATA)
    group.add_argument("data", metavar="DATA", help="the matrix: a file of zeros and ones")


def add_result(parser: argparse.ArgumentParser, data: str | None = None) -> None:
    """Add a saved result and, if it is said what that is, a matrix to look at together with it."""
    parser.add_argument(
        "result", metavar="RESULT", help="folder that 'elbmf fit' or 'elbmf rank' saved"
    )
    if data is not None:
        parser.add_argument(
            "data",
            metavar="DATA",
            nargs="?",
            help=f"{data} (default: what RESULT was made from)",
        )


def add_unknown(parser: argparse.ArgumentParser) -> None:
    """Add the flag that says what becomes of columns that a result does not know."""
    parser.add_argument(
        "--unknown",
        choices=("error", "ignore"),
        default="error",
        help="named columns that the result does not know: an error, or left out (default: error)",
    )


def add_reader_options(
    parser: argparse.ArgumentParser, *, usual: bool = False, format_flag: str = "--format"
) -> None:
    """Add the flags that say how to read a matrix; usually none is needed.

    The short help shows them if they are ``usual``. A command whose own format is another has
    another flag for that of the matrix.
    """
    group = parser.add_argument_group("reading the matrix")
    if not usual:
        rare(group)
    group.add_argument(
        format_flag,
        dest="format",
        metavar="NAME",
        help="file format (default: by the suffix); 'elbmf convert --help' lists them",
    )
    group.add_argument(
        "--transpose",
        action=argparse.BooleanOptionalAction,
        help="exchange rows and columns, such as genes by cells",
    )
    # Which columns belong is for whoever knows the data, and no matter of formats.
    has_data = any(known.title == DATA for known in parser._action_groups)
    names = [option.name for option in format_options("reading").values() if option.is_repeated]
    others = [name for name in format_options("reading") if name not in names]
    add_format_options(group_of(parser, DATA) if has_data else group, "reading", only=names)
    add_format_options(group, "reading", only=others)


def add_side_options(parser: argparse.ArgumentParser, *names: str) -> None:
    """Add those flags of reading a matrix that say how to read a table beside it."""
    group = parser.add_argument_group("reading the table")
    rare(group)
    add_format_options(group, "reading", only=names)


def side_options(args: argparse.Namespace) -> dict[str, Any]:
    """Return how tables beside a matrix are written, where that is said.

    Beside a matrix, that is only how numbers are: other flags are for the matrix itself.
    """
    given = reader_options(args)
    also = () if "row_names" in vars(args) else ("delimiter", "encoding", "sheet")
    return {name: given[name] for name in ("decimal", "thousands", *also) if name in given}


def add_format_options(
    group: argparse._ArgumentGroup,
    action: Literal["reading", "writing"],
    prefix: str = "",
    only: Sequence[str] = (),
) -> None:
    """Add a flag for each option of a file format, with what their flags begin with."""
    for option in format_options(action).values():
        if only and option.name not in only:
            continue
        flag = f"--{prefix}{option.name}".replace("_", "-")
        kind: dict[str, Any] = {"type": option.parse, "metavar": option.metavar}
        if option.is_repeated:
            kind |= {"action": "append"}
        if option.is_switch:
            kind = {"action": argparse.BooleanOptionalAction, "default": None}
        group.add_argument(flag, **kind, help=option.description)


def given_options(
    args: argparse.Namespace, action: Literal["reading", "writing"], prefix: str = ""
) -> dict[str, Any]:
    """Return the options of formats that were given; see `add_format_options`."""
    start = prefix.replace("-", "_")
    options = {name: getattr(args, f"{start}{name}", None) for name in format_options(action)}
    return {name: value for name, value in options.items() if value is not None}


def reader_options(args: argparse.Namespace) -> dict[str, Any]:
    """Return the reader options that were given, apart from the format."""
    turned = {"transpose": True} if getattr(args, "transpose", None) else {}
    return turned | given_options(args, "reading")


def add_binarize(parser: argparse.ArgumentParser, note: str = "") -> None:
    """Add the flag that makes ones of large values, as methods describe it, and `add_log1p`."""
    add_parameter(parser, "binarize", note)
    add_log1p(parser)


def add_log1p(parser: argparse._ActionsContainer) -> None:
    """Add the flag that takes logarithms before."""
    parser.add_argument(
        "--log1p", action="store_true", help="take log(x + 1) of the values before --binarize"
    )


def settle_log1p(args: argparse.Namespace) -> None:
    """Let what was said of --binarize begin with the logarithms that were asked for."""
    if not getattr(args, "log1p", False):
        return
    for name in ("binarize", destination("binarize")):
        how = getattr(args, name, None)
        if how is not None:
            # Logarithms are above 0 where values are.
            same = how in ("positive", "nonzero") or str(how).startswith("log1p:")
            setattr(args, name, how if same else f"log1p:{how}")
            return
    raise InputError(
        "--log1p is for values that become ones by --binarize: add it, e.g. --binarize zscore. "
        'In a file for --config, that is binarize = "log1p:zscore".'
    )


def add_parameter(parser: argparse.ArgumentParser, name: str, note: str = "", **more: Any) -> None:
    """Add the flag of a parameter, as ELBMF describes it."""
    how = next(each for each in parameters_of(METHODS["elbmf"]) if each.name == name)
    said = {"help": how.help(()).removesuffix(".") + note, **more}
    parser.add_argument(*how.flags, dest=name, type=how.parse, metavar=how.metavar, **said)


def add_n_jobs(parser: argparse.ArgumentParser) -> None:
    """Add the flag for the number of threads."""
    parser.add_argument(
        "-j", "--n-jobs", type=at_least_one, metavar="J", help="threads (default: all cores)"
    )


def at_least_one(text: str) -> int:
    """Read a number of things of which there must be some."""
    count = int(text)
    if count < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, got {text}")
    return count


def add_label_column(parser: argparse.ArgumentParser) -> None:
    """Add the flag that chooses among several labellings of a table."""
    parser.add_argument(
        "--column",
        metavar="NAME",
        help="which column has the labels (default: the second; of h5ad, those with few values)",
    )


def add_name_matching(parser: argparse.ArgumentParser) -> None:
    """Add the flags that say when a name in a set is that of a column."""
    parser.add_argument(
        "--ignore-case", action="store_true", help="in sets, Tp53 and TP53 are the same name"
    )
    parser.add_argument(
        "--cut-at",
        metavar="TEXT",
        help="for sets, cut column names at this text, e.g. '|' for TP53|7157",
    )


def add_line_weights(
    parser: argparse._ActionsContainer, *lines: Literal["row", "column"], rarely: bool = False
) -> None:
    """Add the flags that name tables of weights of rows, columns or both."""
    for line in lines or ("row", "column"):
        action = parser.add_argument(
            f"--{line}-weights",
            metavar="FILE",
            help=f"table with a header, names of {line}s and their weights: a {line} of weight 3 "
            f"counts as three such {line}s; those not named weigh 1",
        )
        if rarely:
            rare(action)


def weight_files(args: argparse.Namespace) -> dict[str, str]:
    """Return the tables of weights that were given, by what a fit calls their weights."""
    files = {
        "sample_weight": getattr(args, "row_weights", None),
        "feature_weight": getattr(args, "column_weights", None),
    }
    return {name: file for name, file in files.items() if file is not None}


def add_report(parser: argparse.ArgumentParser) -> None:
    """Add the flags that ask for a report of what is found, and say in which words."""
    group_of(parser, OUTPUT).add_argument(
        "--report",
        metavar="FILE",
        nargs="?",
        const="",
        type=_page_name,
        help=f"also make a page about it for a browser (default: {PAGE} in the folder)",
    )
    add_vocabulary(group_of(parser, OUTPUT))


def add_vocabulary(parser: argparse._ActionsContainer, note: str = "") -> None:
    """Add the flag that says what rows, columns and components are called."""
    parser.add_argument(
        "--vocabulary",
        metavar="WORDS",
        type=_vocabulary,
        help="what rows, columns and components are called in tables and reports: "
        f"{', '.join(VOCABULARIES)}, or three words such as user,permission,role{note}",
    )


def _vocabulary(text: str) -> str:
    try:
        Vocabulary.of(text)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error).removeprefix("vocabulary: ")) from None
    return text


def add_saving(parser: argparse.ArgumentParser) -> None:
    """Add the flags of a command that saves what it finds to a folder."""
    group = group_of(parser, OUTPUT)
    group.add_argument("-o", "--output", metavar="DIR", required=True, help="folder to save in")
    add_report(parser)
    group.add_argument("--tsv", action="store_true", help="also save tables for reading")
    rare(add_escape_formulas(group, "in these tables"))
    group.add_argument("--json", action="store_true", help="print one JSON object, no tables")
    group.add_argument("--overwrite", action="store_true", help="replace a result in the folder")


def add_escape_formulas(
    parser: "argparse.ArgumentParser | argparse._ArgumentGroup", where: str = "in csv and tsv"
) -> argparse.Action:
    """Add the flag of what is for spreadsheets."""
    return parser.add_argument(
        "--escape-formulas",
        action="store_true",
        help=f"{where}, put a single quote before names that a spreadsheet would take for a "
        "formula: those that begin with = + - @, a tab or a carriage return",
    )


def add_write_back(parser: argparse.ArgumentParser) -> None:
    """Add the flag that keeps a result in the file of the data, too."""
    group_of(parser, OUTPUT).add_argument(
        "--write-back",
        action="store_true",
        help="also write it into DATA, an h5ad file: obsm/X_elbmf, varm/elbmf and uns/elbmf",
    )


def _page_name(text: str) -> str:
    # The flag takes what follows it for its value, which may be DATA.
    if text and Path(text).suffix.lower() != ".html":
        raise argparse.ArgumentTypeError(
            f"the name of a page must end in .html; got {text!r}. If no name is meant, put "
            "--report last"
        )
    return text
