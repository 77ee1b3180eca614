"""Ask for memory before it is needed.

A kernel that jumps to a new place for every few numbers spends most of its time waiting for them. If it knows its next
places, they can be on their way while it works on this one.
"""

from llvmlite import ir
from numba.core import types

from .lanes import instruction

_BYTE, _NUMBER = ir.IntType(8).as_pointer(), ir.IntType(32)
_KIND = ir.FunctionType(ir.VoidType(), [_BYTE, _NUMBER, _NUMBER, _NUMBER])
_READ, _STAYS, _DATA = _NUMBER(0), _NUMBER(3), _NUMBER(1)  # to read, into all caches, not instructions


def _emit_prefetch(context, builder, kinds, arguments):
    data = context.make_array(kinds[0])(context, builder, arguments[0]).data
    address = builder.bitcast(builder.gep(data, [arguments[1]]), _BYTE)
    function = builder.module.declare_intrinsic("llvm.prefetch", [_BYTE], _KIND)
    builder.call(function, [address, _READ, _STAYS, _DATA])
    return context.get_dummy_value()


@instruction(types.void, _emit_prefetch)
def prefetch(array, at):
    """Fetch `array[at]`, of a contiguous array (n,), and what lies around it. A place that is not in the array does no
    harm."""
