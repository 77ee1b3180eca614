"""Limits for tables from anywhere: how much memory a file may take in proportion to its size.

Checks of single formats stand beside: `votable` (addresses, announced sizes) and `header` (YAML).
"""

MOST_TIMES = 200  # its size that a file may grow to when it is read; real tables grow to less than 50 times theirs
ALWAYS_ALLOWED = 1 << 28  # bytes that any file may take


class UnsafeTable(ValueError):
    """A table that is not read, for a reason; who opens the file adds its name."""


def refuse_expansion(n_bytes: int, size: int) -> None:
    """Raise UnsafeTable if a file of `size` bytes would take `n_bytes`, and that is out of proportion."""
    if n_bytes > max(ALWAYS_ALLOWED, MOST_TIMES * size):
        raise UnsafeTable(
            f"it has {size:,} bytes and describes a table of {n_bytes:,} or more, over {MOST_TIMES} times its size, "
            "which could fill the memory"
        )
