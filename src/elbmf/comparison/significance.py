"""Whether components are more than chance, by random matrices with the same row and column sums.

What a component has beyond the sums is counted in bits: how unlikely so many ones in its block are
where only the sums decide, less what it takes to say which block it is. So blocks of all sizes
compare, and a small one is not hidden by a large one of rows and columns with many ones.
"""

import json
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy
from sklearn.base import clone

from elbmf.analysis.doubts import SIGNIFICANT
from elbmf.analysis.expected_ones import ExpectedOnes
from elbmf.boolean.coverage import component_cover
from elbmf.boolean.product import boolean_factors
from elbmf.comparison.progress_line import ProgressLine
from elbmf.datasets.shuffling import shuffled
from elbmf.errors import FileFormatError, InputError, OtherWorkError, differing
from elbmf.estimators import BooleanFactorizer
from elbmf.estimators.pool import Ask, side_by_side
from elbmf.estimators.progress_line import on_screen
from elbmf.estimators.reading import matrix_of, read_matrix
from elbmf.estimators.resuming import identity
from elbmf.io.model_info import SignificanceInfo
from elbmf.io.table import is_annotated
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.ranks.criteria import log2_binomial
from elbmf.utils.atomic import atomic_file
from elbmf.utils.notes import Count, Notes, read_note
from elbmf.utils.seeds import seed_of
from elbmf.utils.threads import available_cores

__all__ = ["Excess", "OtherTestError", "Significance", "SignificanceProgress", "significance"]

Floats = NDArray[np.float64]

# With so many, a single random matrix that is as good leaves p above .05: as many as possible, for
# the more there are, the rarer is noise that is better than all of them.
_SAMPLES = 38

# A component must be better than another by so many bits, a million times less likely, and by such
# a share of them, to count as better at all: from one random matrix to the next, the best differs.
_CLEARLY, _CLEAR_SHARE = 20.0, 0.1


@dataclass(frozen=True, eq=False)
class Excess:
    """What components have beyond row and column sums, as arrays of length k.

    Parameters
    ----------
    ones : ndarray of int64
        Ones in the component.
    expected : ndarray of float64
        How many there would be on average if only the sums decided.
    bits : ndarray of float64
        How unlikely this number of ones is then, less the bits needed to say which rows and columns
        the component has. Above 0, hardly any random matrix has such a component, however one looks
        for it. Below 0, it depends on what the method finds in random matrices. −∞ for an empty
        component.
    """

    ones: NDArray[np.int64]
    expected: Floats
    bits: Floats

    @classmethod
    def of(
        cls,
        A: BooleanMatrix,
        U: Any,
        V: Any,
        sums: ExpectedOnes | None = None,  # By the sums of A, where that is known
        n_jobs: int | None = None,
    ) -> "Excess":
        """Compare components of a matrix with its sums."""
        found = component_cover(A, U, V, n_jobs)
        cells, ones = found.cells, found.covered
        known = cells / np.maximum(found.rows * found.columns, 1)
        expected = (sums or ExpectedOnes(A)).within(U, V) * known
        with np.errstate(divide="ignore", invalid="ignore"):
            # Chernoff's bound for sums of independent cells, whatever the chance of each.
            nats = xlogy(ones, ones / expected) + xlogy(
                cells - ones, (cells - ones) / (cells - expected)
            )
        unlikely = np.where(ones > expected, nats, -nats) / np.log(2)
        sides = zip(A.shape, (found.rows, found.columns), strict=True)
        charges = sum(
            np.array([log2_binomial(length, size) for size in sizes.tolist()])
            for length, sizes in sides
        )
        return cls(ones, expected, np.where(cells > 0, unlikely - charges, -np.inf))


@dataclass(frozen=True)
class SignificanceProgress:
    """How far a test is.

    Parameters
    ----------
    done, samples : int
        Random matrices fitted so far, and the most that there will be.
    promising : int
        Components that may still come out as significant.
    """

    done: int
    samples: int
    promising: int


@dataclass(frozen=True, eq=False)
class Significance:
    """Whether components are more than chance.

    Parameters
    ----------
    p_values : ndarray of float64, of length k
        Of each component, corrected for looking at many.
    excess : Excess
        What each has beyond the row and column sums.
    best_of_samples : ndarray of float64
        The bits of the best component of each random matrix.
    interrupted : bool
        Whether it was ended early, so that there are fewer samples than planned.
    """

    p_values: Floats
    excess: Excess
    best_of_samples: Floats
    interrupted: bool = False

    @property
    def samples(self) -> int:
        """Random matrices that were fitted."""
        return len(self.best_of_samples)

    def significant(self, level: float = SIGNIFICANT) -> NDArray[np.bool_]:
        """Tell which components are significant."""
        return self.p_values <= level

    @property
    def info(self) -> SignificanceInfo:
        """What a saved model notes of it, see `elbmf.io.ModelInfo`."""
        return SignificanceInfo(samples=self.samples, p_values=self.p_values.tolist())


class OtherTestError(OtherWorkError):
    """A file has the samples of another test."""

    holds = "the samples of another test"
    remedy = "Go on with the same data and parameters, name another file, or remove this one."


def significance(
    X: Any,
    estimator: BooleanFactorizer,
    factors: tuple[Any, Any] | None = None,
    *,
    samples: int = _SAMPLES,
    missing: Any = None,
    callback: Callable[[SignificanceProgress], Any] | None = None,
    verbose: bool | int = False,
    checkpoint: Any = None,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> Significance:
    """Compare components with those of random matrices that have the same row and column sums.

    Each random matrix is fitted as the data was. The p-value of a component is the share of the
    matrices, the data among them, whose best component is as good: has as many bits beyond the
    sums (see `Excess`), or fewer by at most 20 or a tenth.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        The data that was fitted, or is to be.
    estimator : BooleanFactorizer
        The method with its parameters. One that is not fitted is fitted to X first, as a copy.
    factors : (U, V), optional
        Components to look at in place of those of the estimator, such as those of a saved model.
    samples : int, default=38
        Random matrices at most, or as many more as ``checkpoint`` has; 19 are the fewest by which
        anything can be significant at .05. There are fewer where it is clear before that no
        component is.
    missing : array-like or sparse matrix of shape (n_samples, n_features), optional
        0/1 mask of more missing entries. They stay where they are.
    callback : callable, optional
        Called with a `SignificanceProgress` after each sample. If it returns True, the test ends.
    verbose : bool or int, default=False
        In Python, whether to show how far the test is.
    checkpoint : path, optional
        File to keep finished samples in; another test with the same data and parameters goes on
        from there, also for more samples.
    n_jobs : int, optional
        Matrices to fit side by side, each in one thread. As many as there are cores by default, and
        for -1; the result does not depend on it.
    random_state : int, RandomState instance or None
        Seed of the random matrices and their fits.

    Returns
    -------
    Significance

    Notes
    -----
    Ctrl-C ends the test; what is returned is then of the samples that were finished.

    A component of one row or one column is never significant: the sums alone tell of it.

    It is the best component of a random matrix that counts, so that p-values are corrected for
    looking at many: in noise, with the default number of samples, one fit in 39 at most has any
    component below .05.

    Examples
    --------
    >>> from elbmf import ELBMF, significance
    >>> from elbmf.datasets import make_tiles
    >>> A = make_tiles((60, 50), 2, height=(15, 20), noise=0.05, random_state=0).A
    >>> found = significance(A, ELBMF(2, effort=0, random_state=0), samples=19, random_state=0)
    >>> found.p_values.tolist()
    [0.05, 0.05]
    """
    _check(estimator, samples)
    A, (U, V), estimator = _with_factors(X, estimator, factors, missing)
    threads = available_cores() if n_jobs in (None, -1) else int(n_jobs or 1)
    sums = ExpectedOnes(A)
    excess = Excess.of(A, U, V, sums, threads)
    # One row or one column has nothing beyond the sums, whatever else it may be.
    lone = (U.sum(axis=0) == 1) | (V.sum(axis=1) == 1)
    bits = np.where(lone, -np.inf, excess.bits)
    if estimator.n_components == "auto":
        # More components, of which one may be good by chance, than random data would get.
        estimator.set_params(n_components=max(1, len(V)))
    kept = _Kept(checkpoint, identity(estimator, A), random_state)
    while samples in kept:  # Those that are finished tell more.
        samples += 1

    def work(sample: int, ask: Ask) -> float:
        # The same for a sample whatever their number.
        seeds = np.random.default_rng([kept.seed, sample]).integers(1 << 31, size=2)
        B = shuffled(A, seeds[0])
        fitted = clone(estimator).set_params(callback=ask, random_state=seeds[1]).fit(B)
        found = Excess.of(B, fitted.membership_, fitted.components_, sums, 1)
        return float(found.bits.max(initial=-np.inf))

    def promising(done: int) -> int:
        # What p would be if no other sample were as good.
        least = _p_values(bits, kept.first(done), samples)
        return int((np.isfinite(bits) & (least <= max(SIGNIFICANT, 1 / (1 + samples)))).sum())

    done, interrupted = 0, False

    def is_enough(_: int = 0) -> bool:
        # In the order of the samples, not that in which they end: it decides how many there are.
        nonlocal done, interrupted
        while (hopes := promising(done)) and done < samples and done in kept:
            done += 1
            report = SignificanceProgress(done, samples, promising(done))
            if line is not None:
                line.samples(report)
            if callback is not None and callback(report):
                interrupted = done < samples
                break
        return interrupted or not hopes

    with on_screen(verbose, ProgressLine, A.ones) as line, warnings.catch_warnings():
        # Of components of random matrices.
        warnings.simplefilter("ignore")
        try:
            if not is_enough():
                side_by_side(work, samples, kept, threads, is_enough)
        except KeyboardInterrupt:
            interrupted = True
    best = kept.first(done)
    return Significance(_p_values(bits, best, done), excess, best, interrupted)


def _check(estimator: Any, samples: Any) -> None:
    if not isinstance(estimator, BooleanFactorizer):
        raise InputError(
            f"estimator must be a method of elbmf.estimators; got {type(estimator).__name__}."
        )
    if not isinstance(samples, Integral) or isinstance(samples, bool) or samples < 1:
        raise InputError(f"samples must be a whole number, at least 1; got {samples!r}.")
    weighted = getattr(estimator, "line_weights_", None) is not None
    saved = getattr(estimator, "saved_info_", None)
    if weighted or (saved is not None and saved.weighted is not None):
        raise InputError(
            "The fit had weights of rows or columns, and random matrices with the same sums say "
            "nothing about such components. Fit without weights."
        )


def _with_factors(
    X: Any, estimator: BooleanFactorizer, factors: tuple[Any, Any] | None, missing: Any
) -> tuple[BooleanMatrix, tuple[Any, Any], BooleanFactorizer]:
    """Return the data, the components to look at, and a copy of the method to fit other data."""
    fitted = hasattr(estimator, "membership_")
    if fitted:
        A = matrix_of(estimator, X, missing)
    else:
        layer = getattr(estimator, "layer_", None) if is_annotated(X) else None
        A = read_matrix(X, estimator.binarize, missing, layer=layer)
    again = clone(estimator).set_params(binarize=None, callback=None)
    again.verbose = False
    if "checkpoint" in again.get_params(deep=False):
        again.set_params(checkpoint=None)
    if factors is None and not fitted:
        estimator = clone(again).fit(A)
    U, V = (estimator.membership_, estimator.components_) if factors is None else factors
    return A, boolean_factors(U, V, A.shape), again.set_params(n_jobs=1)


def _p_values(bits: Floats, best: Floats, samples: int) -> Floats:
    """Return p of components beside the best of samples, of which some may be still to come."""
    some = np.isfinite(best)
    reach = np.where(some, best, -np.inf)
    reach[some] += np.maximum(_CLEARLY, _CLEAR_SHARE * np.abs(best[some]))
    as_good = (reach >= bits[:, None]).sum(axis=1)
    return np.asarray((1 + as_good) / (1 + samples), dtype=np.float64)


_REMEDY = "Remove it, or name another file."


@dataclass
class _SamplesNote(Notes):
    """What a file of samples holds."""

    test: dict[str, Any]
    seed: Count
    best: dict[str, str]


class _Kept(dict[int, float]):
    """The bits of the best component of each random matrix, in memory or in a file, too."""

    def __init__(
        self,
        path: Any,  # None if there is no file
        note: dict[str, Any],  # What the samples depend on
        random_state: Any,
    ) -> None:
        self._path = None if path is None else Path(path)
        self._note = json.loads(json.dumps(note, default=str))
        super().__init__()
        self.seed = seed_of(random_state)
        if random_state is not None:
            self._note["random_state"] = self.seed
        if self._path is not None and self._path.exists():
            self._read(self._path)

    def _read(self, path: Path) -> None:
        stored = read_note(_SamplesNote, path, _REMEDY)
        try:
            best = {int(at): float(bits) for at, bits in stored.best.items()}
        except ValueError as error:
            raise FileFormatError(
                f"{path}: best must be numbers of samples, and bits as text; it is not. {_REMEDY}"
            ) from error
        if stored.test != self._note:
            raise OtherTestError(path, differing(stored.test, self._note))
        self.seed = stored.seed
        self.update(best)

    def first(self, count: int) -> Floats:
        """Return the bits of the first samples, which are all there."""
        return np.array([self[at] for at in range(count)], dtype=np.float64)

    def __setitem__(self, sample: int, bits: float) -> None:
        super().__setitem__(sample, bits)
        if self._path is not None:
            # As text, for JSON knows no infinity.
            best = {str(at): repr(self[at]) for at in sorted(self)}
            content = {"test": self._note, "seed": self.seed, "best": best}
            with atomic_file(self._path) as stream:
                stream.write(json.dumps(content, indent=2).encode())
