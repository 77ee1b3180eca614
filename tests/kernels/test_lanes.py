"""Operations on several numbers at once, beside NumPy's."""

import numpy as np

from probforest.kernels.jit import kernel
from probforest.kernels.lanes import (
    FOUR,
    LANES,
    add_four,
    aligned_rows,
    aligned_zeros,
    in_all,
    inverse_root,
    load,
    load_four,
    plus,
    product,
    rest,
    store,
    times,
)


@kernel
def use_all(rows, number, out):
    x, y, z = load(rows, 0), load(rows, 1), load(rows, 2)
    store(out, 0, rest(x, y, z))
    store(out, 1, plus(x, y, z))
    store(out, 2, product(x, y))
    store(out, 3, inverse_root(z))
    store(out, 4, in_all(number))


def test_operations_are_those_of_each_lane():
    rows, out = np.random.default_rng(0).gamma(1, size=(3, LANES)), np.zeros((6, LANES))
    x, y, z = rows
    use_all(rows, 0.7, out)
    expected = x - y * z, x + y * z, x * y, 1 / np.sqrt(z), np.full(LANES, 0.7), np.zeros(LANES)
    np.testing.assert_allclose(out, expected, rtol=1e-15)


def test_rows_may_start_anywhere():
    """Vector registers are wider than what arrays are aligned to."""
    memory = np.random.default_rng(1).gamma(1, size=1 + 3 * LANES)
    rows, out = memory[1:].reshape(3, LANES), np.zeros((6, LANES))
    use_all(rows, 0.0, out)
    np.testing.assert_allclose(out[2], rows[0] * rows[1], rtol=1e-15)


def test_aligned_rows_begin_with_a_cache_line():
    shapes = [(7, LANES), (1, LANES), (3, 5, LANES), (LANES,)]
    arrays = aligned_rows(shapes)
    assert [array.shape for array in arrays] == shapes
    for number, array in enumerate(arrays):
        assert array.dtype == np.float64
        assert array.flags.c_contiguous
        assert array.ctypes.data % 64 == 0
        assert not array.any()
        array[:] = number + 1  # none of them overlaps with another one
    assert [set(array.ravel()) for array in arrays] == [{1.0}, {2.0}, {3.0}, {4.0}]


@kernel
def add_rows(rows, number, out):
    add_four(out, 1, load_four(rows, 2))
    add_four(out, 1, times(load_four(rows, 0), number))


def test_four_numbers_are_added_at_once_in_arrays_of_any_shape():
    rows, out = np.random.default_rng(2).normal(size=(3, FOUR)), np.zeros((2, 2, FOUR))
    out[0, 1] = 1.0
    add_rows(rows, 0.3, out)
    expected = np.zeros((2, 2, FOUR))
    expected[0, 1] = 1.0 + rows[2] + rows[0] * 0.3
    np.testing.assert_array_equal(out, expected)


def test_aligned_zeros_lie_within_cache_lines():
    for shape in ((5,), (3, 4), (0, 4), (2, 3, 5, 4)):
        zeros = aligned_zeros(*shape)
        assert zeros.shape == shape
        assert zeros.flags.c_contiguous
        assert not zeros.any()
        assert zeros.size == 0 or zeros.ctypes.data % (8 * FOUR) == 0
