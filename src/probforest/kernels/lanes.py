"""Vector instructions: the same operation on LANES numbers at once.

Numba turns loops into vector instructions only if every step reads and writes memory; a sum that is added up in a
register, once per lane, stays a loop over single numbers. Here are the few operations that such sums need. Rows are
(n, LANES) arrays of float64. Without JIT, the same operations are NumPy's.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel.models import PrimitiveModel
from numba.extending import intrinsic, register_model

from .cache import compiler_is_off

LANES = 16  # two or four vector registers: while one sum waits for its last addition, the others go on
_VECTOR = ir.VectorType(ir.DoubleType(), LANES)


class _LanesType(types.Type):
    """LANES numbers in registers, as kernels pass them on."""


_LANES = _LanesType("lanes")


@register_model(_LanesType)
class _LanesModel(PrimitiveModel):
    def __init__(self, manager: Any, numba_type: Any):
        super().__init__(manager, numba_type, _VECTOR)


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
    }[count]


def _pointer(context: Any, builder: Any, array_type: Any, array: Any, k: Any) -> Any:
    data = context.make_array(array_type)(context, builder, array).data
    return builder.gep(builder.bitcast(data, _VECTOR.as_pointer()), [k])


def _emit_load(context, builder, kinds, arguments):
    value = builder.load(_pointer(context, builder, kinds[0], arguments[0], arguments[1]))
    value.align = 8  # of a number: arrays start anywhere
    return value


def _emit_store(context, builder, kinds, arguments):
    builder.store(arguments[2], _pointer(context, builder, kinds[0], arguments[0], arguments[1])).align = 8
    return context.get_dummy_value()


def _emit_all(context, builder, kinds, arguments):
    one = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), arguments[0], ir.Constant(ir.IntType(32), 0))
    places = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(one, one, places)


def _emit_rest(context, builder, kinds, arguments):
    return builder.fsub(arguments[0], builder.fmul(arguments[1], arguments[2]))


def _emit_plus(context, builder, kinds, arguments):
    return builder.fadd(arguments[0], builder.fmul(arguments[1], arguments[2]))


def _emit_product(context, builder, kinds, arguments):
    return builder.fmul(*arguments)


def _emit_inverse_root(context, builder, kinds, arguments):
    square_root = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(_VECTOR, [_VECTOR]), f"llvm.sqrt.v{LANES}f64"
    )
    return builder.fdiv(ir.Constant(_VECTOR, [1.0] * LANES), builder.call(square_root, arguments))


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
