"""Table 1: the data sets of the paper, and what experiments run on: sets prepared here, digits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from elbmf.datasets import load_digits
from elbmf.io import LabelledMatrix
from elbmf.paper.catalog import DATA_SETS, PreparedData, find, open_prepared, prepared_sets
from elbmf.paper.experiments.compared import legend_below
from elbmf.paper.experiments.experiment import Claim, Experiment, Row, Settings, Tables, Task
from elbmf.plots import new_figure, plain_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["DIGITS", "EXPERIMENT", "names_of_sets", "ones_of", "open_set", "rank_of"]

DIGITS = "digits"
"""The data set that is always there."""

_USUAL_RANK = 20

# Public data of the same kind, by the set of the paper that it stands for.
_STANDS_FOR = {
    "genomes1k_peddy": "genomes",
    "tcga_luad_coadread": "tcga",
    "ppi_biogrid": "string",
    "dorothea_grn": "gbm",
    "retail": "movielens",
}

_TABLE = "sets"
_PAPER, _HERE = "paper", "here"
_STYLES = {
    _PAPER: ("in the paper's table", "#0072B2", "o"),
    _HERE: ("prepared here", "#D55E00", "D"),
}
_PANELS = {"rows": "rows", "columns": "columns", "density": "density", "rank": "rank"}
_WHERE = "App. C, Table 1"
_CLOSE = 0.02  # relative difference of counts, which change with every release of the data


def names_of_sets(settings: Settings) -> list[str]:
    """Return the digits and all sets that lie prepared in the folders."""
    return [DIGITS, *(name for name in prepared_sets(settings.data) if name != DIGITS)]


def open_set(name: str, settings: Settings) -> PreparedData:
    """Read a set by its name."""
    if name != DIGITS:
        return open_prepared(find(name, settings.data))
    values, column_names, digits = load_digits()
    return PreparedData(
        LabelledMatrix(values, None, column_names), {"digit": [str(digit) for digit in digits]}
    )


def ones_of(name: str, settings: Settings) -> int:
    """Count the ones of a set."""
    return int(open_set(name, settings).matrix.values.nnz)


def rank_of(name: str) -> int:
    """Return the paper's rank of a set, or of the one it stands for; 20 of any other."""
    data_set = DATA_SETS.get(_STANDS_FOR.get(name, name))
    return _USUAL_RANK if data_set is None else data_set.rank


def _tasks(settings: Settings) -> list[Task]:
    return [
        *({"origin": _PAPER, "set": name} for name in DATA_SETS),
        *({"origin": _HERE, "set": name} for name in names_of_sets(settings)),
    ]


def _measure(task: Task, settings: Settings) -> Tables:
    """Look up a set of the paper, or count what is prepared here."""
    if task["origin"] == _PAPER:
        told = DATA_SETS[task["set"]]
        rows, columns, ones = told.rows, told.columns, told.ones
    else:
        values = open_set(task["set"], settings).matrix.values
        (rows, columns), ones = values.shape, int(values.nnz)
    row = {
        **task,
        "rows": int(rows),
        "columns": int(columns),
        "ones": ones,
        "density": ones / (rows * columns),
        "rank": rank_of(task["set"]),
    }
    return {_TABLE: [row]}


def _draw(tables: Tables) -> Mapping[str, Figure]:
    """Draw a line for each set and a panel for each figure of the table."""
    rows = sorted(tables[_TABLE], key=lambda row: (row["origin"] == _PAPER, row["ones"]))
    figure = new_figure(10, 1.3 + 0.24 * len(rows))
    panels = figure.subplots(1, len(_PANELS), sharey=True)
    for axes, (column, title) in zip(panels, _PANELS.items(), strict=True):
        for origin, (label, colour, marker) in _STYLES.items():
            at = [line for line, row in enumerate(rows) if row["origin"] == origin]
            axes.plot([rows[line][column] for line in at], at, marker, color=colour, label=label)
        if column != "rank":
            axes.set_xscale("log")
        axes.margins(x=0.1)
        axes.set_title(title, loc="left")
        plain_axes(axes)
    panels[0].set_yticks(range(len(rows)), [row["set"] for row in rows])
    legend_below(figure, panels[0], len(_STYLES))
    return {"data-sets": figure}


def _claims(tables: Tables) -> Sequence[Claim]:
    here = {row["set"]: row for row in tables[_TABLE] if row["origin"] == _HERE}
    return [
        _same_size(row, here.get(row["set"])) for row in tables[_TABLE] if row["origin"] == _PAPER
    ]


def _same_size(paper: Row, here: Row | None) -> Claim:
    says = (
        f"{DATA_SETS[paper['set']].title}: {paper['rows']}×{paper['columns']}, density "
        f"{paper['density']:.4f} (within 2%)."
    )
    if here is None:
        return Claim(_WHERE, says, f"not prepared here; see `elbmf data show {paper['set']}`", None)
    counts = ((here[name], paper[name]) for name in ("rows", "columns", "density"))
    return Claim(
        _WHERE,
        says,
        f"{here['rows']}×{here['columns']}, density {here['density']:.4f}",
        all(abs(ours / theirs - 1) <= _CLOSE for ours, theirs in counts),
    )


EXPERIMENT = Experiment(
    name="data-sets",
    shows="Table 1",
    title="the real-world data sets: rows, columns, density and rank",
    tasks=_tasks,
    measure=_measure,
    draw=_draw,
    claims=_claims,
)
