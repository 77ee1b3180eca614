"""Text with one or more blanks between its fields, turned into fields with a delimiter while it is read."""

import re
from typing import Any

BLANKS = " "  # the delimiter of such a file: a run of blanks and tabs
DELIMITER = "\x1f"  # that of what comes out, which no text has
_BLOCK = 1 << 20  # bytes that are read at once
_FIELD = re.compile(rb"""  " (?: [^"] | "" )* " (?= \s | \Z ) | ' [^']* ' (?= \s | \Z ) | \S+  """, re.VERBOSE)


def fields_of(line: bytes) -> list[bytes]:
    """The fields of a line; those in quotes, single or double, may have blanks in them, and get double ones.

    >>> fields_of(b"  1.5 'red dwarf'  O'Neill ")
    [b'1.5', b'"red dwarf"', b"O'Neill"]
    """
    if b'"' not in line and b"'" not in line:
        return line.split()
    return [
        b'"' + field[1:-1].replace(b'"', b'""') + b'"'
        if len(field) > 1 and field.startswith(b"'") and field.endswith(b"'")
        else field
        for field in _FIELD.findall(line)
    ]


def is_comment(line: bytes) -> bool:
    """Whether a line is empty or a comment."""
    start = line.lstrip()
    return not start or start.startswith(b"#")


class BlankSeparated:
    """A file with blanks between the fields, which is read as one with delimiters, without comments and empty lines."""

    def __init__(self, file: Any, n_fields: int, *, first_line: int = 1):
        """`file` has no names any more; its first line is the line `first_line` of the whole."""
        self._file, self._n_fields, self._line_number = file, n_fields, first_line - 1
        self._rest, self._ready = b"", b""

    def read(self, size: int = -1) -> bytes:
        """At most `size` bytes."""
        while size < 0 or len(self._ready) < size:
            block = bytes(self._file.read(_BLOCK))
            lines = (self._rest + block).split(b"\n")
            self._rest = lines.pop() if block else b""
            self._ready += b"".join(map(self._with_delimiters, lines))
            if not block:
                break
        size = len(self._ready) if size < 0 else size
        answer, self._ready = self._ready[:size], self._ready[size:]
        return answer

    def _with_delimiters(self, line: bytes) -> bytes:
        self._line_number += 1
        if is_comment(line):
            return b""
        fields = fields_of(line)
        if len(fields) != self._n_fields:
            raise ValueError(
                f"line {self._line_number} has {len(fields)} fields, but the table has {self._n_fields} "
                f"columns: {line.decode(errors='replace').strip()[:60]!r}"
            )
        return DELIMITER.encode().join(fields) + b"\n"
