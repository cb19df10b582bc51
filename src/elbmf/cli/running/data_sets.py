"""The actions of ``elbmf data``: list, show, prepare, generate a stand-in."""

import argparse
import shlex
import textwrap
from pathlib import Path
from typing import Any

from elbmf.cli.console import Console
from elbmf.cli.flags.declared import flag
from elbmf.cli.progress import ProgressLine
from elbmf.cli.text.tables import figures, table
from elbmf.cli.writing import check_other_file
from elbmf.errors import InputError
from elbmf.io.files import watching
from elbmf.paper.catalog.download import download
from elbmf.paper.catalog.preparing import prepare, prepare_stand_in
from elbmf.paper.catalog.sets import DATA_SETS, DataSet, data_folder
from elbmf.paper.catalog.store import check_free, prepared_info, prepared_sets
from elbmf.utils.text import number

__all__ = ["prepare_one", "show", "show_all", "stand_in"]

_WIDTH = 76


def show_all(args: argparse.Namespace, console: Console) -> None:
    """List the data sets."""
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


def show(data_set: DataSet, args: argparse.Namespace, console: Console) -> None:
    """Say what there is to know of a data set."""
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


def prepare_one(
    data_set: DataSet, options: dict[str, Any], args: argparse.Namespace, console: Console
) -> None:
    """Make the matrix of a data set from the files of its owner, with the options of its loader."""
    folder = data_folder() if args.output is None else Path(args.output)
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
        unproved = [remote.name for remote in data_set.downloads if remote.checksum is None]
        if unproved:
            console.note(
                f"{', '.join(unproved)}: the catalogue has no checksum to compare with. Only the "
                "encrypted connection vouches for what was downloaded."
            )
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


def stand_in(data_set: DataSet, args: argparse.Namespace, console: Console) -> None:
    """Generate a matrix of the kind of a data set."""
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
