"""The real data that experiments run on: what is prepared in folders, and the digits."""

from __future__ import annotations

from elbmf.datasets import load_digits
from elbmf.io import LabelledMatrix
from elbmf.paper.catalog import DATA_SETS, PreparedData, find, open_prepared, prepared_sets
from elbmf.paper.experiments.experiment import Settings

__all__ = ["DIGITS", "names_of_sets", "ones_of", "open_set", "rank_of"]

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
