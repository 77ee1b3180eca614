"""The options of `probforest demo`."""

from ..arguments import add_common, add_n_jobs, integer, new_parser


def add(commands) -> None:
    """The options of the command."""
    parser = new_parser(
        commands,
        "demo",
        description="Train and evaluate a probabilistic random forest on built-in noisy data with known truth, "
        "and compare it with scikit-learn's forest, which ignores the errors.",
    )
    parser.add_argument(
        "--objects", type=integer(20), default=5000, help="objects in the training and in the test set, at least 20"
    )
    parser.add_argument("--trees", type=integer(1), default=50, help="trees of each forest")
    add_n_jobs(parser, default=1)
    parser.add_argument("--seed", type=integer(0), default=0, help="seed of data and forests")
    add_common(parser)
