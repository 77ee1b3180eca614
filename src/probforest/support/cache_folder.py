"""The folder where compiled kernels are kept between runs, and the files in it.

A file begins with a digest of its name and its content, so that one that is cut, damaged or under a wrong name is
ignored. Files that can't be read are ignored; only writing may raise an error.

The files hold code that will be run. The folders that this module chooses are therefore private to the user; a folder
that the user has chosen (NUMBA_CACHE_DIR) is trusted, and may be shared or read-only, as in a container.
"""

import os
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from .atomic import replacing

_APPLICATION = "probforest"
_DIGEST_BYTES = sha256().digest_size
_UNUSED_SECONDS = 30 * 24 * 3600  # after which a folder of another edition is removed


class Place(NamedTuple):
    """Where folders of all editions may be."""

    folder: Path
    private: bool  # whether it must belong to the user alone
    temporary: bool  # whether the system may delete it


class Store:
    """Files in the `writable` folder, if there is one. Those in `readable` folders come first."""

    def __init__(self, readable: Sequence[Path], writable: Path | None, temporary: bool = False):
        self.writable = writable
        self.temporary = temporary  # whether the system may delete that folder
        self._folders = [*readable] if writable is None else [*readable, writable]

    def read(self, name: str) -> bytes | None:
        """The content of a file; None if there is no intact one."""
        for folder in self._folders:
            with suppress(OSError):
                found = (folder / name).read_bytes()
                content = found[_DIGEST_BYTES:]
                if found[:_DIGEST_BYTES] == _digest(name, content):
                    return content
        return None

    def write(self, name: str, content: bytes) -> None:
        """Replace a file as a whole. Without a folder, nothing is done."""
        if self.writable is not None:
            with replacing(self.writable / name) as part:
                part.write_bytes(_digest(name, content) + content)


def _digest(name: str, content: bytes) -> bytes:
    return sha256(name.encode() + b"\0" + content).digest()


def open_store(edition: str, chosen: str) -> Store:
    """The files of one edition of the kernels, in the folder that the user has `chosen` ("": none), else in the user's
    cache folder; if that can't be written to, also in a temporary folder; and without one, nowhere.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = open_store("1.0", folder)
    ...     store.write("answer", b"42")
    ...     store.read("answer"), store.writable.relative_to(folder).as_posix()
    (b'42', 'probforest/1.0')
    """
    readable: list[Path] = []
    for place in _places(chosen):
        folder = place.folder / edition
        with suppress(OSError):
            if _make(place, folder):
                return Store(readable, folder, place.temporary)
        with suppress(OSError):
            if _is_trusted(place) and folder.is_dir():
                readable.append(folder)
    return Store(readable, None)


def _places(chosen: str) -> Iterator[Place]:
    if chosen:
        yield Place(Path(os.path.realpath(chosen)) / _APPLICATION, private=False, temporary=False)
    else:
        user = _user_folder()
        if user is not None:  # a link in a user's home may lead to another disk
            yield Place(Path(os.path.realpath(user / _APPLICATION)), private=True, temporary=False)
    with suppress(OSError):  # no folder for temporary files
        number = f"-{os.getuid()}" if hasattr(os, "getuid") else ""
        parent = Path(os.path.realpath(tempfile.gettempdir()))
        yield Place(parent / f"{_APPLICATION}{number}", private=True, temporary=True)


def _user_folder() -> Path | None:
    """The user's folder for caches, by the conventions of the system."""
    home = os.path.expanduser("~")
    if os.name == "nt":
        named, usual = os.environ.get("LOCALAPPDATA", ""), os.path.join(home, "AppData", "Local")
    else:
        named = os.environ.get("XDG_CACHE_HOME", "")
        usual = os.path.join(home, *(["Library", "Caches"] if sys.platform == "darwin" else [".cache"]))
    folder = Path(named if os.path.isabs(named) else usual)
    return folder if folder.is_absolute() else None


def _make(place: Place, folder: Path) -> bool:
    """Make the folder of an edition; whether files can be written to it. May raise an OSError, too."""
    place.folder.parent.mkdir(parents=True, exist_ok=True)
    place.folder.mkdir(mode=0o700 if place.private else 0o777, exist_ok=True)
    if not _is_trusted(place):
        return False
    if place.private and not folder.exists():
        _remove_unused(place.folder)
    folder.mkdir(exist_ok=True)
    tempfile.TemporaryFile(dir=folder).close()
    with suppress(OSError):
        os.utime(folder)  # it is in use
    return True


def _is_trusted(place: Place) -> bool:
    """Whether only the user can put files there."""
    if not place.private or not hasattr(os, "getuid"):  # Windows keeps both folders for each user
        return True
    status = os.lstat(place.folder)
    others_write = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid() and not others_write


def _remove_unused(folder: Path) -> None:
    """Remove editions that were not used for long: each upgrade brings a new one."""
    with suppress(OSError):
        for other in folder.iterdir():
            if time.time() - other.stat().st_mtime > _UNUSED_SECONDS:
                shutil.rmtree(other, ignore_errors=True)
