"""`probforest precompile`: compile all kernels now, for containers and clusters."""

import argparse
import time

from ..estimators.compiling import compile_kernels
from ..kernels.cache import compiler_is_off, not_kept, processor, store
from .console import Console


def run(options: argparse.Namespace, console: Console) -> int:
    if compiler_is_off():
        raise ValueError("kernels are not compiled while NUMBA_DISABLE_JIT is set; unset it.")
    folder = store().writable
    if folder is None or store().temporary:
        raise OSError("the cache folder can't be written to; set NUMBA_CACHE_DIR to one that can.")
    start = time.perf_counter()
    compile_kernels(rare=True)
    seconds = time.perf_counter() - start
    if not_kept:
        raise not_kept[0]
    console.say(f"All kernels are compiled for the processor {processor()}, after {seconds:.0f} s, in {folder}")
    console.result({"folder": str(folder), "processor": processor(), "seconds": seconds})
    return 0
