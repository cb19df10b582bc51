"""Single instructions that numba has no name for: popcount, prefetch, an unaligned load.

Each is a numba intrinsic that emits LLVM code.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

__all__ = ["emit_prefetch", "load_word", "popcount", "prefetch"]

_I64 = ir.IntType(64)


def emit_prefetch(builder: Any, pointer: Any) -> None:
    """Ask for the cache line at ``pointer``."""
    byte_pointer = ir.IntType(8).as_pointer()
    i32 = ir.IntType(32)
    function = cgutils.get_or_insert_function(
        builder.module,
        ir.FunctionType(ir.VoidType(), [byte_pointer, i32, i32, i32]),
        "llvm.prefetch.p0",
    )
    # Arguments: for reading, keep in all cache levels, data (not instructions).
    builder.call(function, [builder.bitcast(pointer, byte_pointer), i32(0), i32(3), i32(1)])


@intrinsic
def prefetch(typing_context: Any, array: Any, position: Any) -> Any:
    """Ask for the cache line of an entry of a one-dimensional array, which need not exist."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        emit_prefetch(builder, builder.gep(data, [args[1]]))
        return context.get_dummy_value()

    return types.void(array, types.int64), codegen


@intrinsic
def load_word(typing_context: Any, array: Any, position: Any) -> Any:
    """Return the eight bytes of an array of uint8 that begin at a position, as one number."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        pointer = builder.bitcast(builder.gep(data, [args[1]]), _I64.as_pointer())
        return builder.load(pointer, align=1)

    return types.uint64(array, types.int64), codegen


@intrinsic
def popcount(typing_context: Any, word: Any) -> Any:
    """Count the set bits of an unsigned 64-bit word."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.uint64), codegen
