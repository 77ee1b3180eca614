"""Operations on several numbers at once, beside NumPy's."""

import numpy as np

from probforest.kernels.jit import kernel
from probforest.kernels.lanes import LANES, aligned_zeros, in_all, inverse_root, load, plus, product, rest, store


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


def test_aligned_zeros_begin_with_a_cache_line():
    shapes = [(7, LANES), (1, LANES), (3, 5, LANES), (LANES,)]
    arrays = aligned_zeros(shapes)
    assert [array.shape for array in arrays] == shapes
    for number, array in enumerate(arrays):
        assert array.dtype == np.float64
        assert array.flags.c_contiguous
        assert array.ctypes.data % 64 == 0
        assert not array.any()
        array[:] = number + 1  # none of them overlaps with another one
    assert [set(array.ravel()) for array in arrays] == [{1.0}, {2.0}, {3.0}, {4.0}]
