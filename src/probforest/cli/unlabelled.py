"""Objects without labels, which a model also learns from: the option --unlabelled."""

from pathlib import Path
from typing import Any

from ..inputs.cell_error import CellError
from ..storage.catalogues import open_catalogue
from .predictions import evenly_sampled, table_for


def read_unlabelled(path: Path, names: list[str]) -> Any:
    """The columns `names` of a table, of which every row, every second, every fourth, ... is read if it is large."""
    with open_catalogue(path) as catalogue:
        catalogue.refuse_unknown(names)
        rows = evenly_sampled(chunk.numbers for chunk in catalogue.chunks(names))
        if rows is None or rows.num_rows == 0:
            raise ValueError(f"{path} has no rows.")
        return table_for(rows, names, {name: catalogue.units.get(name) for name in names})


def about_unlabelled(error: CellError, path: Path) -> CellError:
    """An error about a value of this table, whose rows are not those of the file."""
    what = error.what.replace(" of X_unlabelled", "")
    return CellError(f"{path}: {what}", error.value, None, None, error.remark)
