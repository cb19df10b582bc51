"""Fingerprints of many fits, to tell whether a change to the code changed a result.

Run it before and after, and compare: ``python benchmarks/same_results.py > before.txt``, then
``diff before.txt after.txt``. Two seeds on five real sets, and every method and way to fit on
generated tiles. Only names that users import are used, so that it runs on any version.
"""

import argparse
import hashlib
import warnings

import numpy as np

import elbmf
from common import data_argument, load
from elbmf import ELBMF, RankSearch
from elbmf.datasets import make_tiles

SETS = ("firewall1", "chess", "mushroom", "retail", "tcga_luad_coadread")
METHODS = ("Asso", "Binaps", "GreConD", "OrM", "Primp", "RoundedNMF", "Sofa")
VARIANTS = {
    "default": {},
    "from below": {"extra_weight": float("inf")},
    "extra errors dear": {"extra_weight": 3},
    "relaxation alone": {"refine": False},
    "random start": {"init": "random", "n_init": 3},
    "little effort": {"effort": 0.2},
    "within memory": {"memory_limit": "20MB"},
    "rank chosen": {"n_components": "auto"},
}


def fingerprint(*arrays: np.ndarray) -> str:
    """Short text that differs when any bit or shape does."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(repr(array.shape).encode())
        digest.update(np.packbits(array).tobytes())
    return digest.hexdigest()[:16]


def tell(name: str, model: object) -> None:
    factors = [
        getattr(model, part) for part in ("membership_", "components_") if hasattr(model, part)
    ]
    print(
        f"{name:45} {fingerprint(*factors)} {getattr(model, 'reconstruction_err_', '')}", flush=True
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    data_argument(parser)
    parser.add_argument("-k", type=int, default=20)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    A = make_tiles((120, 90), 6, height=(10, 30), noise=0.05, random_state=3).A
    holes = np.random.default_rng(0).random(A.shape) < 0.03
    for name, parameters in VARIANTS.items():
        tell(f"tiles {name}", ELBMF(**{"n_components": 6, "random_state": 0} | parameters).fit(A))
    tell("tiles missing", ELBMF(6, random_state=0).fit(A, missing=holes))
    for name in METHODS:
        for refine in (False, True):
            method = getattr(elbmf, name)(6, refine=refine, random_state=0)
            tell(f"tiles {name} refine={refine}", method.fit(A))
    stream = ELBMF(6, random_state=0)
    for start in range(0, A.shape[0], 40):
        stream.partial_fit(A[start : start + 40])
    tell("tiles stream", stream)
    search = RankSearch(ELBMF(random_state=0), max_components=9).fit(A)
    tell("tiles rank search", search.best_estimator_)
    for name in SETS:
        for seed in (0, 1):
            model = ELBMF(arguments.k, random_state=seed).fit(load(arguments.data, name))
            tell(f"{name} k={arguments.k} seed={seed}", model)


if __name__ == "__main__":
    main()
