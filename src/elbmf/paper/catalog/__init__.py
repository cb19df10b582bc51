"""The data sets of the paper: where to get them, how they are prepared, where they are kept.

Names are imported when first used, so that ``elbmf data --help`` need not wait for what reads them.
"""

from typing import TYPE_CHECKING

from elbmf.utils.late import late_names

if TYPE_CHECKING:
    from elbmf.paper.catalog.prepared import PreparedData
    from elbmf.paper.catalog.preparing import prepare, prepare_stand_in
    from elbmf.paper.catalog.sets import DATA_SETS, DataSet, data_folder
    from elbmf.paper.catalog.standin import stand_in
    from elbmf.paper.catalog.store import find, open_prepared, prepared_sets, save_prepared

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

_FILES = {
    "PreparedData": "prepared",
    **dict.fromkeys(("prepare", "prepare_stand_in"), "preparing"),
    **dict.fromkeys(("DATA_SETS", "DataSet", "data_folder"), "sets"),
    "stand_in": "standin",
    **dict.fromkeys(("find", "open_prepared", "prepared_sets", "save_prepared"), "store"),
}

__getattr__, __dir__ = late_names(
    __name__, lambda: {name: f"{__name__}.{file}:{name}" for name, file in _FILES.items()}
)
