"""FITS, VOTable and ECSV, by way of astropy."""

import errno
import io
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from ...support.extras import need
from ..unit_text import refuse_costly_unit
from .catalogue import Catalogue, is_text, rows_of_a_chunk
from .formats import ECSV, VOTABLE, reading
from .header import check_header
from .safety import UnsafeTable
from .votable import check_votable

_ASTROPY = "Reading FITS, VOTable and ECSV"


class AstropyCatalogue(Catalogue):
    """A table that astropy reads whole: ECSV and VOTable."""

    def __init__(self, path: Path, form: str, source: Path, compression: str | None):
        super().__init__(path, form, source, compression)
        need("pyarrow", form, "astro")
        need("astropy", _ASTROPY, "astro")
        with _naming_file(path, form):
            table = self._read()
        self.refuse_duplicates(table.colnames)
        self._take(table)

    def _read(self) -> Any:
        from astropy.table import Table

        with reading(self._source, self._compression) as file:
            content = file.read()
        if self.format == ECSV:
            lines = content.decode().splitlines()
            _check_ecsv(lines, len(content))
            return Table.read(lines, format="ascii.ecsv")
        assert self.format == VOTABLE
        check_votable(content)
        return Table.read(io.BytesIO(content), format="votable", table_id=0, use_names_over_ids=True)

    def _take(self, table: Any) -> None:
        self._table = table
        self.n_rows = len(table)
        self.names = []
        for name in table.colnames:
            reason = _why_not(table[name])
            if reason is not None:
                self.skipped[name] = reason
                continue
            self.names.append(name)
            if table[name].unit is not None:
                self.units[name] = table[name].unit

    def whole(self) -> Any:
        return to_arrow(self._table, self.names)

    def pieces(self, numbers: Sequence[str], others: Sequence[str]) -> Iterator[Any]:
        columns = [*numbers, *others]
        size = rows_of_a_chunk(len(columns))
        for first in range(0, len(self._table), size):
            yield to_arrow(self._table, columns, slice(first, first + size))


class FitsCatalogue(Catalogue):
    """The first table of a FITS file. It stays on disk; only the requested columns and rows are read."""

    def __init__(self, path: Path, form: str, source: Path, compression: str | None):
        super().__init__(path, form, source, compression)
        need("pyarrow", form, "astro")
        fits = need("astropy.io.fits", _ASTROPY, "astro")
        with _naming_file(path, form):
            self._file = fits.open(source.absolute(), memmap=True)  # a relative path may look like an address
        try:
            with _naming_file(path, form):
                self._open_table(fits)
            self.refuse_duplicates(self._table.columns.names)
            with _naming_file(path, form):
                self._take_columns()
        except BaseException:
            self._file.close()
            raise

    def _open_table(self, fits: Any) -> None:
        tables = [hdu for hdu in self._file if isinstance(hdu, (fits.BinTableHDU, fits.TableHDU))]
        if not tables:
            raise ValueError("it has no table")
        self._table = tables[0]
        if self._table.fileinfo()["datLoc"] + self._table.size > self._source.stat().st_size:
            raise ValueError("its table is cut short")
        if self._table.header["NAXIS1"] == 0:
            raise ValueError("the rows of its table have no bytes")
        self._data = self._table.data
        self.n_rows = len(self._data)

    def _take_columns(self) -> None:
        units = need("astropy.units", _ASTROPY, "astro")
        self.names = []
        for column in self._table.columns:
            kind = self._data[:1].field(column.name)
            if kind.ndim != 1 or kind.dtype.kind not in "biufSU":
                self.skipped[column.name] = "it has more than one value a row, or none that is a number or text"
                continue
            self.names.append(column.name)
            if column.unit:
                refuse_costly_unit(column.unit)
                self.units[column.name] = units.Unit(column.unit, format="fits", parse_strict="silent")

    def whole(self) -> Any:
        return self._rows(slice(None), self.names)

    def pieces(self, numbers: Sequence[str], others: Sequence[str]) -> Iterator[Any]:
        columns = [*numbers, *others]
        size = rows_of_a_chunk(len(columns))
        for first in range(0, len(self._data), size):
            yield self._rows(slice(first, first + size), columns)

    def _rows(self, rows: slice, names: Sequence[str]) -> Any:
        import pyarrow

        part = self._data[rows]
        return pyarrow.table(
            {name: plain_to_arrow(np.asarray(part.field(name)), self._mask(part, name)) for name in names}
        )

    def _mask(self, part: Any, name: str) -> np.ndarray | None:
        """Where a value is missing; told by the bytes in the file, before they are scaled."""
        raw, column = np.asarray(part)[name], self._table.columns[name]
        if str(column.format) == "L":  # neither T nor F
            return raw == 0
        if column.null is None or column.null == "":
            return None
        if raw.dtype.kind == "S":  # a table of text
            return np.char.strip(raw) == str(column.null).strip().encode()
        return raw == column.null

    def close(self) -> None:
        self._file.close()
        super().close()


@contextmanager
def _naming_file(path: Path, form: str) -> Iterator[None]:
    """Turn errors of astropy into errors about the file, except those of the disk and of missing memory."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the style of the file
        try:
            yield
        except (ImportError, MemoryError):
            raise
        except UnsafeTable as problem:
            raise ValueError(f"{path} is not read: {problem}.") from problem
        except Exception as problem:
            if isinstance(problem, OSError) and problem.errno not in (None, errno.EINVAL):
                raise
            first_line = str(problem).strip().split("\n")[0]
            raise ValueError(f"{path} is damaged, or not a {form} file: {first_line}") from problem


def _check_ecsv(lines: Sequence[str], size: int) -> None:
    ecsv = need("astropy.io.ascii.ecsv", _ASTROPY, "astro")
    check_header(list(ecsv.EcsvHeader().process_lines(lines)), len(lines), size)


def _why_not(column: Any) -> str | None:
    """Why a column can't be used; None if it can."""
    kind = getattr(column, "dtype", None)
    if kind is None or not hasattr(column, "unit"):
        return f"it is a {type(column).__name__}, not a plain column"
    if column.ndim != 1:
        return "it has more than one value a row"
    if kind.kind not in "biufSU" and not _is_text_in_objects(column):
        return f"it is of the type {kind}"
    return None


def _is_text_in_objects(column: Any) -> bool:
    return column.dtype.kind == "O" and all(isinstance(value, str) for value in np.ma.compressed(np.ma.asarray(column)))


def to_arrow(table: Any, names: Sequence[str], rows: slice = slice(None)) -> Any:
    """Columns of an astropy table as a `pyarrow.Table`, null where they are masked."""
    import pyarrow

    return pyarrow.table({name: _arrow_column(table[name][rows]) for name in names})


def _arrow_column(column: Any) -> Any:
    mask = getattr(column, "mask", None)
    column = getattr(column, "unmasked", column)
    values = np.ma.getdata(np.asanyarray(column.value if hasattr(column, "to_value") else column.data))
    return plain_to_arrow(values, mask)


def plain_to_arrow(values: np.ndarray, mask: Any = None) -> Any:
    """An array of any byte order, null where it is masked."""
    import pyarrow

    if values.dtype.kind == "S":
        values = np.char.decode(values, "utf-8", "replace")
    if values.dtype.kind in "UO":
        return pyarrow.array(values.astype(str).tolist(), pyarrow.string(), mask=_plain_mask(mask, len(values)))
    values = np.ascontiguousarray(values.astype(values.dtype.newbyteorder("=")))
    return pyarrow.array(values, mask=_plain_mask(mask, len(values)))


def _plain_mask(mask: Any, n_rows: int) -> np.ndarray | None:
    return None if mask is None else np.broadcast_to(np.asarray(mask, dtype=bool), n_rows)


def from_arrow(table: Any, units: dict[str, Any]) -> Any:
    """An astropy table of a `pyarrow.Table`, masked where it is null. All its types can be written to any format."""
    from astropy.table import Column, MaskedColumn, Table

    result = Table()
    for name in table.column_names:
        column = _for_all_formats(table.column(name).combine_chunks())
        values = _values(column)
        if column.null_count:
            mask = column.is_null().to_numpy(zero_copy_only=False)
            result[name] = MaskedColumn(values, mask=mask, unit=units.get(name), fill_value=_stand_in(values, mask))
        else:
            result[name] = Column(values, unit=units.get(name))
    return result


def _for_all_formats(column: Any) -> Any:
    """The column in a type that FITS, VOTable and ECSV have, with a place for nulls."""
    import pyarrow
    from pyarrow import types

    kind = column.type
    if types.is_temporal(kind) or types.is_dictionary(kind) or is_text(kind):
        return column.cast(pyarrow.string())
    if types.is_null(kind) or types.is_decimal(kind):
        return column.cast(pyarrow.float64())
    if types.is_float16(kind):
        return column.cast(pyarrow.float32())
    if types.is_boolean(kind) and column.null_count:
        return column.cast(pyarrow.int8()).cast(pyarrow.int16())
    if types.is_uint64(kind):
        try:
            return column.cast(pyarrow.int64())
        except pyarrow.ArrowInvalid:
            return column.cast(pyarrow.string())
    if types.is_integer(kind) and kind.bit_width < 64:  # wider, so that some number is left for nulls
        return column.cast({8: pyarrow.int16(), 16: pyarrow.int32(), 32: pyarrow.int64()}[kind.bit_width])
    return column


def _values(column: Any) -> np.ndarray:
    """The values of a column, something in place of nulls."""
    import pyarrow

    if pyarrow.types.is_string(column.type):
        return np.array(column.fill_null("").to_pylist(), dtype=str)
    if column.null_count and not pyarrow.types.is_floating(column.type):
        column = column.fill_null(0)
    return column.to_numpy(zero_copy_only=False)


def _stand_in(values: np.ndarray, mask: np.ndarray) -> Any:
    """A value that stands for a null in the file, and for nothing else."""
    if values.dtype.kind != "i":
        return None
    present = set(values[~mask].tolist())
    return next(number for number in count(int(np.iinfo(values.dtype).min)) if number not in present)
