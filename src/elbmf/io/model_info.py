"""What a saved model notes of itself: which data, how it was read and fitted, how well it fits.

The fields are the keys of ``info`` in ``model.json``, and their types are its schema: what is read
is checked against them, and an error names the key. What is not noted is None or empty, and is not
written. Keys that are not known here stay in ``other``, on their way from file to file.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np

from elbmf.boolean.coverage import Weights
from elbmf.errors import InputError
from elbmf.utils.notes import Count, Length, Notes, Within
from elbmf.utils.vocabulary import Vocabulary

__all__ = [
    "RATES",
    "ComponentStability",
    "CoverInfo",
    "DataInfo",
    "ModelInfo",
    "RankChoice",
    "RatesInfo",
    "SignificanceInfo",
    "StabilityInfo",
    "StageCost",
    "StreamInfo",
    "WeightedInfo",
]

Seed = Annotated[int, Within(-math.inf)]
"""A whole number of any size."""

_LIMITS = np.finfo(float)
_Positive = Annotated[float, Within(float(_LIMITS.tiny), float(_LIMITS.max), " above 0")]

# Texts that are numbers, or that noise rates will tell; JSON knows no infinity.
_WEIGHTS = ("inf", "auto")

# Sums of weights in another order.
_ROUNDED = 1e-9

# Of data whose shape is not noted: longer than any for which it matters.
_ANY_LENGTH = 1 << 31


@dataclass
class DataInfo(Notes):
    """Which data a model was made from.

    Parameters
    ----------
    file : str, optional
        Its name.
    shape : sequence of int
        Rows and columns.
    ones, missing : int, optional
        How many ones and missing cells it has.
    path : str, optional
        Where it is, as seen from the folder of the model.
    options : dict
        How it was read, by the names of the reader's options.
    vocabulary : str, optional
        What its rows and columns, and components, are called; see
        `elbmf.utils.vocabulary.Vocabulary.of`.
    """

    file: str | None = None
    shape: Annotated[Sequence[Count], Length(2)] = ()
    ones: Count | None = None
    missing: Count | None = None
    path: str | None = None
    options: dict[str, Any] = field(default_factory=dict)
    vocabulary: str | None = None

    @property
    def words(self) -> Vocabulary:
        """The words in which is told what was found in it."""
        return Vocabulary.of(self.vocabulary)


@dataclass
class StreamInfo(Notes):
    """The rows that passed by, where a model was learned from a stream.

    Parameters
    ----------
    rows : int
        How many there were.
    batches : int, optional
        In how many batches they came.
    relative_loss_of_last : float, optional
        How well the components describe the last batch.
    """

    rows: Count
    batches: Count | None = None
    relative_loss_of_last: float | None = None


@dataclass
class RankChoice(Notes):
    """How the number of components was chosen.

    Parameters
    ----------
    criterion : str
        Name of what chose.
    n_components : int
        The choice; 0 if none is better than any.
    highest : int
        The highest number looked at.
    """

    criterion: str
    n_components: Count
    highest: Count


@dataclass
class RatesInfo(Notes):
    """The noise rates that ``extra_weight="auto"`` has led to.

    Parameters
    ----------
    false_positive : float
        Share of the cells outside of all components that are ones.
    false_negative : float
        Share of the cells in components that are zeros.
    extra_weight : float
        What a covered zero costs, when an uncovered one costs 1.
    """

    false_positive: float
    false_negative: float
    extra_weight: _Positive


@dataclass
class ComponentStability(Notes):
    """How a component fared in fits of resampled data.

    Parameters
    ----------
    recurrence : float
        Mean similarity with its match in every run, see `elbmf.comparison.Stability`.
    found_in : float
        Share of the runs with a match that is at least half the same.
    rows, columns : sequence of float
        For each of its rows and columns, in their order, the share of the matches that hold it.
    """

    recurrence: float
    found_in: float
    rows: Sequence[float] = ()
    columns: Sequence[float] = ()


@dataclass
class StabilityInfo(Notes):
    """Whether components return when the data is resampled.

    Parameters
    ----------
    runs : int
        Fits of resampled data.
    resample : str
        What of the data each of them saw, such as ``"rows:0.8"``.
    stability : float
        Mean recurrence of the components.
    cophenetic : float, optional
        Cophenetic correlation of the consensus matrix.
    components : sequence of ComponentStability
        Each of them.
    consensus : sequence of sequence of float
        A map of the consensus matrix, means of blocks of rows that are often together; None where
        no run saw both.
    """

    runs: Count
    resample: str
    stability: float
    cophenetic: float | None = None
    components: Sequence[ComponentStability] = ()
    consensus: Sequence[Sequence[float | None]] = ()

    def check(self, where: str) -> None:
        """Look at the map."""
        if any(len(row) != len(self.consensus) for row in self.consensus):
            raise InputError(f"{where}.consensus must have as many columns as rows")


@dataclass
class SignificanceInfo(Notes):
    """Whether components are better than those of random data with the same sums.

    Parameters
    ----------
    samples : int
        Random matrices that were fitted.
    p_values : sequence of float
        Of each component, corrected for looking at many.
    """

    samples: Count
    p_values: Sequence[float] = ()


RATES = "rates"
"""The stage in which what a covered zero costs followed the noise rates to the last."""


@dataclass
class StageCost(Notes):
    """What the factors cost after a stage of the method."""

    stage: str
    cost: int


@dataclass
class CoverInfo(Notes):
    """How the factors cover the data, see `elbmf.boolean.coverage.Cover`.

    Parameters
    ----------
    cells, ones, covered, hits : float
        Cells that are not missing, ones, cells that are covered and ones that are; with weights of
        rows or columns what these weigh.
    """

    cells: float
    ones: float
    covered: float
    hits: float

    def check(self, where: str) -> None:
        """Compare the counts."""
        least = max(0.0, self.ones + self.covered - self.cells)
        within = (
            least * (1 - _ROUNDED) <= self.hits <= min(self.ones, self.covered) * (1 + _ROUNDED)
        )
        if not within or max(self.ones, self.covered) > self.cells * (1 + _ROUNDED):
            raise InputError(f"{where} has counts that no matrix has")


@dataclass
class WeightedInfo(Notes):
    """What a fit made of weights of rows or columns.

    Parameters
    ----------
    sides : sequence of str
        Which lines had weights: ``"rows"``, ``"columns"`` or both.
    loss : float
        What the wrong cells weigh.
    """

    sides: Sequence[str]
    loss: float


@dataclass
class UsedParameters(Notes):
    """Parameters of a fit that are of use where it is read; what others are is for its method.

    Parameters
    ----------
    n_components, random_state, binarize, memory_limit : optional
        As the method has them.
    max_components_per_row : int, optional
        Likewise.
    extra_weight : float or str
        What a covered zero costs, above 0; ``"inf"`` where there may be none.
    """

    n_components: Count | str | None = None
    random_state: Seed | str | None = None
    binarize: float | str | None = None
    memory_limit: float | str | None = None
    max_components_per_row: Count | None = None
    extra_weight: _Positive | str = 1.0


@dataclass
class ModelInfo(Notes):
    """All that is noted of a model.

    Parameters
    ----------
    method : str, optional
        Name of the method.
    parameters : dict
        Its parameters by name, as JSON can hold them.
    seed : int or str, optional
        The seed of the fit.
    data : DataInfo
        Which data.
    measures : dict
        How well the factors fit it, by the names of `elbmf.boolean.metrics.measures`; None where a
        measure is not finite. Every cell counts once.
    cover : CoverInfo, optional
        The counts that the fit's own measures are made of, by the weights of rows and columns.
    weighted : WeightedInfo, optional
        What the loss is by the weights of rows and columns, where the fit had any.
    noise_rates : RatesInfo, optional
        How often cells are wrong, where the fit weighed errors by that.
    stability : StabilityInfo, optional
        Whether its components return when the data is resampled, where that was asked.
    significance : SignificanceInfo, optional
        Whether its components differ from those of random data, where that was asked.
    n_components_used : int, optional
        Components that cover anything.
    bits_saved : sequence of float
        By how many bits each component shortens the description of the data.
    rank_search : RankChoice, optional
        How the number of components was chosen, if it was not given.
    stages : sequence of StageCost
        What the factors cost after each stage.
    cost_at_least : int, optional
        What no factors with as many components cost less than, where that is known.
    components_at_least : int, optional
        Components that are needed at least, where the fewest were to be found.
    run_losses : sequence of int
        What each run led to.
    n_iter : int, optional
        Iterations done.
    stop_reason : str, optional
        Why they ended.
    iteration : str, optional
        What an iteration is called.
    iterations_seen : int, optional
        Iterations of all runs.
    history : dict
        Figures of each iteration, by name; None where one is not finite.
    stream : StreamInfo, optional
        The rows of a stream. A model that has this keeps no rows.
    binarize_limits : sequence of float
        Above which values are ones, for each column or for all; None where nothing is.
    seconds : float, optional
        Time that the fit took.
    interrupted : bool, optional
        Whether somebody ended it early.
    warnings : sequence of str
        What was warned of.
    command : str, optional
        The command that makes the result again.
    versions : dict
        Versions of what was used, by name.
    """

    method: str | None = None
    parameters: dict[str, Any] = field(default_factory=dict)
    seed: Seed | str | None = None
    data: DataInfo = field(default_factory=DataInfo)
    measures: dict[str, float | None] = field(default_factory=dict)
    cover: CoverInfo | None = None
    weighted: WeightedInfo | None = None
    noise_rates: RatesInfo | None = None
    stability: StabilityInfo | None = None
    significance: SignificanceInfo | None = None
    n_components_used: Count | None = None
    bits_saved: Sequence[float] = ()
    rank_search: RankChoice | None = None
    stages: Sequence[StageCost] = ()
    cost_at_least: int | None = None
    components_at_least: int | None = None
    run_losses: Sequence[int] = ()
    n_iter: Count | None = None
    stop_reason: str | None = None
    iteration: str | None = None
    iterations_seen: Count | None = None
    history: dict[str, Sequence[float | None]] = field(default_factory=dict)
    stream: StreamInfo | None = None
    binarize_limits: Sequence[float | None] = ()
    seconds: float | None = None
    interrupted: bool | None = None
    warnings: Sequence[str] = ()
    command: str | None = None
    versions: dict[str, str] = field(default_factory=dict)

    @property
    def extra_weight(self) -> float:
        """What a covered zero costs, when an uncovered one costs 1."""
        if self.noise_rates is not None:
            return self.noise_rates.extra_weight
        noted = self.parameters.get("extra_weight")
        return 1.0 if noted is None or noted == "auto" else float(noted)

    def check(self, where: str) -> None:
        """Look at the parameters that are of use later."""
        place = f"{where}.parameters"
        used = UsedParameters.from_json(self.parameters, place)
        if self.noise_rates is None and not (
            isinstance(used.extra_weight, float | int) or used.extra_weight in _WEIGHTS
        ):
            raise InputError(
                f"{place}.extra_weight must be a number or 'inf', found {used.extra_weight!r:.40}"
            )

    @property
    def price(self) -> int:
        """What an uncovered one costs in ``stages``, ``run_losses`` and ``cost_at_least``.

        These are whole numbers, so that weights that are none are scaled.
        """
        longest = max(self.data.shape, default=_ANY_LENGTH)
        return Weights.of(self.extra_weight, (longest, longest)).missed
