"""How kernels are compiled: without the GIL, and kept on disk for the next process.

numba keeps compiled code as long as the file of the function is unchanged, although the code of
the functions it calls is inside. Here it is kept as long as neither its file nor any file of
kernels that this one imports has changed: a change to one kernel compiles that kernel again, and
what calls it.

numba reads only where it could also write. Here, what was kept when the image of a container was
made is read although nobody may write there. Where nothing can be kept, each process compiles anew,
and says so.

numba unpickles and runs whatever it finds. Here, what was kept has a checksum: what is damaged is
compiled and kept again.
"""

import gc
import hashlib
import logging
import pickle
import re
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Self

from numba import config, njit, typeof, types
from numba.core import caching, cgutils, event
from numba.extending import intrinsic

__all__ = [
    "CompileTimer",
    "address_of",
    "call_at",
    "compiling_seconds",
    "helper",
    "kernel",
    "source_files",
]

_LOG = logging.getLogger(__name__)

# For lines that keep changing, while there are any, again and again: `elbmf.utils.screen` shows it.
_LINES = logging.getLogger(f"{__name__}.lines")
_LINES.propagate = False
_LINES.setLevel(logging.INFO)

# Kernels import one another by the module that has them, so that this finds them all.
_IMPORT = re.compile(r"^from (elbmf\.(?:\w+\.)*kernels\.\w+) import ", re.MULTILINE)

_PACKAGE = Path(__file__).parents[1]


@cache
def source_files(path: Path) -> frozenset[Path]:
    """Return the files whose code may end up in the kernels of one: itself, and what it imports."""
    found, left = {path}, [path]
    while left:
        for module in _IMPORT.findall(left.pop().read_text(encoding="utf-8")):
            imported = _PACKAGE.joinpath(*module.split(".")[1:]).with_suffix(".py")
            if imported not in found:
                found.add(imported)
                left.append(imported)
    return frozenset(found)


@cache
def _fingerprint(path: Path) -> str:
    """Tell one state of these files from another."""
    digest = hashlib.sha256()
    for file in sorted(source_files(path)):
        digest.update(file.read_bytes())
    return digest.hexdigest()


Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def helper(*, allocates: bool = True, **options: Any) -> Decorator:
    """Let kernels, and nothing else, call a function: it is compiled as a part of them.

    Called from Python it would crash, as there is no wrapper for that, which would take as long to
    compile as a small function itself.

    Parameters
    ----------
    allocates : bool
        Whether it may make arrays. Where it does not, references to arrays are not counted, which
        takes less time to compile and to run.
    **options
        For `numba.njit`.
    """
    return njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, _nrt=allocates, **options)


def kernel(*, allocates: bool = True, **options: Any) -> Decorator:
    """Compile a function when it is first called.

    Parameters
    ----------
    allocates : bool
        As in `helper`.
    **options
        For `numba.njit`.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        # The other wrapper is for calls from C, of which there are none.
        dispatcher = njit(nogil=True, no_cfunc_wrapper=True, _nrt=allocates, **options)(function)
        try:
            _keep(dispatcher, function)
        except RuntimeError as error:
            _LOG.info("compiled kernels are not kept: %s", error)
        return dispatcher

    return decorate


def _keep(dispatcher: Any, function: Callable[..., Any]) -> None:
    """Let a kernel be kept on disk, and loaded from there."""
    fingerprint = _fingerprint(Path(function.__code__.co_filename))
    if _KernelCache is not None and hasattr(dispatcher, "_cache"):
        try:
            dispatcher._cache = _KernelCache(function, fingerprint)
            return
        except (AttributeError, TypeError) as error:
            _LOG.info("numba has changed how it keeps what it compiled: %s", error)
    dispatcher.enable_caching()
    _stamp(getattr(getattr(dispatcher, "_cache", None), "_cache_file", None), fingerprint)


def _stamp(index: Any, fingerprint: str) -> None:
    """Let an index of what is kept be for one state of the files."""
    if hasattr(index, "_source_stamp"):
        index._source_stamp = fingerprint
    if hasattr(index, "_version"):
        # The stamp is unpickled together with the types of arguments, which fails when a type
        # has moved to another file since. What numba takes for its version is read before.
        index._version = f"{index._version} {fingerprint}"


def _kernel_cache() -> Any:
    """Return the class of what keeps kernels, or None if numba lacks the parts that it rests on."""
    try:
        known = caching.CompileResultCacheImpl._locator_classes
        places = {each.__name__.strip("_"): each for each in known}
        beside, chosen = places["InTreeCacheLocator"], places["UserProvidedCacheLocator"]
        index_and_data = caching.IndexDataCacheFile
    except (AttributeError, KeyError):
        return None

    class Checked(index_and_data):  # type: ignore[misc, valid-type]
        """An index and its files, each with a checksum behind what numba writes."""

        def _dump(self, value: Any) -> bytes:
            data: bytes = super()._dump(value)
            return data + hashlib.sha256(data).digest()

        def _load_index(self) -> Any:
            version = pickle.dumps(self._version, protocol=-1)
            try:
                content = Path(self._index_path).read_bytes()
            except PermissionError:
                raise
            except OSError:
                return {}
            if not content.startswith(version) or not _is_sound(content[len(version) :]):
                return {}
            return super()._load_index()

        def _load_data(self, name: str) -> Any:
            if not _is_sound(Path(self._data_path(name)).read_bytes()):
                raise OSError("damaged")  # That is how files are told that are not there any more.
            return super()._load_data(name)

    class ReadOnly(beside):  # type: ignore[misc, valid-type]
        """The folder beside a file, where it may not be written, and nor may any other folder."""

        def ensure_cache_path(self) -> None:
            """Be content with it as it is."""

    class Impl(caching.CompileResultCacheImpl):
        """Knows that folder as the last resort."""

        _locator_classes = (*known, ReadOnly)

    class KernelCache(caching.FunctionCache):
        """Keeps a kernel where it may, and loads it from there or from where it may only read."""

        _impl_class = Impl

        def __init__(self, function: Callable[..., Any], fingerprint: str) -> None:
            super().__init__(function)
            file = function.__code__.co_filename
            folders = [self._cache_path, beside(function, file).get_cache_path()]
            if config.CACHE_DIR:
                folders.append(chosen(function, file).get_cache_path())
            name = self._impl.filename_base
            self._indexes = [
                Checked(folder, name, fingerprint) for folder in dict.fromkeys(folders)
            ]
            self._cache_file = self._indexes[0]
            for index in self._indexes:
                _stamp(index, fingerprint)

        def _load_overload(self, signature: Any, target: Any) -> Any:
            if not self._enabled:
                return None
            key = self._index_key(signature, target.codegen())
            for index in self._indexes:
                try:
                    found = index.load(key)
                except PermissionError:
                    continue
                if found is not None:
                    return self._impl.rebuild(target, found)
            return None

        def _save_overload(self, signature: Any, compiled: Any) -> None:
            try:
                if not isinstance(self._impl.locator, ReadOnly):
                    super()._save_overload(signature, compiled)
                    return
            except OSError as error:  # a full disk, or what is no file in the place of one
                _LOG.info("a compiled kernel is not kept: %s", error)
            _warn_that_nothing_is_kept()

    return KernelCache


_KernelCache = _kernel_cache()


def _is_sound(data: bytes) -> bool:
    """Whether bytes end in their checksum."""
    size = hashlib.sha256().digest_size
    return hashlib.sha256(data[:-size]).digest() == data[-size:]


@cache
def _warn_that_nothing_is_kept() -> None:
    """Say so once."""
    _LOG.warning(
        "compiled kernels cannot be kept, for there is no folder for them that may be written: "
        "each process compiles them anew. Set NUMBA_CACHE_DIR to a folder that may be written, or "
        "call elbmf.warm_up() once as a user who may write to the folder of the package."
    )


def address_of(function: Any, *arguments: Any) -> int:
    """Compile a kernel for arguments like these, and return where its code is, for `call_at`.

    A kernel that calls another has that one's code inside, optimized and turned into machine code
    all over again. One that is told where it is has not.
    """
    kinds = tuple(typeof(argument) for argument in arguments)
    function.compile(kinds)
    compiled = function.overloads[kinds]
    address: int = compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)
    return address


@intrinsic
def call_at(typing_context: Any, address: Any, arguments: Any) -> Any:
    """Call the kernel at an address, which must be for such arguments and return an int64."""
    kinds = tuple(arguments)

    def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        convention, result = context.call_conv, types.int64
        given = [builder.extract_value(values[1], position) for position in range(len(kinds))]
        function = convention.get_function_type(result, kinds).as_pointer()
        pointer = builder.inttoptr(values[0], function)
        status, value = convention.call_function(builder, pointer, result, kinds, given)
        with cgutils.if_unlikely(builder, status.is_error):
            convention.return_status_propagate(builder, status)
        return value

    return types.int64(types.int64, arguments), codegen


class _CompileClock(event.Listener):
    """Adds up how long kernels are compiled, and says that they are."""

    def __init__(self) -> None:
        self._before = 0.0
        self._began: float | None = None
        self._depth = 0
        self._collects = False
        self._told = False
        self._next = _SECONDS_IN_SILENCE

    @property
    def seconds(self) -> float:
        """Up to now."""
        began = self._began
        return self._before + (0.0 if began is None else time.perf_counter() - began)

    def on_start(self, event: Any) -> None:
        """Take note of a function that begins to be compiled, maybe for another one."""
        if self._depth == 0:
            self._began = time.perf_counter()
            # A compiler makes millions of objects and little garbage: looking for it takes a sixth
            # of the time.
            self._collects = gc.isenabled()
            gc.disable()
        self._depth += 1
        seconds = self.seconds
        if seconds > self._next:
            self._next = seconds + _SECONDS_BETWEEN_LINES
            if _LINES.handlers:
                _LINES.info(f"{_COMPILING}: {seconds:.0f} s so far")
            elif not self._told:
                _tell(f"{_COMPILING}, usually in less than a minute")
            self._told = True

    def on_end(self, event: Any) -> None:
        """Take note of a function that is compiled."""
        self._depth -= 1
        if self._depth == 0:
            self._before, self._began = self.seconds, None
            if self._collects:
                gc.enable()


_COMPILING = "compiling kernels, once on this machine"

# Less than this is not worth mentioning.
_SECONDS_IN_SILENCE = 1.0

_SECONDS_BETWEEN_LINES = 1.0


def _tell(text: str) -> None:
    """Write to stderr where somebody is watching and nobody listens to the log, else to that."""
    watched = sys.stderr is not None and (sys.stderr.isatty() or "ipykernel" in sys.modules)
    if watched and not _LOG.isEnabledFor(logging.INFO):
        sys.stderr.write(f"elbmf: {text}\n")
        sys.stderr.flush()
    else:
        _LOG.info(text)


_CLOCK = _CompileClock()
event.register("numba:compile", _CLOCK)


def compiling_seconds() -> float:
    """Return how long this process has been compiling; loading what is kept does not count."""
    return _CLOCK.seconds


class CompileTimer:
    """Measures how long kernels are compiled within a context.

    Attributes
    ----------
    seconds : float
        Known at its end. Loading what is kept on disk does not count.
    """

    def __init__(self) -> None:
        self.seconds = 0.0

    def __enter__(self) -> Self:
        self._before = compiling_seconds()
        return self

    def __exit__(self, *failure: Any) -> None:
        self.seconds = compiling_seconds() - self._before
