"""Signs that a transformer has scaled the columns of a table, those of errors as if they were values."""

from collections.abc import Callable, Iterable

import numpy as np

from .warning import warn_caller

_SAME = 1e-9  # of the spread of a column: rounding


def refuse_scaled(columns: Iterable[np.ndarray]) -> None:
    """Complain about columns of values and errors, each (n,), that a scaler has centred, so that errors are negative.

    If it has only scaled them, a warning is enough: such errors are possible, though hardly right.
    """
    scaler = find_scaler(columns)
    if scaler is None:
        return
    message = (
        f"All values and errors of X look as after a {scaler}: it scales errors as if they were values, and then they "
        "are no longer the errors of these values. Leave it out; forests need no scaling."
    )
    if scaler in _CENTRING:
        raise ValueError(message)
    warn_caller(message)


def find_scaler(columns: Iterable[np.ndarray]) -> str | None:
    """The scaler that all columns of values and errors, each (n,), seem to come from.

    >>> find_scaler([np.array([0.0, 0.5, 1.0]), np.array([0.0, 0.3, 1.0])])
    'MinMaxScaler or MaxAbsScaler'
    """
    possible, n_columns = {**_CENTRING, **_SCALING}, 0
    for column in columns:
        known = column[np.isfinite(column)]
        if not len(known) or not ((known.min() < known) & (known < known.max())).any():
            continue  # a constant and a flag say nothing
        n_columns += 1
        possible = {name: looks_so for name, looks_so in possible.items() if looks_so(known)}
        if not possible:
            return None
    return next(iter(possible)) if n_columns > 1 else None


def _is_zero(number: float, column: np.ndarray) -> bool:
    return bool(abs(number) <= _SAME * np.ptp(column))


_CENTRING: dict[str, Callable[[np.ndarray], bool]] = {
    "StandardScaler": lambda column: column.min() < 0 and _is_zero(column.mean(), column),
    "RobustScaler": lambda column: column.min() < 0 < column.max() and _is_zero(float(np.median(column)), column),
}
_SCALING: dict[str, Callable[[np.ndarray], bool]] = {
    "StandardScaler(with_mean=False)": lambda column: _is_zero(column.std() - 1, column),
    "MinMaxScaler or MaxAbsScaler": lambda column: _is_zero(np.abs(column).max() - 1, column),
}
