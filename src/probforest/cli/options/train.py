"""The options of `probforest train`."""

import argparse
from pathlib import Path

from ..arguments import add_common, add_n_jobs, add_output, integer, new_parser, setting, table_path

MODELS = ("forest", "boosting")
TASKS = ("auto", "classification", "regression")


def add(commands) -> None:
    """The options of the command."""
    parser = new_parser(
        commands,
        "train",
        description="Train a forest on a table: CSV, ECSV, FITS, VOTable, Parquet or Arrow, compressed or not. All "
        "columns with numbers are features, except error columns, which are recognised by their names "
        "(gmag and e_gmag, prad and prad_err1, prad_err2, ...).",
        epilog="examples:\n"
        "  probforest train stars.fits --target class -o stars.prf\n"
        "  probforest train koi.csv --target koi_disposition --drop 'kepid' 'koi_fpflag_*' -o koi.prf\n"
        "  probforest train stars.csv --target class --label-proba confidence --set n_estimators=500 -o stars.prf\n"
        "  probforest train galaxies.fits --target z --target-err z_err -o redshifts.prf\n\n"
        "a TOML file for --errors:\n"
        '  gmag = "e_gmag"                      # one error\n'
        '  prad = ["prad_err2", "prad_err1"]    # lower, upper\n'
        '  mass = {lower = "m_lo", upper = "m_hi", limit = "m_limit"}  # limit: 1 upper, -1 lower, 0 none',
    )
    parser.add_argument(
        "table", type=table_path, metavar="TABLE", help="the training set, a file or a folder; - is standard input"
    )
    parser.add_argument(
        "--model",
        choices=MODELS,
        default="forest",
        help="a random forest (the default), or gradient boosting, which is often more accurate but easier to overfit",
    )
    _add_target(parser)
    parser.add_argument(
        "--errors",
        default="auto",
        metavar="auto|MAP.toml|none",
        help="which columns are errors of which others: by their names (auto, the default), by a file, or none: "
        "then error columns are features, unless you --drop them",
    )
    parser.add_argument(
        "--error-features",
        action="store_true",
        help="the sizes of errors are features, too; trees that don't look at them answer for tables with other errors",
    )
    parser.add_argument(
        "--features", nargs="+", metavar="COL", help="the features, also as patterns such as 'mag_*'; errors come along"
    )
    parser.add_argument("--drop", nargs="+", default=[], metavar="COL", help="columns to leave out, also as patterns")
    parser.add_argument(
        "--set",
        nargs="+",
        action="extend",
        default=[],
        type=setting,
        metavar="KEY=VALUE",
        help="parameters of ProbabilisticRandomForestClassifier (or Regressor), such as n_estimators=500 or "
        "'sentinels={\"*\"=-9999}', or of ProbabilisticGradientBoostingClassifier (or Regressor), such as "
        "max_iter=300",
    )
    _add_large(parser)
    parser.add_argument("--seed", type=integer(0), default=0, metavar="N", help="seed of the forest (default: 0)")
    add_n_jobs(parser)
    add_output(parser, "MODEL", "where to save the forest")
    add_common(parser)


def _add_target(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--target", required=True, metavar="COL", help="the column with the classes, or with the numbers to predict"
    )
    parser.add_argument(
        "--task",
        choices=TASKS,
        default="auto",
        help="what the target is; auto (the default) takes a column with many different numbers for regression",
    )
    parser.add_argument("--target-err", metavar="COL", help="a column with the errors of the numbers to predict")
    parser.add_argument(
        "--label-proba",
        metavar="COL",
        help="a column with the probability that the class of the row is right",
    )
    parser.add_argument(
        "--unlabelled",
        type=Path,
        metavar="TABLE2",
        help="objects without a class, such as the survey to classify: the distributions of true values (the prior) "
        "are learnt from them, too",
    )


def _add_large(parser: argparse.ArgumentParser) -> None:
    """Options for what is too large for one machine, or for its memory."""
    parser.add_argument(
        "--memory",
        metavar="SIZE",
        help="what the program may use in all, such as 4GB: the table is read in pieces, whatever its size (default: "
        "no limit for a file; half of the memory for a folder, which is always read in pieces)",
    )
    parser.add_argument(
        "--scratch", type=Path, metavar="DIR", help="folder for temporary files, which need the space of the table"
    )
    parser.add_argument(
        "--feature-model",
        type=Path,
        metavar="MODEL",
        help="a saved model whose columns, classes and all that it learnt about the features are used instead of being "
        "learnt again: forests with the same features can be merged by probforest merge",
    )
