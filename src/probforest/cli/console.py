"""The output of a command: text for people, or one JSON document for scripts."""

import json
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO


class Console:
    """Where a command prints. With `as_json`, standard output has nothing but the result.

    Work continues if nothing can be printed: a closed pipe or a full disk must not cost the user a model.

    Attributes
    ----------
    problem : OSError or None
        Why something could not be printed. A closed pipe is not a problem: `head` closes it when it has read enough.
    """

    def __init__(self, as_json: bool = False):
        self.as_json = as_json
        self.problem: OSError | None = None

    def say(self, text: str = "") -> None:
        """Print text for people."""
        if not self.as_json:
            self._print(text, sys.stdout)

    def note(self, text: str) -> None:
        """Print a remark that users should know of."""
        self.message(f"note: {text}")

    def message(self, text: str) -> None:
        """Print a line to standard error."""
        self._print(f"probforest: {text}", sys.stderr)

    def result(self, data: Any) -> None:
        """Print the result of a command, for scripts."""
        if self.as_json:
            text = json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False)
            if _printable(text, sys.stdout) != text:  # JSON has escapes of its own
                text = json.dumps(data, indent=2, allow_nan=False)
            self._print(text, sys.stdout)

    def flush(self) -> None:
        """Write what others have printed, such as a help text."""
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
        """Whether standard error is a terminal."""
        return int(sys.stderr.isatty())

    @contextmanager
    def notes_for_warnings(self) -> Iterator[None]:
        """Warnings of the package become notes, each of them once."""
        seen: set[str] = set()

        def show(message: Any, category: type[Warning], *_: Any, **__: Any) -> None:
            if category is UserWarning and str(message) not in seen:  # other kinds, of libraries, are for programmers
                seen.add(str(message))
                self.note(str(message))

        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.showwarning = show
            yield


def open_closed_streams() -> None:
    """Put the null device in place of closed streams, or the next file that is opened would take their place."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115 (for as long as the program runs)


def _silence(stream: TextIO) -> None:
    """Redirect a stream to the null device, with what is still in its buffer."""
    with suppress(OSError, ValueError):  # a stream without a number
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def _printable(text: str, stream: TextIO) -> str:
    """The text, with escapes for characters that a stream can't encode, such as parts of file names."""
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
