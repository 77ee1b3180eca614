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
        description="Explain the answers of a saved model for some rows of a table: what each feature adds to the "
        "probability of the most probable class (or to the predicted number), and which error limits the answer. Or "
        "find the rows of a survey that are worth another measurement.",
        epilog="examples:\n"
        "  probforest explain stars.prf survey.parquet --rows 12,15,20-25\n"
        "  probforest explain stars.prf survey.parquet --id J1234+5678 --html why.html\n"
        "  probforest explain stars.prf survey.parquet --ranking 20",
    )
    add_model(parser)
    parser.add_argument("table", type=table_path, metavar="TABLE", help="a table with the columns that the model uses")
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument(
        "--rows", type=row_numbers, metavar="N,N,...", help="which rows, the first one being 1; also 3-7"
    )
    which.add_argument(
        "--id",
        nargs="+",
        metavar="NAME",
        help="names of objects, to be found in a column with text or whole numbers that the model does not use",
    )
    which.add_argument(
        "--ranking",
        type=integer(1),
        metavar="N",
        help="the N rows of the whole table whose answers would gain most from a better measurement, and of what",
    )
    parser.add_argument(
        "--id-column",
        metavar="COL",
        help="the column with the names of objects, to find (default: the one that has them) and to show them",
    )
    parser.add_argument("--most", type=integer(1), default=8, metavar="N", help="features to list (default: 8)")
    parser.add_argument("--plots", type=Path, metavar="DIR", help="draw a figure for each row, as PNG and SVG")
    parser.add_argument("--html", type=Path, metavar="HTML", help="write a page with figures, which needs no network")
    add_n_jobs(parser)
    add_overwrite(parser)
    add_common(parser)
