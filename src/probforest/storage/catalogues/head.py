"""The beginning of a text file with a table: comments, names of columns, some rows, and the delimiter."""

import csv
import re
from itertools import accumulate
from pathlib import Path

from .blanks import BLANKS, fields_of, is_comment

_DELIMITERS = ",\t;|"


class Head:
    """The beginning of a file.

    The names are on the first line that is not a comment; if it has numbers, on the last comment above it, as
    NumPy, TOPCAT and astropy's `commented_header` write them.
    """

    def __init__(self, path: Path, beginning: bytes, *, is_cut: bool):
        """`is_cut`: the file is longer than its beginning."""
        lines = beginning.removeprefix(b"\xef\xbb\xbf").splitlines(keepends=True)
        content = [i for i, line in enumerate(lines) if not is_comment(line)]
        if not content:
            raise ValueError(f"{path} has no line with names of columns.")
        first = content[0]
        header = _header(lines[first], path)
        self.n_lines = first + 1  # of comments and names
        self.delimiter = _delimiter(header, _text(lines[content[1]]) if len(content) > 1 else None)
        try:
            self.names = _split(header, self.delimiter)
        except csv.Error as problem:
            raise ValueError(f"{path}: the line with the names of columns can't be read: {problem}.") from None
        above = next((_text(line).strip().lstrip("#") for line in reversed(lines[:first]) if line.strip()), "")
        if any(map(_is_numeral, self.names)) and self._takes_names_from(above, header):
            self.n_lines = first
        self.sample = _whole_rows(lines[self.n_lines :], is_cut=is_cut)
        self._check(path, header)

    def _takes_names_from(self, comment: str, row: str) -> bool:
        """Take the names from a comment above the first row, if it fits the row."""
        delimiter = _delimiter(comment, row)
        names = [name.rstrip(",") for name in _split(comment, delimiter)]
        if len(names) != len(_split(row, delimiter)) or any(map(_is_numeral, names)):
            return False
        self.delimiter, self.names = delimiter, names
        return True

    def _check(self, path: Path, header: str) -> None:
        if all(_is_numeral(name) for name in self.names):
            above = (
                " The comment above it does not have as many names as the row has fields." if self.n_lines > 1 else ""
            )
            raise ValueError(f"{path} has numbers in its first row; expected the names of its columns.{above}")
        if header.startswith(("|", "\\")):
            raise ValueError(
                f"{path} looks like an IPAC table, which can't be read. Convert it with astropy or TOPCAT."
            )
        if "" in self.names:
            raise ValueError(f"{path}: column {self.names.index('') + 1} has no name. Give it one, or remove it.")


def _text(line: bytes) -> str:
    """A row or a comment, which may have letters of another encoding."""
    return line.decode(errors="replace").rstrip("\r\n")


def _header(line: bytes, path: Path) -> str:
    try:
        return line.decode().rstrip("\r\n")
    except UnicodeDecodeError as problem:
        raise ValueError(f"{path} is not UTF-8 text: {problem}") from problem


def _split(line: str, delimiter: str) -> list[str]:
    """The fields of a line.

    >>> _split("ra  dec 'my name'", BLANKS), _split('ra,"b,c" ', ",")
    (['ra', 'dec', 'my name'], ['ra', 'b,c'])
    """
    if delimiter == BLANKS:
        return [field.decode().removeprefix('"').removesuffix('"') for field in fields_of(line.encode())]
    return [name.strip() for name in next(csv.reader([line], delimiter=delimiter), [""])]


def _delimiter(header: str, row: str | None) -> str:
    """What is between the names, and, if possible, between as many fields of the first row."""
    counts = {delimiter: re.sub('"[^"]*"', "", header).count(delimiter) for delimiter in _DELIMITERS}
    candidates = [delimiter for delimiter in sorted(counts, key=counts.__getitem__, reverse=True) if counts[delimiter]]
    if len(header.split()) > 1:
        candidates.append(BLANKS)
    if row is not None:
        fitting = [each for each in candidates if len(_split(header, each)) == len(_split(row, each))]
        candidates = fitting or candidates
    return candidates[0] if candidates else _DELIMITERS[0]


def _whole_rows(lines: list[bytes], *, is_cut: bool) -> bytes:
    """The rows of a sample, without one that is cut at its end: a quoted text may go over several lines."""
    if not is_cut:
        return b"".join(lines)
    n_quotes = list(accumulate(line.count(b'"') for line in lines[:-1]))
    last = max((i for i, count in enumerate(n_quotes) if count % 2 == 0), default=-1)
    return b"".join(lines[: last + 1])


def _is_numeral(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
