"""Pictures of an AnnData that was factorized, in the manner of scanpy's plots.

This module is ``elbmf.pl``. Each picture is one of `elbmf.plots`, with the result that is kept
under a key, and the layer that it was made from. What that one takes is passed on, and what it
returns, returned. ``color`` names a column of ``obs``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from elbmf.analysis.labels import component_labels
from elbmf.errors import InputError
from elbmf.io.annotated import KEY, model_in
from elbmf.plots.heat import component_overlap
from elbmf.plots.lists import component_lists
from elbmf.plots.maps import row_map as _row_map
from elbmf.plots.matrix import factorization as _factorization
from elbmf.plots.matrix import reordered_matrix
from elbmf.plots.nmi import label_nmi
from elbmf.plots.traces import trace as _trace

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "columns",
    "data",
    "errors",
    "factorization",
    "nmi",
    "overlap",
    "reconstruction",
    "row_map",
    "rows",
    "trace",
]


def factorization(adata: Any, *, key: str = KEY, **options: Any) -> tuple[Axes, ...]:
    """Draw data, reconstruction and errors side by side, see `elbmf.plots.factorization`.

    Parameters
    ----------
    adata : anndata.AnnData
        After `elbmf.tl.factorize`.
    key : str, default="elbmf"
        Which factorization.
    **options
        As for `elbmf.plots.factorization`.
    """
    return _factorization(model_in(adata, key), adata, **options)


def data(adata: Any, *, key: str = KEY, **options: Any) -> Axes:
    """Draw the matrix, components as blocks, see `elbmf.plots.reordered_matrix`."""
    return reordered_matrix(model_in(adata, key), adata, what="data", **options)


def reconstruction(adata: Any, *, key: str = KEY, **options: Any) -> Axes:
    """Draw what the components cover, see `elbmf.plots.reordered_matrix`."""
    return reordered_matrix(model_in(adata, key), adata, what="reconstruction", **options)


def errors(adata: Any, *, key: str = KEY, **options: Any) -> Axes:
    """Draw ones missed and zeros covered, see `elbmf.plots.reordered_matrix`."""
    return reordered_matrix(model_in(adata, key), adata, what="errors", **options)


def columns(adata: Any, *, key: str = KEY, **options: Any) -> tuple[Axes, ...]:
    """Draw the best genes of each component as lists, see `elbmf.plots.component_lists`."""
    return component_lists(model_in(adata, key), adata, side="columns", **options)


def rows(adata: Any, *, key: str = KEY, **options: Any) -> tuple[Axes, ...]:
    """Draw the best cells of each component as lists, see `elbmf.plots.component_lists`."""
    return component_lists(model_in(adata, key), adata, side="rows", **options)


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


def trace(adata: Any, *, key: str = KEY, **options: Any) -> tuple[Axes, ...]:
    """Draw how the fit went, see `elbmf.plots.trace`."""
    return _trace(model_in(adata, key), **options)


def _column(adata: Any, name: str) -> Any:
    if name not in adata.obs:
        raise InputError(
            f"obs has no column {name!r}. It has {', '.join(map(repr, adata.obs)) or 'none'}."
        )
    return adata.obs[name]
