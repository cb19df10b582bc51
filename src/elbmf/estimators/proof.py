"""What is proved of a saved result, in a sentence: how much better any other could be."""

from elbmf.io.model_info import ModelInfo
from elbmf.utils.text import counted, number

__all__ = ["proof"]


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
    cost, least = info.stages[-1].cost, info.cost_at_least
    components = counted(n_components, "component")
    weight = info.parameters.get("extra_weight", 1)
    if weight in (1, "inf"):
        below = " that covers no zero" if weight == "inf" else ""
        wrong = "wrong cell" if least == 1 else "wrong cells"
        claim = f"no factorization with {components}{below} has fewer than {number(least)} {wrong}"
        this = f"this one has {number(cost)}"
    else:
        claim = f"no factorization with {components} costs less than {number(least)}"
        this = f"this one costs {number(cost)}"
    if least >= cost:
        return f"Proved: {claim}."
    return f"{claim[0].upper()}{claim[1:]}; {this}."


def _of_components(least: int, found: int) -> str:
    if least >= found:
        return f"Proved minimal: it takes {counted(found, 'component')}."
    return (
        f"It takes at least {counted(least, 'component')}; whether fewer than {number(found)} are "
        "enough is not known."
    )
