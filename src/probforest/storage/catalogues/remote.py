"""Tables that are not on this machine: addresses such as s3://bucket/stars.parquet, read through fsspec."""

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from ...support.extras import need


def is_address(text: str) -> bool:
    """Whether a text is an address rather than the name of a file.

    >>> is_address("s3://survey/stars.parquet"), is_address("stars.parquet")
    (True, False)
    """
    protocol, separator, _ = text.partition("://")
    return bool(separator) and protocol.replace("+", "").replace("-", "").isalnum()


@dataclass(frozen=True)
class RemotePath:
    """The address of a table, or of a folder of tables."""

    address: str

    def __str__(self) -> str:
        return self.address

    @property
    def name(self) -> str:
        """The last part."""
        return self.address.rstrip("/").rpartition("/")[2]

    @property
    def suffixes(self) -> list[str]:
        """The endings of its name."""
        return PurePosixPath(self.name).suffixes

    def exists(self) -> bool:
        """Not on this machine, where it could be overwritten."""
        return False

    def files(self) -> list["RemotePath"] | None:
        """The files of a folder, in their order; None for a file."""
        system, path = self._system()
        if not system.exists(path):
            raise FileNotFoundError(f"{self.address} does not exist.")
        if not system.isdir(path):
            return None
        inner = len(path.rstrip("/")) + 1
        names = sorted(system.find(path))
        shown = [name for name in names if not any(part[:1] in "._" for part in name[inner:].split("/"))]
        return [RemotePath(system.unstrip_protocol(name)) for name in shown]

    def open(self) -> Any:
        """Its bytes, as an open file."""
        system, path = self._system()
        return system.open(path, "rb")

    def _system(self) -> tuple[Any, str]:
        fsspec = need("fsspec", f"Reading {self.address}", "cloud")
        try:
            return fsspec.core.url_to_fs(self.address)
        except (ImportError, ValueError) as problem:  # a package for the protocol is missing, or there is none
            raise ValueError(f"{self.address} can't be read: {problem}") from problem
