"""How kernels are compiled: without the GIL, and kept on disk for the next process.

numba keeps compiled code as long as the file of the function is unchanged, although the code of
the functions it calls is inside. Here it is kept as long as neither its file nor any file of
kernels that this one imports has changed: a change to one kernel compiles that kernel again, and
what calls it. Where nothing can be kept, as in a read-only installation without a home directory,
each process compiles anew.
"""

import hashlib
import logging
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Self

from numba import njit, typeof, types
from numba.core import cgutils, event
from numba.extending import intrinsic

__all__ = ["CompileTimer", "address_of", "call_at", "helper", "kernel", "source_files"]

_LOG = logging.getLogger(__name__)


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
            dispatcher.enable_caching()
        except RuntimeError as error:
            _LOG.info("compiled kernels are not kept: %s", error)
            return dispatcher
        fingerprint = _fingerprint(Path(function.__code__.co_filename))
        index = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
        if index is not None and hasattr(index, "_source_stamp"):
            index._source_stamp = fingerprint
        if index is not None and hasattr(index, "_version"):
            # The stamp is unpickled together with the types of arguments, which fails when a type
            # has moved to another file since. What numba takes for its version is read before.
            index._version = f"{index._version} {fingerprint}"
        return dispatcher

    return decorate


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
