"""Boolean matrix algebra: the product ∘ (Eq. semiproduct), the loss (Eq. bmf), what is covered.

Factors are Boolean arrays, U of shape (n, k) and V of shape (k, m). Nothing here makes an n×m
array: products are formed row by row on packed words, 64 cells at a time, and compared with the
data at its ones and missing cells only.
"""

from elbmf.boolean.coverage import (
    ComponentCover,
    Cover,
    GrowingCover,
    Weights,
    component_cover,
    cover,
)
from elbmf.boolean.line_weights import LineWeights
from elbmf.boolean.noise_rates import NoiseRates
from elbmf.boolean.product import boolean_product, hamming_distance

__all__ = [
    "ComponentCover",
    "Cover",
    "GrowingCover",
    "LineWeights",
    "NoiseRates",
    "Weights",
    "boolean_product",
    "component_cover",
    "cover",
    "hamming_distance",
]
