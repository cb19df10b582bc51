"""The methods, each a scikit-learn transformer with the same contract."""

from elbmf.estimators.base import BooleanFactorizer
from elbmf.estimators.elbmf import ELBMF

__all__ = ["ELBMF", "METHODS", "BooleanFactorizer"]

METHODS: dict[str, type[BooleanFactorizer]] = {"elbmf": ELBMF}
