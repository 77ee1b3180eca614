"""Some rows of a table: picked by their numbers, or found by the name of an object."""

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..storage.catalogues import Catalogue
from ..support.wording import listed


def pick_rows(catalogue: Catalogue, names: Sequence[str], rows: Sequence[int]) -> Any:
    """The columns `names` of some rows, which count from 1, in the order in which they are asked for."""
    import pyarrow

    found, first_row, wanted = {}, 1, sorted(rows)
    for chunk in catalogue.chunks(names):
        last_row = first_row + chunk.numbers.num_rows
        for row in wanted[bisect_left(wanted, first_row) : bisect_left(wanted, last_row)]:
            found[row] = chunk.numbers.slice(row - first_row, 1)
        first_row = last_row
        if len(found) == len(rows):
            break
    missing = next((row for row in rows if row not in found), None)
    if missing is not None:
        raise ValueError(f"--rows: there is no row {missing}; {catalogue.path} has {first_row - 1:,}.")
    return pyarrow.concat_tables([found[row] for row in rows])


def names_of_rows(catalogue: Catalogue, column: str | None, rows: Sequence[int]) -> list[str]:
    """What a column has in some rows, as text; empty without a column, and for rows that are not there."""
    if column is None:
        return [""] * len(rows)
    found, first_row, wanted = dict[int, str](), 1, set(rows)
    for chunk in catalogue.chunks([], [column]):
        last_row = first_row + chunk.others.num_rows
        here = [row for row in wanted if first_row <= row < last_row]
        found |= {row: str(chunk.others.column(column)[row - first_row].as_py()) for row in here}
        first_row = last_row
    return [found.get(row, "") for row in rows]


def rows_named(
    catalogue: Catalogue, used: Sequence[str], wanted: Sequence[str], column: str | None
) -> tuple[tuple[int, ...], list[str]]:
    """The rows that have one of the `wanted` names in a `column`, or in any column with text or whole numbers that the
    model does not use, and these names."""
    if column is not None:
        catalogue.refuse_unknown([column])
    candidates = [column] if column is not None else [name for name in catalogue.names if name not in set(used)]
    rows, names, columns, first_row = list[int](), list[str](), dict[str, None](), 1
    for chunk in catalogue.chunks([], candidates):
        for name in candidates:
            here = _matching(chunk.others.column(name), wanted)
            rows += [first_row + place for place in here]
            names += [here[place] for place in here]
            columns |= dict.fromkeys([name] if here else [])
        first_row += chunk.others.num_rows
    if len(columns) > 1:
        raise ValueError(f"--id: {listed(list(columns))} have this name. Say which column with --id-column.")
    missing = [name for name in wanted if name not in names]
    if missing:
        where = f"the column {column!r}" if column is not None else f"the columns {listed(candidates) or '(none)'}"
        raise ValueError(f"--id {missing[0]}: no row of {catalogue.path} has this name; looked at {where}.")
    return tuple(rows), names


def _matching(column: Any, wanted: Sequence[str]) -> dict[int, str]:
    """The places of a column that have one of the wanted texts, or whole numbers written like them."""
    import pyarrow
    import pyarrow.compute as compute
    from pyarrow import types

    kind = column.type.value_type if types.is_dictionary(column.type) else column.type
    if not (types.is_integer(kind) or types.is_string(kind) or types.is_large_string(kind)):
        return {}
    text = compute.utf8_trim_whitespace(column.cast(kind).cast(pyarrow.string()))
    places = np.flatnonzero(compute.is_in(text, pyarrow.array(list(wanted))).to_numpy())
    return {place: text[place].as_py() for place in places.tolist()}
