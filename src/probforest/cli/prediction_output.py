"""Where `probforest predict` writes to: a file, or a folder of parts that an interrupted command can resume."""

import argparse
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from ..storage.catalogues import Catalogue, check_output_name, is_folder_name, open_output, open_parts
from ..storage.catalogues.output import Output
from ..storage.catalogues.parts import PartsOutput
from .arguments import refuse_to_overwrite

_BLOCK = 1 << 20


class PredictionOutput(NamedTuple):
    """What predictions are written to."""

    output: Output
    n_finished: int  # rows that an interrupted command has written

    def finished(self, name: str) -> Iterator[Any]:
        """A column of these rows."""
        return self.output.column(name) if isinstance(self.output, PartsOutput) else iter(())


def check_output(options: argparse.Namespace) -> None:
    """Raise an error about the output before the work begins."""
    if is_folder_name(options.output):
        check_output_name("part.parquet")
        _refuse_inside(options)
        return
    if options.resume:
        raise ValueError(
            f"--resume: {options.output} is a file, which is only there when it is complete. Give a folder (a name "
            "without an ending), which is written part by part."
        )
    check_output_name(options.output)
    refuse_to_overwrite(options.output, [options.model, options.table], overwrite=options.overwrite)


def _refuse_inside(options: argparse.Namespace) -> None:
    """An output in the folder of the input would be read as a part of it."""
    is_folder = isinstance(options.table, Path) and options.table.is_dir()
    if is_folder and options.output.resolve().is_relative_to(options.table.resolve()):
        raise ValueError(f"{options.output} is in the folder {options.table} that is read; write to another one.")


@contextmanager
def open_predictions(
    options: argparse.Namespace, catalogue: Catalogue, kept: list[str], names: list[str]
) -> Iterator[PredictionOutput]:
    """The output, for the columns that are `kept` and new ones with these names."""
    if not is_folder_name(options.output):
        units = {name: catalogue.units[name] for name in kept if name in catalogue.units}
        with open_output(options.output, units, overwrite=options.overwrite) as output:
            yield PredictionOutput(output, 0)
        return
    what = {"table": str(options.table), "rows": catalogue.n_rows, "columns": [*kept, *names]}
    job = {"model": _digest(options.model), **what}
    with open_parts(options.output, job, resume=options.resume, overwrite=options.overwrite) as parts:
        yield PredictionOutput(parts, parts.n_finished)


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()
