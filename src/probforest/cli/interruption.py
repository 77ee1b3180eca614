"""How a command is interrupted: by Ctrl-C, or by another program (SIGTERM, SIGHUP)."""

import os
import signal
import threading
from types import FrameType, TracebackType
from typing import Any, NoReturn

CODE = 130  # of the exit, as a shell has it for Ctrl-C
MESSAGE = "interrupted; no unfinished file is left."
_SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


class Interruption:
    """What happens when the program is interrupted. Used in `with`; restores the signal handlers at the end.

    Attributes
    ----------
    is_requested : bool
        Whether a signal has come. A library may turn the exception into another one, or lose it.
    """

    def __init__(self) -> None:
        self.is_requested = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> "Interruption":
        if threading.current_thread() is threading.main_thread():  # no other thread may set signal handlers
            before = {number: signal.getsignal(number) for number in _SIGNALS}
            ignored = (signal.SIG_IGN, None)  # set by `nohup`
            self._before = {number: handler for number, handler in before.items() if handler not in ignored}
        return self

    def __exit__(self, kind: type | None, problem: BaseException | None, where: TracebackType | None) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def exits_at_once(self) -> None:
        """From now on, exit at once: there is nothing to clean up yet, and half-imported libraries are not unwound."""
        self._handle_with(_leave)

    def raises(self) -> None:
        """From now on, raise a KeyboardInterrupt, so that unfinished files are removed."""
        self._handle_with(self._stop)

    def kills(self) -> None:
        """From now on, end without a message: the work is done."""
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
