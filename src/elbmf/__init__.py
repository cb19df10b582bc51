"""Boolean matrix factorization: the public names.

They are imported when first used, so that ``elbmf --version`` need not wait for scikit-learn.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from elbmf._version import __version__

if TYPE_CHECKING:
    from elbmf.boolean import boolean_product
    from elbmf.estimators import ELBMF, Asso, GreConD, Sofa
    from elbmf.selection import RankSearch

__all__ = ["ELBMF", "Asso", "GreConD", "RankSearch", "Sofa", "__version__", "boolean_product"]

_HOME = {
    "ELBMF": "elbmf.estimators",
    "Asso": "elbmf.estimators",
    "GreConD": "elbmf.estimators",
    "RankSearch": "elbmf.selection",
    "Sofa": "elbmf.estimators",
    "boolean_product": "elbmf.boolean",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'elbmf' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
