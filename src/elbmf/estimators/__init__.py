"""The methods, each a scikit-learn transformer with the same contract."""

from elbmf.estimators.asso import Asso
from elbmf.estimators.base import BooleanFactorizer
from elbmf.estimators.elbmf import ELBMF
from elbmf.estimators.grecond import GreConD
from elbmf.estimators.sofa import Sofa

__all__ = ["ELBMF", "METHODS", "Asso", "BooleanFactorizer", "GreConD", "Sofa"]

METHODS: dict[str, type[BooleanFactorizer]] = {
    "elbmf": ELBMF,
    "asso": Asso,
    "grecond": GreConD,
    "sofa": Sofa,
}
