"""Arrays that grow. Written as loops: slice assignments cost a second of compile time each."""

import numpy as np

from .jit import kernel


@kernel
def enlarged(array, used, capacity):
    """The first `used` entries of a one-dimensional array in one of the given capacity."""
    larger = np.empty(capacity, dtype=array.dtype)
    for i in range(used):
        larger[i] = array[i]
    return larger


@kernel
def enlarged_table(array, used, capacity):
    """The first `used` rows of a two-dimensional array in one of the given number of rows."""
    n_columns = array.shape[1]
    larger = np.empty((capacity, n_columns), dtype=array.dtype)
    for i in range(used):
        for j in range(n_columns):
            larger[i, j] = array[i, j]
    return larger


@kernel
def total(array):
    """Sum of a one-dimensional array, always in the same order."""
    result = 0.0
    for i in range(array.shape[0]):
        result += array[i]
    return result
