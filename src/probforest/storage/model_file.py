"""The container of a saved model: a zip with arrays, as `numpy.load` opens it, and a JSON document.

Nothing in it can run code: there are no pickles. A file may come from anywhere, or be damaged. So everything that it
announces is checked before memory is allocated, and afterwards a digest of all of it.

```
model.json      {"format", "format_version", "written_by", "arrays": {name: {"dtype", "shape"}}, "document", "digest"}
<name>.npy      one for each of the arrays, and nothing else
```
"""

import errno
import hashlib
import json
import math
import os
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any, NamedTuple

import numpy as np

from ..support.version import VERSION

FORMAT, FORMAT_VERSION = "probforest model", 3  # version 1 had tables of posteriors, version 2 no label truth
DOCUMENT = "model.json"
LEVEL = 1  # of the compression: more takes much longer and saves little, as probabilities are hardly compressible

_FIRST_BYTES = b"PK\x03\x04"  # of every zip that has a member
_MOST_DEFLATED = 1032  # bytes that one compressed byte can stand for, at most
_LONGEST_DOCUMENT = 1 << 25  # bytes: the names of some hundred thousand columns. As objects they take a multiple of it.
_BLOCK = 1 << 20  # bytes that are read at once
_DTYPES = re.compile(r"\|b1|\|[iu]1|<[iu][248]|<f[248]|<U[1-9]\d{0,8}|\|S[1-9]\d{0,8}")
_MAGIC = b"\x93NUMPY\x01\x00"
_HEADER_STEP = 64  # where the numbers of an .npy file begin is a multiple of this

# What the modules of the standard library raise when a file is not what they expect. Real trouble with the disk is an
# OSError, and stays one.
_SYMPTOMS = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    ValueError,  # also what json and Unicode raise
    LookupError,
    TypeError,
    OverflowError,
    RuntimeError,  # also what too deeply nested JSON raises, and a password
)

Arrays = dict[str, np.ndarray]


class ModelFileError(ValueError):
    """The file is not a saved model, is damaged, or can't be read by this version.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import probforest
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = Path(folder.name) / "notes.prf"
    >>> _ = path.write_text("this is not a model")
    >>> try:
    ...     probforest.load(path)
    ... except probforest.ModelFileError:
    ...     print("not a model")
    not a model
    >>> folder.cleanup()
    """


class Header(NamedTuple):
    """What a file announces."""

    format_version: int
    written_by: str
    arrays: dict[str, "Declaration"]
    document: dict[str, Any]
    digest: str


class Declaration(NamedTuple):
    """Type and shape of an array before there is one."""

    dtype: np.dtype
    shape: tuple[int, ...]

    @property
    def n_bytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize

    def npy_header(self) -> bytes:
        """The header of an .npy file, the same for every version of NumPy."""
        text = f"{{'descr': '{self.dtype.str}', 'fortran_order': False, 'shape': {self.shape}, }}".encode("latin1")
        n_before = len(_MAGIC) + 2
        padded = text.ljust(-(-(n_before + len(text) + 1) // _HEADER_STEP) * _HEADER_STEP - n_before - 1) + b"\n"
        return _MAGIC + struct.pack("<H", len(padded)) + padded

    def as_json(self) -> dict[str, Any]:
        return {"dtype": self.dtype.str, "shape": list(self.shape)}


Check = Callable[[Header], None]


# Writing


def write_file(
    target: str | os.PathLike | IO[bytes], document: Mapping[str, Any], arrays: Mapping[str, np.ndarray]
) -> None:
    """Write a `document`, which is plain JSON, and `arrays`; the same ones give the same bytes.

    >>> import io
    >>> stream = io.BytesIO()
    >>> write_file(stream, {"kind": "example"}, {"squares": np.arange(4) ** 2})
    >>> with np.load(io.BytesIO(stream.getvalue())) as archive:
    ...     archive["squares"]
    array([0, 1, 4, 9])
    """
    portable = {name: _portable(name, array) for name, array in arrays.items()}
    declared = {name: Declaration(array.dtype, array.shape) for name, array in portable.items()}
    text = _header_text(document, declared, portable).encode("ascii")
    if len(text) > _LONGEST_DOCUMENT:
        raise ValueError(f"the document has {len(text):,} bytes of JSON; at most {_LONGEST_DOCUMENT:,} can be stored.")
    # The order of the members is that of the names, and their date is always the same: 1980.
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=LEVEL) as archive:
        information = zipfile.ZipInfo(DOCUMENT)  # not compressed: then it can't be larger than the file
        with archive.open(information, "w") as member:
            member.write(text)
        for name in sorted(portable):
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                member.write(declared[name].npy_header())
                member.write(_bytes_of(portable[name]))


def _portable(name: str, array: np.ndarray) -> np.ndarray:
    """The array as it lies in the file: row after row, little-endian."""
    portable = np.asarray(array, dtype=array.dtype.newbyteorder("<"), order="C")
    if not _DTYPES.fullmatch(portable.dtype.str):
        raise ValueError(f"array {name!r} has the dtype {array.dtype}, which can't be stored.")
    return portable


def _bytes_of(array: np.ndarray) -> memoryview:
    return array.reshape(-1).view(np.uint8).data


def _header_text(document: Mapping[str, Any], declared: Mapping[str, Declaration], arrays: Arrays) -> str:
    header = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "written_by": VERSION,
        "arrays": {name: declared[name].as_json() for name in sorted(declared)},
        "document": dict(document),
    }
    return _canonical({**header, "digest": _digest(header, arrays)})


def _canonical(header: Mapping[str, Any]) -> str:
    return json.dumps(header, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def _digest(header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> str:
    """Of the header, which has the names, types and shapes of the arrays, and of their bytes, in order of the names."""
    digest = hashlib.sha256(_canonical(header).encode("ascii"))
    for name in sorted(arrays):
        digest.update(_bytes_of(arrays[name]))
    return digest.hexdigest()


# Reading


def read_file(path: str | os.PathLike, check: Check | None = None) -> tuple[dict[str, Any], Arrays]:
    """The document and the arrays of a file; ModelFileError if anything about it is wrong.

    `check` may raise one about the header, before memory is allocated for any array.
    """
    with _opened(path) as archive:
        header, text = _read_header(archive, check)
        members = _members(archive, header.arrays)
        arrays = {name: _read_array(archive, members[name], header.arrays[name]) for name in sorted(header.arrays)}
        del text["digest"]
        if _digest(text, arrays) != header.digest:
            raise ModelFileError("is damaged: its content is not what was written (the digest differs)")
    return header.document, {
        name: array.astype(array.dtype.newbyteorder("="), copy=False) for name, array in arrays.items()
    }


def read_header(path: str | os.PathLike, check: Check | None = None) -> Header:
    """The header of a file, without the arrays; only its form is checked, and what `check` checks."""
    with _opened(path) as archive:
        return _read_header(archive, check)[0]


@contextmanager
def _opened(path: str | os.PathLike) -> Iterator[zipfile.ZipFile]:
    """The zip; any problem with it becomes a ModelFileError that names the file."""
    name = os.fspath(path)
    try:
        _refuse_special(name)
        with open(name, "rb") as stream:
            _refuse_foreign(stream.read(len(_FIRST_BYTES)))
            with zipfile.ZipFile(stream) as archive:
                yield archive
    except ModelFileError as problem:
        raise ModelFileError(f"{name} {problem}.") from problem.__cause__
    except _SYMPTOMS as problem:
        raise ModelFileError(f"{name} is truncated or damaged: {_one_line(problem)}.") from problem
    except OSError as problem:
        if problem.errno != errno.EINVAL:  # the zip points to places before its beginning
            raise
        raise ModelFileError(f"{name} is truncated or damaged: its parts are not where they should be.") from problem


def _one_line(problem: BaseException) -> str:
    return (" ".join(str(problem).split()) or type(problem).__name__)[:200]


def _refuse_special(name: str | bytes) -> None:
    mode = os.stat(name).st_mode
    if not stat.S_ISREG(mode):
        what = "is a folder" if stat.S_ISDIR(mode) else "is not a regular file"
        raise ModelFileError(f"{what}, not a saved model of probforest")


def _refuse_foreign(first: bytes) -> None:
    if first == _FIRST_BYTES:
        return
    if not first:
        raise ModelFileError("is empty, not a saved model of probforest")
    hint = (
        " (it looks like a pickle, which is never loaded here, as it could run any code)"
        if first[:1] == b"\x80"
        else ""
    )
    raise ModelFileError(f"is not a saved model of probforest{hint}")


def _read_header(archive: zipfile.ZipFile, check: Check | None) -> tuple[Header, dict[str, Any]]:
    """The header, and the JSON that it was made of."""
    text = json.loads(_read_text(archive), parse_constant=_refuse_constant)
    if not isinstance(text, dict) or text.get("format") != FORMAT:
        raise ModelFileError(f"is not a saved model of probforest: its {DOCUMENT} belongs to another program")
    number = text["format_version"]
    if type(number) is not int or number < 1:
        raise ModelFileError(f"is damaged: its format version is {number!r}"[:200])
    if number > FORMAT_VERSION:
        raise ModelFileError(
            f"was written by a newer probforest (format version {number}); this one reads up to {FORMAT_VERSION}. "
            "Upgrade it: pip install --upgrade probforest"
        )
    declared = {name: _declaration(each) for name, each in _expect(text["arrays"], dict).items()}
    document, writer = _expect(text["document"], dict), _expect(text["written_by"], str)
    header = Header(number, writer, declared, document, _expect(text["digest"], str))
    if check is not None:
        check(header)
    return header, text


def _expect(value: Any, kind: type) -> Any:
    if type(value) is not kind:
        raise ModelFileError(f"is damaged: its {DOCUMENT} has a {type(value).__name__} in place of a {kind.__name__}")
    return value


def _refuse_constant(word: str) -> None:
    raise ModelFileError(f"is damaged: its {DOCUMENT} has {word}, which is not JSON")


def _read_text(archive: zipfile.ZipFile) -> bytes:
    places = [member for member in archive.infolist() if member.filename == DOCUMENT]
    if len(places) != 1:
        raise ModelFileError(f"is not a saved model of probforest: a zip with {len(places) or 'no'} {DOCUMENT}")
    (member,) = places
    if member.file_size > _LONGEST_DOCUMENT:
        raise ModelFileError(f"is damaged: its {DOCUMENT} has {member.file_size:,} bytes")
    # JSON takes a multiple of its size in memory; this keeps it in proportion to the file.
    if member.compress_type != zipfile.ZIP_STORED or member.file_size != member.compress_size:
        raise ModelFileError(f"is damaged: its {DOCUMENT} is compressed")
    if member.file_size > _size(archive):
        raise ModelFileError(f"is damaged: its {DOCUMENT} claims to be larger than the file")
    return archive.read(member)


def _size(archive: zipfile.ZipFile) -> int:
    assert archive.fp is not None
    return os.fstat(archive.fp.fileno()).st_size


def _declaration(entry: Any) -> Declaration:
    dtype, shape = _expect(entry["dtype"], str), tuple(_expect(entry["shape"], list))
    if not _DTYPES.fullmatch(dtype):
        raise ModelFileError(f"is damaged: an array has the dtype {dtype[:20]!r}")
    if len(shape) > 8 or not all(type(length) is int and length >= 0 for length in shape):
        raise ModelFileError(f"is damaged: an array has the shape {shape}"[:200])
    return Declaration(np.dtype(dtype), shape)


def _members(archive: zipfile.ZipFile, declared: Mapping[str, Declaration]) -> dict[str, zipfile.ZipInfo]:
    """The members of the arrays. Their sizes are known from here on, and are not out of proportion to the file."""
    listed = [member for member in archive.infolist() if member.filename != DOCUMENT]
    if sorted(member.filename for member in listed) != sorted(f"{name}.npy" for name in declared):
        raise ModelFileError("is damaged: its members are not those that it announces")
    if sum(member.compress_size for member in listed) > _size(archive):
        raise ModelFileError("is damaged: its members claim to be larger than the file")
    members = {member.filename.removesuffix(".npy"): member for member in listed}
    for name, member in members.items():
        if member.compress_type != zipfile.ZIP_DEFLATED:  # the limit below is that of this compression
            raise ModelFileError(f"is damaged: {name!r} is not compressed as it should be")
        expected = declared[name].n_bytes + len(declared[name].npy_header())
        if member.file_size != expected or expected > _MOST_DEFLATED * member.compress_size:
            raise ModelFileError(f"is damaged: the size of {name!r} is not what it should be")
    return members


def _read_array(archive: zipfile.ZipFile, member: zipfile.ZipInfo, declared: Declaration) -> np.ndarray:
    with archive.open(member) as stream:
        header = declared.npy_header()
        if stream.read(len(header)) != header:
            raise ModelFileError(f"is damaged: the type or shape of {member.filename!r} is not what it should be")
        array = np.empty(declared.shape, declared.dtype)
        room = _bytes_of(array)
        for first in range(0, len(room), _BLOCK):
            block = stream.read(min(_BLOCK, len(room) - first))
            room[first : first + _BLOCK] = block  # a ValueError if the stream ends too early
        if stream.read(1):  # also makes sure of the checksum
            raise ModelFileError(f"is damaged: {member.filename!r} is longer than announced")
    return array
