"""Copy a table whose columns lie side by side to one whose rows do, or the other way round."""

import numpy as np

_BLOCK = 256  # columns: what is read of them is still in the cache when its neighbours are wanted


def copy_in_blocks(source: np.ndarray, target: np.ndarray) -> None:
    """Copy a table (d, n) to another one of any layout, `_BLOCK` columns at a time. NumPy would copy a whole row, and
    fetch every piece of memory again for each of them."""
    for start in range(0, source.shape[1], _BLOCK):
        target[:, start : start + _BLOCK] = source[:, start : start + _BLOCK]


def row_by_row(table: np.ndarray) -> np.ndarray:
    """A copy of a table (d, n) whose rows are contiguous."""
    copy = np.empty(table.shape, dtype=table.dtype)
    copy_in_blocks(table, copy)
    return copy


def side_by_side(*tables: np.ndarray, n_more: int = 0) -> np.ndarray:
    """The numbers of k tables (n, d) side by side, and room for `n_more` others: (n, d, k + n_more)."""
    together = np.empty((*tables[0].shape, len(tables) + n_more), dtype=tables[0].dtype)
    for number, table in enumerate(tables):
        copy_in_blocks(table.T, together[:, :, number].T)
    return together
