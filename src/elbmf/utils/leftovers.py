"""Folders that one process writes beside their place, and what is left of killed ones.

Whoever writes to a folder has claimed it, and the system ends the claim together with the process.
So a folder that nobody claims, and that is not just being made, is left of a process that was
killed, and the next that makes the same removes it.
"""

import os
import re
import secrets
import shutil
import time
from contextlib import ExitStack, suppress
from pathlib import Path

from elbmf.utils.atomic import unfinished

try:
    import fcntl
except ImportError:  # Without it, nothing can be claimed, and what is left stays.
    fcntl = None  # type: ignore[assignment]

__all__ = ["OwnFolder"]

# A folder that is as young may be claimed any time now, in seconds.
_YOUNG = 60.0


class OwnFolder:
    """A new folder that this process alone writes to, beside a path and on the same file system.

    Parameters
    ----------
    path : path
        Where it is to be in the end. What killed processes have left of such folders is removed.
    """

    def __init__(self, path: Path) -> None:
        _remove_leftovers(path)
        self.path = path.with_name(f".{path.name}.{secrets.token_hex(6)}.part")
        self._kept = ExitStack()
        self._kept.enter_context(unfinished(self.path))
        self.path.mkdir()
        self._claim = _claimed(self.path)

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *exception: object) -> None:
        self.release()

    def release(self) -> None:
        """Remove it, unless it was moved to its place."""
        self._kept.close()
        if self._claim is not None:
            os.close(self._claim)
            self._claim = None


def _claimed(folder: Path) -> int | None:
    """Claim a folder; return what to close in the end, or None where that cannot be or is taken."""
    if fcntl is None:
        return None
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def _remove_leftovers(path: Path) -> None:
    name = re.compile(rf"\.{re.escape(path.name)}\.[0-9a-f]{{12}}\.(part|former)")
    with suppress(OSError), os.scandir(path.parent) as entries:
        for entry in entries:
            match = name.fullmatch(entry.name)
            if match is None or not entry.is_dir(follow_symlinks=False):
                continue
            # What was moved away by `elbmf.utils.atomic.replace_folder` may be all that there is.
            if match[1] == "former" and not path.exists():
                continue
            if time.time() - entry.stat(follow_symlinks=False).st_mtime < _YOUNG:
                continue
            claim = _claimed(Path(entry.path))
            if claim is not None:
                shutil.rmtree(entry.path, ignore_errors=True)
                os.close(claim)
