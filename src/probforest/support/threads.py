"""The same work on many things, in threads. Kernels run without the GIL, so that threads are all that is needed.

joblib says how many there are (`n_jobs`, and the context that the caller may have set), but does not run them: it polls
for results every 10 ms, which is slow for short predictions. The thread that asks does its share of the work. So it
waits for nobody who has not begun, and work inside of work can't be stuck; the others stay for the next time, as to
start a thread takes as long as some short work.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import cache
from itertools import count
from typing import Generic, TypeVar

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
    work = _Work(function, items)
    helpers = [_helpers(n_threads - 1).submit(work.do_all) for _ in range(n_threads - 1)]
    try:
        yield from work.answers()
    finally:
        work.stop()
        wait([helper for helper in helpers if not helper.cancel()])


class _Work(Generic[Item, Answer]):
    """Items that several threads take in order, one after the other."""

    def __init__(self, function: Callable[[Item], Answer], items: Sequence[Item]):
        self._function, self._items = function, items
        self._found: list[Future[Answer]] = [Future() for _ in items]
        self._numbers = count()  # its `next` is one step for all threads
        self._goes_on = True

    def do_one(self) -> bool:
        """Take the next item, if there is one."""
        number = next(self._numbers) if self._goes_on else len(self._items)
        if number >= len(self._items):
            return False
        try:
            self._found[number].set_result(self._function(self._items[number]))
        except BaseException as problem:
            self.stop()
            self._found[number].set_exception(problem)
        return True

    def do_all(self) -> None:
        """Take items as long as there are some."""
        while self.do_one():
            pass

    def answers(self) -> Iterator[Answer]:
        """What is found, in the order of the items, while this thread works, too. All items before one with an error
        have begun, so that the first error in this order is raised."""
        n_given = 0
        while self.do_one():
            while n_given < len(self._found) and self._found[n_given].done():
                yield self._found[n_given].result()
                n_given += 1
        for found in self._found[n_given:]:
            yield found.result()

    def stop(self) -> None:
        """Let nobody take another item."""
        self._goes_on = False


@cache
def _helpers(n_threads: int) -> ThreadPoolExecutor:
    """Threads that wait for work. They start when there is some, and end with the program."""
    return ThreadPoolExecutor(n_threads, thread_name_prefix="probforest")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_helpers.cache_clear)  # a child process has none of the threads


def shares_of_threads(n_items: int, most: int, n_jobs: int | None) -> list[slice]:
    """Neighbouring items in parts of at most `most`, as many for each thread, so that none waits for another one.

    >>> shares_of_threads(10, 4, n_jobs=2)
    [slice(0, 3, None), slice(3, 6, None), slice(6, 9, None), slice(9, 10, None)]
    """
    n_threads = effective_n_jobs(n_jobs)
    n_parts = n_threads * max(1, -(-n_items // (most * n_threads)))
    size = max(1, -(-n_items // n_parts))
    return [slice(first, min(first + size, n_items)) for first in range(0, n_items, size)]
