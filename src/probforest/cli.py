"""The command line: `probforest demo`."""

import argparse
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import version

from .demo import HEADER, compare, compile_kernels, line


def integer(low: int, *, but_not: int | None = None) -> Callable[[str], int]:
    """A reader of whole numbers of at least `low`."""

    def read(text: str) -> int:
        number = int(text)
        if number < low or number == but_not:
            raise argparse.ArgumentTypeError(f"{number} is not possible here")
        return number

    return read


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
    demo.add_argument(
        "--objects", type=integer(20), default=5000, help="objects in the training and in the test set, at least 20"
    )
    demo.add_argument("--trees", type=integer(1), default=50, help="trees of each forest")
    demo.add_argument("--n-jobs", type=integer(-1, but_not=0), default=1, help="threads; -1 takes all cores")
    demo.add_argument("--seed", type=integer(0), default=0, help="seed of data and forests")
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
