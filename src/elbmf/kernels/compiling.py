"""How kernels are compiled: without the GIL, and kept on disk for the next process.

numba keeps compiled code as long as the file of the function is unchanged, although the code of
the functions it calls is inside. Here it is kept as long as no kernel has changed. Where nothing
can be kept, as in a read-only installation without a home directory, each process compiles anew.
"""

import hashlib
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from numba import njit
from numba.core import event

__all__ = ["CompileTimer", "kernel"]

_LOG = logging.getLogger(__name__)


def _fingerprint() -> str:
    """Tell one state of all the kernels from another."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


_FINGERPRINT = _fingerprint()


def kernel(**options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Compile a function when it is first called.

    Parameters
    ----------
    **options
        For `numba.njit`.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        dispatcher = njit(nogil=True, **options)(function)
        try:
            dispatcher.enable_caching()
        except RuntimeError as error:
            _LOG.info("compiled kernels are not kept: %s", error)
            return dispatcher
        index = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
        if index is not None and hasattr(index, "_source_stamp"):
            index._source_stamp = _FINGERPRINT
        if index is not None and hasattr(index, "_version"):
            # The stamp is unpickled together with the types of arguments, which fails when a type
            # has moved to another file since. What numba takes for its version is read before.
            index._version = f"{index._version} {_FINGERPRINT}"
        return dispatcher

    return decorate


class CompileTimer:
    """Measures how long kernels are compiled within a context.

    Attributes
    ----------
    seconds : float
        Known at its end. Loading what is kept on disk does not count.
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self._listening: Any = None

    def __enter__(self) -> Self:
        self._listening = event.install_timer("numba:compile", self._note)
        self._listening.__enter__()
        return self

    def __exit__(self, *failure: Any) -> None:
        self._listening.__exit__(*failure)

    def _note(self, seconds: float) -> None:
        self.seconds = seconds
