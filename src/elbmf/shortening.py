"""Long texts, made short enough to be read."""

__all__ = ["shortened"]


def shortened(text: str, longest: int) -> str:
    """Return a text of at most so many characters: its head and its tail, dots between."""
    if len(text) <= longest:
        return text
    tail = (longest - 1) // 3
    return text[: longest - 1 - tail] + "…" + text[len(text) - tail :]
