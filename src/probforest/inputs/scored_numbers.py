"""True targets and predictions that are to be compared: checked, and with the same number of objects."""

from typing import Any

import numpy as np

from .measured_values import unmasked


def read_scored(name: str, given: Any, n_objects: int | None = None, n_columns: int | None = None) -> np.ndarray:
    """Numbers (n,), or (n, k) if a number of columns is asked for (0: any); finite."""
    try:
        numbers = np.asarray(unmasked(given), dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise ValueError(f"{name} must hold numbers: {problem}") from problem
    fits = numbers.ndim == (1 if n_columns is None else 2) and n_objects in (None, len(numbers))
    if fits and n_columns:
        fits = numbers.shape[1] == n_columns
    if not fits:
        rows = "n" if n_objects is None else f"{n_objects}"
        shape = f"({rows},)" if n_columns is None else f"({rows}, {n_columns or 'k'})"
        raise ValueError(f"{name} has shape {numbers.shape}; expected {shape}.")
    if numbers.size == 0:
        raise ValueError(f"{name} is empty: there is nothing to compare.")
    if not np.isfinite(numbers).all():
        row = int(np.argwhere(~np.isfinite(numbers))[0][0])
        raise ValueError(f"{name} is not finite in row {row}; expected numbers.")
    return numbers
