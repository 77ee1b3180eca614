"""Processes that run one case after the other. One that crashes or hangs is replaced, and the case is reported."""

import faulthandler
import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection, wait
from typing import NamedTuple

TO_START = 600.0  # seconds: imports, and kernels that were never compiled before
_READY = "ready"


class Outcome(NamedTuple):
    """What became of a case."""

    case: str
    violation: str | None
    seconds: float


class Worker:
    """A process that runs `attack(case)` on demand, after one call of `prepare()`.

    `attack` returns a violation as text, or None. Both functions are found by their names in the new process.
    """

    def __init__(self, attack: Callable[[str], str | None], prepare: Callable[[], None], time_limit: float):
        self._functions, self._time_limit = (attack, prepare), time_limit
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")  # a fork would copy threads and caches of this process
        self.connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, *self._functions), daemon=True)
        self._process.start()
        theirs.close()  # so that the death of the process ends the connection
        self._case, self._begun = None, time.monotonic()
        self._deadline = self._begun + TO_START

    @property
    def is_idle(self) -> bool:
        return self._case is None and self._deadline is None

    def begin(self, case: str) -> None:
        self._case, self._begun = case, time.monotonic()
        self._deadline = self._begun + self._time_limit
        self.connection.send(case)

    def look(self) -> Outcome | None:
        """What became of the case that it was given, if that is known by now."""
        try:
            if self.connection.poll():
                return self._take(self.connection.recv())
        except (EOFError, ConnectionError):
            return self._replaced(f"crash: the process ended with code {self._exit_code()}")
        if self._deadline is not None and time.monotonic() > self._deadline:
            return self._replaced(f"hang: no answer in {self._deadline - self._begun:.0f} s")
        return None

    def _take(self, message: tuple[str, str | None]) -> Outcome | None:
        _, violation = message
        case, self._case, self._deadline = self._case, None, None
        return None if case is None else Outcome(case, violation, time.monotonic() - self._begun)

    def _exit_code(self) -> int | None:
        self._process.join(10)
        return self._process.exitcode

    def _replaced(self, problem: str) -> Outcome:
        """Start anew; a process that can't even start is not tried again."""
        case, seconds = self._case, time.monotonic() - self._begun
        self.stop()
        if case is None:
            raise RuntimeError(f"a worker could not start: {problem}")
        self._start()
        return Outcome(case, problem, seconds)

    def stop(self) -> None:
        """End the process; if it hangs, it first says where (to standard error)."""
        if self._process.is_alive() and self._case is not None:
            os.kill(self._process.pid, signal.SIGUSR1)
            time.sleep(0.5)
        self._process.kill()
        self._process.join()
        self.connection.close()


def wait_for_any(workers: Sequence[Worker], seconds: float) -> None:
    """Sleep until one of them has something to say, or the time is over."""
    wait([worker.connection for worker in workers], timeout=seconds)


def _serve(connection: Connection, attack: Callable[[str], str | None], prepare: Callable[[], None]) -> None:
    """The life of a process: prepare, then a case after the other."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the one who hands out the cases
    faulthandler.enable()
    faulthandler.register(signal.SIGUSR1)
    prepare()
    connection.send((_READY, None))
    while True:
        try:
            case = connection.recv()
        except EOFError:
            return
        connection.send((case, attack(case)))
