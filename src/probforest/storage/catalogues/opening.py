"""Open a table, whatever its format."""

import errno
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .astronomical import AstropyCatalogue, FitsCatalogue
from .catalogue import Catalogue
from .columnar import ArrowCatalogue, ParquetCatalogue
from .delimited import DelimitedCatalogue
from .folder import FolderCatalogue, files_of
from .formats import (
    ARROW,
    ARROW_STREAM,
    CSV,
    ECSV,
    FITS,
    PARQUET,
    VOTABLE,
    compression_of,
    format_by_name,
    format_of,
    reading,
)
from .remote import RemotePath, is_address

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


def open_catalogue(path: str | os.PathLike | RemotePath) -> Catalogue:
    """Open a table: CSV, ECSV, FITS, VOTable, Parquet or Arrow, compressed or not, in a file or from a pipe; a folder
    of such files; or one of both at an address that fsspec knows.

    The first bytes determine the format, not the name.
    """
    is_remote = isinstance(path, RemotePath) or (is_address(str(path)) and not Path(path).exists())
    if is_remote:
        return _open_remote(path if isinstance(path, RemotePath) else RemotePath(str(path)))
    assert not isinstance(path, RemotePath)
    path = Path(path)
    if path.is_dir():
        return FolderCatalogue(path, files_of(path), open_catalogue)
    return _open_file(path, path if _can_be_read_again(path) else _from_pipe(path))


def _open_remote(path: RemotePath) -> Catalogue:
    """A copy on this machine is read, of one file at a time."""
    files = path.files()
    if files is None:
        with path.open() as file:
            return _open_file(path, _copied(file))
    tables = [file for file in files if format_by_name(Path(file.name))[0] is not None]
    if not tables:
        raise ValueError(f"{path} is a folder without tables (.csv, .fits, .parquet, ...).")
    return FolderCatalogue(path, tables, _open_remote, look_at_all=False)


def _open_file(path: Any, source: Path) -> Catalogue:
    """A table in a file, or in a copy of one."""
    try:
        with _naming(path, source):
            compression = compression_of(source)
            with reading(source, compression) as file:
                form = format_of(path, file)
            if compression is not None and (source is not path or form not in _READ_FROM_START_TO_END):
                packed, source = source, _decompressed(source, compression)
                compression = None
                _remove_copy(packed, path)
        return _READERS[form](path, form, source, compression)
    except BaseException:
        _remove_copy(source, path)
        raise


def _can_be_read_again(path: Path) -> bool:
    """Whether a table is in a file, which is opened several times, and not in a pipe."""
    mode = path.stat().st_mode
    if stat.S_ISBLK(mode) or (stat.S_ISCHR(mode) and not _is_terminal(path)):
        raise ValueError(f"{path} is a device; expected a file with a table.")
    return stat.S_ISREG(mode)


def _is_terminal(path: Path) -> bool:
    with path.open("rb", buffering=0) as file:
        return file.isatty()


def _from_pipe(path: Path) -> Path:
    with path.open("rb") as file:
        return _copied(file)


def _decompressed(path: Path, compression: str) -> Path:
    with reading(path, compression) as file:
        return _copied(file)


def _copied(file: Any) -> Path:
    """A temporary copy. In a file and not in memory, as it may be large."""
    handle, name = tempfile.mkstemp(prefix="probforest-")
    try:
        with os.fdopen(handle, "wb") as copy:
            shutil.copyfileobj(file, copy, 1 << 20)
    except BaseException as problem:
        os.unlink(name)
        if isinstance(problem, OSError) and problem.errno == errno.ENOSPC:
            problem.filename = name  # a write does not say into which file
        raise
    return Path(name)


def _remove_copy(source: Path, path: Any) -> None:
    if source is not path:
        source.unlink(missing_ok=True)


@contextmanager
def _naming(path: Any, source: Path) -> Iterator[None]:
    """Errors name the file that the user named, and not its copy."""
    try:
        yield
    except ValueError as problem:
        raise ValueError(str(problem).replace(str(source), str(path))) from problem.__cause__
