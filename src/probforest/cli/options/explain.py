"""The options of `probforest explain`."""

import argparse
from pathlib import Path

from ..arguments import add_common, add_model, add_n_jobs, add_overwrite, integer, new_parser, table_path


def row_numbers(text: str) -> tuple[int, ...]:
    """Numbers of rows, separated by commas, and ranges such as 3-7; the first row is 1."""
    numbers: list[int] = []
    for word in text.split(","):
        first, dash, last = word.partition("-")
        low = integer(1)(first)
        high = integer(1)(last) if dash else low
        if high < low:
            raise argparse.ArgumentTypeError(f"{word} ends before it begins")
        numbers += range(low, high + 1)
    return tuple(dict.fromkeys(numbers))


def add(commands) -> None:
    """The options of the command."""
    parser = new_parser(
        commands,
        "explain",
        description="Explain the answers of a saved forest for some rows of a table: what each feature adds to the "
        "probability of the most probable class, and which error limits the answer.",
        epilog="example:\n  probforest explain stars.prf survey.parquet --rows 12,15,20-25",
    )
    add_model(parser)
    parser.add_argument("table", type=table_path, metavar="TABLE", help="a table with the columns that the forest uses")
    parser.add_argument(
        "--rows", type=row_numbers, required=True, metavar="N,N,...", help="which rows, the first one being 1; also 3-7"
    )
    parser.add_argument("--most", type=integer(1), default=8, metavar="N", help="features to list (default: 8)")
    parser.add_argument("--plots", type=Path, metavar="DIR", help="draw a figure for each row, as PNG and SVG")
    add_n_jobs(parser)
    add_overwrite(parser)
    add_common(parser)
