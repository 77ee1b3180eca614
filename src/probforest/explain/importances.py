"""Numbers that say how important features are, with the names of the features."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..support.extras import need
from ..support.wording import one_line, shortened
from . import figures

_LONGEST_NAME = 40
_MOST_LINES = 30


@dataclass(frozen=True, eq=False)
class Importances:
    """Importances of features by their names, the largest first. It is used like a Series of pandas.

    Attributes
    ----------
    index : list of str
        Names of the features.
    values : ndarray of shape (n_features,)
        Their importances.
    errors : ndarray of shape (n_features,) or None
        Standard errors of the values, if they are known.
    quantity : str
        What the values are.

    Examples
    --------
    >>> table = Importances.of(["u", "g", "r"], [0.2, 0.5, 0.3], "impurity decrease")
    >>> table
    g  0.5
    r  0.3
    u  0.2
    impurity decrease, 3 features
    >>> table["u"], table.index[0], dict(table.head(1).items())
    (0.2, 'g', {'g': 0.5})
    """

    index: list[str]
    values: np.ndarray
    errors: np.ndarray | None = None
    quantity: str = "importance"

    @classmethod
    def of(cls, names: Any, values: Any, quantity: str, errors: Any = None) -> Importances:
        """Make a table of names and numbers in any order.

        Parameters
        ----------
        names : sequence of str of length d
            Names of the features.
        values : array-like of shape (d,)
            Their importances.
        quantity : str
            What the values are.
        errors : array-like of shape (d,), default=None
            Standard errors of the values.

        Returns
        -------
        Importances
            The largest values first.
        """
        numbers = np.asarray(values, dtype=np.float64)
        if numbers.shape != (len(names),):
            raise ValueError(f"There are {len(names)} names of features, but values has shape {numbers.shape}.")
        order = np.argsort(-numbers, kind="stable")
        scatter = None if errors is None else np.asarray(errors, dtype=np.float64)[order]
        return cls([str(names[j]) for j in order], numbers[order], scatter, quantity)

    def __len__(self) -> int:
        return len(self.index)

    def __iter__(self) -> Iterator[float]:
        return iter(self.values.tolist())

    def __contains__(self, name: object) -> bool:
        return name in self.index

    def __getitem__(self, name: str) -> float:
        if name not in self.index:
            raise KeyError(name)
        return float(self.values[self.index.index(name)])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.values, dtype=dtype)

    def __repr__(self) -> str:
        shown = self.head(_MOST_LINES)
        names = [shortened(one_line(name), _LONGEST_NAME) for name in shown.index]
        numbers = [f"{value:.3g}" for value in shown.values]
        if shown.errors is not None:
            numbers = [f"{number} ± {error:.1g}" for number, error in zip(numbers, shown.errors, strict=True)]
        width = max(map(len, names), default=0)
        lines = [f"{name:<{width}}  {number}" for name, number in zip(names, numbers, strict=True)]
        return "\n".join([*lines, f"{self.quantity}, {len(self)} features"])

    def keys(self) -> list[str]:
        """Names of the features.

        Returns
        -------
        list of str
            The same as `index`.
        """
        return self.index

    def items(self) -> list[tuple[str, float]]:
        """Names and values.

        Returns
        -------
        list of (name, value)
            The largest first.
        """
        return list(zip(self.index, self.values.tolist(), strict=True))

    def head(self, n: int = 5) -> Importances:
        """The most important features.

        Parameters
        ----------
        n : int, default=5
            How many.

        Returns
        -------
        Importances
            A table with the first `n` of them.
        """
        errors = None if self.errors is None else self.errors[:n]
        return Importances(self.index[:n], self.values[:n], errors, self.quantity)

    def to_series(self) -> Any:
        """As a Series.

        Returns
        -------
        pandas Series
            The values with their names. Needs pandas (`pip install "probforest[tables]"`).
        """
        return need("pandas", "A Series", "tables").Series(self.values, index=self.index, name=self.quantity)

    def plot(self, most: int = 20, ax: Any = None) -> Any:
        """Draw a bar for each feature.

        Parameters
        ----------
        most : int, default=20
            How many features are drawn.
        ax : matplotlib Axes, default=None
            Where to draw; None: a new figure.

        Returns
        -------
        matplotlib Axes
            With the figure. Needs matplotlib (`pip install "probforest[plots]"`).
        """
        shown = self.head(most)
        left_out = len(self) - len(shown)
        label = self.quantity + (f" ({left_out:,} not shown)" if left_out > 0 else "")
        return figures.bars(ax, shown.items(), label, shown.errors)
