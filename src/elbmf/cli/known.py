"""What is known of the rows of a result: labels from a table, matched by name."""

from elbmf.cli.console import Console
from elbmf.cli.tables import number
from elbmf.errors import InputError
from elbmf.io import LabelledMatrix, SavedModel, read_labels

__all__ = ["labels_of_rows"]


def labels_of_rows(
    model: SavedModel, result: str, path: str, column: str | None, console: Console
) -> tuple[list[str | None], str]:
    """Return the label of each row of a model, and what the labels are called.

    Parameters
    ----------
    model : SavedModel
    result : str
        Where it is from, for messages.
    path : str
        The table of labels.
    column : str or None
        Which of its columns; by default the second.
    console : Console
        For notes on rows without a label, which have None.
    """
    names = LabelledMatrix(model.U, model.row_names).row_labels()
    labellings = read_labels(path)
    title = next(iter(labellings)) if column is None else column
    if title not in labellings:
        raise InputError(
            f"{path}: there is no column {title!r}. Choose one of "
            f"{', '.join(map(repr, labellings))}."
        )
    by_name = labellings[title]
    labels = [by_name.get(name) or None for name in names]
    unknown = labels.count(None)
    if model.row_names is None:
        if unknown == len(labels):
            raise InputError(
                f"{result}: the rows have no names, which the labels could be matched with, "
                f"and {path} does not number them from 0. Fit a file that names its rows."
            )
        console.note(f"{result}: the rows have no names; labels are matched by their number.")
    if unknown == len(labels):
        raise InputError(
            f"{path}: none of the {len(labels)} rows of {result} has a label in the "
            f"column {title!r}. Rows are called {', '.join(map(repr, names[:3]))}, "
            f"those of the table {', '.join(map(repr, list(by_name)[:3]))}."
        )
    if unknown:
        console.note(f"{path}: {number(unknown)} rows without a label are left out.")
    return labels, title
