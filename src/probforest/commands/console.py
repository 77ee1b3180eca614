"""What a command says: text for people, or one JSON document for scripts."""

import json
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Console:
    """Where a command speaks. With `as_json`, standard output has nothing but the result."""

    def __init__(self, as_json: bool = False):
        self.as_json = as_json

    def say(self, text: str = "") -> None:
        """Something for people to read."""
        if not self.as_json:
            print(text, flush=True)

    def note(self, text: str) -> None:
        """Something that users should know, but didn't ask for."""
        print(f"probforest: note: {text}", file=sys.stderr, flush=True)

    def result(self, data: Any) -> None:
        """The result of a command, for scripts."""
        if self.as_json:
            print(json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False), flush=True)

    @property
    def shows_progress(self) -> int:
        """Whether somebody watches."""
        return int(sys.stderr.isatty())

    @contextmanager
    def notes_for_warnings(self) -> Iterator[None]:
        """Warnings of the package become notes, each of them once."""
        seen: set[str] = set()

        def show(message: Any, category: type[Warning], *_: Any, **__: Any) -> None:
            if category is UserWarning and str(message) not in seen:  # other libraries' own kinds are for programmers
                seen.add(str(message))
                self.note(str(message))

        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.showwarning = show
            yield


def indented(text: str) -> str:
    """Every line two blanks further to the right."""
    return "\n".join(f"  {line}" for line in text.splitlines())


def readable_size(size: int) -> str:
    """Bytes for people.

    >>> readable_size(1234567)
    '1.2 MB'
    """
    number = float(size)
    for unit in ("bytes", "kB", "MB"):
        if number < 1000:
            return f"{number:.3g} {unit}" if unit == "bytes" else f"{number:.1f} {unit}"
        number /= 1000
    return f"{number:.1f} GB"
