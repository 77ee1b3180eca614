"""`probforest demo`: the forest compared with scikit-learn's on built-in data."""

import argparse

from ..estimators.compiling import compile_kernels
from ..studies.demo import HEADER, compare, line
from .arguments import add_common, add_n_jobs, integer, new_parser
from .console import Console


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
    parser.set_defaults(run=run)


def run(options: argparse.Namespace, console: Console) -> int:
    console.say(f"{options.objects} training and {options.objects} test objects, 15 features, {options.trees} trees")
    compile_kernels()  # so that no timing includes the compilation of a first run
    console.say(HEADER)
    rows = []
    for name, theirs, ours in compare(options.objects, options.trees, options.n_jobs, options.seed):
        console.say(line(name, theirs, ours))
        rows.append({"data": name, "scikit-learn": theirs._asdict(), "probforest": ours._asdict()})
    console.result(rows)
    return 0
