"""Many workers: what all get, and what all give, goes along a tree of them.

The client then sends one copy and receives one sum, and no worker passes on more than two. With a
few workers, asking each of them is quicker.
"""

import uuid
from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

from elbmf.relaxation.engines.base import TreeSum
from elbmf.relaxation.engines.cluster.connection import Connection
from elbmf.relaxation.engines.cluster.holder import Order, call_holder

__all__ = ["merged", "spread"]


def spread(
    cluster: Connection,
    fit: str,  # Name of the fit
    holders: Mapping[str, Any],  # The workers, by address
    order: Order,  # What they will be told to do
) -> Order:
    """Send the arguments of an order to all workers, each passing them on to two others.

    Returns
    -------
    Order
        The same, the arguments replaced by a token for what all have got; if any of them is gone,
        as it was.
    """
    token = uuid.uuid4().hex
    addresses = list(holders)
    if not cluster.asked(holders[addresses[0]], "receive", addresses[0], token, order.arguments):
        return order
    tasks: list[Any] = []
    for position, address in enumerate(addresses):
        passed = tasks[(position - 1) // 2] if tasks else None
        tasks.append(cluster.submit(address, call_holder, fit, address, "pass_on", token, passed))
    if not all(cluster.finished(task, *addresses) for task in tasks):
        return order
    return order._replace(arguments=(), token=token)


def merged(
    # As for `spread`
    cluster: Connection,
    fit: str,
    addresses: list[str],
    count: int,  # Slabs of the whole matrix
    fold: Callable[[Any, Any], Any],  # Adds two terms
) -> dict[tuple[int, int], Any] | None:
    """Add up what workers have as the outcome of an order, on its way here.

    Returns
    -------
    dict or None
        Parts of the sum; None if any worker is gone.
    """
    level = [
        (address, cluster.submit(address, call_holder, fit, address, "outcome"))
        for address in addresses
    ]
    while len(level) > 1:
        level = [
            (first, cluster.submit(first, _merge, count, fold, *(task for _, task in pair)))
            for pair in (level[i : i + 2] for i in range(0, len(level), 2))
            for first in [pair[0][0]]
        ]
    parts: dict[tuple[int, int], Any] | None = cluster.answer(level[0][1], *addresses)
    return parts


def _merge(
    count: int, fold: Callable[[Any, Any], Any], *parts: dict[tuple[int, int], Any]
) -> dict[tuple[int, int], Any]:
    if len(parts) == 1:
        return parts[0]
    total: TreeSum[Any] = TreeSum(count, fold)
    for part in parts:
        # Terms are changed when they are added up, and a task may be done twice.
        for (step, position), term in deepcopy(part).items():
            total.put(position, term, step)
    return total.parts
