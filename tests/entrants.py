"""Methods and binarizers as several tests want them."""

from functools import partial

from elbmf.binarizers import (
    NonzeroBinarizer,
    QuantileBinarizer,
    ThresholdBinarizer,
    ZScoreBinarizer,
)
from elbmf.estimators import ELBMF, Binaps, OrM, Primp, RoundedNMF

SCOPES = ("columns", "rows", "all")

BINARIZING = [
    NonzeroBinarizer(),
    ThresholdBinarizer(0.5),
    *(ZScoreBinarizer(0.9, scope) for scope in SCOPES),
    *(QuantileBinarizer(0.3, scope) for scope in SCOPES),
]

_FEWER = {
    ELBMF: {"max_iter": 15, "effort": 0.1},
    Primp: {"max_iter": 15},
    RoundedNMF: {"max_iter": 30},
    Binaps: {"max_iter": 20},
    OrM: {"n_burn_in": 20, "n_samples": 10},
}


def quickly(method):
    """Return what makes a method with fewer iterations, where it matters not what is found."""
    return partial(method, **_FEWER.get(method, {}))
