"""Reading in a process of its own, what the library that reads may not come back from.

Damaged files can make libraries written in C loop for ever, take all memory or crash. A fork that
does nothing but read costs some milliseconds; that it ends like this becomes an error that names
the file. What it has read comes through a pipe, as plain arrays and JSON: nothing is unpickled.
Where there is no Linux, files are read in this process.
"""

from __future__ import annotations

import faulthandler
import gc
import json
import os
import signal
import struct
import sys
import warnings
from collections.abc import Callable, Generator
from contextlib import closing, suppress
from pathlib import Path
from typing import IO, Any, NoReturn, TypeVar

import numpy as np

from elbmf.errors import FileFormatError, InputError, Setting, parts_of
from elbmf.io.entries import Blocks, Ending, Entries
from elbmf.io.files import reading

if sys.platform == "linux":
    import resource

__all__ = ["apart", "done_apart"]

T = TypeVar("T")

# Seconds of computing between two signs of life, and more for each byte of the file: what takes
# longer, while a few thousand entries are read, does not end. Waiting for a disk does not count.
_SECONDS = 2
_SECONDS_PER_BYTE = 5e-7

# Memory that reading may take, at least and for each byte.
_MEMORY = 2 << 30
_MEMORY_PER_BYTE = 64

_LENGTH = struct.Struct("<Q")
_AT_ONCE = 1 << 20
_ERRORS = {kind.__name__: kind for kind in (FileFormatError, InputError)}


def apart(
    path: Path, kind: str, work: Generator[Entries, None, T], *, patience: float = 1
) -> Generator[Entries, None, T]:
    """Let a generator that reads a file run in another process; yields and returns what it does.

    Parameters
    ----------
    path : Path
        The file.
    kind : str
        What it should be, for messages.
    work : generator
        Yields entries. It returns an `Ending`, or else what JSON can hold.
    patience : float
        How many times as long as usual it may take.
    """
    if sys.platform != "linux":
        return (yield from work)
    size = path.stat().st_size
    # An interrupt must not come while there are two of this program.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    forked = _fork()
    if forked is None:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        return (yield from work)
    process, pipe = forked
    if process == 0:
        _read(pipe, path, kind, work, size, patience, mask)
    try:
        with os.fdopen(pipe, "rb", _AT_ONCE) as stream:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            while "arrays" in (note := _told(stream)):
                rows, columns, *values = (_array(stream, *each) for each in note["arrays"])
                yield Entries(rows, columns, values[0] if values else None, note["repeated"])
            if "error" in note:
                name, parts = note["error"]
                raise _ERRORS[name](*(p if isinstance(p, str) else Setting(*p) for p in parts))
            value: Any = note.get("value")
            if "ending" in note:
                shape, *names = note["ending"]
                value = Ending(tuple(shape), *names)
            returned: T = value
            return returned
    except EOFError:
        pass  # The process has ended before it had read everything.
    finally:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
        status = _waited(process)
    raise _ended(path, kind, os.waitstatus_to_exitcode(status))


def done_apart(path: Path, kind: str, function: Callable[[], T], *, patience: float = 1) -> T:
    """Call a function that reads a file in another process; JSON can hold what it returns."""

    def work() -> Generator[Entries, None, T]:
        yield from ()
        return function()

    stream = apart(path, kind, work(), patience=patience)
    with closing(stream):
        for _ in (blocks := Blocks(stream)):
            pass  # There is nothing but what it returns.
    return blocks.ending


def _waited(process: int) -> int:
    """Wait until a process has ended; 0 where that was left to the system or done by others."""
    try:
        return os.waitpid(process, 0)[1]
    except ChildProcessError:
        return 0


def _fork() -> tuple[int, int] | None:
    """Return 0 and where to write, or a process and where to read; None where there is no room."""
    read, write = os.pipe()
    with warnings.catch_warnings():
        # Of threads that linear algebra keeps in reserve; they know about forks.
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            process = os.fork()
        except OSError:
            os.close(read)
            os.close(write)
            return None
    os.close(read if process == 0 else write)
    return process, (write if process == 0 else read)


def _read(
    pipe: int,
    path: Path,
    kind: str,
    work: Generator[Entries, None, Any],
    size: int,
    patience: float,
    mask: set[Any],
) -> NoReturn:
    """Do the work, tell of it, and end this process."""
    try:
        _be_quiet()
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        _limit_memory(_MEMORY + _MEMORY_PER_BYTE * size)
        seconds = patience * (_SECONDS + _SECONDS_PER_BYTE * size)
        note: dict[str, Any]
        with open(pipe, "wb") as stream:
            try:
                with reading(path, kind):
                    while True:
                        _limit_time(seconds)
                        try:
                            _tell_entries(stream, next(work))
                        except StopIteration as end:
                            note = _note_of(end.value)
                            break
            except InputError as error:
                name = FileFormatError if isinstance(error, FileFormatError) else InputError
                note = {"error": [name.__name__, [_plain(part) for part in parts_of(error)]]}
            except BaseException as error:
                # Also a panic of Rust, which is no Exception.
                said = f"{path}: not a valid {kind} file: {error}. Write or copy it again."
                note = {"error": [FileFormatError.__name__, [" ".join(said.split())]]}
            _tell(stream, note)
    finally:
        os._exit(0)


def _note_of(value: Any) -> dict[str, Any]:
    if not isinstance(value, Ending):
        return {"value": value}
    return {"ending": [value.shape, value.row_names, value.column_names]}


def _plain(part: object) -> Any:
    """Return a piece of a message as JSON can hold it."""
    if not isinstance(part, Setting):
        return str(part)
    return [part.name] if part.value is ... else [part.name, part.value]


def _be_quiet() -> None:
    """Leave everything to the process that waits: signals, messages, and what is cleaned up."""
    gc.disable()
    faulthandler.disable()
    for each in (signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE, signal.SIGXCPU):
        signal.signal(each, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    _limit("RLIMIT_CORE", 0)


def _limit_memory(more: int) -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    _limit("RLIMIT_AS", pages * os.sysconf("SC_PAGE_SIZE") + more)


def _limit_time(seconds: float) -> None:
    used = os.times()
    _limit("RLIMIT_CPU", int(used.user + used.system + seconds) + 1)


def _limit(what: str, most: int) -> None:
    which = getattr(resource, what)
    before, hard = resource.getrlimit(which)
    known = [each for each in (most, hard) if each != resource.RLIM_INFINITY]
    if what == "RLIMIT_AS" and before != resource.RLIM_INFINITY:
        known.append(before)
    resource.setrlimit(which, (min(known), hard))


def _tell_entries(stream: IO[bytes], entries: Entries) -> None:
    values = () if entries.values is None else (entries.values,)
    arrays = [np.ascontiguousarray(each) for each in (entries.rows, entries.columns, *values)]
    _tell(
        stream,
        {"arrays": [(each.dtype.str, each.size) for each in arrays], "repeated": entries.repeated},
    )
    for each in arrays:
        stream.write(each.data)
    stream.flush()


def _tell(stream: IO[bytes], note: dict[str, Any]) -> None:
    text = json.dumps(note).encode()
    stream.write(_LENGTH.pack(len(text)) + text)


def _told(stream: IO[bytes]) -> Any:
    """Return the next note."""
    (length,) = _LENGTH.unpack(_whole(stream, _LENGTH.size))
    return json.loads(_whole(stream, length))


def _array(stream: IO[bytes], dtype: str, count: int) -> Any:
    kind = np.dtype(dtype)
    return np.frombuffer(_whole(stream, count * kind.itemsize), kind)


def _whole(stream: IO[bytes], size: int) -> bytes:
    data = stream.read(size)
    if len(data) < size:
        raise EOFError
    return data


def _ended(path: Path, kind: str, code: int) -> InputError:
    """Return the error of a process that ended before it had read everything."""
    if code == -signal.SIGKILL:
        return InputError(
            f"{path}: the system ended the process that read it, as it does when memory runs out."
        )
    why = f"ended with {signal.Signals(-code).name}" if code < 0 else "ended"
    if code == -signal.SIGXCPU:
        why = "did not come to an end"
    return FileFormatError(
        f"{path}: not a valid {kind} file: reading it {why}. It is damaged; copy or write it again."
    )
