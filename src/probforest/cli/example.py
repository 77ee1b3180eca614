"""`probforest example`: small tables to try the other commands with."""

import argparse

from ..storage.catalogues import check_output_name, open_output
from ..studies.example_tables import example_tables
from .arguments import refuse_to_overwrite
from .console import Console


def run(options: argparse.Namespace, console: Console) -> int:
    formats = dict.fromkeys(options.format)
    files = {name: [options.output / f"{name}.{form}" for form in formats] for name in ("known", "test", "survey")}
    paths = [path for of_table in files.values() for path in of_table]
    for path in paths:
        check_output_name(path)
    options.output.mkdir(parents=True, exist_ok=True)
    for path in paths:
        refuse_to_overwrite(path, [], overwrite=options.overwrite)
    tables = example_tables(options.objects, options.seed)
    for name, of_table in files.items():
        for path in of_table:
            with open_output(path, overwrite=options.overwrite) as output:
                output.write(tables[name])
            console.say(f"{path}: {tables[name].num_rows:,} rows, {tables[name].num_columns} columns")
    console.result({name: [str(path) for path in of_table] for name, of_table in files.items()})
    return 0
