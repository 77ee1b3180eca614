"""Open a table, whatever its format."""

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from .astronomical import AstropyCatalogue, FitsCatalogue
from .catalogue import Catalogue
from .columnar import ArrowCatalogue, ParquetCatalogue
from .delimited import DelimitedCatalogue
from .formats import ARROW, ARROW_STREAM, CSV, ECSV, FITS, PARQUET, VOTABLE, compression_of, format_of, reading

_READERS: dict[str, Callable[..., Catalogue]] = {
    CSV: DelimitedCatalogue,
    ECSV: AstropyCatalogue,
    VOTABLE: AstropyCatalogue,
    FITS: FitsCatalogue,
    PARQUET: ParquetCatalogue,
    ARROW: ArrowCatalogue,
    ARROW_STREAM: ArrowCatalogue,
}
_READ_FROM_START_TO_END = (CSV, ECSV, VOTABLE, ARROW_STREAM)  # others are read here and there


def open_catalogue(path: str | os.PathLike) -> Catalogue:
    """Open a table: CSV, ECSV, FITS, VOTable, Parquet or Arrow, compressed or not.

    The first bytes tell the format, whatever the name.
    """
    path = Path(path)
    if path.is_dir():
        raise ValueError(f"{path} is a folder; expected a file with a table.")
    compression = compression_of(path)
    with reading(path, compression) as file:
        form = format_of(path, file)
    source = path
    if compression is not None and form not in _READ_FROM_START_TO_END:
        source, compression = _decompressed(path, compression), None
    try:
        return _READERS[form](path, form, source, compression)
    except BaseException:
        if source is not path:
            source.unlink()
        raise


def _decompressed(path: Path, compression: str) -> Path:
    """A copy of a file, decompressed. In a file and not in memory, as it may be large."""
    handle, name = tempfile.mkstemp(prefix="probforest-")
    try:
        with os.fdopen(handle, "wb") as copy, reading(path, compression) as file:
            shutil.copyfileobj(file, copy, 1 << 20)
    except BaseException:
        os.unlink(name)
        raise
    return Path(name)
