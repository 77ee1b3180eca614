"""Text with fields and quotes, cut into blocks of whole rows.

Reading and cutting is done here, in the calling thread, so that pyarrow's parser gets nothing but memory. It
would read an open file ahead, in threads of its own; one that still waits for Python when the program ends aborts it.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np

LONGEST_ROW = 1 << 28  # bytes
_END = r"\r\n|\n|\r(?!\n|\Z)"  # of a row
_END_OF_LAST = _END + r"|\r?\Z"


class Rows(NamedTuple):
    """Some rows, whole ones."""

    text: bytes | bytearray
    first_line: int  # of the file, counted from 1

    def line_of(self, number: int, delimiter: str) -> int:
        """The line in which a row begins; rows are counted from 1, and empty lines are skipped.

        >>> Rows(b'1,"a\\nb"\\n\\n2,c\\n', 10).line_of(2, ",")
        13
        """
        row = _pattern(delimiter, "", _END_OF_LAST)
        start = seen = 0
        while start < len(self.text):
            found = row.match(self.text, start)
            assert found is not None
            seen += bool(found.group().strip(b"\r\n"))
            if seen == number:
                break
            start = found.end()
        return self.first_line + count_lines(self.text[:start])


def row_blocks(file: Any, delimiter: str, size: int, first_line: int = 1) -> Iterator[Rows]:
    """Cut a file into blocks of about `size` bytes that end where a row ends.

    A quoted field may contain line breaks. A quote that is not closed raises an error instead of swallowing the rows
    after it.
    """
    rest = b""
    while more := file.read(max(size, len(rest))):  # so that a long row is looked at a few times only
        block = rest + more
        end = _end_of_rows(block, delimiter)
        if end > 0:
            yield Rows(block[:end], first_line)
            first_line += count_lines(block[:end])
        rest = block[end:]
        if len(rest) > LONGEST_ROW:
            raise ValueError(
                f"the row in line {first_line} has more than {LONGEST_ROW >> 20} MB. Is a quote in it not closed?"
            )
    if rest and not _pattern(delimiter, "*+", _END_OF_LAST).fullmatch(rest):
        raise ValueError(f"the row in line {first_line} has a quote that is not closed.")
    if rest:
        yield Rows(rest, first_line)


def count_lines(rows: bytes | bytearray) -> int:
    """Number of line ends: LF and CR LF, or CR alone."""
    return rows.count(b"\n") or rows.count(b"\r")


def _end_of_rows(block: bytes, delimiter: str) -> int:
    """Where the last whole row of a block ends that begins with a row; 0: nowhere."""
    if b'"' not in block:
        return block.rfind(b"\n") + 1 or block.rfind(b"\r", 0, -1) + 1  # a CR at the end may belong to an LF
    text = np.frombuffer(block, dtype=np.uint8)
    quotes, line_ends = np.flatnonzero(text == ord('"')), np.flatnonzero(text == ord("\n"))
    if len(line_ends) > 0 and _come_in_pairs(text, quotes, delimiter):
        outside = line_ends[np.searchsorted(quotes, line_ends) % 2 == 0]
        return int(outside[-1]) + 1 if len(outside) else 0
    found = _pattern(delimiter).match(block)
    return found.end() if found else 0


def _come_in_pairs(text: np.ndarray, quotes: np.ndarray, delimiter: str) -> bool:
    """Whether every second quote closes what the one before it opens, or is one of two quotes that stand for one.

    Then their number tells what is quoted, ten times faster than the pattern does. It is not so with a quote inside of
    a field, such as the sign of an inch.
    """
    opening = quotes[::2]
    before = text[opening[opening > 0] - 1]
    return bool(np.isin(before, np.frombuffer(f'{delimiter}\r\n"'.encode(), dtype=np.uint8)).all())


@cache
def _pattern(delimiter: str, how_many: str = "*+", end: str = _END) -> re.Pattern[bytes]:
    """Rows, as pyarrow reads them: a quote counts at the beginning of a field only."""
    before = re.escape(delimiter) + r"\r\n"
    quoted = rf'(?<![^{before}])"(?:[^"]++|"")*+"'
    just_a_quote = rf'(?<=[^{before}])"'
    return re.compile(rf'(?:(?:[^"\r\n]++|{quoted}|{just_a_quote})*+(?:{end})){how_many}'.encode())
