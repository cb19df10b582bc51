"""Small tables: the loss beside what integer programming and MaxSAT reached on the same tables."""

import argparse
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from common import machine
from elbmf import ELBMF
from elbmf.errors import DoubtfulComponentWarning

# A table: its file's name, its rows, columns, ones and missing cells. All of it has to match.
Table = tuple[str, int, int, int, int]


@dataclass(frozen=True)
class Published:
    """Losses that others have published, for each table and rank in the order of ``methods``."""

    title: str
    methods: tuple[str, ...]
    losses: dict[Table, dict[int, tuple[int, ...]]]
    below: bool = False  # whether no zero may be covered
    proven: frozenset[tuple[str, int]] = frozenset()  # where the last loss is the least there is


# The tables are data/*.txt of github.com/kovacsrekaagnes/rank_k_Binary_Matrix_Factorisation (commit
# f49f84f); data/real_data_stats.csv there has their shapes and shares of ones and missing cells.
# compact IP, column generation: Kovács, Günlük and Hauser, "Binary Matrix Factorisation and
# Completion via Integer Programming" (arXiv 2106.13434), from experiments/real_data of the same
# repository: CIP_error in CIP_time1200.csv, Error in MLP1_time1200_MIP_time600.csv.
# alternating IP: Kolomvakis, Bobille, Vandaele and Gillis (arXiv 2512.03807, and 2023), the least
# of all their methods; taken from the column "published" in README.md of
# github.com/16Flavio/Exact-BMF-Solver (commit 234dfcc).
# least known: the column "stored" there, by an evolutionary algorithm (Drogo, Gillis, Vandaele,
# EUSIPCO 2026); "Sixteen certified optima" there has those that branch and bound has proven.
INTEGER_PROGRAMMING = Published(
    "Integer programming",
    ("compact IP", "column generation", "alternating IP", "least known"),
    {
        ("zoo", 101, 17, 761, 0): {
            2: (271, 272, 271, 271),
            5: (129, 126, 125, 125),
            10: (72, 39, 39, 39),
        },
        ("heart", 242, 22, 1830, 0): {
            2: (1187, 1185, 1185, 1185),
            5: (738, 737, 736, 736),
            10: (529, 425, 419, 419),
        },
        ("lymp", 148, 44, 1887, 0): {
            2: (1184, 1192, 1174, 1174),
            5: (1026, 982, 944, 933),
            10: (829, 728, 694, 669),
        },
        ("apb", 105, 105, 882, 0): {
            2: (776, 776, 776, 776),
            5: (688, 684, 677, 677),
            10: (605, 573, 566, 566),
        },
        ("tumor_w_missing", 339, 24, 1974, 670): {
            2: (1352, 1352, 1351, 1351),
            5: (993, 962, 943, 943),
            10: (632, 514, 510, 510),
        },
        ("hepatitis_w_missing", 155, 38, 2778, 334): {
            2: (1344, 1264, 1264, 1264),
            5: (1229, 1138, 990, 984),
            10: (1048, 907, 749, 695),
        },
        ("audio_w_missing", 226, 92, 2361, 899): {
            2: (1419, 1419, 1411, 1411),
            5: (1078, 1064, 1035, 1035),
            10: (881, 765, 749, 749),
        },
        ("votes_w_missing", 435, 16, 3421, 392): {
            2: (1246, 1246, 1246, 1246),
            5: (853, 779, 701, 701),
            10: (701, 240, 225, 218),
        },
    },
    proven=frozenset(
        {
            ("zoo", 2),
            ("zoo", 5),
            ("heart", 2),
            ("lymp", 2),
            ("tumor_w_missing", 2),
            ("hepatitis_w_missing", 2),
            ("audio_w_missing", 2),
            ("votes_w_missing", 2),
        }
    ),
)

# The tables are data/*.csv of github.com/FlorentAvellaneda/UndercoverBMF (commit 6cee3e9), of which
# those with fewer than 50,000 cells are here; the losses are in benchmark.pdf there. It belongs to
# Avellaneda and Villemaire, "Undercover Boolean Matrix Factorization with MaxSAT" (AAAI 2022).
# It gives no shapes, but its ranks are 1, 2 and 3 quarters of the shorter side of each table.
# MaxSAT: the less of OptiBlock and OptiBlock*, from below. column generation: CG, may cover zeros.
# least of all: of the eleven methods there, from below or not.
_MAXSAT: dict[Table, dict[int, tuple[int, int, int]]] = {
    ("zoo", 101, 28, 640, 0): {7: (170, 138, 138), 14: (47, 84, 47), 21: (6, 57, 6)},
    ("lymphography", 148, 54, 1823, 0): {
        14: (754, 792, 712),
        28: (229, 463, 229),
        42: (33, 282, 33),
    },
    ("tumor", 339, 44, 2136, 669): {11: (727, 771, 722), 22: (229, 441, 229), 33: (43, 250, 43)},
    ("votes", 435, 17, 2961, 392): {4: (1306, 984, 961), 8: (629, 690, 469), 12: (279, 615, 224)},
    ("lungCancer", 32, 147, 1486, 15): {
        8: (866, 716, 654),
        16: (515, 597, 409),
        24: (222, 513, 199),
    },
    ("soybean", 307, 100, 6315, 1488): {
        25: (1727, 1912, 1727),
        50: (510, 968, 504),
        75: (33, 647, 28),
    },
    ("iris", 150, 126, 750, 0): {32: (282, 287, 282), 64: (117, 117, 117), 96: (32, 32, 32)},
    ("balance", 625, 23, 3125, 0): {
        6: (2049, 2049, 2049),
        12: (1299, 1299, 1299),
        18: (549, 549, 549),
    },
    ("car", 1728, 25, 12096, 0): {
        6: (7676, 7674, 7674),
        12: (4608, 4608, 4608),
        18: (2016, 2064, 2016),
    },
    ("flare", 1066, 43, 9283, 0): {11: (1662, 1910, 1662), 22: (241, 730, 241), 33: (15, 294, 15)},
    ("phishing", 1353, 26, 11507, 0): {
        7: (6026, 5550, 5550),
        14: (2931, 3036, 2931),
        21: (806, 2420, 806),
    },
    ("tictactoe", 958, 28, 8954, 0): {
        7: (6062, 5963, 5807),
        14: (3588, 4366, 3588),
        21: (1518, 3098, 1518),
    },
}
MAXSAT_BELOW = Published(
    "MaxSAT, from below (no zero is covered)",
    ("MaxSAT",),
    {table: {k: row[:1] for k, row in ranks.items()} for table, ranks in _MAXSAT.items()},
    below=True,
)
MAXSAT_ANY = Published(
    "MaxSAT, zeros may be covered",
    ("column generation", "least of all"),
    {table: {k: row[1:] for k, row in ranks.items()} for table, ranks in _MAXSAT.items()},
)
SOURCES = (INTEGER_PROGRAMMING, MAXSAT_BELOW, MAXSAT_ANY)


def read(path: Path) -> np.ndarray:
    """Read zeros and ones: .npz, .csv with commas, .txt with spaces. Empty and nan are missing."""
    if path.suffix == ".npz":
        return sparse.csr_array(sparse.load_npz(path)).toarray().astype(float)
    X = np.genfromtxt(path, delimiter="," if path.suffix == ".csv" else None, ndmin=2)
    missing = np.isnan(X)  # so is a header, read as numbers
    if missing[0].all() or not np.isin(X[~missing], (0, 1)).all():
        raise ValueError("not a table of zeros and ones")
    return X


def describe(name: str, X: np.ndarray) -> Table:
    missing = np.isnan(X)
    return name, X.shape[0], X.shape[1], int(X[~missing].sum()), int(missing.sum())


def fit(X: np.ndarray, k: int, below: bool, time_limit: float | None) -> tuple[int, float]:
    """Loss and seconds, on one core."""
    weight = np.inf if below else 1.0
    model = ELBMF(k, time_limit=time_limit, extra_weight=weight, n_jobs=1, random_state=0)
    began = time.perf_counter()
    model.fit(X)
    return int(model.reconstruction_err_), time.perf_counter() - began


def report(published: Published, tables: dict[Table, np.ndarray], time_limit: float) -> None:
    """Print a markdown table, and how often the loss is below, equal to and above each method's."""
    heads = ["table", "k", "default", f"{time_limit:g} s", *published.methods]
    print(f"{published.title}\n\n| {' | '.join(heads)} |\n|{'---|' * len(heads)}", flush=True)
    signs: dict[tuple[str, str], list[float]] = {}
    longest = 0.0
    for table, ranks in published.losses.items():
        if table not in tables:
            continue
        name, n, m, _, missing = table
        label = f"{name.removesuffix('_w_missing')} {n}×{m}" + f", {missing} missing" * bool(
            missing
        )
        for k, others in ranks.items():
            default, seconds = fit(tables[table], k, published.below, None)
            longer, _ = fit(tables[table], k, published.below, time_limit)
            longest = max(longest, seconds)
            cells = [label, k, default, longer, *others]
            star = "\\*" if (name, k) in published.proven else ""
            print(f"| {' | '.join(map(str, cells))}{star} |", flush=True)
            label = ""
            for method, loss in zip(published.methods, others, strict=True):
                for effort, own in (("default", default), (heads[3], longer)):
                    signs.setdefault((effort, method), []).append(np.sign(own - loss))
    print(f"\nA default fit takes at most {np.ceil(longest):.0f} s.")
    for (effort, method), values in signs.items():
        counts = [values.count(sign) for sign in (-1, 0, 1)]
        print("{}, {}: below {}, equal {}, above {}".format(effort, method, *counts))
    print(flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="of 0/1 tables: .csv, .txt, .npz")
    parser.add_argument("--tables", nargs="*", help="files without suffix; all by default")
    parser.add_argument(
        "--ranks", nargs="*", type=int, default=[2, 5, 10], help="where none is published"
    )
    parser.add_argument("--time-limit", type=float, default=30.0, help="seconds")
    arguments = parser.parse_args()
    for doubt in (ConvergenceWarning, DoubtfulComponentWarning):
        warnings.simplefilter("ignore", doubt)
    print(machine() + "\n")
    tables = {}
    for path in sorted(arguments.folder.iterdir()):
        wanted = not arguments.tables or path.stem in arguments.tables
        if wanted and path.suffix in (".csv", ".txt", ".npz"):
            try:
                X = read(path)
            except ValueError as error:
                print(f"{path.name} is left out: {error}\n")
                continue
            tables[describe(path.stem, X)] = X
    for below in (False, True):  # what is compiled at the first fit is not timed
        fit(np.eye(4), 2, below, None)
    known = {table for published in SOURCES for table in published.losses}
    ranks: dict[int, tuple[int, ...]] = dict.fromkeys(arguments.ranks, ())
    rest = Published("Not published", (), {table: ranks for table in tables if table not in known})
    for published in (*SOURCES, rest):
        if any(table in tables for table in published.losses):
            report(published, tables, arguments.time_limit)


if __name__ == "__main__":
    main()
