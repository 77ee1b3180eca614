"""The options of `probforest predict`."""

import argparse

from ..arguments import add_common, add_model, add_n_jobs, add_output, integer, new_parser, table_path


def add(commands) -> None:
    """The options of the command."""
    parser = new_parser(
        commands,
        "predict",
        description="Classify the rows of a table with a saved forest. The output has the columns that the forest does "
        "not use, the predicted class, and the probability of every class, row by row; or, if the forest predicts "
        "numbers, mean, standard deviation and quantiles. CSV, Parquet and Arrow go "
        "through in pieces, whatever their size; FITS, VOTable and ECSV outputs are written at the end.",
        epilog="examples:\n"
        "  probforest predict stars.prf survey.parquet -o classes.parquet\n"
        "  probforest predict stars.prf survey.csv.gz --keep objid ra dec -o classes.fits",
    )
    add_model(parser)
    parser.add_argument(
        "table",
        type=table_path,
        metavar="TABLE",
        help="the objects to classify, a file or a folder; - is standard input",
    )
    _add_columns(parser)
    parser.add_argument(
        "--resume",
        action="store_true",
        help="continue an interrupted command that writes a folder: its finished parts are kept",
    )
    add_n_jobs(parser)
    add_output(
        parser,
        "OUT",
        "the output; its name tells the format (.csv, .parquet, .fits, .csv.gz, ...), and one without an ending is a "
        "folder of Parquet files",
    )
    add_common(parser)


def _add_columns(parser: argparse.ArgumentParser) -> None:
    """Options for the columns of the output."""
    parser.add_argument(
        "--keep",
        nargs="*",
        metavar="COL",
        help="columns of TABLE to copy, also as patterns: '*' keeps all, nothing keeps none (default: those that the "
        "forest does not use)",
    )
    parser.add_argument(
        "--quantiles",
        nargs="+",
        type=float,
        metavar="Q",
        help="of a forest that predicts numbers: quantiles to write beside mean and standard deviation (default: 0.16 "
        "0.5 0.84)",
    )
    parser.add_argument(
        "--explain",
        action="store_true",
        help="add the columns reasons (the features that matter most for the answer, and what they add), limited_by "
        "(the error that limits the answer) and limited_by_gain (what would be gained without it, in bits of "
        "information, or as variance); takes many times as long",
    )
    parser.add_argument(
        "--draws",
        type=integer(1),
        metavar="N",
        help="of a forest that predicts numbers: write so many draws from the distribution of each row, instead of "
        "quantiles",
    )
    parser.add_argument("--prefix", default="", help="put this in front of the names of the new columns")
