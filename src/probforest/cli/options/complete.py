"""The options of `probforest complete`."""

from ..arguments import add_common, add_n_jobs, add_output, new_parser, table_path


def add(commands) -> None:
    """The options of the command."""
    parser = new_parser(
        commands,
        "complete",
        description="Write a table with less noise and without holes: every value that has an error or is missing is "
        "replaced by what the table as a whole says about it (the joint prior; see docs/priors.md). The output has all "
        "other columns as they are and, for each of these values, the median of its distribution with new errors: "
        "NAME, NAME_err1 (upper) and NAME_err2 (lower, with a minus sign).",
        epilog="examples:\n"
        "  probforest complete stars.fits -o completed.fits\n"
        "  probforest complete survey.parquet --features 'mag_*' --prefix best_ --keep '*' -o completed.parquet",
    )
    parser.add_argument("table", type=table_path, metavar="TABLE", help="the table to complete; - is standard input")
    parser.add_argument(
        "--errors",
        default="auto",
        metavar="auto|MAP.toml|none",
        help="which columns are errors of which others: by their names (auto, the default), by a file as for "
        "probforest train, or none",
    )
    parser.add_argument(
        "--features",
        nargs="+",
        metavar="COL",
        help="the columns that say something about each other, also as patterns such as 'mag_*'; errors come along "
        "(default: all columns with numbers)",
    )
    parser.add_argument(
        "--drop", nargs="+", default=[], metavar="COL", help="columns to leave out of them, also as patterns"
    )
    parser.add_argument(
        "--sentinels",
        nargs="+",
        type=float,
        default=[],
        metavar="NUMBER",
        help="numbers that stand for missing values, such as -9999",
    )
    parser.add_argument(
        "--prior",
        choices=("joint", "empirical"),
        default="joint",
        help="what values are replaced by: what all features of the row say (joint, the default), or what the "
        "distribution of the feature alone says, which leaves missing values missing (empirical)",
    )
    parser.add_argument(
        "--keep",
        nargs="*",
        metavar="COL",
        help="columns of TABLE to copy, also as patterns: '*' keeps all, nothing keeps none (default: all but those "
        "that are replaced and their errors)",
    )
    parser.add_argument("--prefix", default="", help="put this in front of the names of the new columns")
    add_n_jobs(parser)
    add_output(parser, "OUT", "the output; its name tells the format (.csv, .parquet, .fits, .csv.gz, ...)")
    add_common(parser)
