"""The stack of nodes to be visited, the next on top. It is never much longer than the tree is deep."""

import numpy as np

from .jit import inlined


@inlined
def new_stack(n_members, node):
    """A stack with one row: (start, stop, node, depth), the members of the root and what the caller says of it."""
    stack = np.empty((64, 4), dtype=np.int64)
    stack[0, 0] = 0
    stack[0, 1] = n_members
    stack[0, 2] = node
    stack[0, 3] = 0
    return stack


@inlined
def push(stack, count, start, stop, node, depth):
    """Put a row on top of `count` others, for which there must be room."""
    stack[count, 0] = start
    stack[count, 1] = stop
    stack[count, 2] = node
    stack[count, 3] = depth
