"""`probforest explain`: why a saved model answers as it does for some rows of a table."""

import argparse
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from ..evaluation.drawing import write_figures
from ..evaluation.page import html_page
from ..inputs.cell_error import CellError
from ..storage.catalogues import Catalogue, open_catalogue
from ..support.atomic import replacing
from ..support.extras import need
from ..support.wording import indented, one_line
from .arguments import refuse_full_folder, refuse_to_overwrite
from .console import Console
from .explanation_page import explanation_page, figure_for
from .predictions import columns_of, error_shifts_of, in_file, load_for_tables, table_for, units_for
from .ranking import Worthwhile, best_measurements
from .table_rows import names_of_rows, pick_rows, rows_named


def run(options: argparse.Namespace, console: Console) -> int:
    refuse_full_folder(options.plots, overwrite=options.overwrite)
    if options.html is not None:
        if options.html.suffix.lower() not in (".html", ".htm"):
            raise ValueError(f"--html {options.html}: the file name must end in .html.")
        refuse_to_overwrite(options.html, [options.model, options.table], overwrite=options.overwrite)
    if options.plots is not None or options.html is not None:
        need("matplotlib", "Drawing figures", "plots")  # now rather than after the work
    page = nullcontext() if options.html is None else replacing(options.html, overwrite=options.overwrite)
    with page as html:  # an error now rather than after the work
        return _run(options, console, html)


def _run(options: argparse.Namespace, console: Console, html: Path | None) -> int:
    model = load_for_tables(options.model, options.n_jobs)
    best: list[Worthwhile] = []
    with open_catalogue(options.table) as catalogue:
        units = units_for(model, catalogue, console)
        if options.ranking is not None:
            best = best_measurements(model, catalogue, units, options.ranking)
            rows = tuple(each.row for each in best)
            names = names_of_rows(catalogue, options.id_column, rows)
            if not rows:
                return _nothing(console, options, html)
        elif options.id is not None:
            rows, names = rows_named(catalogue, columns_of(model), options.id, options.id_column)
        else:
            rows, names = options.rows, names_of_rows(catalogue, options.id_column, options.rows)
        why, value = _explanations(model, catalogue, rows, units)
    labels = [f"row {row}" + (f" ({one_line(name)})" if name else "") for row, name in zip(rows, names, strict=True)]
    _say(console, options, labels, why, value, best)
    _draw(console, options, html, rows, labels, why, value, best)
    ranking = {"ranking": [each._asdict() for each in best]} if best else {}
    explained = [_as_dict(model, row, place, why, value) for place, row in enumerate(rows)]
    console.result({"table": str(options.table), **ranking, "rows": explained})
    return 0


def _nothing(console: Console, options: argparse.Namespace, html: Path | None) -> int:
    """Say that there is nothing to rank."""
    text = "No error of a single value limits an answer: no measurement is worth repeating."
    console.say(text)
    if html is not None:
        html.write_text(html_page(_title(options), [], lead=text), encoding="utf-8", errors="backslashreplace")
    console.result({"table": str(options.table), "ranking": [], "rows": []})
    return 0


def _title(options: argparse.Namespace) -> str:
    return f"{options.model.name} on {options.table.name}"


def _explanations(model: Any, catalogue: Catalogue, rows: Sequence[int], units: dict[str, Any]) -> tuple[Any, Any]:
    """Contributions and values of measurements of some rows."""
    X = table_for(pick_rows(catalogue, columns_of(model), rows), columns_of(model), units)
    with model.assuming(error_shifts_of(model, catalogue, units)):  # a few rows don't tell what its errors are like
        try:
            why = model.contributions(X)
        except CellError as error:
            raise in_file(error, catalogue, rows[error.row or 0] - 1) from None
        return why, model.value_of_measurement(X)


def _say(
    console: Console,
    options: argparse.Namespace,
    labels: Sequence[str],
    why: Any,
    value: Any,
    best: Sequence[Worthwhile],
) -> None:
    if best:
        console.say(f"worth measuring again ({value.gain_label})")
        for label, each in zip(labels, best, strict=True):
            console.say(f"  {label}: {each.feature}, {each.gain:#.3g} ({each.effect})")
        return
    for place, label in enumerate(labels):
        console.say(label)
        console.say(indented(why.text(place, most=options.most)))
        console.say(indented(value.text(place)) + "\n")


def _draw(
    console: Console,
    options: argparse.Namespace,
    html: Path | None,
    rows: Sequence[int],
    labels: Sequence[str],
    why: Any,
    value: Any,
    best: Sequence[Worthwhile],
) -> None:
    if html is None and options.plots is None:
        return
    plots = [
        figure_for(label[:1].upper() + label[1:], f"row_{row}", place, why, value, options.most)
        for place, (row, label) in enumerate(zip(rows, labels, strict=True))
    ]
    if options.plots is not None:
        console.say(f"figures: {', '.join(map(str, write_figures(plots, options.plots)))}")
    if html is not None:
        heads = [label[:1].upper() + label[1:] for label in labels]
        page = explanation_page(_title(options), heads, plots, why, value, best)
        html.write_text(page, encoding="utf-8", errors="backslashreplace")
        console.say(f"written: {options.html}")


def _as_dict(model: Any, row: int, place: int, why: Any, value: Any) -> dict[str, Any]:
    """The explanation of one row, for JSON."""
    gains = dict(zip(value.names, value.gain[place].tolist(), strict=True))
    best = int(why.answers[place].argmax())
    answer = {"average": float(why.base[best]), "contributions": dict(why.of(place)), "limited_by": value.brief(place)}
    if not hasattr(model, "classes_"):
        mean_and_std = {"mean": float(why.answers[place, 0]), "std": float(value.std[place])}
        return {"row": row, **mean_and_std, **answer, "gain_in_variance": gains}
    named = why.classes[best].item() if hasattr(why.classes[best], "item") else why.classes[best]
    change = dict(zip(value.names, value.change[place].tolist(), strict=True))
    found = {"row": row, "class": named, why.quantity: float(why.answers[place, best])}
    return {**found, **answer, "gain_in_bits": gains, "chance_of_another_class": change}
