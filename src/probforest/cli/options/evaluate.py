"""The options of `probforest evaluate`."""

from pathlib import Path

from ..arguments import add_common, add_model, add_n_jobs, add_overwrite, new_parser, table_path


def add(commands) -> None:
    """The options of the command."""
    parser = new_parser(
        commands,
        "evaluate",
        description="Evaluate a saved forest on a table with known classes, which should not be the one it was "
        "trained on: accuracy, log loss, Brier score, a table per class, reliability, accuracy against the size of the "
        "errors. Or, if the forest predicts numbers, with known numbers: scatter, bias, outliers, CRPS, coverage of "
        "intervals.",
        epilog="example:\n  probforest evaluate stars.prf test.fits --report report.html",
    )
    add_model(parser)
    parser.add_argument(
        "table", type=table_path, metavar="TABLE", help="known objects, a file or a folder; - is standard input"
    )
    parser.add_argument("--target", metavar="CLASS", help="the column with the classes (default: that of the training)")
    parser.add_argument("--report", type=Path, metavar="HTML", help="write a page with figures, which needs no network")
    parser.add_argument("--plots", type=Path, metavar="DIR", help="write the figures as PNG and SVG into a folder")
    add_n_jobs(parser)
    add_overwrite(parser)
    add_common(parser)
