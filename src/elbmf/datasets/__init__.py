"""Data to try methods on: generated, embedded, and the data sets of the paper."""

from elbmf.datasets.catalog import DATA_SETS, DataSet
from elbmf.datasets.digits import load_digits
from elbmf.datasets.prepared import PreparedData
from elbmf.datasets.preparing import prepare, prepare_stand_in
from elbmf.datasets.standin import stand_in
from elbmf.datasets.store import data_folder, find, open_prepared, prepared_sets, save_prepared
from elbmf.datasets.tiles import TiledMatrix, make_tiles

__all__ = [
    "DATA_SETS",
    "DataSet",
    "PreparedData",
    "TiledMatrix",
    "data_folder",
    "find",
    "load_digits",
    "make_tiles",
    "open_prepared",
    "prepare",
    "prepare_stand_in",
    "prepared_sets",
    "save_prepared",
    "stand_in",
]
