"""A data set that is ready to be factorized: a 0/1 matrix with names and, where known, labels."""

from __future__ import annotations

from dataclasses import dataclass, field

from elbmf.errors import InputError
from elbmf.io import LabelledMatrix

__all__ = ["PreparedData"]


@dataclass(frozen=True, eq=False)
class PreparedData:
    """What a loader makes of the files that the owner of a data set publishes.

    Parameters
    ----------
    matrix : LabelledMatrix
        Zeros and ones, with the names of rows and columns where the files have them.
    row_labels : dict of str to list of str
        Labels of the rows by the name of the labelling, e.g. ``{"cancer type": [...]}``, one for
        each row.
    column_labels : dict of str to list of str
        The same for columns, e.g. the genres of films.
    notes : list of str
        What was left out or done on the way, in sentences a user can read.
    """

    matrix: LabelledMatrix
    row_labels: dict[str, list[str]] = field(default_factory=dict)
    column_labels: dict[str, list[str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        for axis, labellings in enumerate((self.row_labels, self.column_labels)):
            for name, labels in labellings.items():
                if len(labels) != self.matrix.shape[axis]:
                    kind = ("row", "column")[axis]
                    raise InputError(
                        f"The labels {name!r} must be one for each of the "
                        f"{self.matrix.shape[axis]} {kind}s; got {len(labels)}."
                    )
