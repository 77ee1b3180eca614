"""A table in many files: the files of a folder, one after the other, as one table."""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from ...support.wording import listed
from .catalogue import Catalogue, Chunk
from .formats import format_by_name

Open = Callable[[Any], Catalogue]


def files_of(folder: Path) -> list[Path]:
    """The tables in a folder and in the folders in it, by their names; hidden files and those with an underscore in
    front, which other programs leave there, are none."""

    def is_table(path: Path) -> bool:
        inner = path.relative_to(folder).parts
        return not any(part[0] in "._" for part in inner) and format_by_name(path)[0] is not None and path.is_file()

    found = sorted(path for path in folder.rglob("*") if is_table(path))
    if not found:
        raise ValueError(f"{folder} is a folder without tables (.csv, .fits, .parquet, ...).")
    return found


class FolderCatalogue(Catalogue):
    """The files of a folder as one table. All of them have the columns of the first; others are left out.

    `open_file` opens one of `files`. If that is cheap, `look_at_all` at the beginning, so that a file without a column
    is noticed at once.
    """

    def __init__(self, path: Any, files: Sequence[Any], open_file: Open, *, look_at_all: bool = True):
        self._files, self._open = list(files), open_file
        with open_file(self._files[0]) as first:
            super().__init__(path, f"{len(files)} × {first.format}", path, None)
            self.names, self.skipped, self.units = list(first.names), dict(first.skipped), dict(first.units)
            self.n_rows = first.n_rows
        self._starts = [0]  # of the files that were read, in rows of the table
        self._types: dict[str, Any] = {}  # of columns that are copied, in the first file
        for file in self._files[1:] if look_at_all else ():
            with open_file(file) as other:
                self._check(other)
                unknown = self.n_rows is None or other.n_rows is None
                self.n_rows = None if unknown else (self.n_rows or 0) + (other.n_rows or 0)
        if not look_at_all and len(self._files) > 1:
            self.n_rows = None

    def close(self) -> None:
        """Nothing is open between two reads."""

    def first_pieces(self, most: int) -> Iterator[Any]:
        for file in self._files[:: -(-len(self._files) // most)]:
            with self._open(file) as catalogue:
                yield from islice(catalogue.pieces((), self.names), 1)

    def place_of(self, row: int) -> tuple[Any, int]:
        number = bisect_right(self._starts, row) - 1
        return self._files[number], row - self._starts[number]

    def whole(self) -> Any:
        import pyarrow

        return pyarrow.concat_tables(self.pieces((), self.names))

    def pieces(self, numbers: Sequence[str], others: Sequence[str]) -> Iterator[Any]:
        for catalogue, first_row in self._opened():
            for piece in catalogue.pieces(numbers, others):
                first_row[0] += piece.num_rows
                yield self._as_in_first(piece, others, catalogue)

    def chunks(self, numbers: Sequence[str], others: Sequence[str] = ()) -> Iterator[Chunk]:
        self.refuse_unknown([*numbers, *others])
        for catalogue, first_row in self._opened():
            for chunk in catalogue.chunks(numbers, others):
                first_row[0] += chunk.numbers.num_rows if numbers else chunk.others.num_rows
                yield chunk._replace(others=self._as_in_first(chunk.others, others, catalogue))

    def _opened(self) -> Iterator[tuple[Catalogue, list[int]]]:
        """Each file, open, and a list in which the reader counts rows."""
        counter, self._starts = [0], []
        for file in self._files:
            self._starts.append(counter[0])
            with self._open(file) as catalogue:
                self._check(catalogue)
                yield catalogue, counter

    def _check(self, other: Catalogue) -> None:
        missing = [name for name in self.names if name not in set(other.names)]
        if missing:
            raise ValueError(
                f"{other.path} has no column {listed(missing)}, which {self._files[0]} has: the files of a folder must "
                "have the same columns."
            )
        for name in self.names:
            if other.units.get(name) != self.units.get(name):
                raise ValueError(
                    f"{other.path} has the column {name!r} in {other.units.get(name) or 'no unit'}, but "
                    f"{self._files[0]} in {self.units.get(name) or 'no unit'}: the files of a folder must have the "
                    "same units."
                )

    def _as_in_first(self, piece: Any, others: Sequence[str], catalogue: Catalogue) -> Any:
        """Columns that are copied have one type in all files."""
        import pyarrow

        for place, name in enumerate(piece.column_names):
            if name not in others:
                continue
            column = piece.column(name)
            kind = self._types.get(name, column.type)
            if pyarrow.types.is_null(kind):
                kind = column.type
            self._types[name] = kind
            if column.type == kind:
                continue
            try:
                piece = piece.set_column(place, name, column.cast(kind))
            except (pyarrow.ArrowInvalid, pyarrow.ArrowNotImplementedError):
                raise ValueError(
                    f"{catalogue.path} has the column {name!r} of the type {column.type}, but earlier files of the "
                    f"folder have {kind}: give all files the same types, or leave the column out."
                ) from None
        return piece
