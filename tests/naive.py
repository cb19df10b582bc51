"""Slow, obvious twins of the kernels, written from the formulas."""

import itertools
import math
from decimal import Decimal, localcontext

import numpy as np
from scipy.optimize import minimize_scalar


def boolean_product(U, V):
    return (U.astype(int) @ V.astype(int)) > 0


def elb_prox_printed(x, kappa, lam):
    """Eq. elprox as printed, then max(0, .)."""
    if x <= 0.5:
        y = (x - kappa * np.sign(x)) / (1 + lam)
    else:
        y = (x - kappa * np.sign(x - 1) + lam) / (1 + lam)
    return max(0.0, y)


def elb_prox_alternative(x, kappa, lam):
    """Eq. elprox_alt as printed, then max(0, .)."""
    if x <= 0.5:
        y = (-x - kappa * np.sign(x)) / (lam - 1)
    else:
        y = (-x - kappa * np.sign(x - 1) + lam) / (lam - 1)
    return max(0.0, y)


def minimise(objective, low, high):
    """Find where a function is least in [low, high]: on a grid, then around the best of it."""
    grid = np.union1d(np.linspace(low, high, 3001), [0.0, 0.5, 1.0])
    best = int(np.argmin(objective(grid)))
    bounds = (grid[max(best - 1, 0)], grid[min(best + 1, grid.size - 1)])
    polished = minimize_scalar(objective, bounds=bounds, method="bounded", options={"xatol": 1e-12})
    return min(grid[best], polished.x, key=objective)


def elb_prox_exact(x, kappa, lam):
    """Soft-threshold around the nearer of 0 and 1, shrink, then max(0, .)."""
    centre = 0 if x <= 0.5 else 1
    d = x - centre
    return max(0.0, centre + np.sign(d) * max(abs(d) - kappa, 0) / (1 + lam))


def balance(U, V):
    """D that brings the columns of U·D and the rows of D⁻¹·V to one contraharmonic mean."""
    scales = [(X**2).sum(axis=0) / np.maximum(X.sum(axis=0), 1e-8) for X in (U, V.T)]
    usable = (scales[0] > 1e-8) & (scales[1] > 1e-8)
    return np.sqrt(np.where(usable, scales[1] / np.where(usable, scales[0], 1), 1))


def palm(
    A,
    U,
    V,
    epochs,
    kappa,
    lam,
    rate,
    rule="spectral",
    beta=0.0,
    prox=elb_prox_printed,
    weights=None,
    balanced=False,
):
    """Alg. 2 as printed; ``rule="authors"`` is the authors' step. Yields copies of U and V.

    ``weights`` are those of the cells, in the loss Σ w (a − uv)².
    """
    W = np.ones(A.shape) if weights is None else weights
    heaviest = max(W.max(), 1)
    lipschitz = np.linalg.norm if rule == "authors" else lambda gram: np.linalg.norm(gram, 2)
    smallest = 1e-4 if rule == "authors" else 1e-12
    shrink = 1.1 if rule == "authors" else 1.0
    if rule == "authors" and beta:
        shrink = (1 + 2 * beta) / (2 * (1 - beta))
    prox = np.vectorize(prox)
    U_last, V_last = U, V
    for t in range(1, epochs + 1):
        if balanced:
            D = balance(U, V)
            U, U_last, V, V_last = U * D, U_last * D, V / D[:, None], V_last / D[:, None]
        Z = U + beta * (U - U_last)
        L = heaviest * max(lipschitz(V @ V.T), smallest)
        gradient = (W * (Z @ V - A)) @ V.T
        fresh = prox(Z - gradient / (shrink * L), kappa / L, lam * rate**t / L)
        U_last, U = U, fresh
        Z = V + beta * (V - V_last)
        L = heaviest * max(lipschitz(U.T @ U), smallest)
        gradient = U.T @ (W * (U @ Z - A))
        fresh = prox(Z - gradient / (shrink * L), kappa / L, lam * rate**t / L)
        V_last, V = V, fresh
        yield U.copy(), V.copy()


def boolean_gap(U, V):
    return sum(np.minimum(np.abs(X), np.abs(X - 1)).mean() for X in (U, V))


def errors(A, B, missing=None):
    """Missed ones and covered zeros, cell by cell; missing cells are neither."""
    seen = np.ones(A.shape, dtype=bool) if missing is None else ~missing
    return A & ~B & seen, ~A & B & seen


def cost(A, U, V, weights, missing=None):
    """What a product costs."""
    missed, extra = errors(A, boolean_product(U, V), missing)
    return int(weights.missed * missed.sum() + weights.extra * extra.sum())


def weighted_loss(A, U, V, rows, columns, missing=None):
    """What the wrong cells weigh: each the weight of its row times that of its column."""
    missed, extra = errors(A, boolean_product(U, V), missing)
    return sum(rows[i] * columns[j] for i, j in np.argwhere(missed | extra))


def threshold_costs(A, U, V, thresholds, weights, missing=None):
    """What relaxed factors cost, each on above a threshold: one row for each threshold of V."""
    return [
        [cost(A, for_U < U, for_V < V, weights, missing) for for_U in thresholds]
        for for_V in thresholds
    ]


def row_costs(A, U, V, weights, missing=None):
    """What each row costs."""
    missed, extra = errors(A, boolean_product(U, V), missing)
    return weights.missed * missed.sum(axis=1) + weights.extra * extra.sum(axis=1)


def subsets(k):
    """All subsets of k components, one to a row."""
    return (np.arange(1 << k)[:, None] >> np.arange(k)) & 1 == 1


def least_row_costs(A, V, weights, missing=None):
    """Least cost of each row over all subsets of components."""
    seen = np.ones(A.shape, dtype=bool) if missing is None else ~missing
    covered = boolean_product(subsets(V.shape[0]), V).astype(float)
    missed = (A & seen).astype(float) @ (1 - covered).T
    extra = (~A & seen).astype(float) @ covered.T
    return (weights.missed * missed + weights.extra * extra).min(axis=1)


def least_switched_costs(A, U, V, weights, missing=None):
    """Least cost of each row when one of its components is switched on or off."""
    costs = []
    for l in range(V.shape[0]):
        switched = U.copy()
        switched[:, l] = ~switched[:, l]
        costs.append(row_costs(A, switched, V, weights, missing))
    return np.min(costs, axis=0)


def row_margins(A, U, V, weights, missing=None, columns=None):
    """What each row costs without a component less what it costs with it, the other one the best.

    The one of the two that is so stays as it is: for members what they cost with it, for all others
    what they cost without. Columns may have weights.
    """
    counted = np.ones(A.shape[1]) if columns is None else columns
    seen = np.ones(A.shape, dtype=bool) if missing is None else ~missing

    def costs(covered):
        missed = ((A & seen) * counted) @ (~covered).T.astype(float)
        extra = ((~A & seen) * counted) @ covered.T.astype(float)
        return weights.missed * missed + weights.extra * extra

    chosen = subsets(V.shape[0])
    tried = costs(boolean_product(chosen, V))
    present = np.diag(costs(boolean_product(U, V)))
    found = np.empty(U.shape)
    for l in range(V.shape[0]):
        without, within = (tried[:, chosen[:, l] == on].min(axis=1) for on in (False, True))
        found[:, l] = np.where(U[:, l], without - present, present - within)
    return found


def least_cost(A, k):
    """Least loss of all factorizations of a matrix of up to 8 columns with k components.

    All sets of k rows of V are tried; each row of A then takes the best union of some of them. No
    set needs a row twice, and none needs the empty one unless it has too few.
    """
    rows = np.packbits(A, axis=1, bitorder="little").astype(np.int64)[:, 0]
    patterns = np.arange(1 << A.shape[1])
    distances = np.bitwise_count(rows[:, None] ^ patterns).astype(np.uint8)
    return int(_least(distances, distances[:, :1], np.zeros(1, dtype=np.int64), 0, k))


def _least(distances, nearest, unions, first, k):
    """Least total distance when k more patterns from the ``first`` on join the unions so far."""
    patterns = np.arange(first, distances.shape[1])
    if k == 0 or not patterns.size:
        return nearest.min(axis=1).sum()
    if k == 1:
        joined = np.minimum(
            nearest.min(axis=1)[:, None],
            distances[:, unions[:, None] | patterns].min(axis=1),
        )
        return joined.sum(axis=0).min()
    return min(
        _least(
            distances,
            np.hstack([nearest, distances[:, unions | pattern]]),
            np.concatenate([unions, unions | pattern]),
            pattern + 1,
            k - 1,
        )
        for pattern in patterns
    )


def log2_binomial(n, r):
    """log₂ of n over r from integers."""
    return math.log2(math.comb(n, r))


def log2_binomial_of_large(n, r):
    """log₂ of n over r as a difference of log-factorials, each to 60 digits by Stirling's series.

    For numbers of which the series has 30 digits at least: above some ten thousand.
    """
    bernoulli = [(1, 6), (-1, 30), (1, 42), (-1, 30), (5, 66)]

    def log_factorial(x):
        x = Decimal(x)
        series = sum(
            Decimal(top) / bottom / ((2 * i + 1) * (2 * i + 2)) / x ** (2 * i + 1)
            for i, (top, bottom) in enumerate(bernoulli)
        )
        return x * x.ln() - x + (2 * pi * x).ln() / 2 + series

    with localcontext() as context:
        context.prec = 60
        pi = Decimal("3.14159265358979323846264338327950288419716939937510582097494459")
        return (log_factorial(n) - log_factorial(r) - log_factorial(n - r)) / Decimal(2).ln()


def description_length(A, U, V, missing=None):
    """The paper's l(A ⊕ [U ∘ V]) + Σ l(Uᵀᵢ) + l(Vᵢ) + k·log(n·m), in bits."""

    def bits(X):
        return log2_binomial(X.size, int(X.sum()))

    E = A ^ boolean_product(U, V)
    total = bits(E if missing is None else E[~missing])
    for i in range(U.shape[1]):
        total += bits(U.T[i]) + bits(V[i])
    return total + U.shape[1] * math.log2(A.shape[0] * A.shape[1])


def akaike(A, U, V, likelihood, missing=None):
    """2·k(n + m) − 2·ln L, the likelihood multiplied up cell by cell."""
    missed, extra = errors(A, boolean_product(U, V), missing)
    wrong = (missed | extra)[np.ones(A.shape, dtype=bool) if missing is None else ~missing]
    rate = wrong.mean() if wrong.size else 0.0
    parameters = U.size + V.size
    if likelihood == "bernoulli":
        return 2 * parameters - 2 * sum(math.log(rate if cell else 1 - rate) for cell in wrong)
    return 2 * parameters + (wrong.size * math.log(rate) if rate else -math.inf)


def bai_ng(A, U, V, penalty, missing=None):
    """ln V(k) + k·g(n, m)."""
    n, m = A.shape
    missed, extra = errors(A, boolean_product(U, V), missing)
    wrong = int(missed.sum() + extra.sum())
    if not wrong:
        return -math.inf
    known = A.size if missing is None else int((~missing).sum())
    g = {
        1: (n + m) / (n * m) * math.log(n * m / (n + m)),
        2: (n + m) / (n * m) * math.log(min(n, m)),
        3: math.log(min(n, m)) / min(n, m),
    }
    return math.log(wrong / known) + U.shape[1] * g[penalty]


def closure(A, columns):
    """The formal concept of a set of columns: all rows that have them, all columns these have."""
    extent = A[:, columns].all(axis=1)
    return extent, A[extent].all(axis=0)


def grecond(A, k=None, missing=None):
    """Algorithm 2 of Belohlavek and Vychodil, literally; missing cells may be covered."""
    coverable = A if missing is None else A | missing
    uncovered = A if missing is None else A & ~missing
    concepts = []
    while uncovered.any() and (k is None or len(concepts) < k):
        intent, value = np.zeros(A.shape[1], dtype=bool), 0
        while True:
            grown = {}
            for j in np.flatnonzero(~intent):
                rows, columns = closure(coverable, np.union1d(np.flatnonzero(intent), [j]))
                grown[j] = uncovered[np.ix_(rows, columns)].sum()
            if not grown or max(grown.values()) <= value:
                break
            j = min(grown, key=lambda j: (-grown[j], j))
            value = grown[j]
            intent = closure(coverable, np.union1d(np.flatnonzero(intent), [j]))[1]
        extent = coverable[:, intent].all(axis=1)
        concepts.append((extent, intent))
        uncovered = uncovered & ~np.outer(extent, intent)
    return _side_by_side(A.shape, concepts, k)


def asso(A, k, threshold, weights, missing=None):
    """The algorithm of Miettinen et al., literally: associations, then greedy choice."""
    missing = np.zeros(A.shape, dtype=bool) if missing is None else missing
    A = A & ~missing
    m = A.shape[1]
    candidates = np.zeros((m, m), dtype=bool)
    for i in range(m):
        for j in range(m):
            support = (A[:, i] & ~missing[:, j]).sum()
            if support:
                candidates[i, j] = (A[:, i] & A[:, j]).sum() / support >= threshold
    chosen = []
    covered = np.zeros(A.shape, dtype=bool)
    for _ in range(k):
        gains = []
        for candidate in candidates:
            fresh = candidate & ~covered & ~missing
            gain = weights.missed * (fresh & A).sum(axis=1)
            gains.append(gain - weights.extra * (fresh & ~A).sum(axis=1))
        total = [gain[gain > 0].sum() for gain in gains]
        best = int(np.argmax(total))
        if total[best] <= 0:
            break
        chosen.append((gains[best] > 0, candidates[best]))
        covered |= np.outer(*chosen[-1])
    return _side_by_side(A.shape, chosen, k)


def _side_by_side(shape, components, k):
    """U and V of a list of components, and empty ones up to k, or at least one."""
    k = max(len(components), 1) if k is None else k
    U, V = np.zeros((shape[0], k), dtype=bool), np.zeros((k, shape[1]), dtype=bool)
    for l, (rows, columns) in enumerate(components):
        U[:, l], V[l] = rows, columns
    return U, V


def splitmix(key, counter):
    """SplitMix64 at a place of its stream, in unbounded integers."""
    most = (1 << 64) - 1
    word = (key + 0x9E3779B97F4A7C15 * (counter + 1)) & most
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 & most
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB & most
    return word ^ (word >> 31)


def metropolised_gibbs(A, U, V, lam, log_odds, seed, sweep, side, missing=None):
    """Update each bit of U once, row by row, by counting wrong cells with and without a flip."""
    U = U.copy()
    seen = np.ones(A.shape, dtype=bool) if missing is None else ~missing
    stream = splitmix(splitmix(seed, sweep), side)
    for i, l in np.ndindex(U.shape):
        wrong = {}
        for bit in (False, True):
            U[i, l], before = bit, U[i, l]
            wrong[bit] = int(((A[i] ^ boolean_product(U[i : i + 1], V)[0]) & seen[i]).sum())
            U[i, l] = before
        gain = lam * (wrong[False] - wrong[True]) + log_odds
        ratio = -gain if U[i, l] else gain
        chance = 0.5 if ratio == 0 else math.exp(min(ratio, 0))
        if (splitmix(splitmix(stream, i), l) >> 11) / 2**53 < chance:
            U[i, l] = not U[i, l]
    return U


def log_posterior(A, U, V, lam, priors, missing=None):
    """log p(A | U, V) p(U) p(V) cell by cell and bit by bit, with p(a=1) = σ(λ(2·(u∘v) − 1)).

    Of one state, or of a stack of them.
    """
    seen = np.ones(A.shape, dtype=bool) if missing is None else ~missing
    one = 1 / (1 + np.exp(-lam * (2 * boolean_product(U, V).astype(float) - 1)))
    total = (np.log(np.where(A, one, 1 - one)) * seen).sum(axis=(-2, -1))
    for bits, prior in zip((U, V), priors, strict=True):
        total += np.log(np.where(bits, prior, 1 - prior)).sum(axis=(-2, -1))
    return total


def posterior_means(A, k, lam, priors, missing=None):
    """Means of the bits of U and V over all states, each weighed by its probability."""
    n, m = A.shape
    states = subsets(k * (n + m))
    U, V = states[:, : n * k].reshape(-1, n, k), states[:, n * k :].reshape(-1, k, m)
    logs = log_posterior(A, U, V, lam, priors, missing)
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    return np.tensordot(weights, U, axes=1), np.tensordot(weights, V, axes=1)


def uniforms(key, count):
    """Return the first numbers of the sequence that a key stands for, in [0, 1)."""
    return np.array([(splitmix(int(key), index) >> 11) / 2**53 for index in range(count)])


def binaps_activations(X, bias, on):
    """Hidden units with as many inputs as lift the whole part of their bias to 1."""
    return X.astype(int) @ on.T.astype(int) + np.trunc(bias) >= 1


def binaps_gradients(X, missing, weights, bias, on, one, zero):
    """Errors of a batch; its gradients, of encoder and decoder, both k×m, and of the bias."""
    Z = binaps_activations(X, bias, on)
    B = boolean_product(Z, on)
    missed, extra = X & ~B & ~missing, B & ~X & ~missing
    slope = zero * extra - one * missed
    into_units = slope @ weights.T
    encoder = (Z * into_units).T @ X
    decoder = Z.T @ slope
    called = np.minimum(into_units, 0).sum(axis=0)
    by_row = np.where(Z, into_units.sum(axis=0), called)
    return (missed.sum(), extra.sum()), encoder, decoder, by_row.sum(axis=0)


class Adam:
    """As printed, with its usual constants."""

    def __init__(self, shape):
        self.mean, self.square, self.steps = np.zeros(shape), np.zeros(shape), 0

    def step(self, gradient, rate):
        self.steps += 1
        self.mean = 0.9 * self.mean + 0.1 * gradient
        self.square = 0.999 * self.square + 0.001 * gradient**2
        mean, square = self.mean / (1 - 0.9**self.steps), self.square / (1 - 0.999**self.steps)
        return -rate * mean / (np.sqrt(square) + 1e-8)


def binaps_training(X, missing, k, orders, batch_size, keys, one, zero, rates):
    """Train a binary autoencoder; return its weights, bias, and the errors of each epoch."""
    m = X.shape[1]
    X = X & ~missing
    weights, bias = np.full((k, m), 1 / m), -np.ones(k)
    encoder, decoder, thresholds = Adam((k, m)), Adam((k, m)), Adam(k)
    history = []
    for order, epoch_keys, rate in zip(orders, keys, rates, strict=True):
        errors = np.zeros(2, dtype=int)
        for batch, key in enumerate(epoch_keys):
            rows = order[batch * batch_size : (batch + 1) * batch_size]
            on = weights > uniforms(key, m * k).reshape(m, k).T
            wrong, *gradients = binaps_gradients(
                X[rows], missing[rows], weights, bias, on, one / len(rows), zero / len(rows)
            )
            errors += wrong
            weights = weights + encoder.step(gradients[0], rate)
            weights = np.clip(weights + decoder.step(gradients[1], rate), 1 / m, 1)
            bias = np.minimum(bias + thresholds.step(gradients[2], rate), -1)
        history.append(errors)
    return weights, bias, np.array(history)


def traded(lines, holes, sweeps, seed):
    """Let the lines of a matrix, as sets of places, trade in random pairs (curveball)."""
    lines, order, numbers = list(lines), list(range(len(lines))), itertools.count()

    def word():
        return splitmix(seed, next(numbers))

    for _ in range(sweeps):
        for last in range(len(order) - 1, 0, -1):
            other = (word() >> 1) % (last + 1)
            order[last], order[other] = order[other], order[last]
        for a, b in zip(order[::2], order[1::2], strict=False):
            free = (lines[a] ^ lines[b]) - holes[a] - holes[b]
            wanted, left = len(lines[a] & free), len(free)
            if not 0 < wanted < left:
                continue
            lines[a], lines[b] = lines[a] - free, lines[b] - free
            for place in sorted(free):
                chosen = (word() >> 11) * 2.0**-53 * left < wanted
                lines[a if chosen else b].add(place)
                wanted, left = wanted - chosen, left - 1
    return lines
