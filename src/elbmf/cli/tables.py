"""Plain text tables and numbers."""

from collections.abc import Sequence

__all__ = ["figures", "number", "share", "shorten", "size", "table", "times"]


def table(headers: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[int] = ()) -> str:
    """Lay out a table with aligned columns.

    Parameters
    ----------
    headers : sequence of str
        Titles of the columns.
    rows : sequence of sequences of str
        The cells.
    left : sequence of int
        Columns to align to the left; the others are numbers.
    """
    lines = [list(headers), *map(list, rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(headers))]

    def laid_out(line: list[str]) -> str:
        cells = (
            cell.ljust(width) if column in left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        return "  ".join(cells).rstrip()

    return "\n".join(map(laid_out, lines))


def figures(pairs: Sequence[tuple[str, str]]) -> str:
    """Lay out names and values in two columns."""
    width = max(len(name) for name, _ in pairs)
    return "\n".join(f"{name.ljust(width)}  {value}".rstrip() for name, value in pairs)


def number(count: int) -> str:
    """Write a whole number in groups of three digits."""
    return f"{count:,}"


def share(value: float | None) -> str:
    """Write a share or ratio; None is one that is not finite."""
    return "inf" if value is None else f"{value:.4f}"


def size(n_bytes: float) -> str:
    """Write a number of bytes."""
    for unit in ("B", "kB", "MB", "GB"):
        if n_bytes < 1000:
            return f"{n_bytes:.0f} {unit}" if unit == "B" else f"{n_bytes:.3g} {unit}"
        n_bytes /= 1000
    return f"{n_bytes:,.1f} TB"


def times(seconds: float) -> str:
    """Write a duration."""
    if seconds < 100:
        return f"{seconds:.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s"


def shorten(
    names: Sequence[str], width: int = 48, longest: int = 24, total: int | None = None
) -> str:
    """Join the first names of a list, as many as fit, and say how many of the total are left."""
    shown: list[str] = []
    used = 0
    for name in names:
        text = " ".join(name.split())
        text = text if len(text) <= longest else text[: longest - 1] + "…"
        used += len(text) + 2
        if shown and used > width:
            break
        shown.append(text)
    left = (len(names) if total is None else total) - len(shown)
    return ", ".join(shown) + (f", … {left} more" if left else "")
