"""Binaps: a binary autoencoder whose weights are the components."""

import time
from dataclasses import field
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from elbmf.boolean.coverage import GrowingCover, cover
from elbmf.boolean.product import Bools, pack
from elbmf.estimators.base import BooleanFactorizer, FittedFactors, estimator
from elbmf.estimators.rivals.kernels.autoencoder import (
    Network,
    activate,
    inputs_needed,
    train_epochs,
)
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.utils.constraints import Interval, StrOptions
from elbmf.utils.threads import over_ranges

__all__ = ["Binaps"]

# The authors' epochs, and from which shares of them on the learning rate is a tenth of what it was.
_EPOCHS = 10
_DROPS, _DROP = (0.5, 0.7), 0.1

# Steps that training takes at least. Fewer find nothing: a weight moves by a hundredth at a time.
_LEAST_STEPS = 3000

# Batches that are trained on at once when nobody wants to hear of each epoch.
_BATCHES_OF_A_CALL = 100

# zero_weight="auto" keeps the density within these bounds. Below, on sparse data, a few hidden
# units reconstruct almost everything as ones and the others die (with 20 units on data of
# density 0.0006, a loss of 600 times the ones at the authors' threshold); with all cells ones, a
# one would weigh nothing.
_LIGHTEST_ZERO, _HEAVIEST_ZERO = 0.2, 0.8

# What threshold="auto" tries.
_THRESHOLDS = tuple(step / 20 for step in range(1, 20))

# Ones from which judging a threshold is worth several threads.
_ONES_FOR_THREADS = 100_000


@estimator
class Binaps(BooleanFactorizer):
    """Boolean matrix factorization by an autoencoder with binary weights and activations.

    A network with one hidden layer of k units reconstructs the rows. Its weights W, one for each
    column and unit, are probabilities: each forward pass binarises them at random. A hidden unit is
    active in a row that has at least 1 − b ones among the columns whose weights are on, with a bias
    b ≤ −1 that is learned; the row is reconstructed as the union of these columns over its active
    units. The loss weighs ones that are missed by 1 − w and zeros that are covered by w. Its
    gradient is passed straight through both steps, through the hidden one where a unit is active,
    and Adam follows it, with encoder and decoder moving the same weights, which stay in [1/m, 1].
    In the end, the weights above a threshold are the components, and the active hidden units the
    memberships.

    Parameters
    ----------
    n_components : int or "auto", default=10
        Number of hidden units. ``"auto"`` chooses the number that gives the shortest description
        of the data (MDL), with a network trained for each that it tries.
    max_iter : int, optional
        Epochs, passes over all rows. By default 10, or as many as make 3000 steps.
    learning_rate : float, default=0.01
        Of Adam; a tenth of it after half of the epochs, and a hundredth after seven tenths.
    batch_size : int, default=64
        Rows from which a step is made.
    zero_weight : float, "density" or "auto", default="auto"
        w, above 0 and below 1. ``"density"`` takes the share of ones, as the authors do; ``"auto"``
        as well, but not less than 0.2 nor more than 0.8.
    threshold : float or "auto", default="auto"
        Weights above it belong to a component; the authors use 0.2. ``"auto"`` tries values from
        0.05 to 0.95 in steps of 0.05 and keeps what leaves the lowest loss, the lowest of equals.
    prune : bool, default=True
        Keep only components that pay: beginning with none, the one that lowers the loss most is
        kept, time after time; those that would lower it no more are emptied.
    callback : callable, optional
        Called with a `FitProgress` after each epoch, whose loss are the wrong cells of this epoch;
        a true return value ends the training, with what the network has learned so far.
    n_jobs : int, optional
        Threads. All cores by default, and for -1; the result does not depend on it. Training
        itself has one.
    random_state : int, RandomState instance or None
        Seed of the order of the rows and of the weights' binarisation.

    Attributes
    ----------
    n_iter_ : int
        Epochs done.
    history_ : dict of str to ndarray
        Wrong cells of each epoch, ones that were ``missed`` and zeros that were ``extra``, with
        weights binarised at random.
    weights_ : ndarray of shape (n_components, n_features)
        W; not set, like those that follow, when the number of components was searched for.
    bias_ : ndarray of length n_components
        b.
    threshold_ : float
        The threshold used.

    Notes
    -----
    ``Binaps(max_iter=10, zero_weight="density", threshold=0.2, prune=False)`` is what the authors'
    program does with as many hidden units as there are components; it keeps a tenth of the rows
    for testing, and leaves out components with fewer than two columns. With as few units as a
    factorization has, this finds nothing on small data, where 10 epochs are a few steps, and on
    sparse data it reconstructs almost everything as ones; hence the other defaults.

    A hidden unit is active only where it has two inputs, and only active units learn, from ones
    that they miss. Therefore groups of one or two columns are not learned, and rows with a single
    one are never reconstructed in training.

    Missing entries are no inputs, like zeros, and nothing is lost or learned at them.

    References
    ----------
    J. Fischer, J. Vreeken. Differentiable Pattern Set Mining. ACM SIGKDD International Conference
    on Knowledge Discovery and Data Mining, 2021.

    Examples
    --------
    >>> from elbmf import Binaps
    >>> A = [[1, 1, 1, 0, 0, 0], [1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1]]
    >>> Binaps(n_components=2, random_state=0).fit(A).reconstruction_err_
    0
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "max_iter": [Interval(Integral, 1, None, closed="left"), None],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "zero_weight": [
            Interval(Real, 0, 1, closed="neither"),
            StrOptions({"auto", "density"}),
        ],
        "threshold": [Interval(Real, 0, 1, closed="neither"), StrOptions({"auto"})],
        "prune": ["boolean"],
    }

    max_iter: int | None = None
    learning_rate: float = 0.01
    batch_size: int = 64
    zero_weight: float | Literal["auto", "density"] = "auto"
    threshold: float | Literal["auto"] = "auto"
    prune: bool = True

    weights_: NDArray[Any] = field(init=False)
    bias_: NDArray[Any] = field(init=False)
    threshold_: float = field(init=False)

    def _factorize(self, A: BooleanMatrix, generator: np.random.Generator) -> FittedFactors:
        network = Network.of(A.shape[1], self._rank)
        errors, stopped = self._train(A, network, generator)
        self.weights_, self.bias_ = np.ascontiguousarray(network.weights.T), network.bias
        U, V = self._round(A)
        history = {"missed": errors[:, 0], "extra": errors[:, 1]}
        return FittedFactors(U, V, len(errors), "callback" if stopped else "max_iter", history)

    def _train(
        self, A: BooleanMatrix, network: Network, generator: np.random.Generator
    ) -> tuple[NDArray[np.int64], bool]:
        """Train a network in place.

        Returns the wrong cells of each epoch, and whether the callback ended it.
        """
        n = A.shape[0]
        batches = -(-n // self.batch_size)
        epochs = self.max_iter or max(_EPOCHS, -(-_LEAST_STEPS // batches))
        drops = np.sum(np.arange(epochs)[:, None] >= np.multiply(_DROPS, epochs), axis=1)
        rates = self.learning_rate * _DROP**drops
        zero = self._weight_of_zeros(A.density)
        data = A.lines(0), A.missing_lines(0)
        # Each is a call, which takes as long as a batch of a small matrix.
        together = 1 if self._is_watched else max(1, _BATCHES_OF_A_CALL // batches)
        began, stopped = time.perf_counter(), False
        errors = np.empty((0, 2), dtype=np.int64)
        while len(errors) < epochs and not stopped:
            done = len(errors)
            ahead = rates[done : done + together]
            draws = [
                (generator.permutation(n), generator.bit_generator.random_raw(batches))
                for _ in ahead
            ]
            orders, keys = map(np.array, zip(*draws, strict=True))
            new = train_epochs(
                *data,
                orders,
                self.batch_size,
                keys,
                network,
                1 - zero,
                zero,
                ahead,
                done * batches,
            )
            errors = np.concatenate([errors, new])
            stopped = self._tell_since(
                began,
                iteration=len(errors),
                loss=int(errors[-1].sum()),
                progress=len(errors) / epochs,
            )
        return errors, stopped

    def _weight_of_zeros(self, density: float) -> float:
        if self.zero_weight == "density":
            return density
        if self.zero_weight == "auto":
            return min(max(density, _LIGHTEST_ZERO), _HEAVIEST_ZERO)
        return float(self.zero_weight)

    def _round(self, A: BooleanMatrix) -> tuple[Bools, Bools]:
        """Threshold the weights; return the factors, with the active hidden units as memberships.

        Sets the threshold that was used.
        """
        thresholds = _THRESHOLDS if self.threshold == "auto" else (float(self.threshold),)
        threads = self._threads if A.ones >= _ONES_FOR_THREADS else 1
        needed = inputs_needed(self.bias_)
        best: tuple[int, float, Bools, Bools] | None = None
        last: NDArray[np.bool_] | None = None
        for threshold in thresholds:
            V = self.weights_ > threshold
            if last is not None and np.array_equal(V, last):
                continue
            last = V
            U = np.zeros((A.shape[0], V.shape[0]), dtype=np.bool_)
            masks = pack(np.ascontiguousarray(V.T))

            def look(low: int, high: int, masks: Any = masks, U: Any = U) -> None:
                activate(A.lines(0), low, high, masks, needed, U)

            over_ranges(look, A.shape[0], threads)
            if self.prune:
                loss, kept = _paying(A, U, V, threads)
                U, V = U & kept, V & kept[:, None]
            else:
                loss = cover(A, U, V, threads).loss
            if best is None or loss < best[0]:
                best = loss, threshold, U, V
        assert best is not None
        self.threshold_ = best[1]
        return best[2:]


def _paying(A: BooleanMatrix, U: Bools, V: Bools, threads: int | None) -> tuple[int, Bools]:
    """Choose components greedily as long as they lower the loss; return it, and which they are."""
    growing = GrowingCover(A, U, V, threads)
    while True:
        gains = 2 * growing.ones - growing.cells
        best = int(np.argmax(gains))
        if gains[best] <= 0:
            return growing.cover.loss, growing.taken
        growing.take(best)
