"""`probforest example`: small tables to try the other commands with."""

import argparse

from ..storage.catalogues import check_output_name, open_output
from ..studies.example_tables import example_tables
from .arguments import refuse_to_overwrite
from .console import Console


def run(options: argparse.Namespace, console: Console) -> int:
    files = {name: options.output / f"{name}.{options.format}" for name in ("known", "test", "survey")}
    for path in files.values():
        check_output_name(path)
    options.output.mkdir(parents=True, exist_ok=True)
    for path in files.values():
        refuse_to_overwrite(path, [], overwrite=options.overwrite)
    tables = example_tables(options.objects, options.seed)
    for name, path in files.items():
        with open_output(path, overwrite=options.overwrite) as output:
            output.write(tables[name])
        console.say(f"{path}: {tables[name].num_rows:,} rows, {tables[name].num_columns} columns")
    console.result({name: str(path) for name, path in files.items()})
    return 0
