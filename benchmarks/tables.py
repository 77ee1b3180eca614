"""Accuracy on real tables with error bars, beside scikit-learn.

    python benchmarks/tables.py koi_cumulative.csv toi.csv k2.csv boss_photoz_eval.csv

takes tables of the NASA Exoplanet Archive and of BOSS (recognised by their columns), and scikit-learn's own tables with
noise and holes added. Five folds, grouped by star; differences to scikit-learn's forest are paired by fold. The
standard error is that of the mean over folds: repeats use the same objects, so it is a little too small.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

from probforest.evaluation.scores import evaluate
from real_tables.contenders import BASELINE, CONTENDERS
from real_tables.settings import SETTINGS, Trial, trials
from real_tables.tables import ErrorTable, built_in, read

LEAST_PROBABILITY = 0.005  # half a vote of 100 trees: no classifier is punished for a 0 without bounds
SCORES = ("accuracy", "log loss", "calibration error")


def scores_of(test: ErrorTable, proba: np.ndarray, classes: np.ndarray) -> dict[str, float]:
    clipped = np.clip(proba, LEAST_PROBABILITY, None)
    found = evaluate(test.y, clipped / clipped.sum(axis=1, keepdims=True), classes)
    return dict(zip(SCORES, (100 * found.accuracy.value, found.log_loss, found.calibration_error), strict=True))


def records_of(table: ErrorTable, trial: Trial, contenders: list[str]) -> list[dict]:
    """A record per contender and test set."""
    classes = np.unique(table.y)
    records = []
    for name in contenders:
        start = time.perf_counter()
        answers = CONTENDERS[name](trial)
        seconds = time.perf_counter() - start
        for setting, proba in answers.items():
            about = {"table": table.name, "setting": setting, "seed": trial.seed, "contender": name}
            records.append(about | scores_of(trial.tests[setting], proba, classes) | {"seconds": seconds})
    return records


def differences(records: pd.DataFrame, score: str, baseline: str) -> pd.DataFrame:
    """Mean of each table and setting: the baseline's, and the others' differences to it with standard errors."""
    wide = records.pivot_table(index=["table", "setting", "seed"], columns="contender", values=score, sort=False)
    digits, n_folds = (1 if score == "accuracy" else 3), wide.groupby(level=[0, 1], sort=False).size()
    beside = wide.drop(columns=baseline).sub(wide[baseline], axis=0).groupby(level=[0, 1], sort=False)
    mean, error = beside.mean(), beside.std().div(np.sqrt(n_folds), axis=0)
    cells = mean.copy().astype(object)
    for column in mean:
        pairs = zip(mean[column], error[column], strict=True)
        cells[column] = [f"{number:+.{digits}f} ± {scatter:.{digits}f}" for number, scatter in pairs]
    cells.insert(0, baseline, wide[baseline].groupby(level=[0, 1], sort=False).mean().map(f"{{:.{digits}f}}".format))
    return cells


def markdown(cells: pd.DataFrame) -> str:
    head = ["table", "setting", *cells.columns]
    lines = [head, ["---"] * len(head), *([*index, *row] for index, row in zip(cells.index, cells.values, strict=True))]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--built-in", action="store_true", help="also scikit-learn's tables")
    parser.add_argument("--settings", nargs="+", default=list(SETTINGS), choices=SETTINGS)
    parser.add_argument("--contenders", nargs="+", default=list(CONTENDERS), choices=list(CONTENDERS))
    parser.add_argument("--baseline", default=BASELINE, help="what differences are taken to")
    parser.add_argument("--repeats", type=int, default=3, help="of the five folds")
    parser.add_argument("--rows", type=int, help="at most so many objects of a table, drawn at random")
    parser.add_argument("--out", type=Path, help="CSV file for every single result")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    tables = [read(path) for path in options.files] + (list(built_in()) if options.built_in else [])
    records: list[dict] = []
    for table in tables:
        if options.rows is not None and options.rows < len(table.y):
            table = table.rows(np.random.default_rng(0).permutation(len(table.y))[: options.rows])
        for trial in trials(table, options.settings, options.repeats):
            records += records_of(table, trial, [options.baseline, *options.contenders])
        print(f"{table.name}: {len(table.y)} objects", file=sys.stderr)
    found = pd.DataFrame(records).drop_duplicates(["table", "setting", "seed", "contender"])
    if options.out is not None:
        found.to_csv(options.out, index=False)
    for score in SCORES:
        print(f"\n{score}\n\n{markdown(differences(found, score, options.baseline))}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
