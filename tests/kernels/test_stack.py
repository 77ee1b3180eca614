import numpy as np

from probforest.kernels.arrays import enlarged_table
from probforest.kernels.stack import new_stack, push


def test_rows_survive_the_growth_of_the_stack():
    stack = new_stack(7, 3)
    assert stack[0].tolist() == [0, 7, 3, 0]
    for count in range(1, 200):
        if count == len(stack):
            stack = enlarged_table(stack, count, 2 * count)
        push(stack, count, count, 2 * count, 3 * count, 4 * count)
    expected = np.arange(1, 200)[:, None] * [1, 2, 3, 4]
    np.testing.assert_array_equal(stack[1:200], expected)
