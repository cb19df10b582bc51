"""Pictures of an AnnData that was factorized, in the manner of scanpy's plots.

This module is ``elbmf.pl``. Each picture is one of `elbmf.plots`, with the result that is kept
under a key, and the layer that it was made from. What that one takes is passed on, and what it
returns, returned. ``color`` names a column of ``obs``.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from elbmf.analysis.enrichment import NamedSet
from elbmf.analysis.labels import component_labels
from elbmf.errors import InputError
from elbmf.estimators.reading import matrix_of
from elbmf.estimators.warning import warn_caller
from elbmf.io import SavedModel, read_gmt
from elbmf.io.annotated import KEY, model_in
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.plots.dots import result_enrichment
from elbmf.plots.heat import component_overlap
from elbmf.plots.lists import component_lists
from elbmf.plots.maps import row_map as _row_map
from elbmf.plots.matrix import What, reordered_matrix
from elbmf.plots.matrix import factorization as _factorization
from elbmf.plots.nmi import label_nmi
from elbmf.plots.traces import trace as _trace
from elbmf.utils.text import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "columns",
    "data",
    "enrichment",
    "errors",
    "factorization",
    "nmi",
    "overlap",
    "reconstruction",
    "row_map",
    "rows",
    "trace",
]


def factorization(
    adata: Any, *, color: str | None = None, key: str = KEY, **options: Any
) -> tuple[Axes, ...]:
    """Draw data, reconstruction and errors side by side, see `elbmf.plots.factorization`.

    Parameters
    ----------
    adata : anndata.AnnData
        After `elbmf.tl.factorize`.
    color : str, optional
        The column of ``obs`` to be a strip of colours beside the cells.
    key : str, default="elbmf"
        Which factorization.
    **options
        As for `elbmf.plots.factorization`.
    """
    model, A = _with_data(adata, key)
    return _factorization(model, A, **_with_strip(options, adata, color))


def data(adata: Any, *, color: str | None = None, key: str = KEY, **options: Any) -> Axes:
    """Draw the matrix, components as blocks, see `elbmf.plots.reordered_matrix`."""
    return _matrix(adata, "data", color, key, options)


def reconstruction(adata: Any, *, color: str | None = None, key: str = KEY, **options: Any) -> Axes:
    """Draw what the components cover, see `elbmf.plots.reordered_matrix`."""
    return _matrix(adata, "reconstruction", color, key, options)


def errors(adata: Any, *, color: str | None = None, key: str = KEY, **options: Any) -> Axes:
    """Draw ones missed and zeros covered, see `elbmf.plots.reordered_matrix`."""
    return _matrix(adata, "errors", color, key, options)


def columns(adata: Any, *, key: str = KEY, **options: Any) -> tuple[Axes, ...]:
    """Draw the best genes of each component as lists, see `elbmf.plots.component_lists`."""
    return component_lists(*_with_data(adata, key), side="columns", **options)


def rows(adata: Any, *, key: str = KEY, **options: Any) -> tuple[Axes, ...]:
    """Draw the best cells of each component as lists, see `elbmf.plots.component_lists`."""
    return component_lists(*_with_data(adata, key), side="rows", **options)


def overlap(adata: Any, *, key: str = KEY, **options: Any) -> Axes:
    """Draw what components share, see `elbmf.plots.component_overlap`."""
    return component_overlap(model_in(adata, key), **options)


def row_map(adata: Any, *, color: str | None = None, key: str = KEY, **options: Any) -> Axes:
    """Draw the cells in the plane, by component or a column of ``obs``, see `elbmf.plots.row_map`.

    Parameters
    ----------
    adata : anndata.AnnData
        After `elbmf.tl.factorize`.
    color : str, optional
        The column of ``obs`` to colour cells by; by default, by component.
    key : str, default="elbmf"
        Which factorization.
    **options
        As for `elbmf.plots.row_map`.
    """
    model = model_in(adata, key)
    return _row_map(model, labels=None if color is None else _column(adata, color), **options)


def nmi(adata: Any, color: str, *, key: str = KEY, **options: Any) -> Axes:
    """Draw what components tell of a column of ``obs``, see `elbmf.plots.label_nmi`.

    Parameters
    ----------
    adata : anndata.AnnData
        After `elbmf.tl.factorize`.
    color : str
        The column of ``obs``.
    key : str, default="elbmf"
        Which factorization.
    **options
        As for `elbmf.plots.label_nmi`.
    """
    return label_nmi(component_labels(model_in(adata, key), _column(adata, color)), **options)


def enrichment(
    adata: Any,
    sets: str | os.PathLike[str] | Sequence[NamedSet],
    *,
    key: str = KEY,
    **options: Any,
) -> Axes:
    """Draw which known sets of genes components are rich in, see `elbmf.plots.enrichment`.

    Parameters
    ----------
    adata : anndata.AnnData
        After `elbmf.tl.factorize`.
    sets : path-like or sequence of NamedSet
        A GMT file, or sets that are read already.
    key : str, default="elbmf"
        Which factorization.
    **options
        ``ignore_case`` and ``cut_at``, how names of genes are compared, as for
        `elbmf.analysis.enrichment.enrichment`; and ``ax``.
    """
    known = read_gmt(sets) if isinstance(sets, str | os.PathLike) else sets
    return result_enrichment(model_in(adata, key), sets=known, **options)


def trace(adata: Any, *, key: str = KEY, **options: Any) -> tuple[Axes, ...]:
    """Draw how the fit went, see `elbmf.plots.trace`."""
    return _trace(model_in(adata, key), **options)


def _column(adata: Any, name: str) -> Any:
    if not isinstance(name, str):
        raise InputError(f"color must be the name of one column of obs; got {name!r:.60}.")
    if name not in adata.obs:
        raise InputError(
            f"obs has no column {name!r}. It has {', '.join(map(repr, adata.obs)) or 'none'}."
        )
    return adata.obs[name]


def _with_strip(options: dict[str, Any], adata: Any, color: str | None) -> dict[str, Any]:
    return options if color is None else {**options, "row_labels": _column(adata, color)}


def _matrix(adata: Any, what: What, color: str | None, key: str, options: dict[str, Any]) -> Axes:
    model, A = _with_data(adata, key)
    return reordered_matrix(model, A, what=what, **_with_strip(options, adata, color))


def _with_data(adata: Any, key: str) -> tuple[SavedModel, BooleanMatrix]:
    """Return a model, and its data; warn where that has become something else."""
    model = model_in(adata, key)
    A = matrix_of(model, adata)
    noted = model.info.data
    # A selection has other ones for sure.
    if noted.ones not in (None, A.ones) and noted.shape == [*A.shape]:
        layer = noted.options.get("layer")
        warn_caller(
            f"The data is not as it was: {'X' if layer is None else f'the layer {layer!r}'} has "
            f"{number(A.ones)} ones, but had {number(noted.ones or 0)} when it was factorized. Put "
            "back what was factorized, or factorize again; a layer of its own, "
            "factorize(adata, layer=NAME), stays as it is."
        )
    return model, A
