"""How a command is stopped: by Ctrl-C, or politely by another program (SIGTERM, SIGHUP)."""

import os
import signal
import threading
from types import FrameType, TracebackType
from typing import Any, NoReturn

CODE = 130  # of the exit, as a shell has it for Ctrl-C
MESSAGE = "interrupted; no unfinished file is left."
_SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


class Interruption:
    """Says what happens when the program is to stop. Used in `with`; afterwards all is as it was.

    Attributes
    ----------
    is_requested : bool
        Whether it is to stop. A library may turn the exception into another one, or lose it.
    """

    def __init__(self) -> None:
        self.is_requested = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> "Interruption":
        if threading.current_thread() is threading.main_thread():  # no other may say what signals do
            before = {number: signal.getsignal(number) for number in _SIGNALS}
            ignored = (signal.SIG_IGN, None)  # `nohup` has its reasons
            self._before = {number: handler for number, handler in before.items() if handler not in ignored}
        return self

    def __exit__(self, kind: type | None, problem: BaseException | None, where: TracebackType | None) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def exits_at_once(self) -> None:
        """From now on: there is nothing yet to tidy up, and libraries that are being imported can't be in the way."""
        self._handle_with(_leave)

    def raises(self) -> None:
        """From now on: a KeyboardInterrupt, so that unfinished files are removed."""
        self._handle_with(self._stop)

    def kills(self) -> None:
        """From now on: the work is done, and nothing is said about it."""
        self._before = dict.fromkeys(self._before, signal.SIG_DFL)

    def _handle_with(self, handler: Any) -> None:
        for number in self._before:
            signal.signal(number, handler)

    def _stop(self, number: int, frame: FrameType | None) -> NoReturn:
        self.is_requested = True
        raise KeyboardInterrupt


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    try:
        os.write(2, f"probforest: {MESSAGE}\n".encode())
    finally:
        os._exit(CODE)
