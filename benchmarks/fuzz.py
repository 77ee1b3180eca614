"""Attacks probforest with random input, and reports whatever must not happen.

    python benchmarks/fuzz.py --seconds 60 [--seed 0]
    python benchmarks/fuzz.py --seed 0 --case laws:17

The second form repeats one case. Exit code 1 if there are violations. Runs on Linux.
"""

import argparse
import os
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import probforest
from fuzzing.cases import KINDS, generator, prepare, run_case
from fuzzing.hunt import Report, hunt, kind_of, run_one, wait_until_idle
from fuzzing.workers import Worker


def run(options: argparse.Namespace, report: Report) -> None:
    """Run cases in processes of their own."""
    attack = partial(run_case, options.seed)
    workers = [Worker(attack, prepare, options.time_limit) for _ in range(options.workers)]
    try:
        if options.case is None:
            wait_until_idle(workers, report)
            end = time.monotonic() + options.seconds
            hunt(workers, report, lambda: time.monotonic() > end)
        else:
            run_one(workers[0], options.case, report)
    finally:
        for worker in workers:
            worker.stop()


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long (default: 60)")
    parser.add_argument("--seed", type=int, default=0, help="which cases there are (default: 0)")
    parser.add_argument("--case", metavar="KIND:NUMBER", help="run this one only")
    parser.add_argument("--kinds", nargs="+", choices=list(KINDS), default=list(KINDS), help="default: all")
    parser.add_argument("--workers", type=int, default=2, help="processes (default: 2)")
    parser.add_argument("--time-limit", type=float, default=60.0, help="seconds that a case may take (default: 60)")
    options = parser.parse_args(arguments)
    if options.case is not None:
        generator(options.seed, options.case)  # complains about a name that is none
        options.kinds, options.workers = [kind_of(options.case)], 1
    print(f"attacking {Path(probforest.__file__).parent} with seed {options.seed}", flush=True)
    report = Report(options.kinds, options.seed)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TMPDIR"] = folder  # a worker that is killed can't tidy up
        run(options, report)
    print(report.summary())
    return 1 if report.n_violations else 0


if __name__ == "__main__":
    sys.exit(main())
