"""Factorizing an AnnData in place, in the manner of scanpy's tools.

This module is ``elbmf.tl``; what draws the results is ``elbmf.pl``.
"""

from __future__ import annotations

from typing import Any, Literal

from elbmf.errors import InputError
from elbmf.estimators.registry import METHODS
from elbmf.estimators.registry import method as method_called
from elbmf.estimators.saving import saved_model
from elbmf.io.annotated import KEY, annotate
from elbmf.io.table import is_annotated

__all__ = ["factorize"]


def factorize(
    adata: Any,
    n_components: int | Literal["auto"] = 10,
    *,
    layer: str | None = None,
    key_added: str = KEY,
    method: str = "elbmf",
    copy: bool = False,
    **parameters: Any,
) -> Any:
    """Factorize an AnnData, and keep what is found beside its matrix.

    Parameters
    ----------
    adata : anndata.AnnData
        Cells by genes, or whatever observations and variables are.
    n_components : int or "auto", default=10
        Number of components.
    layer : str, optional
        Which layer to factorize instead of ``X``.
    key_added : str, default="elbmf"
        What the results are called.
    method : str, default="elbmf"
        One of `elbmf.estimators.METHODS`.
    copy : bool, default=False
        Whether to leave ``adata`` alone and return a copy with the results.
    **parameters
        Parameters of the method, such as ``binarize``, ``random_state`` or ``n_jobs``.

    Returns
    -------
    None or anndata.AnnData
        With ``copy``, the copy. The results are

        ``obsm["X_elbmf"]``
            0/1, observations by components: which components each has.
        ``varm["elbmf"]``
            0/1, variables by components: which components each is in.
        ``uns["elbmf"]``
            ``params``, ``n_components``, the ``loss`` and how well the product fits (``recall``,
            ``precision``, …); ``components`` with the size of each and the bits that it saves;
            ``history`` with figures of each iteration; and ``model``, all other notes of the fit as
            JSON, by which `elbmf.load` makes a fitted estimator of it again.

    See Also
    --------
    elbmf.load : The result as a fitted estimator, for frames, labels, reports, files and new cells.

    Examples
    --------
    >>> import anndata, numpy as np, elbmf
    >>> cells = anndata.AnnData(np.kron(np.eye(2), np.ones((4, 3))))
    >>> elbmf.tl.factorize(cells, n_components=2, random_state=0)
    >>> cells.obsm["X_elbmf"].shape, cells.varm["elbmf"].shape, int(cells.uns["elbmf"]["loss"])
    ((8, 2), (6, 2), 0)
    """
    if not is_annotated(adata):
        raise InputError(
            f"Expected an AnnData; got {type(adata).__name__}. For other data, use "
            "elbmf.ELBMF(n_components).fit(X)."
        )
    if method not in METHODS:
        raise InputError(f"There is no method {method!r}. Methods: {', '.join(METHODS)}.")
    fitted = method_called(method)(n_components=n_components, **parameters).fit(adata, layer=layer)
    if copy:
        adata = adata.copy()
    annotate(adata, saved_model(fitted), key_added)
    return adata if copy else None
