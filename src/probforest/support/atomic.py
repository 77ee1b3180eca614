"""Files that are replaced as a whole: whoever opens one finds the old content or the new, never half of it."""

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import chain, count
from pathlib import Path

_NO_ROOM = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
_LONGEST_STEM = 40  # characters of a name that the temporary one repeats; names of files have a length limit


@contextmanager
def replacing(path: str | os.PathLike, *, overwrite: bool = True) -> Iterator[Path]:
    """Yield the name of an empty temporary file in the same folder, which takes the place of `path` at the end.

    Whoever uses it opens the file by that name, and closes it. After an exception it is removed, and what was there
    under `path` stays. A link is followed: the file that it points to is replaced. A file that is there keeps its mode.
    Without `overwrite` nothing is replaced: if there is a file of that name at the end, created by another program
    in the meantime, the new one is kept under a similar name, and a FileExistsError says so.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "answer.txt"
    ...     with replacing(path) as part:
    ...         _ = part.write_text("42")
    ...         before = path.exists()
    ...     before, path.read_text()
    (False, '42')
    """
    target = Path(os.path.realpath(path))
    mode = _mode_of(target)
    if mode is not None and not overwrite:
        raise FileExistsError(f"{path} exists already.")
    part = target.with_name(f".{target.name[:_LONGEST_STEM]}.{secrets.token_hex(8)}.part")
    try:
        _create(part, target)  # here, so that an interruption right after it finds something to remove
        yield part
        if mode is not None:
            os.chmod(part, mode)
        _write_through(part)
        if overwrite:
            os.replace(part, target)
        else:
            _name(part, target)
    except BaseException as problem:
        with suppress(FileNotFoundError):
            part.unlink()
        if isinstance(problem, OSError) and problem.errno in _NO_ROOM and problem.filename in (None, str(part)):
            problem.filename = str(target)  # a write does not say into which file
        raise


def _mode_of(target: Path) -> int | None:
    """The permissions of a file that may be replaced; None if it does not exist."""
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(mode):
        what = "a folder" if stat.S_ISDIR(mode) else "not a regular file"
        raise ValueError(f"{target} is {what} and can't be replaced; give the name of a file.")
    if not os.access(target, os.W_OK):  # replacing a file needs no right to write it, but its owner protects it
        raise PermissionError(f"{target} is write-protected; choose another name, or make it writable.")
    return stat.S_IMODE(mode)


def _name(part: Path, target: Path) -> None:
    """Give a file its name, or a similar one if that name is taken by now."""
    stem, dot, ending = target.name.partition(".")
    similar = (target.with_name(f"{stem}-{number}{dot}{ending}") for number in count(2))
    for name in chain([target], similar):
        try:
            _rename(part, name)
        except FileExistsError:
            continue
        break
    if name != target:
        raise FileExistsError(
            f"{target} was created by another program in the meantime and is kept. The result is in {name.name}."
        )


def _rename(part: Path, name: Path) -> None:
    """Rename a file to a name that nothing has; `os.rename` would replace it on Unix."""
    try:
        os.link(part, name)
    except FileExistsError:
        raise
    except OSError:  # a file system without links: reserve the name
        os.close(os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        os.replace(part, name)
    else:
        part.unlink()


def _create(part: Path, target: Path) -> None:
    """Create an empty file beside `target`, with the permissions that any new file has."""
    if not target.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {target.parent} to write {target.name} to; create it first.")
    try:
        os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    except OSError as problem:
        raise type(problem)(problem.errno, f"can't be written: {problem.strerror}", str(target)) from None


def _write_through(part: Path) -> None:
    """Make sure that the content is on the disk before the name: a power failure must not leave an empty file."""
    handle = os.open(part, os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
