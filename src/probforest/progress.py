"""A progress bar over things that take a while."""

import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

Thing = TypeVar("Thing")


def with_progress(things: Iterable[Thing], total: int | None, label: str, verbose: int) -> Iterator[Thing]:
    """Pass `things` on, `total` of them (None: nobody knows). With `verbose`, show how many have come: a tqdm bar if it
    is installed, else plain lines."""
    if not verbose:
        yield from things
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        yield from _plain(things, total, label)
        return
    yield from tqdm(things, total=total, desc=label)


def _plain(things: Iterable[Thing], total: int | None, label: str) -> Iterator[Thing]:
    step = 100 if total is None else max(1, total // 10)
    for count, thing in enumerate(things, start=1):
        if count % step == 0 or count == total:
            print(f"{label}: {count}" + ("" if total is None else f"/{total}"), file=sys.stderr)
        yield thing
