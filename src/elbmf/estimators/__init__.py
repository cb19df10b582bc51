"""The methods, each a scikit-learn transformer with the same contract."""

from elbmf.estimators.base import BooleanFactorizer
from elbmf.estimators.elbmf import ELBMF
from elbmf.estimators.rivals.asso import Asso
from elbmf.estimators.rivals.binaps import Binaps
from elbmf.estimators.rivals.grecond import GreConD
from elbmf.estimators.rivals.orm import OrM
from elbmf.estimators.rivals.primp import Primp
from elbmf.estimators.rivals.rounded_nmf import RoundedNMF
from elbmf.estimators.rivals.sofa import Sofa

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
