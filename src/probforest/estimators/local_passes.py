"""The passes over a table in pieces on one machine: pieces come from files one after the other, and go into files."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np

from ..inputs.cell_error import CellError
from ..support.progress import with_progress
from ..support.threads import in_threads
from ..trees.bootstrap import Draw
from ..trees.fitted_tree import FittedTree
from ..trees.stored_rows import StoredRows
from .table_pieces import GrowTree, Prepared, TablePiece

Result = TypeVar("Result")


class PieceSource(Protocol):
    """A table that can be read several times, in the same pieces each time."""

    def name_of(self, number: int) -> str:
        """What a piece is called in messages."""

    def in_place(self, problem: CellError, number: int) -> Exception:
        """An error about a value of a piece, with its place in the table."""

    def pieces(self, *, targets_only: bool = False) -> Iterator[TablePiece]:
        """All pieces; without features, if these are not needed."""


class LocalPasses(AbstractContextManager):
    """Passes over the pieces of `source`. Their cells and codes are in a temporary folder in `scratch` (None: that of
    the system), which is removed at the end."""

    def __init__(
        self, source: PieceSource, scratch: Path | None = None, n_jobs: int | None = None, verbose: int = 0
    ) -> None:
        self._source, self._n_jobs, self._verbose = source, n_jobs, verbose
        self._scratch = tempfile.TemporaryDirectory(prefix="probforest-", dir=scratch)
        self._n_rows: int | None = None
        self.n_bytes = 0  # in the temporary folder

    def __exit__(self, *_: object) -> None:
        self._scratch.cleanup()

    def name_of(self, number: int) -> str:
        return self._source.name_of(number)

    def in_place(self, problem: CellError, number: int) -> Exception:
        return self._source.in_place(problem, number)

    def over_targets(self, function: Callable[[TablePiece], Result]) -> list[Result]:
        sizes: list[int] = []

        def counted(piece: TablePiece) -> Result:
            sizes.append(piece.n_rows)
            return function(piece)

        found = list(self._over("targets", counted, targets_only=True))
        self._n_rows = sum(sizes)
        return found

    def take(self, rows: list[np.ndarray]) -> list[TablePiece]:
        numbers = iter(rows)
        return list(self._over("sample", lambda piece: piece.rows(next(numbers))))

    def prepare(
        self, function: Callable[[TablePiece, np.ndarray], Prepared], rows: list[np.ndarray]
    ) -> tuple[StoredTrees, np.ndarray]:
        stored, numbers, places = StoredRows(Path(self._scratch.name)), iter(rows), []
        for prepared in self._over("codes", lambda piece: function(piece, next(numbers))):
            places.append(np.where(prepared.places >= 0, prepared.places + stored.n_objects, -1))
            if prepared.training is not None:
                stored.add(prepared.training)
        self.n_bytes = stored.n_bytes
        return StoredTrees(stored, self._n_jobs, self._verbose), np.concatenate(places)

    def _over(self, label: str, function: Callable[[TablePiece], Any], *, targets_only: bool = False) -> Iterator[Any]:
        """The function of each piece, one after the other."""
        pieces = self._source.pieces(targets_only=targets_only)
        shown = with_progress(pieces, self._n_rows, label, self._verbose, size=lambda piece: piece.n_rows)
        for number, piece in enumerate(shown):
            try:
                yield function(piece)
            except CellError as problem:
                raise self._source.in_place(problem, number) from None
            except ValueError as problem:
                raise ValueError(f"{self.name_of(number)}: {problem}") from problem


class StoredTrees:
    """Trees that draw from rows in files."""

    def __init__(self, stored: StoredRows, n_jobs: int | None, verbose: int) -> None:
        self._stored, self._n_jobs, self._verbose = stored, n_jobs, verbose

    @property
    def n_objects(self) -> int:
        return self._stored.n_objects

    def grow(self, grow_tree: GrowTree, draws: list[Draw], n_values: int | None = None) -> list[FittedTree]:
        def grow_one(draw: Draw) -> FittedTree:
            training, weight = self._stored.drawn(draw)
            return grow_tree(training if n_values is None else training.with_first_features(n_values), weight, draw)

        trees = in_threads(grow_one, draws, self._n_jobs)
        return list(with_progress(trees, len(draws), "trees", self._verbose))
