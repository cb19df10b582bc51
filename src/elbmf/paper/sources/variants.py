"""What readers of genotypes have in common."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from elbmf.paper.sources.columns import ColumnsInTurn

__all__ = ["VariantFilter", "Variants", "variant_name"]

Variants = tuple[list[str], list[str], ColumnsInTurn, int]
"""What a reader finds: people, the variants it kept, who carries them, and how many it saw."""

_BASES = frozenset("ACGTNacgtn")


@dataclass(frozen=True)
class VariantFilter:
    """Which variants to keep.

    Parameters
    ----------
    min_frequency, max_frequency : float
        Bounds of the share of the variant among the known alleles.
    snps_only : bool
        Only those in which one base is replaced by another.
    """

    min_frequency: float
    max_frequency: float
    snps_only: bool

    def keeps_alleles(self, reference: str, alternatives: str) -> bool:
        """Whether these alleles, parted by commas, are of the right kind."""
        return not self.snps_only or all(
            allele in _BASES for allele in (reference, *alternatives.split(","))
        )

    def keeps_counts(
        self, alternate: NDArray[np.integer], known: NDArray[np.integer]
    ) -> NDArray[np.bool_]:
        """Whether variants are frequent enough and not too frequent, by counts of alleles.

        A variant of which nothing is known is not frequent.
        """
        frequency = alternate / np.maximum(known, 1)
        return (self.min_frequency <= frequency) & (frequency <= self.max_frequency)


def variant_name(
    identifier: str, chromosome: str, position: str, reference: str, alternatives: str
) -> str:
    """Return the id of a variant, or where and what it is."""
    if identifier not in (".", ""):
        return identifier
    return f"{chromosome}:{position}:{reference}:{alternatives}"
