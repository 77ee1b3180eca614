"""A progress bar over things that take a while."""

import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

Thing = TypeVar("Thing")


def with_progress(things: Iterable[Thing], total: int, label: str, verbose: int) -> Iterator[Thing]:
    """Pass `things` on; with `verbose`, show how many have come: a tqdm bar if it is installed, else plain lines."""
    if not verbose:
        yield from things
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        yield from _plain(things, total, label)
        return
    yield from tqdm(things, total=total, desc=label)


def _plain(things: Iterable[Thing], total: int, label: str) -> Iterator[Thing]:
    tenth = max(1, total // 10)
    for count, thing in enumerate(things, start=1):
        if count % tenth == 0 or count == total:
            print(f"{label}: {count}/{total}", file=sys.stderr)
        yield thing
