"""Constraints that come from files: what to keep, and what must, may and must not be."""

import argparse
import warnings
from collections.abc import Callable, Mapping
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elbmf.cli.flags.declared import flag
from elbmf.cli.flags.shared import group_of, side_options
from elbmf.errors import InputError

if TYPE_CHECKING:
    from elbmf.io import LabelledMatrix

__all__ = ["FROM_FILES", "LIMITS", "add_constraints", "add_previous", "constraints_of"]

LIMITS = "what components may be"
"""The title of flags that limit components."""

FROM_FILES = (
    "fixed_components",
    "forbidden_cells",
    "required_cells",
    "separate_columns",
    "previous",
)
"""Parameters whose values are read from files."""

_MASKS = ("forbidden_cells", "required_cells")

# Files of pairs, by their flags.
_PAIRS = {
    "forbid": "row and column of cells that are never covered",
    "require": "row and column of cells that are covered in any case",
    "separate": "two columns that are never in one component",
}


def add_constraints(parser: argparse.ArgumentParser) -> None:
    """Add the flags that name files."""
    group = group_of(parser, LIMITS)
    group.add_argument(
        "--keep",
        metavar="RESULT",
        help="components that stay as they are: a saved result, what elbmf export made of one, a "
        "table of components and columns, or pairs of these; they count among those to find",
    )
    for name, what in _PAIRS.items():
        group.add_argument(
            f"--{name}", metavar="FILE", help=f"pairs, as .csv or .tsv: {what}, by name"
        )


def add_previous(parser: argparse.ArgumentParser) -> None:
    """Add the flag that names what was before."""
    group_of(parser, LIMITS).add_argument(
        "--previous",
        metavar="RESULT",
        help="components to change as little as possible, see --change-penalty: a saved result, or "
        "a table of components and columns",
    )


def constraints_of(args: argparse.Namespace, table: "LabelledMatrix") -> dict[str, Any]:
    """Read the files, and return the parameters of a method that they stand for."""
    import numpy as np
    from scipy import sparse

    from elbmf.io.components import read_components
    from elbmf.io.known import is_blank, read_pairs

    columns = {name: place for place, name in enumerate(table.column_labels())}

    def mask(path: str) -> Any:
        names = table.row_labels(), table.column_labels()
        pairs = read_pairs(path, names, **side_options(args))
        cells = (np.ones(len(pairs), np.bool_), pairs.T)
        return sparse.csr_array(cells, table.shape)

    def components(path: str, *, gone: bool = False) -> Any:
        if is_blank(Path(path)):
            warnings.warn(f"{path}: has no components, so there are none to keep.", stacklevel=2)
            return np.zeros((0, table.shape[1]), np.bool_)
        roles = read_components(Path(path))
        V, names = roles.values.toarray() > 0, roles.column_labels()
        filled = V.any(axis=1)
        V = V[filled]
        if not gone:
            args.kept = list(compress(roles.row_labels(), filled))
        kept = np.zeros((V.shape[0], table.shape[1]), np.bool_)
        used = np.flatnonzero(V.any(axis=0))
        if gone:
            left = [j for j in used if names[j] in columns]
            if len(left) < len(used):
                warnings.warn(
                    f"{path}: {args.data} does not have {len(used) - len(left)} of its columns; "
                    "they are left out.",
                    stacklevel=2,
                )
            used = np.array(left, dtype=np.int64)
        kept[:, [_place(names[j], columns, path, args.data) for j in used]] = V[:, used]
        return kept

    def pairs_of_columns(path: str) -> Any:
        names = table.column_labels()
        pairs = read_pairs(path, (names, names), ("column", "column"), **side_options(args))
        return pairs.tolist()

    def previous(path: str) -> Any:
        return components(path, gone=True)

    own: list[Callable[[str], Any]] = [components, mask, mask, pairs_of_columns, previous]
    found = {}
    for parameter, reader in zip(FROM_FILES, own, strict=True):
        path = getattr(args, flag(parameter).strip("-"), None)
        if path is not None:
            value = reader(path)
            if np.shape(value)[0] and (parameter not in _MASKS or value.nnz):
                found[parameter] = value
    return found


def _place(name: str, places: Mapping[str, int], path: str, data: str) -> int:
    if name not in places:
        from elbmf.io.matching import first_few, nearest_names

        nearest = nearest_names(name, list(places))
        some = f"the nearest are {first_few(nearest)}" if nearest else ""
        some = some or f"it has {first_few(list(places))}"
        raise InputError(
            f"{path}: names {name!r}, which {data} does not have; {some}. Correct the name, or "
            "leave it out."
        )
    return places[name]
