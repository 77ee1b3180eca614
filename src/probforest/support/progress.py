"""Progress bars."""

import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

Thing = TypeVar("Thing")


def with_progress(
    things: Iterable[Thing],
    total: int | None,
    label: str,
    verbose: int,
    size: Callable[[Any], int] = lambda thing: 1,
    note: Callable[[Any], str] = lambda thing: "",
) -> Iterator[Thing]:
    """Yield `things`, whose `size` adds up to `total` (None: unknown). With `verbose`, show the progress: a tqdm bar if
    it is installed, with a `note` about the last thing, else plain lines."""
    if not verbose:
        yield from things
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        yield from _plain(things, total, label, size)
        return
    with tqdm(total=total, desc=label, unit_scale=total is None or total > 9999) as bar:
        for thing in things:
            yield thing
            bar.set_postfix_str(note(thing), refresh=False)
            bar.update(size(thing))


def _plain(things: Iterable[Thing], total: int | None, label: str, size: Callable[[Any], int]) -> Iterator[Thing]:
    count, shown = 0, 0
    for thing in things:
        count += size(thing)
        step = max(100, 2 * shown) if total is None else max(1, total // 10)
        if count - shown >= step or count == total:
            print(f"{label}: {count}" + ("" if total is None else f"/{total}"), file=sys.stderr)
            shown = count
        yield thing
