"""Sums of arrays. Written as loops: NumPy's own cost seconds of compile time."""

from .jit import kernel


@kernel
def total(array):
    """Sum of a one-dimensional array, always in the same order."""
    result = 0.0
    for i in range(array.shape[0]):
        result += array[i]
    return result
