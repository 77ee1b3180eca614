"""Vector instructions: the same operation on LANES numbers at once, or on FOUR.

Numba turns loops into vector instructions only if every step reads and writes memory; a sum that is added up in a
register, once per lane, stays a loop over single numbers, and so do a few numbers that lie side by side. Here are the
few operations that such sums need. Rows are (n, LANES) arrays of float64; those of FOUR numbers may be in arrays of any
shape, and are counted from the start. Without JIT, the same operations are NumPy's.
"""

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel.models import PrimitiveModel
from numba.extending import intrinsic, register_model

from .cache import compiler_is_off

LANES = 16  # two or four vector registers: while one sum waits for its last addition, the others go on
_CACHE_LINE = 64  # bytes
FOUR = 4  # the columns of a bin: fetched, added to and written back at once
_VECTOR = ir.VectorType(ir.DoubleType(), LANES)
_SHORT_VECTOR = ir.VectorType(ir.DoubleType(), FOUR)


class _LanesType(types.Type):
    """LANES numbers in registers, as kernels pass them on."""


class _FourType(types.Type):
    """FOUR numbers in a register."""


_LANES, _FOUR = _LanesType("lanes"), _FourType("four")


@register_model(_LanesType)
class _LanesModel(PrimitiveModel):
    def __init__(self, manager: Any, numba_type: Any):
        super().__init__(manager, numba_type, _VECTOR)


@register_model(_FourType)
class _FourModel(PrimitiveModel):
    def __init__(self, manager: Any, numba_type: Any):
        super().__init__(manager, numba_type, _SHORT_VECTOR)


def instruction(result: Any, emit: Callable) -> Callable:
    """Decorator: in compiled kernels, what `emit` writes takes the place of a function, which is what it means."""

    def decorate(function: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return emit(context, builder, signature.args, arguments)

        def typed(_: Any, *arguments: Any) -> Any:
            return result(*arguments), code

        count: int = function.__code__.co_argcount
        return function if compiler_is_off() else intrinsic(_with_arity(typed, count))

    return decorate


def _with_arity(typed: Callable, count: int) -> Any:
    """Numba looks at the number of arguments."""
    return {
        1: lambda context, x: typed(context, x),
        2: lambda context, x, y: typed(context, x, y),
        3: lambda context, x, y, z: typed(context, x, y, z),
        4: lambda context, x, y, z, u: typed(context, x, y, z, u),
        6: lambda context, x, y, z, u, v, w: typed(context, x, y, z, u, v, w),
    }[count]


def _pointer(context: Any, builder: Any, array_type: Any, array: Any, k: Any, vector: Any = _VECTOR) -> Any:
    data = context.make_array(array_type)(context, builder, array).data
    return builder.gep(builder.bitcast(data, vector.as_pointer()), [k])


def _load(builder: Any, pointer: Any) -> Any:
    value = builder.load(pointer)
    value.align = 8  # of a number: arrays start anywhere
    return value


def _in_all(builder: Any, number: Any, vector: Any) -> Any:
    one = builder.insert_element(ir.Constant(vector, ir.Undefined), number, ir.Constant(ir.IntType(32), 0))
    places = ir.Constant(ir.VectorType(ir.IntType(32), vector.count), [0] * vector.count)
    return builder.shuffle_vector(one, one, places)


def _emit_load(context, builder, kinds, arguments):
    return _load(builder, _pointer(context, builder, kinds[0], arguments[0], arguments[1]))


def _emit_store(context, builder, kinds, arguments):
    builder.store(arguments[2], _pointer(context, builder, kinds[0], arguments[0], arguments[1])).align = 8
    return context.get_dummy_value()


def _emit_all(context, builder, kinds, arguments):
    return _in_all(builder, arguments[0], _VECTOR)


def _plus_product(builder: Any, x: Any, y: Any, z: Any) -> Any:
    """x + y z, as one instruction with a single rounding, where the processor has it."""
    kind = ir.FunctionType(_VECTOR, [_VECTOR] * 3)
    fused = cgutils.get_or_insert_function(builder.module, kind, f"llvm.fmuladd.v{LANES}f64")
    return builder.call(fused, [y, z, x])


def _emit_rest(context, builder, kinds, arguments):
    x, y, z = arguments
    return _plus_product(builder, x, builder.fneg(y), z)


def _emit_plus(context, builder, kinds, arguments):
    return _plus_product(builder, *arguments)


def _emit_product(context, builder, kinds, arguments):
    return builder.fmul(*arguments)


def _emit_inverse_root(context, builder, kinds, arguments):
    square_root = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(_VECTOR, [_VECTOR]), f"llvm.sqrt.v{LANES}f64"
    )
    return builder.fdiv(ir.Constant(_VECTOR, [1.0] * LANES), builder.call(square_root, arguments))


def _emit_load_four(context, builder, kinds, arguments):
    return _load(builder, _pointer(context, builder, kinds[0], arguments[0], arguments[1], _SHORT_VECTOR))


def _emit_add_four(context, builder, kinds, arguments):
    pointer = _pointer(context, builder, kinds[0], arguments[0], arguments[1], _SHORT_VECTOR)
    builder.store(builder.fadd(_load(builder, pointer), arguments[2]), pointer).align = 8
    return context.get_dummy_value()


def _emit_times(context, builder, kinds, arguments):
    return builder.fmul(arguments[0], _in_all(builder, arguments[1], _SHORT_VECTOR))


@instruction(_LANES, _emit_load)
def load(rows, k):
    """Row k."""
    return np.copy(rows[k])


@instruction(types.void, _emit_store)
def store(rows, k, value):
    """Write row k."""
    rows[k] = value


@instruction(_LANES, _emit_all)
def in_all(number):
    """The same number in all lanes."""
    return np.full(LANES, number)


@instruction(_LANES, _emit_rest)
def rest(x, y, z):
    """x − y z"""
    return x - y * z


@instruction(_LANES, _emit_plus)
def plus(x, y, z):
    """x + y z"""
    return x + y * z


@instruction(_LANES, _emit_product)
def product(x, y):
    """x y"""
    return x * y


@instruction(_LANES, _emit_inverse_root)
def inverse_root(x):
    """1/√x"""
    return 1.0 / np.sqrt(x)


@instruction(_FOUR, _emit_load_four)
def load_four(array, k):
    """The k-th FOUR numbers of a contiguous array."""
    return np.copy(array.reshape(-1, FOUR)[k])


@instruction(types.void, _emit_add_four)
def add_four(array, k, value):
    """Add to the k-th FOUR numbers of a contiguous array."""
    array.reshape(-1, FOUR)[k] += value


@instruction(_FOUR, _emit_times)
def times(x, number):
    """x × number, x being FOUR numbers."""
    return x * number


# Not kernels: arrays are made in Python.
def aligned_zeros(*shape: int) -> np.ndarray:
    """Zeros that begin with a cache line: reading a vector that lies across two of them takes twice as long."""
    count = math.prod(shape)
    memory = np.zeros(count + _CACHE_LINE // 8)
    first = -memory.ctypes.data % _CACHE_LINE // 8
    return memory[first : first + count].reshape(shape)


def aligned_rows(shapes: Iterable[tuple[int, ...]]) -> list[np.ndarray]:
    """The same for several arrays of rows that are LANES long, all in one piece of memory, as there are many."""
    shapes = list(shapes)
    ends = np.cumsum([math.prod(shape) for shape in shapes])
    parts = np.split(aligned_zeros(int(ends[-1])), ends[:-1])
    return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]
