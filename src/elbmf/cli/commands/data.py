"""``elbmf data``: the data sets of the paper, where to get them, and how to prepare them."""

import argparse
from collections.abc import Sequence

from elbmf.cli.console import Console
from elbmf.cli.flags.parameters import add_flags, given, parameters_of
from elbmf.paper.catalog.sets import DATA_SETS, data_folder, get

__all__ = ["EXAMPLES", "configure", "run"]

EXAMPLES = """\
examples:
  elbmf data list                            see the data sets of the paper
  elbmf data show movielens                           where to get it, on what terms
  elbmf data prepare movielens --download
  elbmf data prepare netflix --from archive.zip
  elbmf data prepare string --from 9606.protein.links.detailed.v11.5.txt.gz -o folder
  elbmf data standin netflix --scale 0.1              a generated matrix of the same kind

'elbmf data prepare NAME --help' lists the options of a data set. Prepared data is kept in the
folder that the environment variable ELBMF_DATA names, or else in a folder in your home."""

_ACTIONS = ("list", "show", "prepare", "standin")
_LOADER = "loader"


def configure(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> None:
    """Add the arguments of the action, and of the data set, that are asked for."""
    action = next((word for word in arguments if word in _ACTIONS), "")
    parser.usage = "elbmf data list | show NAME | prepare NAME --from PATH | standin NAME [options]"
    parser.add_argument("action", choices=_ACTIONS, metavar="ACTION", help=", ".join(_ACTIONS))
    if action in ("list", "show"):
        parser.add_argument("--json", action="store_true", help="print one JSON object")
    if action in ("show", "prepare", "standin"):
        parser.add_argument("name", metavar="NAME", help=", ".join(DATA_SETS))
    if action in ("prepare", "standin"):
        parser.add_argument(
            "-o", "--output", metavar="DIR", help=f"folder to write to (default: {data_folder()})"
        )
        parser.add_argument("--overwrite", action="store_true", help="replace what is there")
    if action == "standin":
        parser.add_argument(
            "--scale", type=float, default=1.0, metavar="X", help="factor for rows and columns"
        )
        parser.add_argument("--seed", type=int, default=0, metavar="INT", help="default: 0")
    if action == "prepare":
        parser.add_argument(
            "--from", dest="source", metavar="PATH", help="the owner's file, archive or folder"
        )
        parser.add_argument(
            "--download", action="store_true", help="download it first, if its owner allows that"
        )
        # The options depend on the data set, which is therefore named right after the action.
        name, *_ = [*arguments[arguments.index(action) + 1 :], "-"]
        if not name.startswith("-"):
            group = parser.add_argument_group(f"options of {get(name).name}")
            add_flags(group, parameters_of(f"{get(name).loader}:load"), owner=_LOADER)


def run(args: argparse.Namespace, console: Console) -> int:
    """Do what the action says."""
    from elbmf.cli.running import data_sets

    if args.action == "list":
        data_sets.show_all(args, console)
    elif args.action == "show":
        data_sets.show(get(args.name), args, console)
    elif args.action == "prepare":
        data_sets.prepare_one(get(args.name), given(args, _LOADER), args, console)
    else:
        data_sets.stand_in(get(args.name), args, console)
    return 0
