"""Compiles kernels that many tests need and `elbmf demo` does not.

Tests run in several processes at once, and each of them that comes upon a kernel which is not kept
yet would compile it.
"""

import tempfile
import warnings
from pathlib import Path

import numpy as np

from elbmf import ELBMF, MinimalCover, RankSearch
from elbmf.datasets import make_tiles, shuffled
from elbmf.estimators import METHODS
from elbmf.estimators import method as method_of
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.matrix.on_disk import DiskMatrix, store
from entrants import quickly

GENERATOR = np.random.default_rng(0)
A = GENERATOR.random((40, 30)) < 0.3
WITH_GAPS = np.where(GENERATOR.random(A.shape) < 0.05, np.nan, A)
RULES = {"max_components_per_row": 2, "min_rows": 2, "separate_columns": [(0, 1)]}


def main():
    warnings.simplefilter("ignore")
    # The last one shares most with the demo, which may be compiling the same just now.
    for name in sorted(METHODS, key=lambda name: name == "elbmf"):
        for table in (A, WITH_GAPS):
            quickly(method_of(name))(3, random_state=0).fit(table)
    model = quickly(ELBMF)
    model(3, random_state=0, **RULES).fit(A)
    model(3, random_state=0).fit(A, sample_weight=np.arange(1, 41))
    MinimalCover(effort=0.1, random_state=0).fit(A)
    RankSearch(model(random_state=0), 3, holdout=0.1).fit(A)
    with tempfile.TemporaryDirectory() as folder:
        DiskMatrix(store(BooleanMatrix.from_array(WITH_GAPS), Path(folder) / "A").path).look()
    shuffled(make_tiles(A.shape, 3, height=(5, 10), random_state=0).A, 0)


if __name__ == "__main__":
    main()
