"""Eight numbers at a time: compare them, select between them, and write the chosen ones one after the other.

Entries that go on are appended to a list, others are not. A loop over single entries that writes each of them, and
counts it only if it goes on, has no branch that can't be predicted, but every entry waits for the number of those
before it. Here eight are decided at once, and one instruction writes the chosen ones, where the processor has it
(AVX-512); elsewhere they are written one by one. Which ones are chosen is a number (uint8) with a bit for each.
Without JIT, the same operations are NumPy's.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel.models import PrimitiveModel
from numba.extending import register_model

from .lanes import instruction

EIGHT = 8
_BITS, _WORD = ir.IntType(EIGHT), ir.IntType(64)
_NUMBERS, _WORDS = ir.VectorType(ir.DoubleType(), EIGHT), ir.VectorType(_WORD, EIGHT)
_INDICES, _CHOSEN = ir.VectorType(ir.IntType(32), EIGHT), ir.VectorType(ir.IntType(1), EIGHT)


class _NumbersType(types.Type):
    """Eight float64 in a register."""


class _WordsType(types.Type):
    """Eight int64 in a register."""


class _IndicesType(types.Type):
    """Eight int32 in a register."""


_EIGHT_NUMBERS, _EIGHT_WORDS = _NumbersType("eight_numbers"), _WordsType("eight_words")
_EIGHT_INDICES = _IndicesType("eight_indices")


@register_model(_NumbersType)
class _NumbersModel(PrimitiveModel):
    def __init__(self, manager: Any, numba_type: Any):
        super().__init__(manager, numba_type, _NUMBERS)


@register_model(_WordsType)
class _WordsModel(PrimitiveModel):
    def __init__(self, manager: Any, numba_type: Any):
        super().__init__(manager, numba_type, _WORDS)


@register_model(_IndicesType)
class _IndicesModel(PrimitiveModel):
    def __init__(self, manager: Any, numba_type: Any):
        super().__init__(manager, numba_type, _INDICES)


def _same_kind(*kinds: Any) -> Any:
    """The signature of an operation on numbers or words, whose result is of the same kind as its last argument."""
    return kinds[-1](*kinds)


def _pointer(context: Any, builder: Any, array_type: Any, array: Any, k: Any, kind: Any) -> Any:
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [k]), kind.as_pointer())


def _alignment(vector: Any) -> int:
    """That of a single number: arrays start anywhere."""
    return 4 if vector == _INDICES else 8


def _in_all(builder: Any, number: Any) -> Any:
    one = builder.insert_element(ir.Constant(_NUMBERS, ir.Undefined), number, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(one, one, _lanes([0] * EIGHT))


def _lanes(lanes: list[int]) -> Any:
    return ir.Constant(ir.VectorType(ir.IntType(32), len(lanes)), lanes)


def _emit_load(vector: Any) -> Any:
    def emit(context, builder, kinds, arguments):
        array, k = arguments
        value = builder.load(_pointer(context, builder, kinds[0], array, k, vector))
        value.align = _alignment(vector)
        return value

    return emit


def _emit_comparison(relation: str) -> Any:
    def emit(context, builder, kinds, arguments):
        return builder.bitcast(builder.fcmp_ordered(relation, arguments[0], _in_all(builder, arguments[1])), _BITS)

    return emit


def _emit_is_negative(context, builder, kinds, arguments):
    return builder.bitcast(builder.icmp_signed("<", arguments[0], ir.Constant(_WORDS, [0] * EIGHT)), _BITS)


def _emit_next(context, builder, kinds, arguments):
    return builder.add(arguments[0], ir.Constant(_WORDS, [1] * EIGHT))


def _emit_rest(context, builder, kinds, arguments):
    return builder.fsub(ir.Constant(_NUMBERS, [1.0] * EIGHT), arguments[0])


def _emit_times(context, builder, kinds, arguments):
    return builder.fmul(*arguments)


def _emit_larger(context, builder, kinds, arguments):
    return builder.select(builder.fcmp_ordered(">", *arguments), *arguments)


def _emit_smaller(context, builder, kinds, arguments):
    return builder.select(builder.fcmp_ordered("<", *arguments), *arguments)


def _emit_at_least(context, builder, kinds, arguments):
    x, least = arguments[0], _in_all(builder, arguments[1])
    return builder.select(builder.fcmp_ordered(">", x, least), x, least)


def _emit_magnitude(context, builder, kinds, arguments):
    absolute = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(_NUMBERS, [_NUMBERS]), f"llvm.fabs.v{EIGHT}f64"
    )
    return builder.call(absolute, arguments)


def _emit_select(context, builder, kinds, arguments):
    return builder.select(builder.bitcast(arguments[0], _CHOSEN), *arguments[1:])


def _emit_count(context, builder, kinds, arguments):
    return builder.zext(builder.ctpop(arguments[0]), _WORD)


def _has_compress(context: Any) -> bool:
    """Whether the processor that a kernel is compiled for writes chosen numbers with a single instruction."""
    return "+avx512vl" in context.codegen().magic_tuple()[2]


def _compress(context: Any, builder: Any, value: Any, chosen: Any, array_type: Any, array: Any, end: Any) -> Any:
    """Write the chosen ones of eight numbers from place `end` on. Returns the place behind them."""
    kind, name = value.type, {_NUMBERS: "f64", _WORDS: "i64", _INDICES: "i32"}[value.type]
    compress = cgutils.get_or_insert_function(
        builder.module,
        ir.FunctionType(kind, [kind, kind, _CHOSEN]),
        f"llvm.x86.avx512.mask.compress.v{EIGHT}{name}",
    )
    packed = builder.call(compress, [value, ir.Constant(kind, ir.Undefined), chosen])
    builder.store(packed, _pointer(context, builder, array_type, array, end, kind)).align = _alignment(kind)
    return builder.add(end, builder.zext(builder.ctpop(builder.bitcast(chosen, _BITS)), _WORD))


def _write_one_by_one(
    context: Any, builder: Any, vectors: list[tuple[Any, Any]], array_type: Any, array: Any, end: Any
) -> None:
    """Write the chosen ones of vectors, of each one in turn: all of them, but the next one over one that is not."""
    for lane in range(EIGHT):
        for value, chosen in vectors:
            number = builder.extract_element(value, ir.Constant(ir.IntType(32), lane))
            builder.store(number, _pointer(context, builder, array_type, array, end, number.type))
            bit = builder.and_(
                builder.lshr(builder.zext(chosen, _WORD), ir.Constant(_WORD, lane)), ir.Constant(_WORD, 1)
            )
            end = builder.add(end, bit)


def _emit_write(context, builder, kinds, arguments):
    value, chosen, array, end = arguments
    if _has_compress(context):
        _compress(context, builder, value, builder.bitcast(chosen, _CHOSEN), kinds[2], array, end)
    else:
        _write_one_by_one(context, builder, [(value, chosen)], kinds[2], array, end)
    return context.get_dummy_value()


def _emit_write_in_turn(context, builder, kinds, arguments):
    first, second, chosen_first, chosen_second, array, end = arguments
    if not _has_compress(context):
        vectors = [(first, chosen_first), (second, chosen_second)]
        _write_one_by_one(context, builder, vectors, kinds[4], array, end)
        return context.get_dummy_value()
    chosen_first, chosen_second = (builder.bitcast(bits, _CHOSEN) for bits in (chosen_first, chosen_second))
    for half in (0, EIGHT // 2):
        lanes = _lanes([lane for k in range(half, half + EIGHT // 2) for lane in (k, EIGHT + k)])
        value = builder.shuffle_vector(first, second, lanes)
        chosen = builder.shuffle_vector(chosen_first, chosen_second, lanes)
        end = _compress(context, builder, value, chosen, kinds[4], array, end)
    return context.get_dummy_value()


def _bits(chosen: np.ndarray) -> np.uint8:
    return np.packbits(chosen, bitorder="little")[0]


def _chosen(bits: np.uint8) -> np.ndarray:
    return np.unpackbits(np.array([bits]), bitorder="little").astype(bool)


@instruction(_EIGHT_NUMBERS, _emit_load(_NUMBERS))
def load_numbers(array, k):
    """The eight numbers (float64) from place k on."""
    return np.copy(array[k : k + EIGHT])


@instruction(_EIGHT_WORDS, _emit_load(_WORDS))
def load_words(array, k):
    """The eight words (int64) from place k on."""
    return np.copy(array[k : k + EIGHT])


@instruction(_EIGHT_INDICES, _emit_load(_INDICES))
def load_indices(array, k):
    """The eight indices (int32) from place k on."""
    return np.copy(array[k : k + EIGHT])


@instruction(types.uint8, _emit_comparison(">"))
def above(numbers, limit):
    """Which numbers are above a limit."""
    return _bits(numbers > limit)


@instruction(types.uint8, _emit_comparison("<"))
def below(numbers, limit):
    """Which numbers are below a limit."""
    return _bits(numbers < limit)


@instruction(types.uint8, _emit_comparison("=="))
def equal(numbers, number):
    """Which numbers are equal to another one."""
    return _bits(numbers == number)


@instruction(types.uint8, _emit_is_negative)
def negative(words):
    """Which words are negative."""
    return _bits(words < 0)


@instruction(_EIGHT_WORDS, _emit_next)
def following(words):
    """Words + 1"""
    return words + 1


@instruction(_EIGHT_NUMBERS, _emit_rest)
def rest(x):
    """1 − x"""
    return 1.0 - x


@instruction(_EIGHT_NUMBERS, _emit_times)
def product(x, y):
    """x y"""
    return x * y


@instruction(_EIGHT_NUMBERS, _emit_larger)
def larger(x, y):
    """The larger one of x and y; y where one of them is NaN."""
    return np.where(x > y, x, y)


@instruction(_EIGHT_NUMBERS, _emit_smaller)
def smaller(x, y):
    """The smaller one of x and y; y where one of them is NaN."""
    return np.where(x < y, x, y)


@instruction(_EIGHT_NUMBERS, _emit_at_least)
def at_least(x, least):
    """The larger one of x and a single number."""
    return np.where(x > least, x, least)


@instruction(_EIGHT_NUMBERS, _emit_magnitude)
def magnitude(x):
    """|x|"""
    return np.abs(x)


@instruction(_same_kind, _emit_select)
def select(chosen, x, y):
    """x where it is chosen, otherwise y: numbers or words."""
    return np.where(_chosen(chosen), x, y)


@instruction(types.uint64, _emit_count)
def n_chosen(chosen):
    """How many are chosen."""
    return np.uint64(int(chosen).bit_count())


@instruction(types.void, _emit_write)
def write(x, chosen, to, end):
    """Write the chosen ones of x, numbers, words or indices, one after the other to the array `to` from place `end` on.
    There must be room for all eight: what is behind the chosen ones is overwritten, too."""
    values = x[_chosen(chosen)]
    to[int(end) : int(end) + len(values)] = values


@instruction(types.void, _emit_write_in_turn)
def write_in_turn(x, y, chosen_x, chosen_y, to, end):
    """The same for x and y in turn: x₀, y₀, x₁, y₁, …"""
    values = np.stack([x, y], axis=1)[np.stack([_chosen(chosen_x), _chosen(chosen_y)], axis=1)]
    to[int(end) : int(end) + len(values)] = values
