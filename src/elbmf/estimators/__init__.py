"""The methods, each a scikit-learn transformer with the same contract."""

from elbmf.estimators.asso import Asso
from elbmf.estimators.base import BooleanFactorizer
from elbmf.estimators.binaps import Binaps
from elbmf.estimators.elbmf import ELBMF
from elbmf.estimators.grecond import GreConD
from elbmf.estimators.orm import OrM
from elbmf.estimators.primp import Primp
from elbmf.estimators.rounded_nmf import RoundedNMF
from elbmf.estimators.sofa import Sofa

__all__ = [
    "ELBMF",
    "METHODS",
    "Asso",
    "Binaps",
    "BooleanFactorizer",
    "GreConD",
    "OrM",
    "Primp",
    "RoundedNMF",
    "Sofa",
]

METHODS: dict[str, type[BooleanFactorizer]] = {
    "elbmf": ELBMF,
    "asso": Asso,
    "grecond": GreConD,
    "orm": OrM,
    "primp": Primp,
    "nmf": RoundedNMF,
    "sofa": Sofa,
    "binaps": Binaps,
}
