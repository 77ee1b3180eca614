"""`probforest experiments`: the experiments of the paper."""

import argparse
import time
from pathlib import Path

from ..estimators.compiling import compile_kernels
from ..studies.experiments import figures
from ..studies.experiments.cases import RECIPES
from ..studies.experiments.contenders import FEATURES, LABELS, MISSING
from ..studies.experiments.report import table, write_csv
from ..studies.experiments.studies import STUDIES, Plan
from ..support.progress import with_progress
from ..support.wording import suggestion
from .arguments import add_common, add_n_jobs, integer, new_parser
from .console import Console


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
    parser.add_argument("names", nargs="*", metavar="EXPERIMENT", help=f"any of {', '.join(STUDIES)}, or all (default)")
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
    parser.set_defaults(run=run)


def run(options: argparse.Namespace, console: Console) -> int:
    names = list(STUDIES) if not options.names or "all" in options.names else options.names
    unknown = [name for name in names if name not in STUDIES]
    if unknown:
        raise ValueError(f"unknown experiment {unknown[0]!r}; expected one of {', '.join(STUDIES)}, all")
    if not options.no_figures:
        figures.pyplot()
    seeds = options.seeds or (1 if options.quick else 3)
    known = list(dict.fromkeys([*FEATURES, *LABELS, *MISSING]))
    for name in options.contenders:
        if name not in known:
            raise ValueError(f"--contenders: there is no {name!r}. {suggestion(name, known)}")
    plan = Plan(seeds, options.trees, options.n_jobs, options.recipe, options.quick, tuple(options.contenders))
    options.out.mkdir(parents=True, exist_ok=True)
    compile_kernels()
    files = {}
    for name in names:
        start = time.perf_counter()
        rows = list(with_progress(STUDIES[name](plan), None, name, verbose=1))
        path = options.out / f"{name}_{options.recipe}"
        write_csv(rows, path.with_suffix(".csv"))
        files[name] = str(path.with_suffix(".csv"))
        if not options.no_figures:
            figures.draw(name, rows, path)
        console.say(f"\n## {name} ({options.recipe} recipe, {seeds} seeds, {time.perf_counter() - start:.0f} s)\n")
        console.say(table(rows, "seconds" if name == "runtime" else "accuracy"))
        if name == "labels":
            console.say("\nLog loss\n")
            console.say(table(rows, "log_loss"))
    console.result({"seeds": seeds, "recipe": options.recipe, "files": files})
    return 0
