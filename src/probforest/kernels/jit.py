"""The decorators of all kernels, and the one place that imports Numba.

A variable that begins as a number in the source (`n = 0`) has a type of its own until it changes, and every kernel that
takes it is compiled twice. Where that matters, it begins as `np.int64(0)`. tests/test_signatures.py watches this.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import numba

Function = TypeVar("Function", bound=Callable)

# `no_cfunc_wrapper`: nobody calls a kernel from C, and a wrapper less for each makes the first fit a second faster.
_OPTIONS: Any = {"nogil": True, "cache": True, "error_model": "numpy", "no_cfunc_wrapper": True}


def kernel(function: Function) -> Function:
    """Compile lazily, release the GIL, cache on disk; no division checks and no `fastmath`, which breaks NaN."""
    compiled: Any = numba.njit(**_OPTIONS)(function)
    return compiled


def inlined(function: Function) -> Function:
    """A small kernel with a single caller: copied into it before anything is compiled.

    A kernel that is called has its own trip through the compiler, and LLVM works on it again for every kernel above.
    Inlining the small ones makes the first fit faster; inlining large ones costs more than it saves (measure with
    `benchmarks/run.py`).
    """
    compiled: Any = numba.njit(**_OPTIONS, inline="always")(function)
    return compiled
