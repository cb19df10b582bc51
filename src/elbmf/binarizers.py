"""Ways to make zeros and ones of numbers, as scikit-learn transformers."""

__all__: list[str] = []
