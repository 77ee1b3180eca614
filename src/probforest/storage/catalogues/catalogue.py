"""A table in a file, open for reading: what all formats have in common."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from ...support.wording import listed, suggestion

NUMERAL = r"^\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*$"
CHUNK_CELLS = 4_000_000  # of a piece: large enough to keep all cores busy, small in memory
MOST_ROWS, LEAST_ROWS = 65_536, 1024


def rows_of_a_chunk(n_columns: int) -> int:
    """How many rows a piece of a table should have."""
    return max(LEAST_ROWS, min(MOST_ROWS, CHUNK_CELLS // max(1, n_columns)))


class Chunk(NamedTuple):
    """Some rows of a table."""

    numbers: Any  # pyarrow.Table of float64
    others: Any  # pyarrow.Table, in the types of the file


class Catalogue(AbstractContextManager, ABC):
    """A table in a file. Close it after use, or use it in `with`.

    Attributes
    ----------
    path : Path
        The file.
    format : str
        The name of its format.
    names : list of str
        Names of the columns that can be read.
    skipped : dict of str to str
        Columns that can't be, and why.
    units : dict of str to astropy unit
        Units of those columns that have one.
    n_rows : int or None
        Number of rows, if the file tells.
    """

    names: list[str]
    n_rows: int | None = None

    def __init__(self, path: Path, form: str, source: Path, compression: str | None):
        self.path = path
        self.format = form
        self._source = source  # the file itself, or a decompressed copy, which is removed at the end
        self._compression = compression
        self.skipped: dict[str, str] = {}
        self.units: dict[str, Any] = {}

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        if self._source is not self.path:
            self._source.unlink(missing_ok=True)

    def first_pieces(self, most: int) -> Iterator[Any]:
        """The first rows of the table; of one in many files, those of up to `most` of them."""
        yield from islice(self.pieces((), self.names), 1)

    def place_of(self, row: int) -> tuple[Any, int]:
        """The file that a row of the table is in, and its row there."""
        return self.path, row

    @abstractmethod
    def whole(self) -> Any:
        """All columns and rows, each column in its own type, as a `pyarrow.Table`."""

    @abstractmethod
    def pieces(self, numbers: Sequence[str], others: Sequence[str]) -> Iterator[Any]:
        """Pieces of the table with the columns `numbers`, which may be of any type, and `others`, of the same type in
        each."""

    def chunks(self, numbers: Sequence[str], others: Sequence[str] = ()) -> Iterator[Any]:
        """Go through the table in pieces of some ten thousand rows.

        Parameters
        ----------
        numbers : list of str
            Columns that must hold numbers; they come as float64, null where a value is missing.
        others : list of str
            Columns that come in the type that they have in the file.

        Yields
        ------
        Chunk
            Two tables with the same rows.
        """
        self.refuse_unknown([*numbers, *others])
        first_row = 0
        kept = set(others)
        for piece in self.pieces([name for name in numbers if name not in kept], others):
            if piece.num_rows > 0:
                yield Chunk(self.as_numbers(piece.select(numbers), first_row), piece.select(others))
            first_row += piece.num_rows

    def as_numbers(self, piece: Any, first_row: int = 0) -> Any:
        """A piece of the table, which begins at a row, with all of its columns as float64."""
        return with_numbers(piece, piece.column_names, self.path, first_row)

    def refuse_unknown(self, names: Sequence[str]) -> None:
        """Raise an error for columns that the table does not have."""
        known = set(self.names)
        unknown = [name for name in names if name not in known]
        if not unknown:
            return
        name = unknown[0]
        if name in self.skipped:
            raise ValueError(f"{self.path}: the column {name!r} can't be used: {self.skipped[name]}.")
        more = f" (nor {listed(unknown[1:])})" if len(unknown) > 1 else ""
        raise ValueError(f"{self.path} has no column {name!r}{more}. {suggestion(name, self.names)}")

    def refuse_duplicates(self, names: Sequence[str]) -> None:
        """Raise an error for two columns with the same name."""
        twice = next((name for name, number in Counter(names).items() if number > 1), None)
        if twice is not None:
            raise ValueError(f"{self.path} has two columns with the name {twice!r}. Rename or remove one.")


def is_number(kind: Any) -> bool:
    """Whether an Arrow type holds numbers or booleans."""
    from pyarrow import types

    return types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind) or types.is_boolean(kind)


def is_text(kind: Any) -> bool:
    """Whether an Arrow type is text."""
    from pyarrow import types

    if types.is_dictionary(kind):
        kind = kind.value_type
    return types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)


def with_numbers(piece: Any, numbers: Sequence[str], path: Path, first_row: int = 0) -> Any:
    """The piece with some columns as float64."""
    import pyarrow

    converted = {}
    for name in numbers:
        column = piece.column(name)
        if column.type == pyarrow.float64():
            continue
        if not is_number(column.type) and not pyarrow.types.is_null(column.type):
            raise ValueError(f"{path}: the column {name!r} must hold numbers, {_what_is_there(column, first_row)}.")
        converted[name] = column.cast(pyarrow.float64(), safe=False)
    if not converted:
        return piece
    return pyarrow.table({name: converted.get(name, piece.column(name)) for name in piece.column_names})


def _what_is_there(column: Any, first_row: int) -> str:
    if not is_text(column.type):
        return f"but is of the type {column.type}"
    row, word = first_text(column)
    return f"but has the text {word!r} in row {first_row + row + 1}"


def first_text(column: Any) -> tuple[int, str]:
    """Place and text of the first value of a text column that is not a number, or of the first value."""
    import pyarrow.compute as compute

    text = column.cast("string")
    place = compute.index(compute.match_substring_regex(text, NUMERAL), False).as_py()
    place = max(place, 0)
    return place, text[place].as_py()
