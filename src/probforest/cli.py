"""The command line: `probforest demo`."""

import argparse
import sys
from collections.abc import Sequence
from importlib.metadata import version

from .demo import HEADER, compare, compile_kernels, line


def positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is not positive")
    return number


def parser() -> argparse.ArgumentParser:
    main_parser = argparse.ArgumentParser(
        prog="probforest", description="Random forests for data with error bars and doubtful labels."
    )
    main_parser.add_argument("--version", action="version", version=version("probforest"))
    commands = main_parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    demo = commands.add_parser(
        "demo",
        help="train and judge a forest on built-in noisy data, beside scikit-learn's",
        description="Train and judge a probabilistic random forest on built-in noisy data with known truth, "
        "beside scikit-learn's forest, which ignores the errors.",
    )
    demo.add_argument("--objects", type=positive, default=5000, help="objects in the training and in the test set")
    demo.add_argument("--trees", type=positive, default=50, help="trees of each forest")
    demo.add_argument("--n-jobs", type=int, default=1, help="threads; -1 takes all cores")
    demo.add_argument("--seed", type=int, default=0, help="seed of data and forests")
    demo.set_defaults(run=run_demo)
    return main_parser


def run_demo(options: argparse.Namespace) -> int:
    print(f"{options.objects} training and {options.objects} test objects, 15 features, {options.trees} trees")
    print("compiling the kernels (a first run only) ...", file=sys.stderr)
    compile_kernels()
    print(HEADER)
    for row in compare(options.objects, options.trees, options.n_jobs, options.seed):
        print(line(*row), flush=True)
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    options = parser().parse_args(arguments)
    return options.run(options)


if __name__ == "__main__":
    sys.exit(main())
