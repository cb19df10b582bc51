"""Arrays in files that are mapped into memory: what is looked at is read, and forgotten again.

A mapped array may be larger than memory. The system reads the pages that are touched and keeps
them as long as it likes; here it is told which ones will be needed soon, and which no more. Nothing
is lost by forgetting: the data is only read, and what is written to a scratch file stays in it.
"""

import contextlib
import ctypes
import mmap
import os
import tempfile
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from elbmf.errors import DiskFullError
from elbmf.utils.text import size_text

__all__ = ["MemoryKeeper", "available_memory", "expect", "forget", "map_file", "scratch_array"]

# How often a keeper looks, in seconds.
_EVERY = 0.002

# It acts when the program has grown by this share of what is allowed, for it may grow on until the
# next look; unless mapped pages are no more than the other share, which are needed to get on.
_FULL, _LEAST = 0.3, 0.05

# Memory that arrays have left goes back to the system at every so many looks.
_LOOKS_PER_RETURN = 250


def map_file(
    path: Path, dtype: Any, offset: int, length: int, *, writable: bool = False
) -> NDArray[Any]:
    """Map an array that a file holds.

    One that is not writable is for reading only. Still it is mapped copy-on-write and not
    read-only: numba compiles every kernel a second time for arrays that say they are read-only.
    Whatever was written to it would be private to this process, and gone once `forget` or a
    `MemoryKeeper` drops the page.
    """
    mapped = np.memmap(path, dtype, "r+" if writable else "c", offset, (length,))
    return mapped.view(np.ndarray)


def scratch_array(folder: Path, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """Return zeros that live in a file in a folder, without a name, which goes with the array.

    Raises
    ------
    DiskFullError
        If there is no room for it.
    """
    count = int(np.prod(shape))
    size = max(count * np.dtype(dtype).itemsize, 1)
    try:
        descriptor, name = tempfile.mkstemp(".scratch", "elbmf-", folder)
        path = Path(name)
        try:
            with os.fdopen(descriptor, "wb") as file:
                # Claimed as a whole: to find the disk full in the midst of a sum would be fatal.
                if hasattr(os, "posix_fallocate"):
                    os.posix_fallocate(file.fileno(), 0, size)
                else:
                    file.truncate(size)
            array = map_file(path, dtype, 0, max(count, 1), writable=True)
        finally:
            # Where open files keep their names, it is left for the system to clean up.
            with contextlib.suppress(OSError):
                path.unlink()
    except OSError as error:
        raise DiskFullError(folder, f"scratch space of {size_text(size)}", error) from error
    return array[:count].reshape(shape)


def expect(array: NDArray[Any]) -> None:
    """Ask for the pages of a mapped array, which will be needed soon; others are left alone."""
    _advise(array, "MADV_WILLNEED")


def forget(array: NDArray[Any]) -> None:
    """Give up the pages that lie wholly within a mapped array; others are left alone."""
    _advise(array, "MADV_DONTNEED")


def _advise(array: NDArray[Any], advice: str) -> None:
    mapping = _mapping_of(array)
    if mapping is None:
        return
    first = np.frombuffer(mapping, dtype=np.uint8, count=1).ctypes.data
    offset = array.ctypes.data - first
    start = -(-offset // mmap.PAGESIZE) * mmap.PAGESIZE
    _advise_pages(mapping, advice, start, offset + array.nbytes)


def _advise_pages(mapping: mmap.mmap, advice: str, start: int, stop: int) -> None:
    """Give advice on whole pages, where the system takes any."""
    option = getattr(mmap, advice, None)
    stop = stop // mmap.PAGESIZE * mmap.PAGESIZE
    if option is not None and stop > start:
        mapping.madvise(option, start, stop - start)


def _mapping_of(array: Any) -> mmap.mmap | None:
    """Return the mapped file that an array is a view of, if it is one."""
    while isinstance(array, np.ndarray):
        array = array.base
    return array if isinstance(array, mmap.mmap) else None


class MemoryKeeper:
    """Sees to it, in a thread of its own, that mapped arrays do not fill the memory.

    When the program has grown by a third of the bytes that are allowed, all of their pages are
    forgotten; those that are still in use come back at once.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._mappings: weakref.WeakValueDictionary[int, mmap.mmap]
        self._mappings = weakref.WeakValueDictionary()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="elbmf-memory", daemon=True)

    def keep(self, array: NDArray[Any]) -> None:
        """Watch a mapped array as long as it is there."""
        mapping = _mapping_of(array)
        if mapping is not None:
            self._mappings[id(mapping)] = mapping

    def __enter__(self) -> Self:
        resident, mapped = _resident_bytes()
        self._most = resident + int(_FULL * self._limit)
        self._most_mapped = mapped + int(_LEAST * self._limit)
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        return_freed = _returner()
        looks = 0
        while not self._done.wait(_EVERY):
            resident, mapped = _resident_bytes()
            looks += 1
            if resident > self._most and looks % _LOOKS_PER_RETURN == 0:
                return_freed()
            if resident > self._most and mapped > self._most_mapped:
                for mapping in list(self._mappings.values()):
                    _advise_pages(mapping, "MADV_DONTNEED", 0, len(mapping))


def _returner() -> Callable[[], Any]:
    """Return what gives memory back to the system that arrays have left, where that is kept."""
    try:
        trim = ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError, TypeError):
        return lambda: None
    return lambda: trim(0)


def _resident_bytes() -> tuple[int, int]:
    """Return the memory that the program has at present, and how much of it is mapped files."""
    try:
        with open("/proc/self/statm", "rb") as file:
            _, resident, mapped, *_ = file.read().split()
    except OSError:
        # Then it is left to the system, which takes mapped pages back when it needs room.
        return 0, 0
    return int(resident) * mmap.PAGESIZE, int(mapped) * mmap.PAGESIZE


def available_memory() -> int:
    """Return the memory that programs may still take, without swapping, as far as it is known."""
    try:
        with open("/proc/meminfo", "rb") as file:
            for line in file:
                if line.startswith(b"MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    pages: int = getattr(os, "sysconf", lambda name: 1 << 20)("SC_PHYS_PAGES")
    return pages * mmap.PAGESIZE
