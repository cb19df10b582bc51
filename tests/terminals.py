"""A console that shows progress, and keeps what it shows."""

from elbmf.cli.console import Console


class Terminal(Console):
    """Keeps each line of progress in ``lines``."""

    shows_progress = True  # type: ignore[assignment]

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def status(self, line: str) -> None:
        self.lines.append(line)
