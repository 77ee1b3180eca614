"""Which format a file has: by its first bytes when it is read, by its name when it is written."""

import bz2
import gzip
import io
import lzma
import os
import zlib
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from ...support.extras import need
from .safety import UnsafeTable, refuse_expansion

CSV, TEXT, ECSV, FITS, VOTABLE, PARQUET, ARROW, ARROW_STREAM = (
    "CSV",
    "text with blanks",  # that has no name of its own
    "ECSV",
    "FITS",
    "VOTable",
    "Parquet",
    "Arrow",
    "Arrow stream",
)

SUFFIXES = {
    ".csv": CSV,
    ".tsv": CSV,
    ".ecsv": ECSV,
    ".fits": FITS,
    ".fit": FITS,
    ".fts": FITS,
    ".vot": VOTABLE,
    ".votable": VOTABLE,
    ".xml": VOTABLE,
    ".parquet": PARQUET,
    ".pq": PARQUET,
    ".arrow": ARROW,
    ".feather": ARROW,
}
_BEGINNINGS = {
    b"PAR1": PARQUET,
    b"ARROW1": ARROW,
    b"\xff\xff\xff\xff": ARROW_STREAM,
    b"SIMPLE  =": FITS,
    b"# %ECSV": ECSV,
}
_COMPRESSIONS = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
COMPRESSION_SUFFIXES = {".gz": "gzip", ".bz2": "bz2", ".xz": "xz", ".zst": "zstd"}
_BLOCK = 1 << 20  # bytes that are decompressed at once
_LOOK = 4096  # bytes at the beginning that tell the format


def compression_of(path: Path) -> str | None:
    """How a file is compressed, by its first bytes."""
    with path.open("rb") as file:
        first = file.read(8)
    return next((name for magic, name in _COMPRESSIONS.items() if first.startswith(magic)), None)


@contextmanager
def reading(path: Path, compression: str | None):
    """The bytes of a file, decompressed, as an open file; a ValueError where they are far too many for its size."""
    with _opened(path, "rb", compression) as file:
        try:
            yield file if compression is None else io.BufferedReader(_Decompressed(path, file), _BLOCK)
        except (EOFError, lzma.LZMAError, zlib.error, OSError) as problem:
            if isinstance(problem, OSError) and problem.errno:  # real trouble; damaged files have no number
                raise
            raise ValueError(f"{path} is cut short or damaged: {problem}") from problem


class _Decompressed(io.RawIOBase):
    """A stream that is decompressed while it is read, as long as it is in proportion to its file."""

    def __init__(self, path: Path, stream: Any):
        self._path, self._stream = path, stream
        self._size, self._n_bytes = path.stat().st_size, 0

    def readable(self) -> bool:
        return True

    def readinto(self, room: Any) -> int:
        block = self._stream.read(min(len(room), _BLOCK))  # less than all, so that it is counted in time
        self._n_bytes += len(block)
        self._refuse_bomb()
        room[: len(block)] = block
        return len(block)

    def readall(self) -> bytes:
        return b"".join(iter(lambda: self.read(_BLOCK), b""))

    def _refuse_bomb(self) -> None:
        try:
            refuse_expansion(self._n_bytes, self._size)
        except UnsafeTable as problem:
            remedy = "If you trust the file, decompress it first"
            raise ValueError(f"{self._path} is not read: {problem}. {remedy}.") from None


def writing(path: Path, compression: str | None):
    """A new file for bytes, which are compressed on the way."""
    return _opened(path, "wb", compression)


def _opened(path: Path, mode: str, compression: str | None) -> Any:
    if compression is None:
        return path.open(mode)
    if compression == "gzip":
        return gzip.open(path, mode, compresslevel=6)
    if compression == "bz2":
        return bz2.open(path, mode)
    if compression == "xz":
        return lzma.open(path, mode)
    arrow = need("pyarrow", "zstd compression", "tables")
    file = arrow.OSFile(os.fsencode(path), mode)  # by its bytes, as a name may be no text
    return (arrow.input_stream if mode == "rb" else arrow.output_stream)(file, compression="zstd")


def format_of(path: Path, file: BinaryIO) -> str:
    """The format by the first bytes of a file; text that is nothing else is CSV."""
    first = bytes(file.read(_LOOK))
    if not first:
        raise ValueError(f"{path} is empty.")
    for magic, name in _BEGINNINGS.items():
        if first.startswith(magic):
            return name
    text = first.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith(b"<"):
        if b"VOTABLE" in first.upper():
            return VOTABLE
        raise ValueError(f"{path} is XML or HTML, but not a VOTable.")
    if first.startswith(b"PK"):
        raise ValueError(f"{path} is a saved model, or another zip; expected a table.")
    if b"\x00" in first:
        raise ValueError(f"{path} is not a table that can be read; {readable()}")
    _check_name(path)
    return CSV


def _check_name(path: Path) -> None:
    """Refuse a text file that is named like a binary one: it is damaged or mislabelled."""
    expected = format_by_name(path)[0]
    if expected not in (None, CSV):
        raise ValueError(f"{path} is named like a {expected} file, but begins like plain text.")


def format_by_name(path: Path) -> tuple[str | None, str | None]:
    """Format and compression that a name stands for.

    >>> format_by_name(Path("stars.csv.gz"))
    ('CSV', 'gzip')
    """
    suffixes = [suffix.lower() for suffix in path.suffixes]
    compression = COMPRESSION_SUFFIXES.get(suffixes[-1]) if suffixes else None
    if compression is not None:
        suffixes.pop()
    return (SUFFIXES.get(suffixes[-1]) if suffixes else None), compression


def readable() -> str:
    """The formats, for people."""
    return "known formats are CSV, ECSV, FITS, VOTable, Parquet and Arrow, also compressed (gz, bz2, xz, zst)."
