"""Tables in files, written piece by piece, in the format that the name of the file stands for."""

import io
import os
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ...support.atomic import replacing
from ...support.extras import need
from .astronomical import from_arrow
from .catalogue import is_text
from .formats import ARROW, CSV, ECSV, FITS, PARQUET, VOTABLE, format_by_name, writing

_MOST_LETTERS = 1 << 30  # of a column of text, as wide as its longest text


def check_output_name(path: str | os.PathLike) -> tuple[str, str | None]:
    """Format and compression by the name of an output; a ValueError for an unknown ending."""
    form, compression = format_by_name(Path(path))
    if form is None:
        raise ValueError(
            f"{path}: the name of the output must end in .csv, .tsv, .ecsv, .fits, .vot, .parquet or .arrow "
            "(also .csv.gz and so on): it determines the format."
        )
    if form in (PARQUET, ARROW) and compression is not None:
        raise ValueError(f"{path}: {form} files are compressed inside already. Leave the last part of the name out.")
    need("pyarrow", f"Writing {form}", "tables")
    if form in (FITS, VOTABLE, ECSV):
        need("astropy", f"Writing {form}", "astro")
    return form, compression


class Output(ABC):
    """A table that is being written."""

    @abstractmethod
    def write(self, piece: Any) -> None:
        """Append the rows of a `pyarrow.Table`; the first one says which columns there are."""

    @abstractmethod
    def finish(self) -> None:
        """Write what is still in memory."""

    @abstractmethod
    def close(self) -> None:
        """Release everything, finished or not."""


@contextmanager
def open_output(
    path: str | os.PathLike, units: dict[str, Any] | None = None, *, overwrite: bool = True
) -> Iterator[Output]:
    """Write a table, which gets the name `path` when it is complete; after an error nothing is left of it.

    Parameters
    ----------
    path : path
        Its name tells the format and the compression.
    units : dict of str to unit, default=None
        Units of columns, for formats that have some.
    overwrite : bool, default=True
        Whether a file of that name may be replaced, also one that another program creates in the meantime.

    Yields
    ------
    Output
        Something with `write(piece)`.
    """
    form, compression = check_output_name(path)
    with replacing(path, overwrite=overwrite) as temporary, writing(temporary, compression) as file:
        output: Output
        if form in (CSV, PARQUET, ARROW):
            output = _StreamedOutput(file, form, _delimiter(Path(path)))
        else:
            output = _WholeOutput(file, form, units or {})
        try:
            yield output
            output.finish()
        finally:
            output.close()


def _delimiter(path: Path) -> str:
    """By the ending of a name, perhaps before that of a compression; `a.tsv.csv` is a CSV file."""
    endings = [ending.lower() for ending in path.suffixes if ending.lower() in (".csv", ".tsv")]
    return "\t" if endings[-1:] == [".tsv"] else ","


class _StreamedOutput(Output):
    """CSV, Parquet and Arrow: nothing but the piece at hand is in memory."""

    def __init__(self, file: Any, form: str, delimiter: str):
        self._file, self._form, self._delimiter = file, form, delimiter
        self._writer: Any = None

    def write(self, piece: Any) -> None:
        if self._writer is None:
            self._writer = self._opened(piece.schema)
        self._writer.write_table(piece)

    def _opened(self, schema: Any) -> Any:
        if self._form == CSV:
            csv = need("pyarrow.csv", "Writing CSV", "tables")
            return csv.CSVWriter(self._file, schema, write_options=csv.WriteOptions(delimiter=self._delimiter))
        if self._form == PARQUET:
            return need("pyarrow.parquet", "Writing Parquet", "tables").ParquetWriter(
                self._file, schema, compression="zstd"
            )
        return need("pyarrow.ipc", "Writing Arrow", "tables").new_file(self._file, schema)

    def finish(self) -> None:
        if self._writer is not None:
            writer, self._writer = self._writer, None
            writer.close()

    def close(self) -> None:
        with suppress(Exception):  # the file is not finished, and will be removed
            self.finish()


class _WholeOutput(Output):
    """FITS, VOTable and ECSV: astropy writes the whole table at the end."""

    def __init__(self, file: Any, form: str, units: dict[str, Any]):
        self._file, self._form, self._units = file, form, units
        self._pieces: list[Any] = []
        self._longest: dict[str, int] = {}  # letters in the texts of a column

    def write(self, piece: Any) -> None:
        if self._form == FITS:
            _refuse_letters_that_fits_lacks(piece)
        self._pieces.append(piece)
        self._refuse_long_texts(piece)

    def _refuse_long_texts(self, piece: Any) -> None:
        """Raise an error for a column that would need far more memory than it has characters."""
        import pyarrow.compute as compute

        n_rows = sum(each.num_rows for each in self._pieces)
        for name in piece.column_names:
            if is_text(piece.column(name).type):
                length = compute.max(compute.utf8_length(piece.column(name).cast("string"))).as_py() or 0
                longest = self._longest[name] = max(length, self._longest.get(name, 0))
                if n_rows * longest > _MOST_LETTERS:
                    raise ValueError(
                        f"The column {name!r} has a text of {longest:,} characters, and {self._form} would need as "
                        "much space for every row. Leave it out, or write CSV, Parquet or Arrow."
                    )

    def finish(self) -> None:
        import pyarrow

        table = from_arrow(pyarrow.concat_tables(self._pieces), self._units)
        if self._form == ECSV:
            text = io.TextIOWrapper(self._file, encoding="utf-8", newline="\n")
            table.write(text, format="ascii.ecsv")
            text.detach()
        elif self._form == FITS:
            content = io.BytesIO()  # astropy does not say that a disk is full
            table.write(content, format="fits")
            self._file.write(content.getbuffer())
        else:
            table.write(
                self._file, format="votable", tabledata_format="binary2"
            )  # text would take a minute per million

    def close(self) -> None:
        self._pieces.clear()


def _refuse_letters_that_fits_lacks(piece: Any) -> None:
    """Now rather than at the end."""
    import pyarrow.compute as compute

    for name in piece.column_names:
        column = piece.column(name)
        fits = name.isascii()
        if fits and is_text(column.type):
            fits = compute.all(compute.string_is_ascii(column)).as_py() in (True, None)
        if not fits:
            raise ValueError(
                f"The column {name!r} has characters that FITS can't store. Leave it out, or write another format."
            )
