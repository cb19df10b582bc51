"""The methods by name: one line here makes a method part of the package and the command line."""

from collections import ChainMap
from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from elbmf.utils.late import imported

if TYPE_CHECKING:
    from elbmf.estimators.base import BooleanFactorizer

__all__ = ["ESTIMATORS", "METHODS", "class_name", "method"]

METHODS: dict[str, "str | type[BooleanFactorizer]"] = {
    "elbmf": "elbmf.estimators.elbmf:ELBMF",
    "asso": "elbmf.estimators.rivals.asso:Asso",
    "grecond": "elbmf.estimators.rivals.grecond:GreConD",
    "orm": "elbmf.estimators.rivals.orm:OrM",
    "primp": "elbmf.estimators.rivals.primp:Primp",
    "nmf": "elbmf.estimators.rivals.rounded_nmf:RoundedNMF",
    "sofa": "elbmf.estimators.rivals.sofa:Sofa",
    "binaps": "elbmf.estimators.rivals.binaps:Binaps",
}
"""``"module:Class"`` of each method, imported when it is first used; a class will do, too."""

ESTIMATORS: Mapping[str, "str | type[BooleanFactorizer]"] = ChainMap(
    METHODS, {"cover": "elbmf.estimators.minimal_cover:MinimalCover"}
)
"""The same, with those that find out themselves how many components it takes."""


def method(name: str) -> "type[BooleanFactorizer]":
    """Import a method.

    Parameters
    ----------
    name : str
        Its name in `METHODS` or `ESTIMATORS`.
    """
    return cast("type[BooleanFactorizer]", imported(ESTIMATORS[name]))


def class_name(name: str) -> str:
    """Return what the class of a method is called, without importing it."""
    place = ESTIMATORS[name]
    return place.partition(":")[2] if isinstance(place, str) else place.__name__
