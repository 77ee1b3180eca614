"""The decorators of all kernels, and the one place that imports Numba.

A variable that begins as a number in the source (`n = 0`) has a type of its own until it changes, and every kernel that
takes it is compiled twice. Where that matters, it begins as `np.int64(0)`. tests/test_signatures.py watches this.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import numba

Function = TypeVar("Function", bound=Callable)


def kernel(function: Function) -> Function:
    """Compile lazily, release the GIL, cache on disk; no division checks and no `fastmath`, which breaks NaN."""
    compiled: Any = numba.njit(nogil=True, cache=True, error_model="numpy")(function)
    return compiled


def inlined(function: Function) -> Function:
    """A small kernel with a single caller: copied into it before anything is compiled.

    A kernel that is called has its own trip through the compiler, and LLVM works on it again for every kernel above.
    Inlining the small ones makes the first fit faster; inlining large ones costs more than it saves (measure with
    `benchmarks/run.py`).
    """
    compiled: Any = numba.njit(nogil=True, cache=True, error_model="numpy", inline="always")(function)
    return compiled
