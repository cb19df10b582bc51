"""What is odd about data, in words for a person."""

__all__ = ["NO_ZEROS", "without_zeros"]

NO_ZEROS = (
    "No cell is known to be 0, and missing cells count for nothing, so any groups fit. Where an "
    "empty cell means no, write 0 into it."
)


def without_zeros(ones: int | None, cells: int, missing: int) -> bool:
    """Whether all cells that are known are ones while others are missing, for `NO_ZEROS` to say."""
    return bool(ones and missing and ones + missing == cells)
