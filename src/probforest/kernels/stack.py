"""The stack of nodes to be visited, the next on top. It is never much longer than the tree is deep."""

import numpy as np

from .jit import kernel


@kernel
def new_stack():
    """Rows of (start, stop, node, depth): the node's members, and what the caller needs to know about the node."""
    return np.empty((64, 4), dtype=np.int64)


@kernel
def push(stack, count, start, stop, node, depth):
    """Put a row on top of `count` others; returns the stack, which may be a larger copy."""
    if count == stack.shape[0]:
        larger = np.empty((2 * count, 4), dtype=np.int64)
        larger[:count] = stack
        stack = larger
    stack[count, 0] = start
    stack[count, 1] = stop
    stack[count, 2] = node
    stack[count, 3] = depth
    return stack
