"""OrM: the logical factor machine, which samples the bits of both factors."""

import logging
import time
from dataclasses import field
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from elbmf.boolean.coverage import cover
from elbmf.estimators.base import MOST, BooleanFactorizer, FittedFactors, estimator
from elbmf.estimators.rivals.gibbs import GibbsChain, Samples
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.search.local import LocalSearch
from elbmf.utils.constraints import Interval, StrOptions

__all__ = ["OrM"]

_LOG = logging.getLogger(__name__)

# Burn-in is looked at after each so many sweeps, and over when in the last of them the logarithm of
# the loss, which is nearly that of the odds, fell by less than this below those before.
_WINDOW = 10
_SETTLED = 0.005

# Chains of n_init="auto", by the number of ones up to which there are so many.
_CHAINS = ((10_000, 10), (300_000, 3))


@estimator
class OrM(BooleanFactorizer):
    """Bayesian Boolean matrix factorization, the logical (OR) factor machine.

    Each cell agrees with the product U ∘ V with probability σ(λ), whatever its value is:
    p(a = 1) = σ(λ) where the product is 1, and σ(−λ) where it is 0. A sweep updates each bit of U
    and V once, by metropolised Gibbs sampling: it is flipped with probability min(1, r), where r is
    by how much that raises the posterior. After each sweep λ becomes the logit of the share of
    cells that agree. When λ has settled, samples are drawn; the factors are the bits that are on
    in more than half of them.

    Parameters
    ----------
    n_components
    n_samples : int, default=50
        Sweeps after burn-in, each of which gives a sample.
    n_burn_in : int, default=200
        Sweeps before that, at most; fewer when λ has settled.
    n_init : int or "auto", default="auto"
        Chains, each with its own start. Of the estimates they lead to, the one with the least loss
        is kept. ``"auto"`` is 10 on up to 10 000 ones, 3 on up to 300 000, and else 1.
    membership_prior : float, default=0.5
        Probability of a bit of U to be on a priori: of a row to be in a component.
    components_prior : float, default=0.5
        Probability of a bit of V to be on a priori: of a component to have a column.
    dispersion : float or "auto", default="auto"
        λ, from 0 on, when it is not to follow the data.
    estimate : {"mean", "best"}, default="mean"
        What the samples are summed up by: ``"mean"`` rounds the posterior means of the bits at ½,
        ``"best"`` takes the sample with the least loss. The latter is often better under heavy
        noise, where components change places between samples.

    Attributes
    ----------
    n_iter_ : int
        Sweeps of the chain that was kept.
    history_ : dict of str to ndarray
        λ (``"dispersion"``) and ``"loss"`` after each of these, of which the last ones are the
        samples.
    run_losses_ : list of int
        Losses of the estimates of all chains.
    membership_probability_ : ndarray of float, of shape (n, n_components)
    components_probability_ : ndarray of float, of shape (n_components, m)
        Posterior means of U and V: the share of samples in which each bit is on.
    dispersion_ : float
        Mean of λ over the samples. The posterior probability of a cell to agree with a product is
        σ(λ). Neither this nor the probabilities are set when the number of components was searched
        for, too.

    Notes
    -----
    The posterior has modes from which no chain returns. From a random start on sparse data, most
    cells are covered wrongly: either λ becomes 0, and then nothing is ever learned; or all bits of
    U are turned off, and then those of V are arbitrary, and no such component gains anywhere. The
    following avoids that. All of it happens before samples are drawn; from then on this is a
    sampler for the posterior and nothing else.

    - A chain starts from the data. One component after the other gets ones that two rows, or two
      columns, share and that are not covered yet, and then the lines that gain by it.
    - After each ten sweeps of burn-in, components without which the loss would be no higher are
      started anew like this, as long as half of the sweeps of burn-in are left.
    - λ is at least what it would be for the better of two constant matrices, all zero or all one.
      To remain finite, it counts one more cell that agrees and one more that does not.
    - Several chains on small data.

    Burn-in ends when λ, averaged over ten sweeps, has risen by less than 0.005 over the ten before.
    A flip that makes no difference is done every other time and not always, for a bit that always
    flips never mixes. Where a sweep ends without a single wrong cell, the fit does: the logit is
    then infinite, and the posterior has exact factorizations only. A component with no row or no
    column left after rounding is emptied. If all estimates are worse than no components at all,
    there are none.

    Missing entries count for nothing. Random numbers are computed from the seed, the number of the
    sweep, and the place of the bit.

    References
    ----------
    T. Rukat, C. C. Holmes, M. K. Titsias, C. Yau. Bayesian Boolean Matrix Factorisation. ICML 2017.

    Examples
    --------
    >>> from elbmf import OrM
    >>> from elbmf.datasets import make_tiles
    >>> A = make_tiles((40, 30), 3, height=(5, 10), noise=0.05, random_state=0).A
    >>> model = OrM(n_components=3, random_state=0).fit(A)
    >>> model.membership_probability_.shape, model.components_probability_.shape
    ((40, 3), (3, 30))
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_samples": [Interval(Integral, 1, None, closed="left")],
        "n_burn_in": [Interval(Integral, 0, None, closed="left")],
        "n_init": [StrOptions({"auto"}), Interval(Integral, 1, MOST, closed="both")],
        "membership_prior": [Interval(Real, 0, 1, closed="neither")],
        "components_prior": [Interval(Real, 0, 1, closed="neither")],
        "dispersion": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
        "estimate": [StrOptions({"mean", "best"})],
    }

    n_samples: int = 50
    n_burn_in: int = 200
    n_init: int | Literal["auto"] = "auto"
    membership_prior: float = 0.5
    components_prior: float = 0.5
    dispersion: float | Literal["auto"] = "auto"
    estimate: Literal["mean", "best"] = "mean"

    membership_probability_: NDArray[np.float64] = field(init=False)
    components_probability_: NDArray[np.float64] = field(init=False)
    dispersion_: float = field(init=False)

    def _factorize(self, A: BooleanMatrix, generator: np.random.Generator) -> FittedFactors:
        began = time.perf_counter()
        local = LocalSearch(A, n_jobs=self._threads)
        chains = _chains(A) if self.n_init == "auto" else self.n_init
        losses: list[int] = []
        for run in range(1, chains + 1):
            fitted, samples = self._run(local, generator, began, run, chains)
            losses.append(cover(A, fitted.U, fitted.V, self._threads).loss)
            if losses[-1] < min(losses[:-1], default=np.inf):
                best, kept = fitted, samples
            if fitted.stop_reason in ("callback", "exact"):
                break
        _LOG.info("losses of the chains: %s", losses)
        best.stop_reason, best.run_losses = fitted.stop_reason, losses
        if min(losses) > A.ones:
            best.U, best.V = np.zeros_like(best.U), np.zeros_like(best.V)
        self.membership_probability_, self.components_probability_ = kept.means()
        self.dispersion_ = float(best.history["dispersion"][-kept.drawn :].mean())
        return best

    def _run(
        self,
        local: LocalSearch,
        generator: np.random.Generator,
        began: float,
        run: int,
        runs: int,
    ) -> tuple[FittedFactors, Samples]:
        """Run one chain; return what its samples are summed up by, and these."""
        fixed = None if self.dispersion == "auto" else float(self.dispersion)
        priors = (self.membership_prior, self.components_prior)
        chain = GibbsChain(local, self._rank, priors, fixed, generator)
        history: dict[str, list[float]] = {"dispersion": [], "loss": []}
        most = self.n_burn_in + self.n_samples

        def sweep(done: int) -> str | None:
            """Sweep once; return why to end, if there is a reason."""
            chain.sweep()
            history["dispersion"].append(chain.dispersion)
            history["loss"].append(chain.loss)
            if self._tell_since(
                began,
                stage="sweep",
                iteration=chain.sweeps,
                loss=chain.loss,
                progress=(run - 1 + done / most) / runs,
                run=run,
                runs=runs,
            ):
                return "callback"
            # The logit is infinite: such factors are then all that the posterior has.
            return "exact" if chain.loss == 0 and fixed is None else None

        reason = None
        samples = Samples(chain)
        for done in range(1, self.n_burn_in + 1):
            reason = sweep(done)
            if reason or (done % _WINDOW == 0 and self._settled(chain, history["loss"], done)):
                break
        for done in range(self.n_burn_in + 1, most + 1):
            if reason:
                break
            reason = sweep(done)
            if reason != "exact":
                samples.draw()
        if reason == "exact" or not samples.drawn:
            samples = Samples(chain)
            samples.draw()
        figures = {name: np.array(values) for name, values in history.items()}
        U, V = samples.best if self.estimate == "best" else samples.rounded()
        # A component that has nothing on one side has nothing at all.
        used = np.logical_and(U.any(axis=0), V.any(axis=1))
        U, V = U & used, V & used[:, None]
        return FittedFactors(U, V, chain.sweeps, reason or "n_samples", figures), samples

    def _settled(self, chain: GibbsChain, losses: list[float], done: int) -> bool:
        """Tell whether burn-in is over; start components anew that are of no use, if it is not."""
        if done <= self.n_burn_in / 2 and chain.revive():
            return False
        if done < 2 * _WINDOW:
            return False
        before, after = np.log(np.reshape(losses[-2 * _WINDOW :], (2, _WINDOW)) + 1).mean(axis=1)
        return bool(before - after < _SETTLED)


def _chains(A: BooleanMatrix) -> int:
    """Return the number of chains on a matrix."""
    return next((chains for ones, chains in _CHAINS if A.ones <= ones), 1)
