"""The methods, each a scikit-learn transformer with the same contract.

They are imported when first used: the command line reads `METHODS` without any of them.
"""

from typing import TYPE_CHECKING, Any

from elbmf.estimators.registry import METHODS, class_name, method

if TYPE_CHECKING:  # a type checker cannot follow the table; without a line here, types are Any
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
    "method",
]


def __getattr__(name: str) -> Any:
    if name == "BooleanFactorizer":
        from elbmf.estimators.base import BooleanFactorizer

        return BooleanFactorizer
    for known in METHODS:
        if class_name(known) == name:
            return method(known)
    raise AttributeError(f"module 'elbmf.estimators' has no attribute {name!r}")
