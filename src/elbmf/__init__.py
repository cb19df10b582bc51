"""Boolean matrix factorization: the public names.

They are imported when first used, so that ``elbmf --version`` need not wait for scikit-learn.
"""

from typing import TYPE_CHECKING

from elbmf._version import __version__
from elbmf.estimators.registry import ESTIMATORS, class_name
from elbmf.utils.late import late_names

if TYPE_CHECKING:  # for type checkers, which cannot follow the tables
    from elbmf.boolean.product import boolean_product as boolean_product
    from elbmf.comparison import compare as compare
    from elbmf.comparison import significance as significance
    from elbmf.comparison import stability as stability
    from elbmf.estimators import ELBMF as ELBMF
    from elbmf.estimators import Asso as Asso
    from elbmf.estimators import Binaps as Binaps
    from elbmf.estimators import GreConD as GreConD
    from elbmf.estimators import MinimalCover as MinimalCover
    from elbmf.estimators import OrM as OrM
    from elbmf.estimators import Primp as Primp
    from elbmf.estimators import RoundedNMF as RoundedNMF
    from elbmf.estimators import Sofa as Sofa
    from elbmf.estimators import tl as tl
    from elbmf.estimators.loading import load as load
    from elbmf.estimators.loss_bound import loss_bound as loss_bound
    from elbmf.estimators.rank_search import RankSearch as RankSearch
    from elbmf.estimators.warming import warm_up as warm_up
    from elbmf.io import load_model as load_model
    from elbmf.io import save_model as save_model
    from elbmf.plots import pl as pl
    from elbmf.relaxation.schedules import Annealed as Annealed
    from elbmf.relaxation.schedules import Printed as Printed
    from elbmf.report import write_report as write_report
    from elbmf.search.margins import margins as margins

_PLACES = {
    **{class_name(name): f"elbmf.estimators:{class_name(name)}" for name in ESTIMATORS},
    "Annealed": "elbmf.relaxation.schedules:Annealed",
    "Printed": "elbmf.relaxation.schedules:Printed",
    "RankSearch": "elbmf.estimators.rank_search:RankSearch",
    "boolean_product": "elbmf.boolean:boolean_product",
    "compare": "elbmf.comparison:compare",
    "load": "elbmf.estimators.loading:load",
    "load_model": "elbmf.io:load_model",
    "loss_bound": "elbmf.estimators.loss_bound:loss_bound",
    "margins": "elbmf.search.margins:margins",
    "save_model": "elbmf.io:save_model",
    "significance": "elbmf.comparison:significance",
    "stability": "elbmf.comparison:stability",
    "warm_up": "elbmf.estimators.warming:warm_up",
    "write_report": "elbmf.report:write_report",
}

# What scanpy's users look for: tools and plots.
_TOOLS = {"tl": "elbmf.estimators.tl", "pl": "elbmf.plots.pl"}

# Packages that load as attributes.
_PACKAGES = (
    "analysis",
    "binarizers",
    "boolean",
    "comparison",
    "datasets",
    "estimators",
    "io",
    "matrix",
    "plots",
    "ranks",
    "relaxation",
    "report",
    "search",
)

__all__ = ["__version__", *_PLACES]

__getattr__, __dir__ = late_names(
    __name__, lambda: _PLACES | _TOOLS | {name: f"elbmf.{name}" for name in _PACKAGES}
)
