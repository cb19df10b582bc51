"""The data sets of the paper: where to get them, how they are prepared, where they are kept."""

from elbmf.paper.catalog.prepared import PreparedData
from elbmf.paper.catalog.preparing import prepare, prepare_stand_in
from elbmf.paper.catalog.sets import DATA_SETS, DataSet
from elbmf.paper.catalog.standin import stand_in
from elbmf.paper.catalog.store import (
    data_folder,
    find,
    open_prepared,
    prepared_sets,
    save_prepared,
)

__all__ = [
    "DATA_SETS",
    "DataSet",
    "PreparedData",
    "data_folder",
    "find",
    "open_prepared",
    "prepare",
    "prepare_stand_in",
    "prepared_sets",
    "save_prepared",
    "stand_in",
]
