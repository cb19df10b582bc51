"""Plain text tables and numbers."""

from collections.abc import Sequence

from elbmf.errors import visible
from elbmf.utils.text import shortened

__all__ = ["figures", "log_p_text", "shorten", "table"]


def table(headers: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[int] = ()) -> str:
    """Lay out a table with aligned columns: some to the left, the others, numbers, to the right."""
    lines = [[visible(cell) for cell in line] for line in (headers, *rows)]
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


def shorten(
    names: Sequence[str], width: int = 48, longest: int = 24, total: int | None = None
) -> str:
    """Join the first names of a list, as many as fit, and say how many of the total are left.

    Names with a comma are quoted, so that they are not taken for two.
    """
    shown: list[str] = []
    used = 0
    for name in names:
        text = shortened(visible(" ".join(name.split())), longest)
        text = f'"{text}"' if "," in name else text
        used += len(text) + 2
        if shown and used > width:
            break
        shown.append(text)
    left = (len(names) if total is None else total) - len(shown)
    return ", ".join(shown) + (f", … {left} more" if left else "")


def log_p_text(log10: float) -> str:
    """Write a probability by its logarithm, with two digits, also one too small for a number."""
    if log10 > -3:
        return f"{10**log10:.3f}"
    exponent = int(log10 // 1)
    mantissa = f"{10 ** (log10 - exponent):.1f}"
    return f"{mantissa}e{exponent}" if mantissa != "10.0" else f"1.0e{exponent + 1}"
