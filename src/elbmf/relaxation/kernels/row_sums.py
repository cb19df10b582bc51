"""Row sums in vector registers: the inner loops of ``A @ X`` and ``A.T @ Y`` for a 0/1 matrix.

A product with a 0/1 matrix only adds rows. Written as a plain loop, each addition goes through
memory; here a row of up to 64 numbers stays in vector registers while the indices stream by,
which is 3 to 14 times faster, by type and width (``benchmarks/row_sums.py``). The functions are
numba intrinsics: they emit the loop as LLVM vector code, once for each number of registers (a
*chunk* is ``LANES`` numbers), and pick the right one at run time.

All arrays are C-contiguous and have a multiple of ``LANES`` columns.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from elbmf.kernels.intrinsics import emit_prefetch
from elbmf.kernels.patterns import PADDING

__all__ = [
    "LANES",
    "MAX_CHUNKS",
    "add_multiple",
    "dot",
    "gather",
    "gather_tables",
    "scatter",
    "scatter_tables",
]

LANES = 8
"""Numbers in one chunk: one 256-bit register of float32, two of float64."""

MAX_CHUNKS = 8
"""Chunks kept in registers at once; wider rows are done in several rounds."""

_I64 = ir.IntType(64)


def _row_loop(*, accumulate_source: bool, tables: bool) -> Callable[..., Any]:
    """Make the code generator of one of the four intrinsics.

    Parameters
    ----------
    accumulate_source : bool
        True sums indexed rows into one row (gather); False adds one row to indexed rows (scatter).
    tables : bool
        True when the ``e``-th index points into the ``e``-th of several tables; the last argument
        is then the distance of tables in rows, and else whether to prefetch.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        many = context.make_array(signature.args[0])(context, builder, args[0])
        index = context.make_array(signature.args[1])(context, builder, args[1])
        low, high = args[2], args[3]
        single = context.make_array(signature.args[4])(context, builder, args[4])
        row, first_lane, chunks, last = args[5:]

        number = context.get_value_type(signature.args[0].dtype)
        bytes_per_number = 4 if isinstance(number, ir.FloatType) else 8
        vector = ir.VectorType(number, LANES)
        width = builder.extract_value(many.shape, 1)

        def lanes_of(array: Any, line: Any) -> Any:
            offset = builder.add(builder.mul(line, width), first_lane)
            return builder.gep(array.data, [offset])

        def chunk_pointer(pointer: Any, chunk: int) -> Any:
            return builder.bitcast(builder.gep(pointer, [_I64(chunk * LANES)]), vector.as_pointer())

        def indexed_lanes(position: Any) -> Any:
            stored = builder.load(builder.gep(index.data, [position]))
            line = builder.zext(stored, _I64) if stored.type.width < 64 else stored
            if tables:
                table = builder.mul(builder.sub(position, low), last)
                line = builder.add(line, table)
            return lanes_of(many, line)

        def emit(count: int, ahead: int) -> None:
            own = lanes_of(single, row)
            if accumulate_source:
                sums = [
                    cgutils.alloca_once_value(
                        builder, builder.load(chunk_pointer(own, c), align=bytes_per_number)
                    )
                    for c in range(count)
                ]
            else:
                terms = [
                    builder.load(chunk_pointer(own, c), align=bytes_per_number)
                    for c in range(count)
                ]
            with cgutils.for_range_slice(builder, low, high, _I64(1), intp=_I64) as (position, _):
                if ahead:
                    soon = indexed_lanes(builder.add(position, _I64(ahead)))
                    lines_of_cache = range(0, count * LANES, 64 // bytes_per_number)
                    for lane in lines_of_cache:
                        emit_prefetch(builder, builder.gep(soon, [_I64(lane)]))
                here = indexed_lanes(position)
                for c in range(count):
                    pointer = chunk_pointer(here, c)
                    value = builder.load(pointer, align=bytes_per_number)
                    if accumulate_source:
                        builder.store(builder.fadd(builder.load(sums[c]), value), sums[c])
                    else:
                        builder.store(
                            builder.fadd(value, terms[c]), pointer, align=bytes_per_number
                        )
            if accumulate_source:
                for c in range(count):
                    builder.store(
                        builder.load(sums[c]), chunk_pointer(own, c), align=bytes_per_number
                    )

        for count in range(1, MAX_CHUNKS + 1):
            with builder.if_then(builder.icmp_signed("==", chunks, _I64(count))):
                if tables:
                    emit(count, ahead=0)
                else:
                    with builder.if_else(last) as (then, otherwise):
                        with then:
                            emit(count, ahead=PADDING)
                        with otherwise:
                            emit(count, ahead=0)
        return context.get_dummy_value()

    return codegen


def _row_intrinsic(*, accumulate_source: bool, tables: bool) -> Any:
    """Make one of the four intrinsics; their arguments differ only in what the last one means."""

    @intrinsic
    def loop(
        typing_context: Any,
        many: Any,
        index: Any,
        low: Any,
        high: Any,
        single: Any,
        row: Any,
        first_lane: Any,
        chunks: Any,
        last: Any,
    ) -> Any:
        integer = types.intp
        last = types.intp if tables else types.boolean
        signature = types.void(
            many, index, integer, integer, single, integer, integer, integer, last
        )
        return signature, _row_loop(accumulate_source=accumulate_source, tables=tables)

    return loop


# In all of them ``lanes`` are the ``chunks * LANES`` columns from ``first_lane`` on, and ``e`` runs
# over ``range(low, high)``.

gather = _row_intrinsic(accumulate_source=True, tables=False)
"""gather(source, index, low, high, target, row, first_lane, chunks, prefetch):
``target[row, lanes] += sum(source[index[e], lanes] for e)``. With ``prefetch`` the index array must
be readable for ``PADDING`` entries past ``high``."""

scatter = _row_intrinsic(accumulate_source=False, tables=False)
"""scatter(target, index, low, high, source, row, first_lane, chunks, prefetch):
``target[index[e], lanes] += source[row, lanes]`` for each e."""

gather_tables = _row_intrinsic(accumulate_source=True, tables=True)
"""Like `gather`, the ``e``-th index counting from row ``(e - low) * stride``, the last argument."""

scatter_tables = _row_intrinsic(accumulate_source=False, tables=True)
"""Like `scatter`, the ``e``-th index counting from row ``(e - low) * stride``."""


def _row_chunks(context: Any, builder: Any, kind: Any, array: Any, row: Any) -> Callable[..., Any]:
    """Return a function that gives the pointer to a chunk of a row, by its number."""
    data = context.make_array(kind)(context, builder, array)
    vector = ir.VectorType(context.get_value_type(kind.dtype), LANES)
    start = builder.mul(row, builder.extract_value(data.shape, 1))

    def chunk(number: Any) -> Any:
        lane = builder.add(start, builder.mul(number, _I64(LANES)))
        return builder.bitcast(builder.gep(data.data, [lane]), vector.as_pointer())

    return chunk


@intrinsic
def dot(
    typing_context: Any, left: Any, left_row: Any, right: Any, right_row: Any, chunks: Any
) -> Any:
    """``sum(left[left_row] * right[right_row])`` over all ``chunks * LANES`` columns.

    Lane by lane first, then over the lanes: always in the same order. A plain loop would be left
    scalar where the columns are fewer than several registers.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        left_kind, _, right_kind, _, _ = signature.args
        left_chunk = _row_chunks(context, builder, left_kind, args[0], args[1])
        right_chunk = _row_chunks(context, builder, right_kind, args[2], args[3])
        number = context.get_value_type(left_kind.dtype)
        single = isinstance(number, ir.FloatType)
        align = 4 if single else 8
        vector = ir.VectorType(number, LANES)
        sums = cgutils.alloca_once_value(builder, ir.Constant(vector, [0.0] * LANES))
        with cgutils.for_range(builder, args[4], intp=_I64) as loop:
            a = builder.load(left_chunk(loop.index), align=align)
            b = builder.load(right_chunk(loop.index), align=align)
            product = builder.fmul(a, b, flags=("contract",))
            total = builder.fadd(builder.load(sums), product, flags=("contract",))
            builder.store(total, sums)
        reduce = cgutils.get_or_insert_function(
            builder.module,
            ir.FunctionType(number, [number, vector]),
            f"llvm.vector.reduce.fadd.v{LANES}{'f32' if single else 'f64'}",
        )
        # Without "reassoc" the lanes would be added one after the other.
        return builder.call(
            reduce, [ir.Constant(number, 0.0), builder.load(sums)], fastmath=("reassoc",)
        )

    integer = types.intp
    return left.dtype(left, integer, right, integer, integer), codegen


@intrinsic
def add_multiple(
    typing_context: Any,
    target: Any,
    target_row: Any,
    multiple: Any,
    source: Any,
    source_row: Any,
    chunks: Any,
) -> Any:
    """``target[target_row] += multiple * source[source_row]`` over ``chunks * LANES`` columns."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        target_kind, _, _, source_kind, _, _ = signature.args
        target_chunk = _row_chunks(context, builder, target_kind, args[0], args[1])
        source_chunk = _row_chunks(context, builder, source_kind, args[3], args[4])
        number = context.get_value_type(target_kind.dtype)
        align = 4 if isinstance(number, ir.FloatType) else 8
        multiples = ir.Constant(ir.VectorType(number, LANES), ir.Undefined)
        for lane in range(LANES):
            multiples = builder.insert_element(multiples, args[2], ir.IntType(32)(lane))
        with cgutils.for_range(builder, args[5], intp=_I64) as loop:
            pointer = target_chunk(loop.index)
            addend = builder.load(source_chunk(loop.index), align=align)
            addend = builder.fmul(addend, multiples, flags=("contract",))
            total = builder.fadd(builder.load(pointer, align=align), addend, flags=("contract",))
            builder.store(total, pointer, align=align)
        return context.get_dummy_value()

    integer = types.intp
    signature = types.void(target, integer, target.dtype, source, integer, integer)
    return signature, codegen
