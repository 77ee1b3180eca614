"""A table in files as pieces that a forest is fitted to, the same ones in every pass."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...estimators.table_pieces import TablePiece
from ...inputs.cell_error import CellError
from .catalogue import Catalogue, Chunk
from .for_models import Fingerprint, read_labels_of, read_numbers_of, table_for


@dataclass
class CataloguePieces:
    """The rows of a catalogue that have a target, in pieces of the same number of rows."""

    catalogue: Catalogue
    names: Sequence[str]  # columns with features and their errors
    target: str
    roles: Mapping[str, str]  # other arguments of `fit`, and their columns
    are_numbers: bool  # whether the target is a number
    units: Mapping[str, Any]  # of columns that have one
    rows_of_a_piece: int
    n_without_target: int = field(default=0, init=False)
    fingerprint: Fingerprint = field(init=False)  # of the rows that have a target, after a pass over the features
    _starts: list[int] = field(default_factory=list, init=False)  # first row of each piece
    _known: np.ndarray = field(init=False)  # rows of the last piece that have a target

    def name_of(self, number: int) -> str:
        path, first = self.catalogue.place_of(self._starts[number])
        return f"{path}, rows from {first + 1:,} on"

    def in_place(self, problem: CellError, number: int) -> CellError:
        for place, _ in enumerate(self.pieces(targets_only=True)):  # once more, to know which rows have no target
            if place == number:
                break
        path, row = self.catalogue.place_of(self._starts[number] + int(self._known[problem.row or 0]))
        what = problem.what.removesuffix(" of X")
        what = f"column {self.roles[what]!r}" if what in self.roles else what
        return CellError(f"{path}: {what}", problem.value, row + 1, None, problem.remark)

    def pieces(self, *, targets_only: bool = False) -> Iterator[TablePiece]:
        """The pieces, of those rows that have a target."""
        names = [] if targets_only else list(self.names)
        columns = list(dict.fromkeys([*names, *self.roles.values()]))
        chunks = self.catalogue.chunks(columns, [self.target])
        self._starts, first_row, self.n_without_target = [], 0, 0
        if names:
            self.fingerprint = Fingerprint(names)
        for chunk in _recut(chunks, self.rows_of_a_piece):
            self._starts.append(first_row)
            first_row += chunk.others.num_rows
            yield self._piece(chunk, names)

    def _piece(self, chunk: Chunk, names: list[str]) -> TablePiece:
        read = read_numbers_of if self.are_numbers else read_labels_of
        y, known = read(chunk.others.column(self.target))
        self._known = np.flatnonzero(known)
        self.n_without_target += int(np.sum(~known))
        numbers = chunk.numbers.filter(known) if chunk.numbers.num_columns else chunk.numbers
        roles = {role: numbers.column(column).to_numpy() for role, column in self.roles.items()}
        if not names:
            return TablePiece(X=None, y=y, **roles)
        self.fingerprint.after(numbers)
        return TablePiece(X=table_for(numbers, names, dict(self.units)), y=y, **roles)


def _recut(chunks: Iterator[Chunk], n_rows: int) -> Iterator[Chunk]:
    """The same rows in pieces of `n_rows`, and a last one with fewer."""
    import pyarrow

    numbers: list[Any] = []
    others: list[Any] = []
    count = 0
    for chunk in chunks:
        numbers.append(chunk.numbers)
        others.append(chunk.others)
        count += chunk.others.num_rows
        while count >= n_rows:
            parts = [pyarrow.concat_tables(each) if each[0].num_columns else each[0] for each in (numbers, others)]
            yield Chunk(*(part.slice(0, n_rows) for part in parts))
            numbers, others = ([part.slice(n_rows)] for part in parts)
            count -= n_rows
    if count:
        yield Chunk(*(pyarrow.concat_tables(each) if each[0].num_columns else each[0] for each in (numbers, others)))
