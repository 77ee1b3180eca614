"""The distribution families: what a cell's probability looks like in units of its σ.

A family is its quantile grid (where the split search moves mass) and its F (where objects go). Nothing else in the
program knows which one it is.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.special import ndtr

from .kernels.cdf import TABLE_REACH, TABLE_STEPS
from .kernels.layout import GRID_POINTS, Shape


@dataclass(frozen=True)
class Family:
    """A location–scale family, standardised to mean 0 and standard deviation 1."""

    name: str
    cdf: Callable[[np.ndarray], np.ndarray]
    grid: tuple[float, ...]

    def shape(self) -> Shape:
        """Its grid, grid masses and table, as the kernels take them."""
        grid = np.array(self.grid)
        assert len(grid) == GRID_POINTS
        # The mass left of the point kσ is exactly F(k); the last point carries all that is left.
        chunk = np.diff(self.cdf(grid[:-1]), prepend=0.0, append=1.0)
        table = self.cdf(np.linspace(-TABLE_REACH, TABLE_REACH, TABLE_STEPS + 1))
        table[0], table[-1] = 0.0, 1.0
        return Shape(grid, chunk, table)


NORMAL = Family("normal", ndtr, (-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0))


@cache
def normal_shape() -> Shape:
    return NORMAL.shape()
