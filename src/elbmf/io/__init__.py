"""Files: matrices in many formats, and saved models.

`read` and `write` choose the format by the suffix of the file or by name; each format lives
in a file of its own and is listed in `FORMATS`. `from_frame` and `to_frame` do the same with data
frames. `to_folder` makes a matrix folder of a file that
does not fit into memory. `save_model` and `load_model` keep results, and `export_result` gives
them to other systems; `read_gmt`, `read_labels` and `read_weights` read what is known about columns
and rows. They are imported when first used, for a method needs none of them to be fitted.
"""

from typing import TYPE_CHECKING

from elbmf.utils.late import late_names

if TYPE_CHECKING:
    from elbmf.io.convert import DEFAULT_MEMORY as DEFAULT_MEMORY
    from elbmf.io.convert import to_folder as to_folder
    from elbmf.io.export import export_result as export_result
    from elbmf.io.formats import FORMATS as FORMATS
    from elbmf.io.formats import format_of as format_of
    from elbmf.io.formats.format import Format as Format
    from elbmf.io.formats.matrix_folder import FolderTable as FolderTable
    from elbmf.io.formats.matrix_folder import boolean_values as boolean_values
    from elbmf.io.formats.matrix_folder import is_matrix_folder as is_matrix_folder
    from elbmf.io.frames import from_frame as from_frame
    from elbmf.io.frames import to_frame as to_frame
    from elbmf.io.known import read_gmt as read_gmt
    from elbmf.io.known import read_labels as read_labels
    from elbmf.io.known import read_weights as read_weights
    from elbmf.io.model import MODEL_FILES as MODEL_FILES
    from elbmf.io.model import SavedModel as SavedModel
    from elbmf.io.model import load_model as load_model
    from elbmf.io.model import save_model as save_model
    from elbmf.io.model_info import DataInfo as DataInfo
    from elbmf.io.model_info import ModelInfo as ModelInfo
    from elbmf.io.read_write import read as read
    from elbmf.io.read_write import write as write
    from elbmf.io.table import LabelledMatrix as LabelledMatrix

_PLACES = {
    "DEFAULT_MEMORY": "elbmf.io.convert:DEFAULT_MEMORY",
    "DataInfo": "elbmf.io.model_info:DataInfo",
    "FORMATS": "elbmf.io.formats:FORMATS",
    "FolderTable": "elbmf.io.formats.matrix_folder:FolderTable",
    "Format": "elbmf.io.formats.format:Format",
    "LabelledMatrix": "elbmf.io.table:LabelledMatrix",
    "MODEL_FILES": "elbmf.io.model:MODEL_FILES",
    "ModelInfo": "elbmf.io.model_info:ModelInfo",
    "SavedModel": "elbmf.io.model:SavedModel",
    "boolean_values": "elbmf.io.formats.matrix_folder:boolean_values",
    "export_result": "elbmf.io.export:export_result",
    "format_of": "elbmf.io.formats:format_of",
    "from_frame": "elbmf.io.frames:from_frame",
    "is_matrix_folder": "elbmf.io.formats.matrix_folder:is_matrix_folder",
    "load_model": "elbmf.io.model:load_model",
    "read": "elbmf.io.read_write:read",
    "read_gmt": "elbmf.io.known:read_gmt",
    "read_labels": "elbmf.io.known:read_labels",
    "read_weights": "elbmf.io.known:read_weights",
    "save_model": "elbmf.io.model:save_model",
    "to_folder": "elbmf.io.convert:to_folder",
    "to_frame": "elbmf.io.frames:to_frame",
    "write": "elbmf.io.read_write:write",
}

__all__ = [
    "DEFAULT_MEMORY",
    "FORMATS",
    "MODEL_FILES",
    "DataInfo",
    "FolderTable",
    "Format",
    "LabelledMatrix",
    "ModelInfo",
    "SavedModel",
    "boolean_values",
    "export_result",
    "format_of",
    "from_frame",
    "is_matrix_folder",
    "load_model",
    "read",
    "read_gmt",
    "read_labels",
    "read_weights",
    "save_model",
    "to_folder",
    "to_frame",
    "write",
]

__getattr__, __dir__ = late_names(__name__, lambda: _PLACES)
