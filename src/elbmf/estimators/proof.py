"""What is proved of a saved result, in a sentence: how much better any other could be."""

import math

from elbmf.io.model_info import ModelInfo
from elbmf.utils.text import cost_text, counted, number

__all__ = ["loss_proof", "proof"]


def proof(info: ModelInfo, n_components: int) -> str:
    """Say what no factorization of the data undercuts; nothing if nothing is known.

    Parameters
    ----------
    info : ModelInfo
        Notes of a result.
    n_components : int
        Its components, or those of them that cover anything where the fewest were to be found.
    """
    if info.components_at_least is not None:
        return _of_components(info.components_at_least, n_components)
    if info.cost_at_least is None or not info.stages:
        return ""
    costs = info.cost_at_least, info.stages[-1].cost
    weighted = info.weighted is not None
    return loss_proof(*costs, n_components, info.extra_weight, price=info.price, weighted=weighted)


def loss_proof(
    least: int,  # What no factorization costs less than
    cost: int,  # What this one costs
    n_components: int,
    extra_weight: float = 1.0,  # What a covered zero costs, when an uncovered one costs 1
    this: str = "this one",  # What it is called
    *,
    price: int = 1,  # What an uncovered one costs of those
    weighted: bool = False,  # Whether cells count by the weights of their rows and columns
) -> str:
    """Say what no factorization with so many components undercuts."""
    components = counted(n_components, "component")
    if extra_weight in (1, math.inf) and not weighted:
        below = " that covers no zero" if extra_weight == math.inf else ""
        wrong = "wrong cell" if least == 1 else "wrong cells"
        claim = f"no factorization with {components}{below} has fewer than {number(least)} {wrong}"
        beside = f"{this} has {number(cost)}"
    else:
        claim = f"no factorization with {components} costs less than {cost_text(least, price)}"
        beside = f"{this} costs {cost_text(cost, price)}"
    if least >= cost:
        return f"Proved: {claim}."
    return f"{claim[0].upper()}{claim[1:]}; {beside}."


def _of_components(least: int, found: int) -> str:
    if least >= found:
        # Of components that are kept, some may cover nothing.
        return f"Proved minimal: it takes {counted(least, 'component')}."
    return (
        f"It takes at least {counted(least, 'component')}; whether fewer than {number(found)} are "
        "enough is not known."
    )
