"""Signs that a transformer has scaled the columns of a table, those of errors as if they were values."""

from collections.abc import Callable, Iterable

import numpy as np

from ..support.warning import warn_caller

_SAME = 1e-9  # of the spread of a column: rounding


def refuse_scaled(values: Iterable[np.ndarray], errors: Iterable[np.ndarray]) -> None:
    """Raise an error for columns of values and errors, each (n,), that a scaler has centred: errors are negative then.

    If it has only scaled them, a warning is enough: such errors are possible, though hardly right.
    """
    scaler = find_scaler(values, errors)
    if scaler is None:
        return
    message = (
        f"All values and errors of X look as after a {scaler}: it scales errors as if they were values, and then they "
        "are no longer the errors of these values. Leave it out; forests need no scaling."
    )
    if scaler in _CENTRING:
        raise ValueError(message)
    warn_caller(message)


def find_scaler(values: Iterable[np.ndarray], errors: Iterable[np.ndarray]) -> str | None:
    """The scaler that all columns of values and errors, each (n,), seem to come from; some of both must tell.

    >>> find_scaler([np.array([0.0, 0.5, 1.0])], [np.array([0.0, 0.3, 1.0])])
    'MinMaxScaler or MaxAbsScaler'
    """
    possible = {**_CENTRING, **_SCALING}
    for columns in (values, errors):
        telling = [known for column in columns if _tells(known := column[np.isfinite(column)])]
        with np.errstate(all="ignore"):  # sums of huge values
            possible = {name: fits for name, fits in possible.items() if telling and all(map(fits, telling))}
    return next(iter(possible), None)


def _tells(column: np.ndarray) -> bool:
    """Whether a column has more than two different values: a constant and a flag say nothing."""
    return bool(len(column) and ((column.min() < column) & (column < column.max())).any())


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
