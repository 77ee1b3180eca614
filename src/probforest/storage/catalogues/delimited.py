"""CSV and similar formats: a row of names, and commas, tabs, semicolons, bars or blanks between the fields."""

import io
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from ...support.extras import need
from .blanks import BLANKS, DELIMITER, BlankSeparated
from .catalogue import Catalogue, is_number, rows_of_a_chunk
from .formats import TEXT, reading
from .head import Head
from .rows import Rows, row_blocks

_MISSING = ("--", "None", "none", "...", "NAN", "<NA>")  # beside those that pyarrow knows
_LOOK = 1 << 20  # bytes at the beginning that tell names and types; more where a row is long
_LONGEST_HEAD = 1 << 28  # bytes
_BLOCK = 1 << 22  # bytes that are parsed at once
_BYTES_OF_COLUMN = 1 << 8  # the least of them: pyarrow prepares every column of every block


class DelimitedCatalogue(Catalogue):
    """A CSV file, or text with blanks between the fields. Lines at its beginning that start with # are comments."""

    def __init__(self, path: Path, form: str, source: Path, compression: str | None):
        super().__init__(path, form, source, compression)
        self._bad_row: Any = None
        self._csv = need("pyarrow.csv", "CSV", "tables")
        self._arrow = need("pyarrow", "CSV", "tables")
        with reading(source, compression) as file:
            beginning, is_cut = _beginning(file)
        head = Head(path, beginning, is_cut=is_cut)
        self._skip, self._delimiter, self.names = head.n_lines, head.delimiter, head.names
        self.refuse_duplicates(self.names)
        if self._has_blanks:
            self.format = TEXT
        self._first_types = self._types_of(head.sample)

    @property
    def _has_blanks(self) -> bool:
        return self._delimiter == BLANKS

    @property
    def _separator(self) -> str:
        """What is between the fields that pyarrow gets."""
        return DELIMITER if self._has_blanks else self._delimiter

    def _blocks(self) -> Iterator[Rows]:
        """The rows, without comments and names, in blocks."""
        with reading(self._source, self._compression) as file:
            size = max(_BLOCK, _BYTES_OF_COLUMN * len(self.names))
            without_head = _WithoutHead(file, self._skip)
            rows = self._with_separators(without_head) if self._has_blanks else without_head
            try:
                yield from row_blocks(rows, self._separator, size, first_line=self._skip + 1)
            except ValueError as problem:
                raise ValueError(f"{self.path}: {problem}") from None

    def _with_separators(self, file: Any) -> BlankSeparated:
        return BlankSeparated(file, len(self.names), first_line=self._skip + 1)

    def _types_of(self, sample: bytes) -> dict[str, Any]:
        """Types of the columns in the first rows."""
        if not sample.strip():
            return {}
        if self._has_blanks:
            sample = self._with_separators(io.BytesIO(sample)).read()
        table = self._parsed(Rows(sample, self._skip + 1), {}, self.names)
        return {field.name: field.type for field in table.schema}

    def whole(self) -> Any:
        text, longest = bytearray(), 0
        for rows in self._blocks():
            text += rows.text
            longest = max(longest, len(rows.text))
        table = self._parsed(Rows(text, self._skip + 1), {}, self.names, longest)
        for field in table.schema:
            if self._arrow.types.is_binary(field.type):  # pyarrow could not decode it
                raise ValueError(f"{self.path} is not UTF-8 text: look at the column {field.name!r}.")
        self.n_rows = table.num_rows
        return table

    def pieces(self, numbers: Sequence[str], others: Sequence[str]) -> Iterator[Any]:
        types = {**dict.fromkeys(numbers, self._arrow.float64()), **self._stable_types(others)}
        for name in numbers:
            if self._first_types.get(name) == self._arrow.bool_():
                types[name] = self._arrow.bool_()
        least, gathered = rows_of_a_chunk(len(types)), []
        for batch in self._batches(types):
            gathered.append(batch)
            if sum(each.num_rows for each in gathered) >= least:
                yield self._arrow.concat_tables(gathered)
                gathered = []
        if gathered:
            yield self._arrow.concat_tables(gathered)

    def _batches(self, types: dict[str, Any]) -> Iterator[Any]:
        columns = list(types)
        return (self._parsed(rows, types, columns) for rows in self._blocks())

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
        for batch in self._batches(text):
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
        missing = compute.is_in(column, self._arrow.array([*self._null_words, ""]))
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
        """Numbers also of columns that are copied as text, because they would lose digits as numbers."""
        columns = {name: self._as_number(piece.column(name)) for name in piece.column_names}
        return super().as_numbers(self._arrow.table(columns), first_row)

    def _as_number(self, column: Any) -> Any:
        if not self._arrow.types.is_string(column.type):
            return column
        compute = need("pyarrow.compute", "CSV", "tables")
        missing = compute.is_in(column, self._arrow.array(self._null_words))
        words = compute.utf8_trim_whitespace(compute.if_else(missing, None, column))
        try:
            return words.cast(self._arrow.float64())
        except self._arrow.ArrowInvalid:
            return words  # which raises an error later

    @cached_property
    def _null_words(self) -> list[str]:
        """What stands for a missing value, also with blanks around it."""
        blanks = [(" " * before, " " * after) for before in range(4) for after in range(4)]
        return [f"{before}{word}{after}" for before, after in blanks for word in self._plain_null_words]

    @property
    def _plain_null_words(self) -> list[str]:
        return [*self._csv.ConvertOptions().null_values, *_MISSING]

    def _null_words_in(self, text: bytes | bytearray) -> list[str]:
        """Those that a text may have. pyarrow prepares them for each column: with blanks it takes a millisecond."""
        edges = (self._separator.encode(), b"\n", b"\r", b'"')
        at_an_end = b" " in (text[:1], text[-1:])
        has_blanks = at_an_end or any(edge + b" " in text or b" " + edge in text for edge in edges)
        return self._null_words if has_blanks else self._plain_null_words

    def _parsed(self, rows: Rows, types: dict[str, Any], columns: list[str], longest: int | None = None) -> Any:
        """A table of some rows, parsed in blocks of `longest` bytes, no row being longer; default: all at once."""
        if not rows.text:
            return self._arrow.table({name: [] for name in columns})
        self._bad_row = None
        try:
            return self._csv.read_csv(
                self._arrow.BufferReader(rows.text),
                self._csv.ReadOptions(
                    column_names=self.names, block_size=(longest or len(rows.text)) + 1, use_threads=False
                ),
                self._csv.ParseOptions(
                    delimiter=self._separator, newlines_in_values=True, invalid_row_handler=self._refuse_row
                ),
                self._csv.ConvertOptions(
                    column_types=types,
                    include_columns=columns,
                    null_values=self._null_words_in(rows.text),
                    strings_can_be_null=False,
                ),
            )
        except self._arrow.ArrowInvalid as problem:
            raise self._explained(problem, types, rows) from problem

    def _refuse_row(self, row: Any) -> str:
        """Note a row with too few or too many fields; an exception would be lost here."""
        self._bad_row = row
        return "error"  # so that pyarrow raises an error

    def _explained(self, problem: Exception, types: dict[str, Any], rows: Rows) -> Exception:
        """An error message for users in place of pyarrow's."""
        if self._bad_row is not None:
            row = self._bad_row
            line = rows.line_of(row.number, self._separator)
            return ValueError(
                f"{self.path}: line {line} has {row.actual_columns} fields, but the table has {row.expected_columns} "
                f"columns: {row.text[:60]!r}"
            )
        if "conversion error" in str(problem):
            for name, kind in types.items():
                row, word = self._first_not_of_type(name, kind)
                if word is not None:
                    return ValueError(
                        f"{self.path}: the column {name!r} must hold numbers, but has {word!r} in row {row}."
                    )
        if "UTF8" in str(problem):
            return ValueError(f"{self.path} is not UTF-8 text: {problem}")
        return ValueError(f"{self.path} is not a valid CSV file: {problem}")

    def _first_not_of_type(self, name: str, kind: Any) -> tuple[int, str | None]:
        """Row and text of the first value that is not of the type `kind`; None if all are."""
        if not is_number(kind):
            return 0, None
        row, null_words = 0, set(self._null_words)
        for batch in self._batches({name: self._arrow.string()}):
            words = [None if word in null_words else word.strip() for word in batch.column(name).to_pylist()]
            if not self._are_of_type(words, kind):
                return next((row + i, word) for i, word in enumerate(words, 1) if not self._are_of_type([word], kind))
            row += len(words)
        return row, None

    def _are_of_type(self, words: list[str | None], kind: Any) -> bool:
        try:
            self._arrow.array(words, self._arrow.string()).cast(kind)
        except self._arrow.ArrowInvalid:
            return False
        return True


class _WithoutHead:
    """A file without its first lines."""

    def __init__(self, file: Any, n_lines: int):
        self._file = file
        beginning, _ = _beginning(file)
        self._first = b"".join(beginning.splitlines(keepends=True)[n_lines:])

    def read(self, size: int) -> bytes:
        first, self._first = self._first[:size], self._first[size:]
        return first or self._file.read(size)


def _beginning(file: Any) -> tuple[bytes, bool]:
    """Comments, names and some rows, and whether there is more."""
    beginning, is_cut = b"", True
    while is_cut and len(beginning) < (wanted := _bytes_to_look_at(beginning)):
        beginning += bytes(file.read(wanted - len(beginning)))
        is_cut = len(beginning) == wanted
    return beginning, is_cut


def _bytes_to_look_at(beginning: bytes) -> int:
    """Enough for the names of the columns and some rows, which may be as long."""
    lines = beginning.splitlines(keepends=True)
    names = next((i for i, line in enumerate(lines) if line.strip() and not line.startswith(b"#")), len(lines))
    n_bytes = sum(map(len, lines[: names + 1]))
    return max(_LOOK, min(16 * n_bytes, _LONGEST_HEAD))
