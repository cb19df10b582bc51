"""A report that is on the disk: where it is, how to open it, what a notebook shows of it."""

from __future__ import annotations

import os
import webbrowser
from dataclasses import dataclass
from html import escape
from pathlib import Path
from urllib.parse import quote

from elbmf.errors import InputError, visible
from elbmf.utils.text import size_text

__all__ = ["WrittenReport"]

# Jupyter drops what comes faster than a megabyte per second, and looks at three seconds at a time.
_MOST_SHOWN_BYTES = 2_000_000

_STYLE = "width: 100%; height: 640px; border: 1px solid #8884"

# The page must not think that its addresses are those of the notebook around it. This has to come
# before its policy, which lets nobody tell what addresses are relative to.
_BASE = '<base href="about:srcdoc">'


@dataclass(frozen=True)
class WrittenReport(os.PathLike[str]):
    """A report in a file, which stands for its path wherever one is asked for.

    At the end of a cell, a notebook shows the page, unless it is larger than 2 MB, and a link to
    the file.

    Parameters
    ----------
    path : Path
        Where it is.
    """

    path: Path

    def __fspath__(self) -> str:
        return str(self.path)

    def __str__(self) -> str:
        return str(self.path)

    def open(self) -> None:
        """Show it in a browser.

        Raises
        ------
        InputError
            If it is no longer there, or there is no browser to be found.
        """
        path = self.path.absolute()
        if not path.is_file():
            raise InputError(f"{path}: the report is no longer there. Write it again.")
        if not webbrowser.open(path.as_uri()):
            raise InputError(
                f"No browser was found here to open {path} with. Copy the file to where there is "
                "one: it needs nothing else."
            )

    def _repr_html_(self) -> str:
        name = escape(visible(str(self.path)))
        try:
            size = self.path.stat().st_size
            page = self.path.read_text(encoding="utf-8") if size <= _MOST_SHOWN_BYTES else None
        except OSError:
            return f"<p>{name}, which is no longer there.</p>"
        address = self._address()
        link = (
            name if address is None else f'<a href="{escape(address)}" target="_blank">{name}</a>'
        )
        if page is None:
            return f"<p>{link}, {size_text(size)}: too large to be shown here.</p>"
        shown = escape(page.replace("<head>", f"<head>{_BASE}", 1))
        # The page runs its own script only, and with this it cannot reach the notebook.
        return (
            f"<p>{link}</p>"
            f'<iframe title="Report" style="{_STYLE}" srcdoc="{shown}"'
            ' sandbox="allow-scripts allow-downloads allow-popups"></iframe>'
        )

    def _address(self) -> str | None:
        """Return where a notebook finds the file: below its own folder, or nowhere."""
        try:
            below = self.path.absolute().relative_to(Path.cwd())
        except ValueError:
            return None
        return quote(below.as_posix())
