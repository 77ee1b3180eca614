"""The YAML in which astropy describes the columns of ECSV and Parquet files, checked before astropy reads it.

astropy's reader runs no code: it makes plain objects and some of its own. But a few lines of YAML can take all memory.
"""

import json
import textwrap
from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

import numpy as np

from ...support.extras import need
from ..unit_text import refuse_costly_unit
from .safety import UnsafeTable, refuse_expansion

_LONGEST = 1 << 22  # characters: tens of thousands of columns
_LONGEST_NUMBER = 100  # characters of one; YAML has numbers to the base of 60, which take long
_BYTES_IN_LISTS = 64  # of a value in JSON, on its way to an array
_YAML = "tag:yaml.org,2002:"


def check_header(lines: Sequence[str], n_rows: int, size: int) -> Any:
    """Raise a ValueError for a description that would take long to read, or much memory; returns its YAML nodes.

    Parameters
    ----------
    lines : list of str
        The description.
    n_rows, size : int
        Rows of the table, at most; bytes of the file.
    """
    if sum(map(len, lines)) > _LONGEST:
        raise UnsafeTable(f"the description of its columns has more than {_LONGEST:,} characters")
    yaml = need("yaml", "A table that astropy describes", "astro")
    root = yaml.compose(textwrap.dedent("\n".join(lines)), Loader=yaml.SafeLoader)
    for node in _each_once(root):
        _check_node(node)
    refuse_expansion(n_rows * sum(map(_width, _columns(root))), size)
    return root


def units_of(root: Any) -> dict[str, str]:
    """The units of columns, as text, by the names of the columns."""
    columns = _columns(root)
    return {column["name"].value: _unit(column["unit"]) for column in columns if "name" in column and "unit" in column}


def _each_once(root: Any) -> Iterator[Any]:
    """All nodes below one. Many places may refer to the same."""
    pending, met = [root], set()
    while pending:
        node = pending.pop()
        if node is None or id(node) in met:
            continue
        met.add(id(node))
        yield node
        if isinstance(node.value, list):
            pending += [part for item in node.value for part in (item if isinstance(item, tuple) else (item,))]


def _check_node(node: Any) -> None:
    if node.tag == _YAML + "merge":  # repeated, a few lines of it are billions of entries
        raise UnsafeTable("its description has a merge key (<<) of YAML")
    if node.tag in (_YAML + "int", _YAML + "float") and len(node.value) > _LONGEST_NUMBER:
        raise UnsafeTable(f"its description has a number of {len(node.value)} characters")
    if node.tag.startswith("!astropy"):
        _check_units(node)
    for key, value in _entries(node).items():
        if key == "unit":
            _check_units(value)


def _check_units(node: Any) -> None:
    for part in _each_once(node):
        if isinstance(part.value, str):
            refuse_costly_unit(part.value)


def _entries(node: Any) -> dict[str, Any]:
    """The entries of a mapping whose keys are text; none of anything else."""
    pairs = [item for item in node.value if isinstance(item, tuple)] if isinstance(node.value, list) else []
    return {key.value: value for key, value in pairs if isinstance(key.value, str)}


def _columns(root: Any) -> list[dict[str, Any]]:
    """The entries of all columns, each by name."""
    described = _entries(root).get("datatype") if root is not None else None
    return [_entries(column) for column in described.value if not isinstance(column, (tuple, str))] if described else []


def _width(column: dict[str, Any]) -> int:
    """Bytes of each row of a column while it is read: `float64[3,2]` has six values, a free length counts as one."""
    width = _bytes_of(column["datatype"].value) if "datatype" in column else 0
    if "subtype" not in column:
        return width
    kind, bracket, shape = column["subtype"].value.partition("[")
    lengths = json.loads(bracket + shape) if bracket else []
    return width + max(_BYTES_IN_LISTS, _bytes_of(kind)) * prod(length for length in lengths if type(length) is int)


def _bytes_of(kind: str) -> int:
    """Bytes of a value of a type; 0 for those that NumPy does not know by this name."""
    try:
        return np.dtype(kind).itemsize
    except (TypeError, ValueError):
        return 0


def _unit(node: Any) -> str:
    """The text of a unit, which is `mag` or `!astropy.units.Unit {unit: mag}`."""
    entries = _entries(node)
    return entries["unit"].value if entries else node.value
