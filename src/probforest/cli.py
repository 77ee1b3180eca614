"""The command line: `probforest demo`, `probforest experiments`."""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path

from .demo import HEADER, compare, compile_kernels, line
from .experiments import figures
from .experiments.cases import RECIPES
from .experiments.report import table, write_csv
from .experiments.studies import STUDIES, Plan
from .progress import with_progress


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
    add_experiments(commands)
    return main_parser


def tree_numbers(text: str) -> tuple[int, ...]:
    """Numbers of trees, separated by commas, from few to many."""
    numbers = sorted({integer(1)(word) for word in text.split(",")})
    return tuple(numbers)


def add_experiments(commands) -> None:
    experiments = commands.add_parser(
        "experiments",
        help="repeat the experiments of the paper, with more rivals",
        description="Repeat the experiments of the paper (Reis, Baron & Shahaf 2019) beside scikit-learn's forest and "
        "other rivals. Writes a CSV file, a table and figures (PNG and SVG, needs matplotlib) for each.",
    )
    experiments.add_argument(
        "names", nargs="*", metavar="EXPERIMENT", help=f"any of {', '.join(STUDIES)}, or all (default)"
    )
    experiments.add_argument("--out", type=Path, default=Path("experiments"), help="folder of the results")
    experiments.add_argument("--quick", action="store_true", help="small data, few levels, one seed: under two minutes")
    experiments.add_argument(
        "--recipe", choices=RECIPES, default="paper", help="the paper's text or its authors' notebooks"
    )
    experiments.add_argument(
        "--seeds", type=integer(1), default=None, help="data seeds, 0 to N - 1 (default 3; quick 1)"
    )
    experiments.add_argument("--trees", type=tree_numbers, default=(1, 10, 25, 50), help="such as 1,10,25,50 (default)")
    experiments.add_argument("--n-jobs", type=integer(-1, but_not=0), default=1, help="threads; -1 takes all cores")
    experiments.add_argument("--no-figures", action="store_true", help="tables only")
    experiments.set_defaults(run=run_experiments)


def run_experiments(options: argparse.Namespace) -> int:
    names = list(STUDIES) if not options.names or "all" in options.names else options.names
    unknown = [name for name in names if name not in STUDIES]
    if unknown:
        print(
            f"probforest: no experiment is called {unknown[0]!r}; there are {', '.join(STUDIES)}, all", file=sys.stderr
        )
        return 2
    if not options.no_figures:
        try:
            figures.pyplot()
        except ImportError as problem:
            print(f"probforest: {problem}", file=sys.stderr)
            return 2
    seeds = options.seeds or (1 if options.quick else 3)
    plan = Plan(seeds, options.trees, options.n_jobs, options.recipe, options.quick)
    options.out.mkdir(parents=True, exist_ok=True)
    compile_kernels()
    for name in names:
        start = time.perf_counter()
        rows = list(with_progress(STUDIES[name](plan), None, name, verbose=1))
        path = options.out / f"{name}_{options.recipe}"
        write_csv(rows, path.with_suffix(".csv"))
        if not options.no_figures:
            figures.draw(name, rows, path)
        print(f"\n## {name} ({options.recipe} recipe, {seeds} seeds, {time.perf_counter() - start:.0f} s)\n")
        print(table(rows, "seconds" if name == "runtime" else "accuracy"), flush=True)
    return 0


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
