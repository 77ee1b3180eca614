"""The decorators of all kernels. Only this file, parts.py, lanes.py, eights.py, prefetch.py and cache.py import Numba.

A variable that begins as a number in the source (`n = 0`) has a type of its own until it changes, and every kernel that
takes it is compiled twice. Where that matters, it begins as `np.int64(0)`. tests/test_signatures.py watches this.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import numba
from numba.core.cpu import CPUTargetOptions

from .cache import keep_on_disk
from .parts import with_two_sides

Function = TypeVar("Function", bound=Callable)

# Options that Numba has but does not promise to keep: without them, kernels do the same, only slower.
# _nrt: kernels make no arrays (Python makes them, and keeps them alive), so nothing has to count references to them.
# Counting costs a fifth of the time of a fit, and two seconds of the time to compile.
# no_cfunc_wrapper: nobody calls a kernel from C.
_UNPROMISED = {"_nrt": False, "no_cfunc_wrapper": True}
_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",  # no checks for a division by zero; and no `fastmath`, which breaks NaN
    **{name: value for name, value in _UNPROMISED.items() if hasattr(CPUTargetOptions, name)},
}


def kernel(function: Function) -> Function:
    """Compile lazily, release the GIL, cache on disk."""
    compiled: Any = numba.njit(**_OPTIONS)(function)
    return with_two_sides(compiled)


def inlined(function: Function) -> Function:
    """A small kernel with a single caller: copied into it before anything is compiled.

    A kernel that is called has its own trip through Numba, with types and names for all that its bundles hold. Inlining
    the small ones makes the first fit faster; inlining large ones costs more than it saves (measure with
    `benchmarks/run.py`).
    """
    compiled: Any = numba.njit(**_OPTIONS, inline="always")(function)
    keep_on_disk(compiled)
    return compiled
