"""The kinds of attack, and how one case of one kind is run: all that it does follows from the seed and its name."""

import resource
import traceback
from collections.abc import Callable
from contextlib import suppress

import numpy as np

from . import calls, kills, laws, model_files
from .answers import Violation, place_of
from .problems import random_problem

_TO_WARM_UP = 15
MEMORY = 4 << 30  # bytes that a worker may take beyond what it has when it begins

KINDS: dict[str, Callable[[np.random.Generator], None]] = {
    "calls": calls.run,
    "laws": laws.run,
    "files": model_files.run,
    "kills": kills.run,
}


def generator(seed: int, case: str) -> np.random.Generator:
    """The random numbers of the case "kind:number"."""
    kind, _, number = case.partition(":")
    if kind not in KINDS or not number.isdecimal():
        raise ValueError(f"{case!r} is no case; expected one such as {next(iter(KINDS))}:17 ({', '.join(KINDS)})")
    return np.random.default_rng([seed, list(KINDS).index(kind), int(number)])


def run_case(seed: int, case: str) -> str | None:
    """Run one case; returns the violation that it found, as text."""
    random = generator(seed, case)
    try:
        KINDS[case.partition(":")[0]](random)
    except Violation as violation:
        return "\n".join([str(violation), *getattr(violation, "__notes__", [])])
    except Exception as problem:
        headline = f"{type(problem).__name__}: {problem} ({place_of(problem)})".replace("\n", " ")
        return headline + "\n" + "".join(traceback.format_exception(problem)[-6:]).rstrip()
    return None


def prepare() -> None:
    """Compile or load the kernels, with problems that have nothing special about them, then limit the memory."""
    for number in range(_TO_WARM_UP):
        with suppress(Exception):
            calls.attack(random_problem(np.random.default_rng(number), tame=True, keep_proba=0.05))
    with open("/proc/self/statm") as stream:
        in_use = int(stream.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (in_use + MEMORY, resource.RLIM_INFINITY))
