"""`probforest explain`: why a saved forest answers as it does for some rows of a table."""

import argparse
from collections.abc import Sequence
from typing import Any

from ..estimators.classifier import ProbabilisticClassifier
from ..evaluation.drawing import Plot, new_figure, write_figures
from ..explain.contributions import Contributions
from ..explain.measurement_value import MeasurementValue
from ..inputs.cell_error import CellError
from ..storage.catalogues import Catalogue, open_catalogue
from ..support.extras import need
from ..support.wording import indented
from .arguments import refuse_full_folder
from .console import Console
from .predictions import columns_of, error_shifts_of, in_file, load_for_tables, table_for, units_for


def run(options: argparse.Namespace, console: Console) -> int:
    refuse_full_folder(options.plots, overwrite=options.overwrite)
    if options.plots is not None:
        need("matplotlib", "Drawing figures", "plots")  # now rather than after the work
    model = load_for_tables(options.model, options.n_jobs)
    if not hasattr(model, "value_of_measurement"):
        raise ValueError(f"{options.model} can't be explained: only forests and trees that predict classes can.")
    with open_catalogue(options.table) as catalogue:
        picked = _pick(catalogue, columns_of(model), options.rows)
        units = units_for(model, catalogue, console)
        X = table_for(picked, columns_of(model), units)
        with model.assuming(error_shifts_of(model, catalogue, units)):  # a few rows don't tell what its errors are like
            why, value = _explanations(model, X, catalogue, options.rows)
    for place, row in enumerate(options.rows):
        console.say(f"row {row}")
        console.say(indented(why.text(place, most=options.most)))
        console.say(indented(value.text(place)) + "\n")
    if options.plots is not None:
        figures = [_figure(row, place, why, value, options.most) for place, row in enumerate(options.rows)]
        console.say(f"figures: {', '.join(map(str, write_figures(figures, options.plots)))}")
    explained = [_as_dict(row, place, why, value) for place, row in enumerate(options.rows)]
    console.result({"table": str(options.table), "rows": explained})
    return 0


def _pick(catalogue: Catalogue, names: Sequence[str], rows: Sequence[int]) -> Any:
    """Some rows of a table, in the order in which they are asked for."""
    import pyarrow

    found, first_row = {}, 1
    for chunk in catalogue.chunks(names):
        for row in rows:
            if first_row <= row < first_row + chunk.numbers.num_rows:
                found[row] = chunk.numbers.slice(row - first_row, 1)
        first_row += chunk.numbers.num_rows
        if len(found) == len(rows):
            break
    missing = next((row for row in rows if row not in found), None)
    if missing is not None:
        raise ValueError(f"--rows: there is no row {missing}; {catalogue.path} has {first_row - 1:,}.")
    return pyarrow.concat_tables([found[row] for row in rows])


def _explanations(
    model: ProbabilisticClassifier, X: Any, catalogue: Catalogue, rows: Sequence[int]
) -> tuple[Contributions, MeasurementValue]:
    try:
        why = model.contributions(X)
    except CellError as error:
        raise in_file(error, catalogue, rows[error.row or 0] - 1) from None
    return why, model.value_of_measurement(X)


def _figure(row: int, place: int, why: Contributions, value: MeasurementValue, most: int) -> Plot:
    """Both explanations of a row."""
    with new_figure(height=0.32 * (min(most, len(why.names)) + min(most, len(value.names))) + 2.4) as figure:
        above, below = figure.subplots(2, 1, height_ratios=[min(most, len(why.names)) + 3, min(most, len(value.names))])
        why.plot(place, most=most, ax=above)
        value.plot(place, most=most, ax=below)
    return Plot(f"row_{row}", f"Row {row}: what each feature adds, and what better measurements would bring", figure)


def _as_dict(row: int, place: int, why: Contributions, value: MeasurementValue) -> dict[str, Any]:
    """The explanation of one row, for JSON."""
    best = int(why.answers[place].argmax())
    return {
        "row": row,
        "class": why.classes[best].item() if hasattr(why.classes[best], "item") else why.classes[best],
        why.quantity: float(why.answers[place, best]),  # of boosting, a score
        "average": float(why.base[best]),
        "contributions": dict(why.of(place)),
        "gain_in_bits": dict(zip(value.names, value.gain[place].tolist(), strict=True)),
        "chance_of_another_class": dict(zip(value.names, value.change[place].tolist(), strict=True)),
    }
