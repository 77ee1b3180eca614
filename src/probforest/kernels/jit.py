"""The one decorator of all kernels, and the one place that imports Numba."""

from collections.abc import Callable
from typing import Any, TypeVar

import numba

Function = TypeVar("Function", bound=Callable)


def kernel(function: Function) -> Function:
    """Compile lazily, release the GIL, cache on disk; no division checks and no `fastmath`, which breaks NaN."""
    compiled: Any = numba.njit(nogil=True, cache=True, error_model="numpy")(function)
    return compiled
