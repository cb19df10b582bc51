"""The nine data sets of the paper (Table 1): where to get them, and what it makes of them.

What is said of each is in ``sets.toml``. The files belong to their owners and are not part of this
package. A loader in `elbmf.paper.sources` reads each as its owner publishes it.
"""

from __future__ import annotations

import difflib
import importlib
import os
import sys
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from elbmf.errors import InputError

if TYPE_CHECKING:
    from elbmf.paper.catalog.prepared import PreparedData

__all__ = ["DATA_SETS", "DataSet", "RemoteFile", "data_folder", "get", "loader_of"]

_SOURCES = "elbmf.paper.sources"


@dataclass(frozen=True)
class RemoteFile:
    """A file that its owner publishes, perhaps with a checksum such as ``"md5:ce57…"``."""

    url: str
    checksum: str | None = None

    @property
    def name(self) -> str:
        """What the file is called."""
        return self.url.rpartition("/")[2]


@dataclass(frozen=True)
class DataSet:
    """A data set of the paper.

    Parameters
    ----------
    name : str
        What the user types.
    title : str
        What it is, in a few words.
    domain : str
        As in the paper.
    source : str
        The page of the owner.
    files : str
        Which files to get, by the names that the owner gives them, and from where.
    access : str
        On what terms: licence, account, agreement.
    preparation : str
        How zeros and ones come about.
    rows, columns, ones, rank : int
        As in the paper's table; the ones follow from its density.
    loader : str
        The module whose function ``load`` reads the files.
    parameters : mapping
        Parameters of `ELBMF` that the paper states for it.
    remark : str
        What else to know.
    downloads : tuple of RemoteFile
        Files that may be downloaded without more ado; the first is what the loader reads.
    """

    name: str
    title: str
    domain: str
    source: str
    files: str
    access: str
    preparation: str
    rows: int
    columns: int
    ones: int
    rank: int
    loader: str
    parameters: Mapping[str, float] = field(default_factory=dict)
    remark: str = ""
    downloads: tuple[RemoteFile, ...] = ()

    @property
    def density(self) -> float:
        """Share of ones in the paper's table."""
        return self.ones / (self.rows * self.columns)

    def as_dict(self) -> dict[str, Any]:
        """Return all there is to say as plain values."""
        told = {**asdict(self), "density": self.density, "parameters": dict(self.parameters)}
        told["downloads"] = [remote.url for remote in self.downloads]
        return told


def _read() -> dict[str, DataSet]:
    table = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    found = {}
    for name, own in table.items():
        told = {**table.get(own.pop("like", name), {}), **own}
        told["loader"] = f"{_SOURCES}.{told['loader']}"
        told["downloads"] = tuple(RemoteFile(**remote) for remote in told.get("downloads", ()))
        found[name] = DataSet(name=name, **told)
    return found


DATA_SETS: dict[str, DataSet] = _read()
"""The data sets by name, in the order of the paper's table."""


def get(name: str) -> DataSet:
    """Return a data set by its name, in any case, or say which there are."""
    found = DATA_SETS.get(name.lower())
    if found is None:
        close = difflib.get_close_matches(name.lower(), DATA_SETS, n=3)
        hint = f" Did you mean {' or '.join(close)}?" if close else ""
        raise InputError(f"there is no data set {name!r}.{hint} Data sets: {', '.join(DATA_SETS)}.")
    return found


def loader_of(name: str) -> Callable[..., PreparedData]:
    """Return the function that reads the files of a data set.

    Its first parameter is a path, its options are keyword-only.
    """
    return cast("Callable[..., PreparedData]", importlib.import_module(get(name).loader).load)


def data_folder() -> Path:
    """Return the folder of prepared data, which need not exist.

    That is what the environment variable ``ELBMF_DATA`` says, or else a folder of the user: under
    ``XDG_DATA_HOME`` or ``~/.local/share`` on Linux, ``~/Library/Application Support`` on macOS,
    ``%LOCALAPPDATA%`` on Windows.
    """
    chosen = os.environ.get("ELBMF_DATA", "").strip()
    if chosen:
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or str(Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = str(Path.home() / "Library" / "Application Support")
    else:
        base = os.environ.get("XDG_DATA_HOME", "")
        if not os.path.isabs(base):  # The standard says to ignore what is not.
            base = str(Path.home() / ".local" / "share")
    return Path(base) / "elbmf" / "data"
