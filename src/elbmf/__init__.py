"""Boolean matrix factorization: the public names.

They are imported when first used, so that ``elbmf --version`` need not wait for scikit-learn.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from elbmf._version import __version__

if TYPE_CHECKING:
    from elbmf.boolean.product import boolean_product
    from elbmf.comparison import compare
    from elbmf.estimators import ELBMF, Asso, Binaps, GreConD, OrM, Primp, RoundedNMF, Sofa
    from elbmf.estimators.rank_search import RankSearch

__all__ = [
    "ELBMF",
    "Asso",
    "Binaps",
    "GreConD",
    "OrM",
    "Primp",
    "RankSearch",
    "RoundedNMF",
    "Sofa",
    "__version__",
    "boolean_product",
    "compare",
]

# What is no method; those are in elbmf.estimators.
_HOME = {
    "RankSearch": "elbmf.estimators.rank_search",
    "boolean_product": "elbmf.boolean",
    "compare": "elbmf.comparison",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'elbmf' has no attribute {name!r}")
    return getattr(import_module(_HOME.get(name, "elbmf.estimators")), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
