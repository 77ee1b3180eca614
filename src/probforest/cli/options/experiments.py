"""The options of `probforest experiments`."""

from pathlib import Path

from ..arguments import add_common, add_n_jobs, integer, new_parser

EXPERIMENTS = ("labels", "objects", "groups", "transfer", "complexity", "missing", "threshold", "runtime")
RECIPES = ("paper", "authors")


def tree_numbers(text: str) -> tuple[int, ...]:
    """Numbers of trees, separated by commas, from few to many."""
    numbers = sorted({integer(1)(word) for word in text.split(",")})
    return tuple(numbers)


def add(commands) -> None:
    """The options of the command."""
    parser = new_parser(
        commands,
        "experiments",
        description="Repeat the experiments of the paper (Reis, Baron & Shahaf 2019) and compare with scikit-learn's "
        "forest and other methods. Writes a CSV file, a table and figures (PNG and SVG, needs matplotlib) for each.",
    )
    parser.add_argument(
        "names", nargs="*", metavar="EXPERIMENT", help=f"any of {', '.join(EXPERIMENTS)}, or all (default)"
    )
    parser.add_argument("--out", type=Path, default=Path("experiments"), help="folder of the results")
    parser.add_argument("--quick", action="store_true", help="small data, few levels, one seed: under two minutes")
    parser.add_argument("--recipe", choices=RECIPES, default="paper", help="the paper's text or its authors' notebooks")
    parser.add_argument("--seeds", type=integer(1), default=None, help="data seeds, 0 to N - 1 (default 3; quick 1)")
    parser.add_argument("--trees", type=tree_numbers, default=(1, 10, 25, 50), help="such as 1,10,25,50 (default)")
    parser.add_argument(
        "--contenders",
        nargs="+",
        default=[],
        metavar="NAME",
        help="some of the methods of labels, objects, groups, transfer, complexity and missing (default: all)",
    )
    add_n_jobs(parser, default=1)
    parser.add_argument("--no-figures", action="store_true", help="tables only")
    add_common(parser)
