"""`probforest experiments`: the experiments of the paper."""

import argparse
import time

from ..estimators.compiling import compile_kernels
from ..studies.experiments import figures
from ..studies.experiments.contenders import FEATURES, LABELS, MISSING
from ..studies.experiments.report import table, write_csv
from ..studies.experiments.studies import STUDIES, Plan
from ..support.progress import with_progress
from ..support.wording import suggestion
from .console import Console


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
