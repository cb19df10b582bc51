"""Training a binary autoencoder with one hidden layer and tied weights, on the ones alone.

Weights are probabilities, of shape (m, k), so that the k weights of a column are side by side. For
each batch they are binarised at random. Of the binarised weights, which are few, *masks* hold the
hidden units of each column, packed; what a row is reconstructed as is the union of the columns of
its active units.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elbmf.kernels.compiling import kernel
from elbmf.kernels.randomness import random_word, to_unit_interval
from elbmf.kernels.sets import lowest

__all__ = [
    "Gradients",
    "Network",
    "activate",
    "add_gradients",
    "descend_by_adam",
    "draw_masks",
    "inputs_needed",
    "train_epochs",
]

# Adam's usual decay of the two moments, and what keeps it from dividing by zero.
_MEAN_DECAY, _SQUARE_DECAY, _EPSILON = 0.9, 0.999, 1e-8

# A mean of gradients that moves no weight: far less than what keeps Adam from dividing by zero.
_NEGLIGIBLE = 1e-30

# Weights that Adam looks at together, while they are in the first-level cache.
_WEIGHTS_AT_ONCE = 512


class Gradients(NamedTuple):
    """Gradients of a batch, or moments of them."""

    # Of the weights, in their two roles; of shape (m, k)
    encoder: NDArray[np.float64]
    decoder: NDArray[np.float64]
    bias: NDArray[np.float64]  # Of the hidden units; of length k


class Network(NamedTuple):
    """An autoencoder, and what is kept from step to step to train it."""

    weights: NDArray[np.float64]
    bias: NDArray[np.float64]
    gradients: Gradients  # Those of the weights are zero between steps
    # Adam's running means of the gradients and of their squares
    means: Gradients
    squares: Gradients

    @classmethod
    def of(cls, columns: int, units: int) -> "Network":
        """Make a network that knows nothing: a unit has one weight on, in the mean."""

        def zeros() -> Gradients:
            shape = columns, units
            return Gradients(np.zeros(shape), np.zeros(shape), np.zeros(units))

        return cls(
            np.full((columns, units), 1 / columns),
            np.full(units, -1.0),
            zeros(),
            zeros(),
            zeros(),
        )


@kernel()
def draw_masks(weights, key, masks):
    """Binarise the weights: each is on as likely as it is large."""
    m, k = weights.shape
    masks[:] = 0
    for j in range(m):
        for h in range(k):
            if to_unit_interval(random_word(key, j * k + h)) < weights[j, h]:
                masks[j, h >> 6] |= np.uint64(1) << np.uint64(h & 63)


@kernel()
def inputs_needed(bias):
    """Count the inputs that make each hidden unit active: those that lift the bias to 1.

    Of the bias only the whole part counts.
    """
    needed = np.empty(bias.shape[0], dtype=np.int64)
    for h in range(bias.shape[0]):
        needed[h] = 1 - np.int64(bias[h])
    return needed


@kernel(inline="always")
def _count_inputs(ones, i, masks, counts):
    """Count for each hidden unit the ones of row ``i`` that its weights are on for."""
    indptr, indices = ones
    counts[:] = 0
    for e in range(indptr[i], indptr[i + 1]):
        for w in range(masks.shape[1]):
            word = masks[indices[e], w]
            while word:
                counts[64 * w + lowest(word)] += 1
                word &= word - np.uint64(1)


@kernel()
def activate(ones, low, high, masks, needed, active):
    """Tell which hidden units are active in rows ``low`` to ``high``."""
    counts = np.empty(needed.shape[0], dtype=np.int64)
    for i in range(low, high):
        _count_inputs(ones, i, masks, counts)
        for h in range(needed.shape[0]):
            active[i, h] = counts[h] >= needed[h]


@kernel()
def _list_columns(masks, columns, sizes):
    """List the columns that the weights of each hidden unit are on for."""
    sizes[:] = 0
    for j in range(masks.shape[0]):
        for w in range(masks.shape[1]):
            word = masks[j, w]
            while word:
                h = 64 * w + lowest(word)
                columns[h, sizes[h]] = j
                sizes[h] += 1
                word &= word - np.uint64(1)


@kernel()
def add_gradients(
    # Where the ones and the missing cells are, by rows
    ones,
    hidden,
    rows,  # The batch
    network,  # Its gradients are set
    masks,  # Its weights, binarised
    one,
    zero,
    columns,  # Room
):
    """Add up the gradients of the loss over some rows; return the wrong cells of either kind.

    A one that is not reconstructed costs ``one``, a zero that is costs ``zero``. The gradient
    passes through the output layer as it is, and through the hidden layer where a unit is active;
    it meets weights that are not binarised. The bias of a unit learns from rows in which the unit
    is active, and from the others only where they call for it.
    """
    m, k = network.weights.shape
    weights, encoder, decoder = (
        network.weights,
        network.gradients.encoder,
        network.gradients.decoder,
    )
    needed = inputs_needed(network.bias)
    sizes = np.empty(k, dtype=np.int64)
    _list_columns(masks, columns, sizes)
    counts = np.empty(k, dtype=np.int64)
    active = np.empty(k, dtype=np.int64)
    # Of a row: 1 for a column that is reconstructed, 2 when that is settled.
    marks = np.zeros(m, dtype=np.int8)
    errors = np.empty(m, dtype=np.int64)
    slopes = np.empty(k, dtype=np.float64)
    total, calls = np.zeros(k, dtype=np.float64), np.zeros(k, dtype=np.float64)
    times_active = np.zeros(k, dtype=np.int64)
    all_missed, all_extra = 0, 0
    for i in rows:
        _count_inputs(ones, i, masks, counts)
        activity = 0
        for h in range(k):
            if counts[h] >= needed[h]:
                active[activity] = h
                activity += 1
                times_active[h] += 1
                for c in range(sizes[h]):
                    marks[columns[h, c]] = 1
        missed = 0
        for e in range(ones[0][i], ones[0][i + 1]):
            j = ones[1][e]
            if marks[j]:
                marks[j] = 2
            else:
                errors[missed] = j
                missed += 1
        for e in range(hidden[0][i], hidden[0][i + 1]):
            marks[hidden[1][e]] = 2
        count = missed
        for a in range(activity):
            h = active[a]
            for c in range(sizes[h]):
                j = columns[h, c]
                if marks[j] == 1:
                    errors[count] = j
                    count += 1
                    marks[j] = 2
        slopes[:] = 0
        for c in range(count):
            j = errors[c]
            gradient = -one if c < missed else zero
            for h in range(k):
                slopes[h] += gradient * weights[j, h]
            for a in range(activity):
                decoder[j, active[a]] += gradient
        for h in range(k):
            total[h] += slopes[h]
            calls[h] += min(slopes[h], 0.0)
        for a in range(activity):
            h = active[a]
            for c in range(sizes[h]):
                marks[columns[h, c]] = 0
            for e in range(ones[0][i], ones[0][i + 1]):
                encoder[ones[1][e], h] += slopes[h]
        for e in range(hidden[0][i], hidden[0][i + 1]):
            marks[hidden[1][e]] = 0
        all_missed += missed
        all_extra += count - missed
    for h in range(k):
        inactive = rows.shape[0] - times_active[h]
        network.gradients.bias[h] = inactive * calls[h] + times_active[h] * total[h]
    return all_missed, all_extra


@kernel(error_model="numpy")
def _adam(parameters, gradient, mean, square, rate, scale):
    """Let Adam take a step with some parameters, in flat arrays.

    The rate, and the scale of a root mean square, are corrected for moments that began as zero.
    """
    for i in range(parameters.shape[0]):
        g = gradient[i]
        average = _MEAN_DECAY * mean[i] + (1 - _MEAN_DECAY) * g
        # It would decay to a number too small for the processor to be quick with.
        mean[i] = average if abs(average) > _NEGLIGIBLE else 0.0
        square[i] = _SQUARE_DECAY * square[i] + (1 - _SQUARE_DECAY) * g * g
        parameters[i] -= rate * mean[i] / (np.sqrt(square[i]) * scale + _EPSILON)


@kernel()
def descend_by_adam(network, rate, step):
    """Let Adam take its ``step``-th step down the gradients, and forget those of the weights.

    The encoder and the decoder both move the weights, each with moments of its own. The weights
    stay between 1/m, so that a hidden unit has one on in the mean and does not die, and 1; the
    bias stays at -1 or below, so that one input does not make a unit active.
    """
    weights, bias, gradients, means, squares = network
    rate /= 1 - _MEAN_DECAY**step
    scale = 1 / np.sqrt(1 - _SQUARE_DECAY**step)
    least = 1 / weights.shape[0]
    flat = weights.reshape(-1)
    encoder, decoder = gradients.encoder.reshape(-1), gradients.decoder.reshape(-1)
    means_in_roles = means.encoder.reshape(-1), means.decoder.reshape(-1)
    squares_in_roles = squares.encoder.reshape(-1), squares.decoder.reshape(-1)
    for start in range(0, flat.shape[0], _WEIGHTS_AT_ONCE):
        part = slice(start, start + _WEIGHTS_AT_ONCE)
        some = flat[part]
        _adam(some, encoder[part], means_in_roles[0][part], squares_in_roles[0][part], rate, scale)
        _adam(some, decoder[part], means_in_roles[1][part], squares_in_roles[1][part], rate, scale)
        encoder[part] = 0
        decoder[part] = 0
        for i in range(some.shape[0]):
            some[i] = min(max(some[i], least), 1.0)
    _adam(bias, gradients.bias, means.bias, squares.bias, rate, scale)
    for h in range(bias.shape[0]):
        bias[h] = min(bias[h], -1.0)


@kernel()
def train_epochs(
    # Where the ones and the missing cells are, by rows
    ones,
    hidden,
    orders,  # The rows, in the order of each epoch
    batch_size,
    keys,  # What the weights are binarised by for each batch
    network,
    # Cost of a one that is not reconstructed, and of a zero that is
    one,
    zero,
    rates,  # Learning rate of each epoch
    step,  # Steps taken before
):
    """Train on all rows, a batch at a time, once for each order given.

    Returns
    -------
    ndarray of int64, of shape (epochs, 2)
        Ones that were missed and zeros that were covered, with the binarised weights of each batch.
    """
    m, k = network.weights.shape
    masks = np.empty((m, -(-k // 64)), dtype=np.uint64)
    columns = np.empty((k, m), dtype=np.int32)
    errors = np.zeros((orders.shape[0], 2), dtype=np.int64)
    for epoch in range(orders.shape[0]):
        for batch in range(keys.shape[1]):
            rows = orders[epoch, batch * batch_size : (batch + 1) * batch_size]
            draw_masks(network.weights, keys[epoch, batch], masks)
            # The loss is that of a row in the mean.
            share = 1 / rows.shape[0]
            missed, extra = add_gradients(
                ones, hidden, rows, network, masks, one * share, zero * share, columns
            )
            errors[epoch, 0] += missed
            errors[epoch, 1] += extra
            step += 1
            descend_by_adam(network, rates[epoch], step)
    return errors
