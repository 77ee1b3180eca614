"""Parquet and Arrow files."""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ...support.extras import need
from .catalogue import Catalogue, is_number, is_text, rows_of_a_chunk
from .formats import ARROW_STREAM, reading
from .header import check_header, units_of
from .safety import UnsafeTable, refuse_expansion

_OF_ASTROPY = b"table_meta_yaml"  # astropy's Parquet files keep units there
_MASK = ".mask"  # and masks in columns of their own
_BYTES_OF_NUMBERS = 8  # which all columns may have to become
_INDEX = re.compile(r"__index_level_\d+__")


class ColumnarCatalogue(Catalogue):
    """What Parquet and Arrow files have in common: a schema."""

    _arrow: Any

    def _read_schema(self, schema: Any) -> None:
        self._schema = schema
        self.refuse_duplicates(schema.names)
        self._masks = {}
        if schema.metadata is not None and _OF_ASTROPY in schema.metadata:
            self._masks = {name: name + _MASK for name in schema.names if name + _MASK in schema.names}
            self.units = self._units_in(schema.metadata[_OF_ASTROPY])
        self.names = []
        for field in schema:
            if field.name in self._masks.values():
                continue
            if _INDEX.fullmatch(field.name):
                self.skipped[field.name] = "it is the index of a pandas table"
                continue
            if _is_plain(field.type):
                self.names.append(field.name)
            else:
                self.skipped[field.name] = f"it is of the type {field.type}, with more than one value a row"

    def _units_in(self, text: bytes) -> dict[str, Any]:
        """The units of columns from astropy's description of a table."""
        units = need("astropy.units", "A Parquet file with units of astropy", "astro")
        try:
            texts = units_of(check_header(text.decode().splitlines(), 0, 0))
            return {name: units.Unit(unit, parse_strict="silent") for name, unit in texts.items()}
        except ImportError:
            raise
        except Exception as problem:  # of YAML, and of all that may be in it
            reason = str(problem).strip().split("\n")[0]
            raise ValueError(
                f"{self.path} is not read: its description of the columns is damaged: {reason}"
            ) from problem

    def whole(self) -> Any:
        pieces, n_bytes, self.n_rows = [], 0, 0
        for piece in self.pieces((), self.names):
            pieces.append(piece)
            self.n_rows += piece.num_rows
            n_bytes += max(piece.nbytes, _BYTES_OF_NUMBERS * piece.num_rows * len(self.names))
            self._refuse_expansion(n_bytes)
        return self._arrow.concat_tables(pieces) if pieces else self._schema.empty_table().select(self.names)

    def _refuse_expansion(self, n_bytes: int) -> None:
        try:
            refuse_expansion(n_bytes, self._source.stat().st_size)
        except UnsafeTable as problem:
            raise ValueError(f"{self.path} is not read: {problem}.") from None

    def _with_masks(self, columns: Sequence[str]) -> list[str]:
        return [*columns, *(self._masks[name] for name in columns if name in self._masks)]

    def _unmasked(self, piece: Any, columns: Sequence[str]) -> Any:
        """The columns, null where their mask is set."""
        compute = need("pyarrow.compute", self.format, "tables")
        for name, mask in self._masks.items():
            if name in columns:
                hidden = compute.if_else(piece.column(mask), None, piece.column(name))
                piece = piece.set_column(piece.schema.get_field_index(name), name, hidden)
        piece = piece.select(columns).replace_schema_metadata(None)  # which would describe other columns too
        return piece.cast(self._arrow.schema([(field.name, _simple(field.type)) for field in piece.schema]))


class ParquetCatalogue(ColumnarCatalogue):
    """A Parquet file."""

    def __init__(self, path: Path, form: str, source: Path, compression: str | None):
        super().__init__(path, form, source, compression)
        self._arrow = need("pyarrow", form, "tables")
        parquet = need("pyarrow.parquet", form, "tables")
        try:
            self._file = parquet.ParquetFile(self._arrow.OSFile(os.fsencode(source)), pre_buffer=False)
        except self._arrow.ArrowInvalid as problem:
            raise ValueError(f"{path} is damaged, or not a Parquet file: {problem}") from problem
        self._read_schema(self._file.schema_arrow)
        self.n_rows = self._file.metadata.num_rows

    def pieces(self, numbers: Sequence[str], others: Sequence[str]) -> Iterator[Any]:
        columns = [*numbers, *others]
        size = rows_of_a_chunk(len(columns))
        try:
            for batch in self._file.iter_batches(batch_size=size, columns=self._with_masks(columns)):
                yield self._unmasked(self._arrow.Table.from_batches([batch]), columns)
        except (self._arrow.ArrowInvalid, OSError) as problem:
            raise ValueError(f"{self.path} is damaged: {problem}") from problem

    def close(self) -> None:
        self._file.close(force=True)
        super().close()


class ArrowCatalogue(ColumnarCatalogue):
    """A file or stream of Arrow record batches; Feather is the same."""

    def __init__(self, path: Path, form: str, source: Path, compression: str | None):
        super().__init__(path, form, source, compression)
        self._arrow = need("pyarrow", form, "tables")
        self._ipc = need("pyarrow.ipc", form, "tables")
        with self._opened() as (schema, _):
            self._read_schema(schema)

    def pieces(self, numbers: Sequence[str], others: Sequence[str]) -> Iterator[Any]:
        columns = [*numbers, *others]
        size = rows_of_a_chunk(len(columns))
        with self._opened() as (_, batches):
            for batch in batches:
                batch.validate(full=True)  # Arrow does not check the text offsets of a file
                table = self._arrow.Table.from_batches([batch]).select(self._with_masks(columns))
                for first in range(0, table.num_rows, size):
                    yield self._unmasked(table.slice(first, size), columns)

    @contextmanager
    def _opened(self) -> Iterator[tuple[Any, Iterator[Any]]]:
        """Schema and batches of the open file, which is closed afterwards."""
        with reading(self._source, self._compression) as file:
            try:
                if self.format == ARROW_STREAM:
                    stream = self._ipc.open_stream(file)
                    yield stream.schema, iter(stream)
                else:
                    # Arrow reads it in threads, which must not need Python at the end of a program
                    with self._arrow.OSFile(os.fsencode(self._source)) as native:
                        opened = self._ipc.open_file(native)
                        yield opened.schema, (opened.get_batch(i) for i in range(opened.num_record_batches))
            except (self._arrow.ArrowInvalid, self._arrow.ArrowIndexError, OSError) as problem:
                raise ValueError(f"{self.path} is damaged: {problem}") from problem


def _simple(kind: Any) -> Any:
    """The type itself, or that of its values: each piece has its own dictionary."""
    import pyarrow

    if pyarrow.types.is_dictionary(kind):
        kind = kind.value_type
    return pyarrow.string() if pyarrow.types.is_string_view(kind) else kind


def _is_plain(kind: Any) -> bool:
    from pyarrow import types

    return is_number(kind) or is_text(kind) or types.is_null(kind) or types.is_temporal(kind)
