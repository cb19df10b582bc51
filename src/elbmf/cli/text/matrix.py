"""Figures of a matrix: what one wants to know before factorizing it."""

import shlex
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from elbmf.analysis import line_ones
from elbmf.cli.flags.parameters import as_flag
from elbmf.cli.text.tables import figures, shorten, table
from elbmf.errors import Setting
from elbmf.io import FolderTable, LabelledMatrix
from elbmf.matrix.on_disk import DiskMatrix
from elbmf.utils.text import number, size_text, unlearnable

__all__ = ["matrix_figures", "matrix_text"]

_QUANTILES = (0, 0.25, 0.5, 0.75, 1)
_VALUES_SHOWN = 8
_NAMES_SHOWN = 4
_COMPONENTS = 20

# Where more of the cells than this are not 0, being 0 is no limit to binarize at.
_DENSE = 0.8


def matrix_figures(matrix: LabelledMatrix) -> dict[str, Any]:
    """Count what is in a matrix.

    Ones are known cells other than 0, and memory is in bytes; where entries are not 0/1, their
    values are told, too. Of a matrix folder nothing is told that needs all of it: no duplicates.
    """
    if isinstance(matrix, FolderTable):
        return _stored_figures(matrix.stored)
    by_rows, missing = matrix.values, matrix.n_missing
    known = _without_missing(by_rows) if missing else by_rows
    n, m = matrix.shape
    found: dict[str, Any] = {
        "shape": [n, m],
        "missing": missing,
        "ones": int(known.nnz),
        "density": known.nnz / max(n * m - missing, 1),
        "boolean": bool(np.all(known.data == 1)),
    }
    for axis, lines, sums in (
        ("row", by_rows, np.diff(known.indptr)),
        ("column", sparse.csr_array(by_rows.T), np.bincount(known.indices, minlength=m)),
    ):
        names = getattr(matrix, f"{axis}_names")
        found[f"{axis}_names"] = None if names is None else names[:_NAMES_SHOWN]
        found[f"empty_{axis}s"] = int((sums == 0).sum())
        found[f"duplicate_{axis}s"] = lines.shape[0] - np.unique(_fingerprints(lines)).size
        found[f"{axis}_sums"] = np.quantile(sums, _QUANTILES).tolist()
    arrays = (by_rows.data, by_rows.indices, by_rows.indptr)
    found["memory"] = _memory((n, m), by_rows.nnz, sum(array.nbytes for array in arrays))
    if not found["boolean"]:
        found |= _values(known.data)
    return found


def _stored_figures(A: DiskMatrix) -> dict[str, Any]:
    n, m = A.shape
    found: dict[str, Any] = {
        "shape": [n, m],
        "missing": A.n_missing,
        "ones": A.ones,
        "density": A.density,
        "boolean": True,
    }
    for side, axis in enumerate(("row", "column")):
        sums = line_ones(A, side)
        found[f"{axis}_names"] = A.names(side, _NAMES_SHOWN)
        found[f"empty_{axis}s"] = int((sums == 0).sum())
        found[f"{axis}_sums"] = np.quantile(sums, _QUANTILES).tolist()
    in_memory = A.ones * 5 + 8 * n
    found["memory"] = _memory(A.shape, A.ones, in_memory)
    return found


def _without_missing(values: Any) -> Any:
    """Return a matrix with zeros in place of its missing cells."""
    known = values.copy()
    known.data[np.isnan(known.data)] = 0
    known.eliminate_zeros()
    return known


def _fingerprints(lines: Any) -> NDArray[np.uint64]:
    """Return a number for each line that is the same for equal lines and else almost surely not."""
    keys = np.random.default_rng(0).integers(2**63, size=lines.shape[1], dtype=np.uint64)
    entries = keys[lines.indices]
    if lines.dtype != np.bool_:
        odd = np.uint64(0x9E3779B97F4A7C15)
        values = lines.data.astype(np.float64)
        values[np.isnan(values)] = np.nan  # there are several, told apart by their bits only
        entries *= values.view(np.uint64) * odd | np.uint64(1)
    before = np.concatenate([np.zeros(1, np.uint64), np.cumsum(entries, dtype=np.uint64)])
    # Differences of sums that wrap around are right all the same.
    return before[lines.indptr[1:]] - before[lines.indptr[:-1]]


def _memory(shape: tuple[int, int], ones: int, matrix: int) -> dict[str, int]:
    """Estimate bytes: of the matrix as read, and of a fit with 20 components beside it."""
    n, m = shape
    resident = min(n, m)
    pattern = ones * (4 + 1 + (2 if resident <= 1 << 16 else 4)) + 16 * (n + m)
    factors = 2 * 4 * (n + m) * _COMPONENTS
    # The product with the data, one for each slab: at most 32, and not more than the ones earn.
    products = 4 * _COMPONENTS * max(resident, min(32 * resident, ones // 16))
    return {"matrix": int(matrix), "fit": int(matrix + pattern + factors + products)}


def _values(data: NDArray[Any]) -> dict[str, Any]:
    """Describe values other than 0, the most frequent first, and guess a threshold."""
    distinct, counts = np.unique(data, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:_VALUES_SHOWN]
    lowest = float(distinct[0])
    # 0 where 0 is what is absent; the middle of two values where 0 does not part them.
    between = float(distinct[-2] + distinct[-1]) / 2 if distinct.size > 1 else lowest / 2
    return {
        "distinct_values": int(distinct.size),
        "values": [{"value": float(distinct[i]), "count": int(counts[i])} for i in order],
        "suggested_threshold": 0.0 if lowest > 0 else max(between, 0.0),
    }


def matrix_text(
    found: dict[str, Any], path: str, others: list[str], dropped: Sequence[str] = ()
) -> str:
    """Lay out what `matrix_figures` found.

    The few columns that are not 0/1 are the others, beside those that are left out already.
    """
    rows, columns = found["shape"]
    pairs = [
        ("shape", f"{number(rows)} rows × {number(columns)} columns"),
        ("ones" if found["boolean"] else "not zero", number(found["ones"])),
        ("density", f"{found['density']:.4g}"),
        ("missing cells", number(found["missing"])),
    ]
    for axis in ("row", "column"):
        names = found[f"{axis}_names"]
        shown = (
            shorten(names, total=found["shape"][axis == "column"]) if names else "none in the file"
        )
        pairs.append((f"{axis} names", shown))
    for axis in ("row", "column"):
        pairs.append((f"empty {axis}s", number(found[f"empty_{axis}s"])))
        if f"duplicate_{axis}s" in found:
            pairs.append((f"duplicate {axis}s", number(found[f"duplicate_{axis}s"])))
    memory = found["memory"]
    pairs.append(
        (
            "memory",
            f"{size_text(memory['matrix'])}, about {size_text(memory['fit'])} in a fit, k=20",
        )
    )
    text = figures(pairs)
    what = "ones in a" if found["boolean"] else "not zero in a"
    headers = [what, "least", "25 %", "median", "75 %", "most"]
    sums = [
        [axis, *(f"{value:g}" for value in found[f"{axis}_sums"])] for axis in ("row", "column")
    ]
    text += "\n\n" + table(headers, sums, left=[0])
    if not found["boolean"]:
        values = ", ".join(
            f"{each['value']:g} ({number(each['count'])}×)" for each in found["values"]
        )
        text += (
            f"\n\nNot a 0/1 matrix. {number(found['distinct_values'])} values other than 0: "
            f"{values}{', …' if found['distinct_values'] > len(found['values']) else ''}\n"
            f"{_advice(found, path, others, dropped)}"
        )
    untold = unlearnable(found["ones"], rows * columns, found["missing"])
    if untold:
        text += f"\n\n{untold}"
    return text


def _advice(found: dict[str, Any], path: str, others: list[str], dropped: Sequence[str]) -> str:
    """Say how a matrix that is not 0/1 can be factorized: by what most likely is meant, first."""
    fit = f"  elbmf fit {shlex.quote(path)}"
    rest = "-k 20 -o result"
    if others:
        leave_out = as_flag(Setting("drop", ",".join([*dropped, *others])))
        return (
            f"All columns are 0/1 but {', '.join(others)}: leave them out with {leave_out}\n"
            f"{fit} {leave_out} {rest}\n"
            "If they belong, say which values are ones: with --binarize X, those above X."
        )
    if found["density"] > _DENSE:
        return (
            "Hardly any of them is 0. Say which values are ones: with a word such as zscore, those "
            "that are high in their column, or with --binarize X, those above X, e.g.\n"
            f"{fit} --binarize zscore {rest}"
        )
    return (
        "Say which values are ones: with --binarize X, those above X, or with a word such as "
        f"zscore, e.g.\n{fit} --binarize {found['suggested_threshold']:g} {rest}"
    )
