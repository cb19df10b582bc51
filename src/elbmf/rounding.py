"""From relaxed factors to Boolean ones: the projection that ends Alg. 2."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from elbmf.regularizers import ELB

__all__ = ["project"]


def project(X: NDArray[np.floating[Any]]) -> NDArray[np.bool_]:
    """⌊prox_{0.5, λ'}(X)⌉ with λ' beyond all bounds: the nearest Boolean matrix."""
    return np.rint(ELB("paper").prox(X, 0.5, np.inf)).astype(np.bool_)
