"""Boolean matrix factorization: the public names.

They are imported when first used, so that ``elbmf --version`` need not wait for scikit-learn.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from elbmf._version import __version__
from elbmf.estimators.registry import METHODS, class_name

if TYPE_CHECKING:  # for type checkers, which cannot follow the tables
    from elbmf.boolean.product import boolean_product as boolean_product
    from elbmf.comparison import compare as compare
    from elbmf.estimators import ELBMF as ELBMF
    from elbmf.estimators import Asso as Asso
    from elbmf.estimators import Binaps as Binaps
    from elbmf.estimators import GreConD as GreConD
    from elbmf.estimators import OrM as OrM
    from elbmf.estimators import Primp as Primp
    from elbmf.estimators import RoundedNMF as RoundedNMF
    from elbmf.estimators import Sofa as Sofa
    from elbmf.estimators.rank_search import RankSearch as RankSearch
    from elbmf.io import load_model as load_model
    from elbmf.io import save_model as save_model
    from elbmf.relaxation.schedules import Annealed as Annealed
    from elbmf.relaxation.schedules import Printed as Printed
    from elbmf.report import write_report as write_report

# What is no method, and where it is.
_HOME = {
    "Annealed": "elbmf.relaxation.schedules",
    "Printed": "elbmf.relaxation.schedules",
    "RankSearch": "elbmf.estimators.rank_search",
    "boolean_product": "elbmf.boolean",
    "compare": "elbmf.comparison",
    "load_model": "elbmf.io",
    "save_model": "elbmf.io",
    "write_report": "elbmf.report",
}

# Packages that load as attributes.
_PACKAGES = (
    "analysis",
    "binarizers",
    "boolean",
    "comparison",
    "datasets",
    "estimators",
    "io",
    "matrix",
    "plots",
    "ranks",
    "relaxation",
    "report",
    "search",
)

__all__ = ["__version__", *map(class_name, METHODS), *_HOME]


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return import_module(f"elbmf.{name}")
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    if name in __all__:
        return getattr(import_module("elbmf.estimators"), name)
    raise AttributeError(f"module 'elbmf' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_PACKAGES})
