"""`probforest demo`: forest and boosting compared with scikit-learn's forest on built-in data."""

import argparse

from ..estimators.compiling import compile_kernels
from ..studies import number_demo
from ..studies.demo import HEADER, compare, line
from .console import Console


def run(options: argparse.Namespace, console: Console) -> int:
    console.say(f"{options.objects} training and {options.objects} test objects, 15 features, {options.trees} trees")
    compile_kernels()  # so that no timing includes the compilation of a first run
    console.say(HEADER)
    rows = []
    for name, outcomes in compare(options.objects, options.trees, options.n_jobs, options.seed):
        console.say(line(name, outcomes))
        rows.append({"data": name} | {model: outcome._asdict() for model, outcome in outcomes.items()})
    console.say(number_demo.HEADER)
    name, of_theirs, of_ours = number_demo.compare_numbers(options.objects, options.trees, options.n_jobs, options.seed)
    console.say(number_demo.line(name, of_theirs, of_ours))
    rows.append({"data": name, "scikit-learn": of_theirs._asdict(), "probforest": of_ours._asdict()})
    console.result(rows)
    return 0
