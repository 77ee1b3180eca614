"""A table that comes in pieces: what `fit` takes of each, and the passes over all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from ..inputs.cell_error import CellError
from ..support.extras import need
from ..trees.bootstrap import Draw
from ..trees.fitted_tree import FittedTree
from ..trees.training_set import TrainingSet

Result = TypeVar("Result")


class TablePiece(NamedTuple):
    """Some rows of a training set: the arguments of `fit`."""

    X: Any
    y: Any = None
    X_err: Any = None
    X_limit: Any = None
    X_samples: Any = None
    y_proba: Any = None
    y_err: Any = None
    sample_weight: Any = None

    @property
    def given(self) -> tuple[Any, Any, Any, Any]:
        """The features."""
        return self.X, self.X_err, self.X_limit, self.X_samples

    @property
    def n_rows(self) -> int:
        """Number of rows, also of a piece without features."""
        given = [each for each in (self.X, self.y, self.y_proba) if each is not None]
        if not given:
            raise ValueError("This model requires y to be passed, but the target y is None.")
        return len(given[0])

    def rows(self, numbers: np.ndarray) -> TablePiece:
        """Some of the rows."""
        return TablePiece(*(_rows_of(name, each, numbers) for name, each in self._asdict().items()))


def _is_common(name: str, given: Any) -> bool:
    """Whether an argument is the same for all objects: nothing, a number, or errors of features."""
    return given is None or np.ndim(given) == 0 or (name == "X_err" and np.ndim(given) == 1)


def _rows_of(name: str, given: Any, numbers: np.ndarray) -> Any:
    """Rows of an argument."""
    if isinstance(given, tuple):
        return tuple(_rows_of(name, each, numbers) for each in given)
    if _is_common(name, given):
        return given
    return given.iloc[numbers] if hasattr(given, "iloc") else given[numbers]


def join_pieces(pieces: Sequence[TablePiece]) -> TablePiece:
    """The rows of several pieces, one after the other."""
    parts = zip(*pieces, strict=True)
    return TablePiece(*(_joined(name, each) for name, each in zip(TablePiece._fields, parts, strict=True)))


def _joined(name: str, parts: Sequence[Any]) -> Any:
    first = parts[0]
    if isinstance(first, tuple):
        return tuple(_joined(name, each) for each in zip(*parts, strict=True))
    if _is_common(name, first):
        return first
    if hasattr(first, "iloc"):
        return need("pandas", "A table", "tables").concat(list(parts), ignore_index=True)
    if hasattr(first, "colnames"):
        vstack = need("astropy.table", "A table with units", "astro").vstack
        return vstack(list(parts), join_type="exact", metadata_conflicts="silent")
    return np.concatenate(parts)


class Prepared(NamedTuple):
    """A piece of a table as trees take it."""

    training: TrainingSet | None  # None: no object of it weighs anything
    places: np.ndarray  # of the rows of the sample among the objects of the piece; -1: it weighs nothing


GrowTree = Callable[[TrainingSet, np.ndarray, Draw], FittedTree]


class RowSource(Protocol):
    """All objects of a training set, from which trees draw."""

    @property
    def n_objects(self) -> int: ...

    def grow(self, grow_tree: GrowTree, draws: list[Draw], n_values: int | None = None) -> list[FittedTree]:
        """A tree for each draw, on the first `n_values` features only, if these are given."""


class Passes(Protocol):
    """The pieces of a table, and who works on them. Each pass takes a function and gives its answers in the order of
    the pieces."""

    def name_of(self, number: int) -> str:
        """What a piece is called in messages."""

    def in_place(self, problem: CellError, number: int) -> Exception:
        """An error about a value of a piece, with its place in the table."""

    def over_targets(self, function: Callable[[TablePiece], Result]) -> list[Result]:
        """A pass for which pieces need no features."""

    def take(self, rows: list[np.ndarray]) -> list[TablePiece]:
        """Rows of each piece."""

    def prepare(
        self, function: Callable[[TablePiece, np.ndarray], Prepared], rows: list[np.ndarray]
    ) -> tuple[RowSource, np.ndarray]:
        """A pass that keeps what becomes of each piece. Also returns the places of the given rows among all objects; -1
        for a row that weighs nothing."""
