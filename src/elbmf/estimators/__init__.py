"""The methods, each a scikit-learn transformer with the same contract.

They are imported when first used: the command line reads `METHODS` without any of them.
"""

from typing import TYPE_CHECKING

from elbmf.estimators.registry import ESTIMATORS, METHODS, class_name, method
from elbmf.utils.late import late_names

if TYPE_CHECKING:  # for type checkers, which cannot follow the table
    from elbmf.estimators.base import BooleanFactorizer as BooleanFactorizer
    from elbmf.estimators.elbmf import ELBMF as ELBMF
    from elbmf.estimators.minimal_cover import MinimalCover as MinimalCover
    from elbmf.estimators.rivals.asso import Asso as Asso
    from elbmf.estimators.rivals.binaps import Binaps as Binaps
    from elbmf.estimators.rivals.grecond import GreConD as GreConD
    from elbmf.estimators.rivals.orm import OrM as OrM
    from elbmf.estimators.rivals.primp import Primp as Primp
    from elbmf.estimators.rivals.rounded_nmf import RoundedNMF as RoundedNMF
    from elbmf.estimators.rivals.sofa import Sofa as Sofa
    from elbmf.estimators.scorers import description_length_scorer as description_length_scorer
    from elbmf.estimators.scorers import held_out_scorer as held_out_scorer

_SCORERS = ("description_length_scorer", "held_out_scorer")

__all__ = ["METHODS", "BooleanFactorizer", "method", *map(class_name, ESTIMATORS), *_SCORERS]

__getattr__, __dir__ = late_names(
    __name__,
    lambda: {
        "BooleanFactorizer": "elbmf.estimators.base:BooleanFactorizer",
        **{class_name(name): place for name, place in ESTIMATORS.items()},
        **{name: f"elbmf.estimators.scorers:{name}" for name in _SCORERS},
    },
)
