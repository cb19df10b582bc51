"""The page "The paper's claims, checked": a row for each claim, a figure for each experiment."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from elbmf.io.files import replacing, writing
from elbmf.paper.experiments.experiment import Claim
from elbmf.paper.experiments.running import Outcome

__all__ = ["VERDICTS", "write_page"]

VERDICTS = {True: "holds", False: "does not hold", None: "–"}
"""Words for whether a claim holds."""

_TITLE = "The paper's claims, checked"


def write_page(path: Path, outcomes: Sequence[Outcome]) -> None:
    """Write the page, in Markdown, with its pictures in a folder of the same name.

    Parameters
    ----------
    path : Path
        The file, which is replaced.
    outcomes : sequence of Outcome
        What the experiments gave.
    """
    pictures = path.with_suffix("")
    with writing(pictures):
        pictures.mkdir(parents=True, exist_ok=True)
        for outcome in outcomes:
            for picture in _to_look_at(outcome):
                shutil.copyfile(picture, pictures / picture.name)
    text = "\n".join(_lines(outcomes, pictures.name))
    with replacing(path, compress=False) as stream:
        stream.write(f"{text}\n".encode())


def _to_look_at(outcome: Outcome) -> list[Path]:
    return [picture for picture in outcome.pictures if picture.suffix == ".png"]


def _lines(outcomes: Sequence[Outcome], pictures: str) -> Iterator[str]:
    claims = [claim for outcome in outcomes for claim in outcome.claims]
    yield f"# {_TITLE}\n"
    yield (
        "Written by `elbmf reproduce NAME --page FILE`, a section for each experiment (`all`: all "
        'of them). What stands in parentheses behind a claim is ours: where the paper says "high" '
        'or "similar", a bound had to be chosen. "Plain" is ELBMF as the paper describes it '
        '(`refine=False`); "refined" is the default. A claim that is not about the result of '
        "ELBMF has one verdict only, and a dash is a claim that could not be measured.\n"
    )
    yield f"{_summary(claims)}\n"
    for machine in dict.fromkeys(outcome.machine for outcome in outcomes):
        yield f"Measured on: {machine}.\n"
    for outcome in outcomes:
        experiment = outcome.experiment
        yield f"## {experiment.shows}: {experiment.title}\n"
        yield f"`elbmf reproduce {experiment.name}` ({outcome.scale})\n"
        if experiment.remark:
            yield f"{experiment.remark}\n"
        for picture in _to_look_at(outcome):
            yield f"![{experiment.shows}: {experiment.title}]({pictures}/{picture.name})\n"
        if outcome.claims:
            yield "| where | the paper says | plain | | refined | |"
            yield "|---|---|---|---|---|---|"
            for claim in outcome.claims:
                yield f"| {' | '.join(_cells(claim))} |"
            yield ""


def _cells(claim: Claim) -> list[str]:
    refined = VERDICTS[claim.refined_holds] if claim.refined else ""
    return [
        _escaped(text)
        for text in (
            claim.where,
            claim.says,
            claim.plain,
            VERDICTS[claim.plain_holds],
            claim.refined,
            refined,
        )
    ]


def _escaped(text: str) -> str:
    """Keep the signs that tables and emphasis are made of as they are."""
    for sign in "|*_":
        text = text.replace(sign, f"\\{sign}")
    return text


def _summary(claims: Sequence[Claim]) -> str:
    plain = [claim.plain_holds for claim in claims if claim.plain_holds is not None]
    refined = [claim.refined_holds for claim in claims if claim.refined_holds is not None]
    return (
        f"Of {len(plain)} claims that could be measured, {sum(plain)} hold. Of the {len(refined)} "
        f"that are about the result of ELBMF, {sum(refined)} hold when it is refined."
    )
