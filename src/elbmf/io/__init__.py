"""Files: matrices in many formats, and saved models.

`read` and `write` choose the format by the suffix of the file or by name; each format lives
in a file of its own and is listed in `FORMATS`. `from_frame` and `to_frame` do the same with data
frames, `from_anndata`, `annotate` and `model_in` with AnnData, and `write_back` with h5ad files.
`to_folder` makes a matrix folder of a file that does not fit into memory. `save_model` and
`load_model` keep results, `export_result` gives them to other systems, and `explain` tells why a
row has what it has; `read_gmt`, `read_labels` and `read_weights` read what is known about columns
and rows.
"""

from elbmf.io.annotated import annotate, from_anndata, model_in
from elbmf.io.convert import DEFAULT_MEMORY, to_folder
from elbmf.io.explained import explain
from elbmf.io.export import export_result
from elbmf.io.formats import FORMATS, format_of
from elbmf.io.formats.format import Format
from elbmf.io.formats.matrix_folder import FolderTable, boolean_values, is_matrix_folder
from elbmf.io.frames import from_frame, to_frame
from elbmf.io.known import read_gmt, read_labels, read_weights
from elbmf.io.model import MODEL_FILES, SavedModel, load_model, save_model
from elbmf.io.model_info import DataInfo, ModelInfo
from elbmf.io.read_write import read, write
from elbmf.io.table import LabelledMatrix
from elbmf.io.write_back import write_back

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
    "annotate",
    "boolean_values",
    "explain",
    "export_result",
    "format_of",
    "from_anndata",
    "from_frame",
    "is_matrix_folder",
    "load_model",
    "model_in",
    "read",
    "read_gmt",
    "read_labels",
    "read_weights",
    "save_model",
    "to_folder",
    "to_frame",
    "write",
    "write_back",
]
