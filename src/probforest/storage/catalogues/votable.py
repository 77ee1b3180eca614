"""A check of VOTables before astropy reads them: it would open the addresses in them, on the network or on the disk,
and allocate all the memory that they announce.
"""

import re
from math import prod
from xml.parsers import expat

from ..unit_text import refuse_costly_unit
from .safety import UnsafeTable, refuse_expansion

_BYTES_OF_LETTERS = 4  # astropy keeps text as NumPy does
_BYTES_OF_NUMBERS = 17  # at most: a complex number, and whether it is masked
_FIRST_ROWS = 512  # which astropy makes room for at least when the rows are binary


def check_votable(content: bytes) -> None:
    """Raise UnsafeTable for a VOTable that refers to data outside of it, or announces far more than it has.

    >>> check_votable(b'<VOTABLE><STREAM href="file:///etc/passwd"/></VOTABLE>')
    Traceback (most recent call last):
    probforest.storage.catalogues.safety.UnsafeTable: its data lie elsewhere, at 'file:///etc/passwd', and ...
    """
    checker = _Checker(len(content))
    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = checker.doctype
    parser.StartElementHandler = checker.start
    parser.Parse(content, True)
    checker.end_table()


class _Checker:
    """What the elements that have been met say about the table that they belong to."""

    def __init__(self, size: int):
        self._size = size
        self._width = 0  # bytes of a row of the table in memory
        self._n_rows = 0  # announced, and those that are there
        self._of_parameters = 0  # bytes of all values that stand beside tables

    def doctype(self, name: str, system: str | None, public: str | None, has_declarations: int) -> None:
        """Old files name the DTD of all VOTables, which is not opened. Declarations of their own may hide anything in
        entities and default attributes."""
        if has_declarations:
            raise UnsafeTable("it declares entities or attributes (in its DOCTYPE), which VOTables don't need")

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """The beginning of an element. Prefixes of namespaces are free, and so they are left out."""
        if name == "TD":  # nearly all are, and they refer to nothing
            return
        name = _local(name)
        attributes = {_local(key): value for key, value in attributes.items()}
        if "unit" in attributes:
            refuse_costly_unit(attributes["unit"])
        if name == "STREAM" and "href" in attributes:
            raise UnsafeTable(
                f"its data lie elsewhere, at {attributes['href'][:100]!r}, and no address in a table is ever opened. "
                "Save the table with the data inside"
            )
        if name == "TABLE":
            self._begin_table(attributes)
        elif name == "FIELD":
            self._width += _width(attributes)
        elif name == "PARAM":
            self._of_parameters += _width(attributes)
        elif name == "TR":
            self._n_rows += 1
        elif name in ("BINARY", "BINARY2"):
            self._begin_binary(name)

    def end_table(self) -> None:
        """All of a table is known."""
        refuse_expansion(self._n_rows * self._width + self._of_parameters, self._size)

    def _begin_table(self, attributes: dict[str, str]) -> None:
        self.end_table()
        self._width, self._n_rows = 0, max(0, int(attributes.get("nrows", 0)))

    def _begin_binary(self, name: str) -> None:
        if self._width == 0 and name == "BINARY":  # astropy would never come to the end of it
            raise UnsafeTable("its table has binary rows, but no column that takes any bytes")
        self._n_rows = max(self._n_rows, _FIRST_ROWS)


def _local(name: str) -> str:
    return name.rpartition(":")[2]


def _width(attributes: dict[str, str]) -> int:
    """Bytes of a field in each row, in memory. Where the length is free, only what is there counts."""
    shape = attributes.get("arraysize", "1")
    lengths = [int(length) for length in re.findall(r"\d+", shape)]
    if attributes.get("datatype") in ("char", "unicodeChar"):
        return _BYTES_OF_LETTERS * prod(lengths)
    if shape.endswith("*"):
        lengths = lengths[:-1] if shape[-2:-1].isdigit() else lengths
    return _BYTES_OF_NUMBERS * prod(lengths)
