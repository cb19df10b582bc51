"""The methods, each a scikit-learn transformer with the same contract.

They are imported when first used: the command line reads `METHODS` without any of them.
"""

from typing import TYPE_CHECKING, Any

from elbmf.estimators.registry import METHODS, class_name, method

if TYPE_CHECKING:  # for type checkers, which cannot follow the table
    from elbmf.estimators.base import BooleanFactorizer as BooleanFactorizer
    from elbmf.estimators.elbmf import ELBMF as ELBMF
    from elbmf.estimators.rivals.asso import Asso as Asso
    from elbmf.estimators.rivals.binaps import Binaps as Binaps
    from elbmf.estimators.rivals.grecond import GreConD as GreConD
    from elbmf.estimators.rivals.orm import OrM as OrM
    from elbmf.estimators.rivals.primp import Primp as Primp
    from elbmf.estimators.rivals.rounded_nmf import RoundedNMF as RoundedNMF
    from elbmf.estimators.rivals.sofa import Sofa as Sofa

__all__ = ["METHODS", "BooleanFactorizer", "method", *map(class_name, METHODS)]


def __getattr__(name: str) -> Any:
    if name == "BooleanFactorizer":
        from elbmf.estimators.base import BooleanFactorizer

        return BooleanFactorizer
    for known in METHODS:
        if class_name(known) == name:
            return method(known)
    raise AttributeError(f"module 'elbmf.estimators' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
