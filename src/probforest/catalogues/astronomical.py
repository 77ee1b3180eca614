"""FITS, VOTable and ECSV, by way of astropy."""

import io
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..extras import need
from .catalogue import Catalogue, rows_of_a_chunk
from .formats import ECSV, VOTABLE, reading

_ASTROPY = "Reading FITS, VOTable and ECSV"


class AstropyCatalogue(Catalogue):
    """A table that astropy reads whole: ECSV and VOTable."""

    def __init__(self, path: Path, form: str, source: Path, compression: str | None):
        super().__init__(path, form, source, compression)
        need("pyarrow", form, "astro")
        need("astropy", _ASTROPY, "astro")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # astropy has much to say about how tables are written
            try:
                table = self._read()
            except (OSError, ImportError):
                raise
            except Exception as problem:
                first_line = str(problem).strip().split("\n")[0]
                raise ValueError(f"{path} is damaged, or no {form} file: {first_line}") from problem
        self.refuse_duplicates(table.colnames)
        self._take(table)

    def _read(self) -> Any:
        from astropy.table import Table

        with reading(self._source, self._compression) as file:
            content = file.read()
        if self.format == ECSV:
            return Table.read(content.decode().splitlines(), format="ascii.ecsv")
        assert self.format == VOTABLE
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


class FitsCatalogue(AstropyCatalogue):
    """The first table of a FITS file. It stays on disk; only what is asked for is read."""

    def _read(self) -> Any:
        from astropy.io import fits
        from astropy.table import Table

        try:
            self._file = fits.open(self._source, memmap=True)
        except OSError as problem:
            if problem.errno:
                raise
            raise ValueError(str(problem)) from problem  # astropy's way to say that it is damaged
        try:
            tables = [hdu for hdu in self._file if isinstance(hdu, (fits.BinTableHDU, fits.TableHDU))]
            if not tables:
                raise ValueError("it has no table")
            if tables[0].fileinfo()["datLoc"] + tables[0].size > self._source.stat().st_size:
                raise ValueError("its table is cut short")
            self.refuse_duplicates(tables[0].columns.names)
            return Table.read(tables[0], character_as_bytes=True, mask_invalid=False)
        except BaseException:
            self._file.close()
            raise

    def close(self) -> None:
        self._file.close()
        super().close()


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
    import pyarrow

    mask = getattr(column, "mask", None)
    column = getattr(column, "unmasked", column)
    values = np.ma.getdata(np.asanyarray(column.value if hasattr(column, "to_value") else column.data))
    if values.dtype.kind == "S":
        values = np.char.decode(values, "utf-8", "replace")
    if values.dtype.kind in "UO":
        return pyarrow.array(values.astype(str).tolist(), pyarrow.string(), mask=_plain_mask(mask, len(values)))
    values = np.ascontiguousarray(values.astype(values.dtype.newbyteorder("=")))
    return pyarrow.array(values, mask=_plain_mask(mask, len(values)))


def _plain_mask(mask: Any, n_rows: int) -> np.ndarray | None:
    return None if mask is None else np.broadcast_to(np.asarray(mask, dtype=bool), n_rows)


def from_arrow(table: Any, units: dict[str, Any]) -> Any:
    """An astropy table of a `pyarrow.Table`, masked where it is null."""
    from astropy.table import Column, MaskedColumn, Table

    result = Table()
    for name in table.column_names:
        column = table.column(name).combine_chunks()
        values = _values(column)
        if column.null_count:
            mask = column.is_null().to_numpy(zero_copy_only=False)
            result[name] = MaskedColumn(values, mask=mask, unit=units.get(name))
        else:
            result[name] = Column(values, unit=units.get(name))
    return result


def _values(column: Any) -> np.ndarray:
    """The values of a column, something in place of nulls."""
    import pyarrow

    if pyarrow.types.is_temporal(column.type) or pyarrow.types.is_dictionary(column.type):
        column = column.cast(pyarrow.string())
    if pyarrow.types.is_null(column.type):
        return np.full(len(column), np.nan)
    if pyarrow.types.is_string(column.type) or pyarrow.types.is_large_string(column.type):
        return np.array(column.fill_null("").to_pylist(), dtype=str)
    if column.null_count:
        filler = False if pyarrow.types.is_boolean(column.type) else 0
        column = column.fill_null(filler)
    return column.to_numpy(zero_copy_only=False)
