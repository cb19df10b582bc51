"""Fitting on the workers of a Dask cluster, to data in a folder that they all reach."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from elbmf.boolean.coverage import Weights
from elbmf.errors import ClusterError, InputError, MissingExtraError
from elbmf.estimators import ELBMF, BooleanFactorizer
from elbmf.matrix.on_disk import NOTE, DiskMatrix
from elbmf.relaxation.engines.cluster import DaskMatrix

__all__ = ["Labels", "on_cluster"]

# Seconds to wait for the scheduler.
_PATIENCE = 10


@dataclass(frozen=True)
class Labels:
    """Names of the rows and columns, if they have any, without the values."""

    row_names: list[str] | None
    column_names: list[str] | None


@contextmanager
def on_cluster(
    address: str, data: str, estimator: BooleanFactorizer
) -> Iterator[tuple[DaskMatrix, Labels]]:
    """Lend a matrix folder as a matrix on the cluster of a scheduler, to fit an estimator to."""
    if not isinstance(estimator, ELBMF):
        raise InputError("--scheduler: only the method elbmf works on a cluster.")
    if not (Path(data) / NOTE).is_file():
        raise InputError(
            f"{data}: workers of a cluster read matrix folders, which this is not. Make one "
            f"first, where all workers reach it: elbmf convert {data} {Path(data).stem}.matrix"
        )
    if estimator.binarize is not None:
        raise InputError(f"{data}: has zeros and ones only. Use --binarize with elbmf convert.")
    stored = DiskMatrix(data)
    weights = Weights.of(estimator.extra_weight, stored.shape)
    try:
        from distributed import Client
    except ImportError:
        raise MissingExtraError("distributed", "dask", "--scheduler") from None
    # What becomes of lost connections is told by us, without a trace of where it was noticed.
    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        client = Client(address, timeout=_PATIENCE, direct_to_workers=True)
    except (OSError, ValueError) as error:
        raise ClusterError(
            f"No scheduler answers at {address} ({error}). Start one with: dask scheduler"
        ) from error
    with (
        client,
        DaskMatrix.from_folder(data, client, weights.relaxed) as A,
    ):
        yield A, Labels(stored.names(0), stored.names(1))
