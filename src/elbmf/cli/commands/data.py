"""``elbmf data``: the data sets of the paper, where to get them, and how to prepare them."""

import argparse
import shlex
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from elbmf.cli import solver_flags
from elbmf.cli.console import Console
from elbmf.cli.outputs import check_other_file
from elbmf.cli.progress import ProgressLine
from elbmf.cli.tables import figures, table
from elbmf.cli.wording import flag
from elbmf.errors import InputError
from elbmf.io.streams import watching
from elbmf.paper.catalog.download import download
from elbmf.paper.catalog.preparing import prepare, prepare_stand_in
from elbmf.paper.catalog.sets import DATA_SETS, DataSet, get, loader_of
from elbmf.paper.catalog.store import check_free, data_folder, prepared_info, prepared_sets
from elbmf.utils.text import number

__all__ = ["EXAMPLES", "configure", "run"]

EXAMPLES = """\
examples:
  elbmf data list
  elbmf data show movielens                           where to get it, on what terms
  elbmf data prepare movielens --download
  elbmf data prepare netflix --from archive.zip
  elbmf data prepare string --from 9606.protein.links.detailed.v11.5.txt.gz -o folder
  elbmf data standin netflix --scale 0.1              a generated matrix of the same kind

'elbmf data prepare NAME --help' lists the options of a data set. What is prepared is kept in the
folder that the environment variable ELBMF_DATA names, by default one of yours."""

_ACTIONS = ("list", "show", "prepare", "standin")
_LOADER = "loader"
_WIDTH = 76


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
            "--from", dest="source", metavar="PATH", help="the file, archive or folder of the owner"
        )
        parser.add_argument(
            "--download", action="store_true", help="get it first, where its owner allows that"
        )
        # The options depend on the data set, which is therefore named right after the action.
        name, *_ = [*arguments[arguments.index(action) + 1 :], "-"]
        if not name.startswith("-"):
            group = parser.add_argument_group(f"options of {get(name).name}")
            solver_flags.add_flags(group, solver_flags.options_of(loader_of(name)), owner=_LOADER)


def run(args: argparse.Namespace, console: Console) -> int:
    """Do what the action says."""
    if args.action == "list":
        _list(args, console)
    elif args.action == "show":
        _show(get(args.name), args, console)
    elif args.action == "prepare":
        _prepare(get(args.name), args, console)
    else:
        _stand_in(get(args.name), args, console)
    return 0


def _list(args: argparse.Namespace, console: Console) -> None:
    prepared = prepared_sets()
    if args.json:
        console.result_json(
            {
                "folder": str(data_folder()),
                "sets": [_figures(data_set, prepared) for data_set in DATA_SETS.values()],
            }
        )
        return
    rows = [
        [
            data_set.name,
            data_set.title,
            number(data_set.rows),
            number(data_set.columns),
            f"{data_set.density:.4f}",
            str(data_set.rank),
            "yes" if data_set.name in prepared else "no",
        ]
        for data_set in DATA_SETS.values()
    ]
    headers = ["name", "title", "rows", "columns", "density", "rank", "prepared"]
    console.result(table(headers, rows, left=[0, 1, 6]))


def _figures(data_set: DataSet, prepared: dict[str, Path]) -> dict[str, Any]:
    path = prepared.get(data_set.name)
    return {**data_set.as_dict(), "prepared": None if path is None else str(path)}


def _show(data_set: DataSet, args: argparse.Namespace, console: Console) -> None:
    prepared = prepared_sets()
    if args.json:
        console.result_json(_figures(data_set, prepared))
        return
    path = prepared.get(data_set.name)
    stated = " ".join(f"{name}={value:g}" for name, value in data_set.parameters.items())
    pairs = [
        ("name", data_set.name),
        ("title", data_set.title),
        ("domain", data_set.domain),
        ("owner", data_set.source),
        ("files", data_set.files),
        ("terms", data_set.access),
        ("preparation", data_set.preparation),
        (
            "in the paper",
            f"{_shape(data_set)}, density {data_set.density:.4f}, {data_set.rank} components",
        ),
        ("parameters", stated or "none stated in the paper"),
        ("remark", data_set.remark),
        ("prepared", "no" if path is None else str(path)),
    ]
    console.result(figures([(name, _wrapped(text)) for name, text in pairs if text]))
    if path is None:
        console.result("\n" + _how_to_prepare(data_set))
    else:
        console.result("\n" + _how_to_fit(data_set, path))


def _shape(data_set: DataSet) -> str:
    return f"{number(data_set.rows)} rows × {number(data_set.columns)} columns"


def _wrapped(text: str) -> str:
    """Break a long text into lines that begin below its first word."""
    lines = textwrap.wrap(text, _WIDTH, break_long_words=False, break_on_hyphens=False)
    return ("\n" + " " * 14).join(lines)


def _prepare(data_set: DataSet, args: argparse.Namespace, console: Console) -> None:
    folder = data_folder() if args.output is None else Path(args.output)
    options = solver_flags.given(args, _LOADER)
    path = check_free(folder, data_set.name, overwrite=args.overwrite)
    if args.source is None and not (args.download and data_set.downloads):
        asked = "cannot be downloaded by this command." if args.download else "say where it is."
        raise InputError(f"{data_set.name}: {asked}\n{_how_to_prepare(data_set)}")
    if args.source is not None and args.download:
        raise InputError("--from and --download exclude each other. Leave one of them out.")
    progress = ProgressLine(console)
    if args.source is None:
        console.note(f"Terms of the owner: {data_set.access}")
        source, *_ = [
            download(
                remote,
                folder / "downloads",
                page=data_set.source,
                observer=progress.downloaded,
            )
            for remote in data_set.downloads
        ]
    else:
        source = Path(args.source)
        check_other_file(path, source)
    with watching(progress.read):
        path = prepare(data_set.name, source, folder, overwrite=args.overwrite, **options)
    info = prepared_info(path)
    for note in info["notes"]:
        console.note(note)
    console.note(_compared(data_set, info))
    console.note(f"Wrote {path}")
    console.note("\n" + _how_to_fit(data_set, path))


def _compared(data_set: DataSet, info: dict[str, Any]) -> str:
    """Say how a prepared data set compares with the paper's table."""
    rows, columns = info["shape"]
    made = f"{number(rows)} rows × {number(columns)} columns, {number(info['ones'])} ones"
    if (rows, columns, info["ones"]) == (data_set.rows, data_set.columns, data_set.ones):
        return f"{made}, just as in the paper's table."
    return f"{made}; in the paper's table {_shape(data_set)}, {number(data_set.ones)} ones."


def _stand_in(data_set: DataSet, args: argparse.Namespace, console: Console) -> None:
    path = prepare_stand_in(
        data_set.name,
        args.output,
        scale=args.scale,
        random_state=args.seed,
        overwrite=args.overwrite,
    )
    info = prepared_info(path)
    rows, columns = info["shape"]
    for note in info["notes"]:
        console.note(note)
    console.note(
        f"Wrote {number(rows)} rows × {number(columns)} columns, density {info['density']:.4f}, "
        f"to {path}"
    )
    console.note("\n" + _how_to_fit(data_set, path))


def _how_to_prepare(data_set: DataSet) -> str:
    lines = ["To prepare it:"]
    if data_set.downloads:
        lines += [f"  elbmf data prepare {data_set.name} --download", "or"]
    lines += [
        f"  get {data_set.files}",
        f"  from its owner, {data_set.source}",
        f"  ({data_set.access})",
        f"  elbmf data prepare {data_set.name} --from PATH",
    ]
    return "\n".join(lines)


def _how_to_fit(data_set: DataSet, path: Path) -> str:
    command = f"elbmf fit {shlex.quote(str(path))} -k {data_set.rank}"
    flags = " ".join(f"{flag(name)} {value:g}" for name, value in data_set.parameters.items())
    lines = ["Next:", f"  {command} -o result"]
    if flags:
        lines.append(f"  {command} {flags} -o paper    (the paper's parameters)")
    return "\n".join(lines)
