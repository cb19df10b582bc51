"""Ways to make zeros and ones of numbers, as scikit-learn transformers and as words."""

from elbmf.binarizers.transformers import (
    NonzeroBinarizer,
    QuantileBinarizer,
    ThresholdBinarizer,
    ZScoreBinarizer,
)
from elbmf.binarizers.words import (
    BINARIZERS,
    Binarize,
    BinarizerWord,
    binarizer_of,
    elementwise,
    is_number,
    with_nan,
)

__all__ = [
    "BINARIZERS",
    "Binarize",
    "BinarizerWord",
    "NonzeroBinarizer",
    "QuantileBinarizer",
    "ThresholdBinarizer",
    "ZScoreBinarizer",
    "binarizer_of",
    "elementwise",
    "is_number",
    "with_nan",
]
