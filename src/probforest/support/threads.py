"""The same work on many things, in threads. Kernels run without the GIL, so that threads are all that is needed.

joblib says how many there are (`n_jobs`, and the context that the caller may have set), but does not run them: it polls
for results every 10 ms, which is slow for short predictions.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from joblib import effective_n_jobs

Item = TypeVar("Item")
Answer = TypeVar("Answer")


def in_threads(function: Callable[[Item], Answer], items: Sequence[Item], n_jobs: int | None) -> Iterator[Answer]:
    """function(item) of every item, in the order of the items. After an error, no further item is started.

    >>> list(in_threads(abs, [-1, 2, -3], n_jobs=2))
    [1, 2, 3]
    """
    n_threads = min(effective_n_jobs(n_jobs), len(items))
    if n_threads <= 1:
        yield from map(function, items)
        return
    with ThreadPoolExecutor(n_threads) as pool:
        futures = [pool.submit(function, item) for item in items]
        try:
            for future in futures:
                yield future.result()
        finally:
            pool.shutdown(cancel_futures=True)


def shares_of_threads(n_items: int, most: int, n_jobs: int | None) -> list[slice]:
    """Neighbouring items in parts of at most `most`, as many for each thread, so that none waits for another one.

    >>> shares_of_threads(10, 4, n_jobs=2)
    [slice(0, 3, None), slice(3, 6, None), slice(6, 9, None), slice(9, 10, None)]
    """
    n_threads = effective_n_jobs(n_jobs)
    n_parts = n_threads * max(1, -(-n_items // (most * n_threads)))
    size = max(1, -(-n_items // n_parts))
    return [slice(first, min(first + size, n_items)) for first in range(0, n_items, size)]
