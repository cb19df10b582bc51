"""Numbers, sizes, durations and long names as they are written for people, and what all say."""

__all__ = [
    "ALL_MISSING",
    "NO_ZEROS",
    "amount",
    "counted",
    "number",
    "percent",
    "share",
    "shortened",
    "size_text",
    "times",
    "unlearnable",
]

NO_ZEROS = (
    "No cell is known to be 0, and missing cells count for nothing, so any groups fit. Where an "
    "empty cell means no, write 0 into it."
)

ALL_MISSING = "All cells are missing, so there is nothing to learn."


def number(count: int) -> str:
    """Write a whole number in groups of three digits."""
    return f"{count:,}"


def amount(value: float) -> str:
    """Write a sum of weights, which may be a fraction."""
    return number(value) if isinstance(value, int) else f"{value:,.6g}"


def cost_text(cost: int, price: int) -> str:
    """Write what wrong cells cost, as so many missed ones, each of which has a price."""
    value = cost / price
    return number(round(value)) if price == 1 or value >= 1000 else f"{value:.4g}"


def share(value: float | None) -> str:
    """Write a share or ratio; None is one that is not finite."""
    return "inf" if value is None else f"{value:.4f}"


def times(seconds: float) -> str:
    """Write a duration."""
    if seconds < 100:
        return f"{seconds:.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s"


def counted(count: int, noun: str) -> str:
    """Write a number of things; more than one thing ends in s."""
    return f"{number(count)} {noun}{'' if count == 1 else 's'}"


def percent(value: float) -> str:
    """Write a share in percent: 100 % only where it is all, 0 % only where it is nothing."""
    hundredths = 100 * value
    if 0 < hundredths < 0.01:
        return "less than 0.01 %"
    if 99.9 < hundredths < 100:
        return "more than 99.9 %"
    if hundredths in (0, 100):
        return f"{hundredths:.0f} %"
    digits = 2 if hundredths < 1 else 1 if hundredths < 10 or hundredths > 90 else 0
    return f"{hundredths:.{digits}f} %"


def size_text(size: float) -> str:
    """Write a number of bytes for people."""
    for unit in ("B", "kB", "MB", "GB"):
        if size < 999.5:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} TB"


def shortened(text: str, longest: int) -> str:
    """Return a text of at most so many characters: its head and its tail, dots between."""
    if len(text) <= longest:
        return text
    tail = (longest - 1) // 3
    return text[: longest - 1 - tail] + "…" + text[len(text) - tail :]


def unlearnable(ones: int | None, cells: int, missing: int) -> str:
    """Say why nothing can be learned of data: no cell is known, or none beside ones and gaps is."""
    if cells and missing == cells:
        return ALL_MISSING
    return NO_ZEROS if ones and missing and ones + missing == cells else ""
