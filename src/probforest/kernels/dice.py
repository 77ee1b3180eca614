"""A small random generator for kernels: xorshift on 32 bits, its state in the caller's array.

Numba's own generator has one hidden state per thread, so trees would depend on which thread grew them.
"""

from .jit import kernel

_MASK = 0xFFFFFFFF


@kernel
def draw_below(state, bound):
    """A whole number in [0, bound); advances `state` (1,) int64, which must not be 0."""
    x = state[0]
    x ^= (x << 13) & _MASK
    x ^= x >> 17
    x ^= (x << 5) & _MASK
    state[0] = x
    return x % bound
