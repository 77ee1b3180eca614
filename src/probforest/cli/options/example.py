"""The options of `probforest example`."""

from pathlib import Path

from ..arguments import add_common, add_overwrite, integer, new_parser

FORMATS = ("csv", "parquet", "arrow", "fits", "ecsv", "vot")


def add(commands) -> None:
    """The options of the command."""
    parser = new_parser(
        commands,
        "example",
        description="Write small tables to try the other commands with: known.csv with 2,000 stars and quasars, "
        "test.csv with 1,000 more, and survey.csv with objects whose classes are not known. All have ten magnitudes "
        "with errors.",
        epilog="example:\n"
        "  probforest example -o tables --format csv parquet fits\n"
        "  probforest train tables/known.fits --target kind --drop objid -o quasars.prf",
    )
    parser.add_argument("-o", "--output", required=True, type=Path, metavar="DIR", help="a folder for the tables")
    parser.add_argument(
        "--format",
        nargs="+",
        choices=FORMATS,
        default=["csv"],
        metavar="FORMAT",
        help=f"one or more formats of the tables: {', '.join(FORMATS)} (default: csv)",
    )
    parser.add_argument(
        "--objects", type=integer(1), default=10_000, metavar="N", help="objects of the survey (default: 10000)"
    )
    parser.add_argument("--seed", type=integer(0), default=0, metavar="N", help="seed of the numbers (default: 0)")
    add_overwrite(parser)
    add_common(parser)
