"""What a command says: text for people, or one JSON document for scripts."""

import json
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO


class Console:
    """Where a command speaks. With `as_json`, standard output has nothing but the result.

    Work goes on if nobody can hear: no reader that has gone and no full disk under standard output costs a model.

    Attributes
    ----------
    problem : OSError or None
        Why something was not written, if it is to be known; a reader such as `head` may go when it has read enough.
    """

    def __init__(self, as_json: bool = False):
        self.as_json = as_json
        self.problem: OSError | None = None

    def say(self, text: str = "") -> None:
        """Something for people to read."""
        if not self.as_json:
            self._print(text, sys.stdout)

    def note(self, text: str) -> None:
        """Something that users should know, but didn't ask for."""
        self.tell(f"note: {text}")

    def tell(self, text: str) -> None:
        """A line about the program itself."""
        self._print(f"probforest: {text}", sys.stderr)

    def result(self, data: Any) -> None:
        """The result of a command, for scripts."""
        if self.as_json:
            text = json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False)
            if _printable(text, sys.stdout) != text:  # JSON has escapes of its own
                text = json.dumps(data, indent=2, allow_nan=False)
            self._print(text, sys.stdout)

    def flush(self) -> None:
        """Write what others have printed, such as a text of help."""
        for stream in (sys.stdout, sys.stderr):
            with self._listening(stream):
                stream.flush()

    def _print(self, text: str, stream: TextIO) -> None:
        with self._listening(stream):
            print(_printable(text, stream), file=stream, flush=True)

    @contextmanager
    def _listening(self, stream: TextIO) -> Iterator[None]:
        try:
            yield
        except OSError as problem:
            _silence(stream)
            if not isinstance(problem, BrokenPipeError) and stream is sys.stdout:
                self.problem = problem

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


def open_closed_streams() -> None:
    """Put the null device where a standard stream is closed, or the next file that is opened takes its place."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115 (for as long as the program runs)


def _silence(stream: TextIO) -> None:
    """Let a stream write to nowhere, also what it still has in its buffer."""
    with suppress(OSError, ValueError):  # a stream without a number
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def _printable(text: str, stream: TextIO) -> str:
    """The text, with escapes for letters that a stream can't encode, such as parts of names of files."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


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
