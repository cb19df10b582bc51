"""Table 1: the real-world data sets, and those that are prepared here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from elbmf.datasets import DATA_SETS
from elbmf.experiments.drawing import plain_axes
from elbmf.experiments.experiment import Claim, Experiment, Row, Settings, Tables, Task
from elbmf.experiments.real_sets import names_of_sets, open_set, rank_of
from elbmf.plots import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["EXPERIMENT"]

_TABLE = "sets"
_PAPER, _HERE = "paper", "here"
_WHERE = "App. C, Table 1"
_CLOSE = 0.02  # relative difference of counts, which change with every release of the data


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
    """Draw the sets by number of cells and density."""
    figure = new_figure(9, 5.2)
    axes = figure.subplots()
    for origin, label, colour, marker, filled in (
        (_PAPER, "in the paper", "#0072B2", "o", False),
        (_HERE, "prepared here", "#D55E00", "D", True),
    ):
        rows = [row for row in tables[_TABLE] if row["origin"] == origin]
        axes.scatter(
            [row["rows"] * row["columns"] for row in rows],
            [row["density"] for row in rows],
            s=[18 + 1.2 * row["rank"] for row in rows],
            marker=marker,
            edgecolors=colour,
            facecolors=colour if filled else "none",
            label=label,
        )
        for row in rows:
            axes.annotate(
                row["set"],
                (row["rows"] * row["columns"], row["density"]),
                xytext=(0, 7 if filled else -14),
                textcoords="offset points",
                ha="center",
                fontsize=8,
                color=colour,
            )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.margins(0.12)
    axes.set_xlabel("cells")
    axes.set_ylabel("density")
    plain_axes(axes)
    figure.legend(
        *axes.get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False
    )
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
