"""From ``random_state`` to a seed and a generator, the same way everywhere."""

from typing import Any

import numpy as np

__all__ = ["generator_of", "seed_of"]


def seed_of(random_state: Any) -> int:
    """Return the seed that a random state leads to, which may be all that scikit-learn takes.

    An instance moves on by one draw; None draws afresh.
    """
    from sklearn.utils import check_random_state  # which is slow to import

    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def generator_of(random_state: Any) -> np.random.Generator:
    """Return a generator that starts from the seed of a random state."""
    return np.random.default_rng(seed_of(random_state))
