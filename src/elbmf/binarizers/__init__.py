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
    binarized,
    binarizer_of,
    is_number,
    learns,
    with_nan,
    word_of,
)

__all__ = [
    "BINARIZERS",
    "Binarize",
    "BinarizerWord",
    "NonzeroBinarizer",
    "QuantileBinarizer",
    "ThresholdBinarizer",
    "ZScoreBinarizer",
    "binarized",
    "binarizer_of",
    "is_number",
    "learns",
    "with_nan",
    "word_of",
]
