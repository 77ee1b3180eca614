"""How much of a large table may be in memory at once."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, NamedTuple

from joblib import effective_n_jobs

from .in_pieces import SAMPLE

MOST_ROWS_OF_A_PIECE = 65_536
_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "KI": 2**10, "MI": 2**20, "GI": 2**30, "TI": 2**40}
_PROGRAM = 450 * 10**6  # bytes of the program itself, its libraries and its compiled kernels
FEWEST_DRAWS = 1000

# Bytes, as they were measured by benchmarks/large.py, rounded up.
_PER_SAMPLED_CELL = 160  # of a column in the sample, while everything is learnt from it
_PER_PIECE_CELL = 240  # of a column in a piece, while it is read and coded
_PER_DRAWN_CELL = 80  # of a feature of an object that a tree has drawn: cells and codes, twice
_PER_DRAWN_OBJECT = 700  # members and nodes of the tree under way
_PER_LEAF_CLASS = 24  # of a grown tree, per object and class, in memory and while it is saved
_PER_LEAF = 220


class MemoryPlan(NamedTuple):
    """What fits into the memory."""

    n_sample: int
    rows_of_a_piece: int
    most_draws: int  # of a tree


def bytes_of(text: str | int) -> int:
    """A number of bytes as people write it.

    >>> bytes_of("4GB"), bytes_of("512 MiB"), bytes_of(1000)
    (4000000000, 536870912, 1000)
    """
    if isinstance(text, int) and not isinstance(text, bool):
        return text
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?I?)B?\s*", str(text), flags=re.IGNORECASE)
    if found is None or found[2].upper() not in _UNITS:
        raise ValueError(f"memory must be a number of bytes such as 4GB or 512MiB; got {text!r}.")
    return int(float(found[1]) * _UNITS[found[2].upper()])


def half_of_the_memory() -> int:
    """Half of what this machine has, or of what a container is allowed."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else 8 * 10**9
    for limit in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            total = min(total, int(Path(limit).read_text()))
        except (OSError, ValueError):  # there is none
            continue
    return total // 2


def plan_memory(memory: int, model: Any, n_columns: int, n_features: int, n_classes: int = 2) -> MemoryPlan:
    """What fits into `memory` bytes, for a forest on so many columns, features with errors and classes."""
    room = memory - _PROGRAM
    n_threads = min(effective_n_jobs(model.n_jobs), int(model.n_estimators))
    per_draw = n_threads * (_PER_DRAWN_CELL * n_features + _PER_DRAWN_OBJECT)
    n_sets = 2 if model.error_features else 1
    per_draw += n_sets * int(model.n_estimators) * (_PER_LEAF + _PER_LEAF_CLASS * n_classes)
    most_draws = max(room, 0) // per_draw
    if most_draws < FEWEST_DRAWS:
        needed = _PROGRAM + FEWEST_DRAWS * per_draw
        raise ValueError(
            f"memory={memory:,} bytes is too little: {needed:,} are needed for trees of {FEWEST_DRAWS:,} objects. "
            "Give more, or fewer trees (n_estimators) or threads (n_jobs)."
        )
    n_sample = min(SAMPLE, room // (_PER_SAMPLED_CELL * n_columns))
    rows = min(MOST_ROWS_OF_A_PIECE, room // (_PER_PIECE_CELL * n_columns))
    return MemoryPlan(max(FEWEST_DRAWS, n_sample), max(FEWEST_DRAWS, rows), int(most_draws))
