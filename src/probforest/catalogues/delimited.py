"""CSV and its kin: text with a row of names, and commas, tabs, semicolons, bars or blanks between the fields."""

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..extras import need
from .blanks import BLANKS, DELIMITER, BlankSeparated
from .catalogue import Catalogue, is_number, rows_of_a_chunk
from .formats import TEXT, reading
from .head import Head

_MISSING = ("--", "None", "none", "...", "NAN", "<NA>")  # beside those that pyarrow knows
_LOOK = 1 << 20  # bytes at the beginning that tell names and types
_BLOCK = 1 << 20  # bytes that are parsed at once; pyarrow reads 32 blocks ahead, so they must be small


class DelimitedCatalogue(Catalogue):
    """A CSV file, or text with blanks between the fields. Lines at its beginning that start with # are comments."""

    def __init__(self, path: Path, form: str, source: Path, compression: str | None):
        super().__init__(path, form, source, compression)
        self._bad_row: Any = None
        self._csv = need("pyarrow.csv", "CSV", "tables")
        self._arrow = need("pyarrow", "CSV", "tables")
        with reading(source, compression) as file:
            beginning = bytes(file.read(_LOOK))
        head = Head(path, beginning, is_cut=len(beginning) == _LOOK)
        self._skip, self._delimiter, self.names = head.n_lines, head.delimiter, head.names
        self.refuse_duplicates(self.names)
        if self._has_blanks:
            self.format = TEXT
        self._first_types = self._types_of(head.sample)

    @property
    def _has_blanks(self) -> bool:
        return self._delimiter == BLANKS

    def _delimited(self, file: Any, **lines: int) -> Any:
        """A file as pyarrow reads it; of one with blanks, comments and names are skipped already."""
        return BlankSeparated(file, self.path, len(self.names), **lines) if self._has_blanks else file

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        """The file from its beginning. What goes wrong in reading it is raised here, and not inside of pyarrow."""
        with reading(self._source, self._compression) as opened:
            file = _PatientFile(self._delimited(opened, skip=self._skip))
            try:
                yield file
            except ValueError:
                if file.problem is None:
                    raise
            if file.problem is not None:
                raise file.problem

    def _types_of(self, sample: bytes) -> dict[str, Any]:
        """Types of the columns in the first rows."""
        if not sample.strip():
            return {}
        rows = self._delimited(io.BytesIO(sample), skipped=self._skip).read()
        reader = self._reader(io.BytesIO(rows), {}, self.names, skip=0, whole=True)
        return {field.name: field.type for field in reader.schema}

    def whole(self) -> Any:
        with self._opened() as file:
            table = self._reader(file, {}, self.names, skip=self._skip, whole=True)
        for field in table.schema:
            if self._arrow.types.is_binary(field.type):  # what is no text to pyarrow
                raise ValueError(f"{self.path} is no text in UTF-8: look at the column {field.name!r}.")
        self.n_rows = table.num_rows
        return table

    def pieces(self, numbers: Sequence[str], others: Sequence[str]) -> Iterator[Any]:
        types = {**dict.fromkeys(numbers, self._arrow.float64()), **self._stable_types(others)}
        for name in numbers:
            if self._first_types.get(name) == self._arrow.bool_():
                types[name] = self._arrow.bool_()
        least, gathered = rows_of_a_chunk(len(types)), []
        with self._opened() as file:
            for batch in self._batches(file, types):
                gathered.append(batch)
                if sum(each.num_rows for each in gathered) >= least:
                    yield self._arrow.concat_tables(gathered)
                    gathered = []
        if gathered:
            yield self._arrow.concat_tables(gathered)

    def _batches(self, file: Any, types: dict[str, Any]) -> Iterator[Any]:
        reader = self._reader(file, types, list(types), skip=self._skip, whole=False)
        if reader is None:
            return
        while True:
            try:
                batch = reader.read_next_batch()
            except StopIteration:
                return
            except self._arrow.ArrowInvalid as problem:
                raise self._explained(problem, types) from problem
            yield self._arrow.Table.from_batches([batch])

    def _stable_types(self, names: Sequence[str]) -> dict[str, Any]:
        """Types that hold for a whole column: a number further down may be text, or have zeros in front, as a name has.

        Costs another look at the file, but only at the columns that begin with numbers.
        """
        types = {name: self._arrow.string() for name in names}
        candidates = {name: kind for name in names if is_number(kind := self._first_types.get(name, types[name]))}
        if not candidates:
            return types
        text = dict.fromkeys(candidates, self._arrow.string())
        long = set()  # columns with whole numbers that a float would cut
        with self._opened() as file:
            for batch in self._batches(file, text):
                long |= {name for name in candidates if self._has_long_numbers(batch.column(name))}
                candidates = {
                    name: fitting
                    for name, kind in candidates.items()
                    if (fitting := self._fitting(batch.column(name), kind)) is not None
                }
                if not candidates:
                    break
        is_float = self._arrow.types.is_floating
        return types | {name: kind for name, kind in candidates.items() if not (is_float(kind) and name in long)}

    def _fitting(self, column: Any, kind: Any) -> Any:
        """The type of numbers, `kind` or a wider one, that holds a column of text without any loss, or None."""
        compute = need("pyarrow.compute", "CSV", "tables")
        missing = compute.is_in(column, self._arrow.array([*self._null_words(), ""]))
        present = column.filter(compute.invert(missing))
        try:
            if self._arrow.types.is_integer(kind):
                as_written = compute.equal(present.cast(kind).cast(self._arrow.string()), present)
                return kind if compute.all(as_written).as_py() in (True, None) else None
            as_number = present.cast(kind)
        except self._arrow.ArrowInvalid:
            is_integer = self._arrow.types.is_integer(kind)
            return self._fitting(present, self._arrow.float64()) if is_integer else None
        if self._arrow.types.is_floating(kind):
            # zeros in front, more digits than a float has, or more than its largest
            changed = compute.match_substring_regex(present, r"^\s*[-+]?0\d|[1-9](\.?\d){17}")
            endless = compute.and_(compute.is_inf(as_number), compute.match_substring_regex(present, r"\d"))
            if compute.any(compute.or_(changed, endless)).as_py():
                return None
        return kind

    def _has_long_numbers(self, column: Any) -> bool:
        compute = need("pyarrow.compute", "CSV", "tables")
        return bool(compute.any(compute.match_substring_regex(column, r"^\s*[-+]?\d{16,}\s*$")).as_py())

    def as_numbers(self, piece: Any, first_row: int = 0) -> Any:
        """Also of what is text in the output, as it would lose something as a number."""
        compute = need("pyarrow.compute", "CSV", "tables")
        for place, name in enumerate(piece.column_names):
            column = piece.column(name)
            if self._arrow.types.is_string(column.type):
                missing = compute.is_in(column, self._arrow.array(self._null_words()))
                words = compute.utf8_trim_whitespace(compute.if_else(missing, None, column))
                try:
                    piece = piece.set_column(place, name, words.cast(self._arrow.float64()))
                except self._arrow.ArrowInvalid:
                    piece = piece.set_column(place, name, words)  # the complaint comes next
        return super().as_numbers(piece, first_row)

    def _null_words(self) -> list[str]:
        words = [*self._csv.ConvertOptions().null_values, *_MISSING]
        return [f"{' ' * before}{word}{' ' * after}" for word in words for before in range(4) for after in range(4)]

    def _reader(self, file: Any, types: dict[str, Any], columns: list[str], *, skip: int, whole: bool) -> Any:
        """A table, or a reader of batches; None where the file ends after the names."""
        self._lines_before = 0 if skip else self._skip  # of what is read, in the file
        delimiter = DELIMITER if self._has_blanks else self._delimiter
        options = {
            "read_options": self._csv.ReadOptions(
                column_names=self.names, skip_rows=0 if self._has_blanks else skip, block_size=_BLOCK, use_threads=False
            ),
            "parse_options": self._csv.ParseOptions(
                delimiter=delimiter, newlines_in_values=not self._has_blanks, invalid_row_handler=self._refuse_row
            ),
            "convert_options": self._csv.ConvertOptions(
                column_types=types, include_columns=columns, null_values=self._null_words(), strings_can_be_null=False
            ),
        }
        try:
            return (self._csv.read_csv if whole else self._csv.open_csv)(file, **options)
        except self._arrow.ArrowInvalid as problem:
            if "Empty CSV file" in str(problem):
                return self._arrow.table({name: [] for name in columns}) if whole else None
            raise self._explained(problem, types) from problem

    def _refuse_row(self, row: Any) -> str:
        """Note a row with too few or too many fields; an exception would be lost here."""
        self._bad_row = row
        return "error"  # so that pyarrow complains

    def _explained(self, problem: Exception, types: dict[str, Any]) -> Exception:
        """What a user can do about a complaint of pyarrow's."""
        if self._bad_row is not None:
            row = self._bad_row
            return ValueError(
                f"{self.path}: line {row.number + self._lines_before} has {row.actual_columns} fields, but there are "
                f"{row.expected_columns} names of columns: {row.text[:60]!r}"
            )
        if "conversion error" in str(problem):
            for name, kind in types.items():
                row, word = self._first_that_is_no(name, kind)
                if word is not None:
                    return ValueError(
                        f"{self.path}: the column {name!r} must hold numbers, but has {word!r} in row {row}."
                    )
        if "UTF8" in str(problem):
            return ValueError(f"{self.path} is no text in UTF-8: {problem}")
        return ValueError(f"{self.path} is no CSV that can be read: {problem}")

    def _first_that_is_no(self, name: str, kind: Any) -> tuple[int, str | None]:
        """Row and text of the first value that is not of the type `kind`; None if there is none."""
        if not is_number(kind):
            return 0, None
        row, null_words = 0, set(self._null_words())
        with self._opened() as file:
            for batch in self._batches(file, {name: self._arrow.string()}):
                words = [None if word in null_words else word.strip() for word in batch.column(name).to_pylist()]
                if not self._are_of_type(words, kind):
                    return next(
                        (row + i, word) for i, word in enumerate(words, 1) if not self._are_of_type([word], kind)
                    )
                row += len(words)
        return row, None

    def _are_of_type(self, words: list[str | None], kind: Any) -> bool:
        try:
            self._arrow.array(words, self._arrow.string()).cast(kind)
        except self._arrow.ArrowInvalid:
            return False
        return True


class _PatientFile:
    """A file that ends where it can't be read. pyarrow reads in threads of its own, which must not see an exception: at
    the end of the program they would wait for each other."""

    def __init__(self, file: Any):
        self._file = file
        self.problem: Exception | None = None

    @property
    def closed(self) -> bool:
        return self._file.closed

    def read(self, size: int = -1) -> bytes:
        try:
            return b"" if self.problem is not None else self._file.read(size)
        except Exception as problem:
            self.problem = problem
            return b""
