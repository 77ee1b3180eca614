"""Distribution families as plain data and back. Those with a name are their names; another one is what a model uses of
it: its grid and its table of F. No function is ever stored.
"""

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from scipy.special import ndtr

from ..families import (
    BY_NAME,
    LEVELS,
    Family,
    full_table,
    read_families,
    squashed_places,
    student_t,
)
from ..kernels.cdf import TABLE_STEPS
from ..kernels.layout import GRID_POINTS

_ANY_STUDENT_T = student_t(3.0)


@dataclass(frozen=True)
class TabulatedCdf:
    """F between the points of a squashed table, exact at them."""

    table: bytes  # (TABLE_STEPS + 1,) float64; bytes are compared, hashed and pickled by their content

    def __call__(self, z: np.ndarray) -> np.ndarray:
        inside = np.frombuffer(self.table)[1:-1]
        return np.interp(z, squashed_places(TABLE_STEPS), inside, left=0.0, right=1.0)


@dataclass(frozen=True)
class TabulatedPpf:
    """Quantiles between those of the grid, exact at them."""

    grid: bytes  # (GRID_POINTS,) float64

    def __call__(self, p: np.ndarray) -> np.ndarray:
        return np.interp(p, LEVELS, np.frombuffer(self.grid))


def tabulated_family(name: str, log: bool, is_normal: bool, grid: np.ndarray, table: np.ndarray) -> Family:
    """A family that has the grid (GRID_POINTS,) and the full table (TABLE_STEPS + 1,) of another.

    >>> from probforest.families import LAPLACE
    >>> twin = tabulated_family("twin", False, False, LAPLACE.grid(), full_table(LAPLACE))
    >>> np.array_equal(twin.grid(), LAPLACE.grid()), np.array_equal(full_table(twin), full_table(LAPLACE))
    (True, True)
    """
    if grid.shape != (GRID_POINTS,) or not np.isfinite(grid).all() or not (np.diff(grid) >= 0).all():
        raise ValueError(f"the grid of the distribution {name!r} does not rise")
    is_cdf = table.shape == (TABLE_STEPS + 1,) and table[0] == 0 and table[-1] == 1 and (np.diff(table) >= 0).all()
    if not is_cdf:
        raise ValueError(f"the table of the distribution {name!r} does not rise from 0 to 1")
    # A normal keeps its function: kernels take its even table where all features are normal.
    return Family(name, ndtr if is_normal else TabulatedCdf(table.tobytes()), TabulatedPpf(grid.tobytes()), log)


@dataclass
class FamilyShelf:
    """The different families of a model, each once, in the order in which they were met."""

    entries: list[dict[str, Any]] = field(default_factory=list)  # JSON
    grids: list[np.ndarray] = field(default_factory=list)  # of those that have no name
    tables: list[np.ndarray] = field(default_factory=list)
    _places: dict[Any, int] = field(default_factory=dict)

    def place(self, family: Family) -> int:
        """Put a family on the shelf, if it is not there yet; returns its number."""
        word = _name(family)
        if word is not None:
            return self._put(tuple(word.values()), word)
        grid, table = family.grid(), full_table(family)
        entry = {"name": family.name, "log": family.log, "is_normal": family.is_normal, "table": len(self.tables)}
        key = (family.name, family.log, family.is_normal, grid.tobytes(), table.tobytes())
        if key not in self._places:
            self.grids.append(grid)
            self.tables.append(table)
        return self._put(key, entry)

    def _put(self, key: Any, entry: dict[str, Any]) -> int:
        if key not in self._places:
            self._places[key] = len(self.entries)
            self.entries.append(entry)
        return self._places[key]

    def special(self, value: Any) -> dict[str, Any] | None:
        """JSON of a family, or of a distribution of SciPy, within a parameter; None for anything else."""
        if not isinstance(value, Family) and not hasattr(value, "ppf"):
            return None
        return {"$family": self.place(read_families(value, 1)[0])}

    def arrays(self) -> dict[str, np.ndarray]:
        """Grids and tables, a row per family that has no name."""
        return {
            "family_grids": np.array(self.grids, dtype=np.float64).reshape(-1, GRID_POINTS),
            "family_tables": np.array(self.tables, dtype=np.float64).reshape(-1, TABLE_STEPS + 1),
        }


def read_shelf(entries: list[dict[str, Any]], grids: np.ndarray, tables: np.ndarray) -> list[Family]:
    """The families of a shelf."""
    return [_read_entry(entry, grids, tables) for entry in entries]


def _name(family: Family) -> dict[str, Any] | None:
    """The family by its name, or None. A family that was pickled or copied is equal, but not the same object."""
    if BY_NAME.get(family.name) == family:
        return {"word": family.name}
    cdf, ppf = family.cdf, family.ppf
    if not (isinstance(cdf, partial) and isinstance(ppf, partial)):
        return None
    functions = [(part.func, len(part.args)) for part in (_ANY_STUDENT_T.cdf, _ANY_STUDENT_T.ppf)]  # type: ignore[attr-defined]
    is_student_t = [(part.func, len(part.args)) for part in (cdf, ppf)] == functions and cdf.args == ppf.args
    if not is_student_t or family.log or family.name != student_t(cdf.args[0]).name:
        return None
    return {"word": "student_t", "degrees": float(cdf.args[0])}


def _read_entry(entry: dict[str, Any], grids: np.ndarray, tables: np.ndarray) -> Family:
    if "word" in entry:
        word = (entry["word"], entry["degrees"]) if "degrees" in entry else entry["word"]
        return read_families(word, 1)[0]
    name, row = entry["name"], entry["table"]
    if type(name) is not str or type(row) is not int or not 0 <= row < len(tables):
        raise ValueError("a distribution has no table")
    return tabulated_family(name, bool(entry["log"]), bool(entry["is_normal"]), grids[row], tables[row])
