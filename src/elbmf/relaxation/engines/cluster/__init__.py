"""Slabs on the workers of a Dask cluster.

`sources` says where slabs come from, `holder` is what a worker holds, `workers` tells them what to
do and makes good for those that are gone, and `engine` runs the epochs. Only the functions that
talk to Dask import it.
"""

from elbmf.relaxation.engines.cluster.data import DaskMatrix, is_distributed
from elbmf.relaxation.engines.cluster.engine import DaskEngine

__all__ = ["DaskEngine", "DaskMatrix", "is_distributed"]
