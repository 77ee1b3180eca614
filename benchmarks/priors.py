"""What the priors gain, and what they cost.

    python benchmarks/priors.py --parts paper missing independent labels cost
    python benchmarks/priors.py --parts noise tables --files koi_cumulative.csv toi.csv k2.csv boss_photoz_eval.csv

Accuracies in per cent, and differences in points with the standard error of their mean over seeds, or folds:

paper        noise (ii), (iii) and (iv) of the paper
missing      20 % and 50 % of the cells missing at random, beside scikit-learn's gradient boosting
independent  features that say nothing about each other
labels       few labels and many objects without: the same forests with and without X_unlabelled
noise        real tables whose test sets have additional noise (files)
tables       real tables as they are (files, and breast cancer): every prior, and the choice of prior="auto"
cost         CPU seconds of fit and predict, one thread
"""

import argparse
import gc
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from threadpoolctl import threadpool_limits

from probforest import ProbabilisticRandomForestClassifier
from probforest.datasets import add_noise, make_two_classes
from probforest.studies.experiments.cases import Case, missing_cells, noisy_features
from real_tables.settings import in_strong_noise, trials
from real_tables.tables import breast_cancer, in_colours, read

PRIORS = (None, "normal", "empirical", "joint", "auto")
BASELINE = "empirical"
Accuracies = dict[str, float]


def accuracy(prior: str | None, case: Case, options: argparse.Namespace, **more: Any) -> float:
    forest = ProbabilisticRandomForestClassifier(options.trees, prior=prior, random_state=0)
    forest.fit(case.X, case.y, X_err=case.X_err, **more)
    return 100 * forest.score(case.X_test, case.y_test, X_err=case.X_err_test)


def print_line(title: str, found: list[Accuracies], baseline: str = BASELINE) -> None:
    """Print a line: the mean of the baseline, and the differences of the others to it."""
    cells = [title, f"{np.mean([each[baseline] for each in found]):.1f}"]
    for name in found[0]:
        if name != baseline:
            difference = np.array([each[name] - each[baseline] for each in found])
            error = difference.std(ddof=1) / np.sqrt(len(found)) if len(found) > 1 else np.nan
            cells.append(f"{difference.mean():+.2f} ± {error:.2f}")
    print("| " + " | ".join(cells) + " |", flush=True)


def header(what: str, names: list[str], baseline: str = BASELINE) -> None:
    columns = [what, baseline, *(name for name in names if name != baseline)]
    print("\n| " + " | ".join(columns) + " |\n" + "| --- " * len(columns) + "|", flush=True)


def with_priors(priors: tuple[str | None, ...], case: Case, options: argparse.Namespace) -> Accuracies:
    return {str(prior): accuracy(prior, case, options) for prior in priors}


def paper(options: argparse.Namespace) -> None:
    header("data", ["empirical", "joint", "auto"])
    for name, kind, level in (
        ("(ii)", "objects", 1),
        ("(iii)", "groups", 2),
        ("(iv)", "transfer", 2),
        ("(iv)", "transfer", 5),
    ):
        cases = [noisy_features(options.objects, level, kind, "paper", seed) for seed in options.seeds]
        found = [with_priors(("empirical", "joint", "auto"), case, options) for case in cases]
        print_line(f"{name} N_s = {level}", found)


def missing(options: argparse.Namespace) -> None:
    header("cells", ["empirical", "joint", "auto", "boosting of scikit-learn"])
    for share in (0.2, 0.5):
        found = []
        for seed in options.seeds:
            case = missing_cells(options.objects, share, "paper", seed)
            rival = HistGradientBoostingClassifier(random_state=0).fit(case.X, case.y)
            ours = with_priors(("empirical", "joint", "auto"), case, options)
            found.append(ours | {"boosting of scikit-learn": 100 * rival.score(case.X_test, case.y_test)})
        print_line(f"{share:.0%} missing", found)


def independent(options: argparse.Namespace) -> None:
    header("data", ["empirical", "joint", "auto"])
    cases = [independent_features(options.objects, seed) for seed in options.seeds]
    print_line("independent features", [with_priors(("empirical", "joint", "auto"), case, options) for case in cases])


def independent_features(n: int, seed: int) -> Case:
    """Ten uniform features, five of which tell the class, with errors."""
    random = np.random.default_rng(seed)
    truth = random.uniform(-1.7, 1.7, (2 * n, 10))
    y = (truth[:, :5].sum(axis=1) > 0).astype(int)
    error = random.gamma(1, 0.7, truth.shape)
    X = random.normal(truth, error)
    return Case(X[:n], y[:n], X[n:], y[n:], error[:n], error[n:])


def labels(options: argparse.Namespace) -> None:
    """A few labelled objects; the test set is the survey, whose features are known."""
    header("labelled objects", ["empirical", "joint", "joint, X_unlabelled", "auto, X_unlabelled"])
    for kind, level in (("objects", 1), ("cells", 2)):
        for n_labelled in (50, 100, 300, 1000):
            found = []
            for seed in options.seeds:
                case = noisy_features(options.objects, level, kind, "paper", seed)
                case = case._replace(X=case.X[:n_labelled], y=case.y[:n_labelled], X_err=case.X_err[:n_labelled])
                more = {"X_unlabelled": case.X_test, "X_err_unlabelled": case.X_err_test}
                ours = with_priors(("empirical", "joint"), case, options)
                for prior in ("joint", "auto"):
                    ours[f"{prior}, X_unlabelled"] = accuracy(prior, case, options, **more)
                found.append(ours)
            print_line(f"{n_labelled} ({kind}, N_s = {level})", found)


def folds(table: Any, options: argparse.Namespace) -> Iterator[tuple[Case, Any]]:
    """The folds of a table as it is."""
    for trial in trials(table, ["as it is"], options.repeats):
        training, test = trial.training, trial.tests["as it is"]
        yield Case(training.X, training.y, test.X, test.y, training.X_err, test.X_err), trial


def noise(options: argparse.Namespace) -> None:
    header("table, level", ["empirical", "joint", "auto", "None"])
    for table in map(read, options.files):
        found: dict[float, list[Accuracies]] = {level: [] for level in options.levels}
        for case, trial in folds(table, options):
            tests = {
                level: in_strong_noise(trial.tests["as it is"], trial.training, level, trial.seed)
                for level in options.levels
            }
            scores: dict[float, Accuracies] = {level: {} for level in tests}
            for prior in ("empirical", "joint", "auto", None):
                forest = ProbabilisticRandomForestClassifier(options.trees, prior=prior, random_state=0)
                forest.fit(case.X, case.y, X_err=case.X_err)
                for level, test in tests.items():
                    scores[level][str(prior)] = 100 * forest.score(test.X, test.y, X_err=test.X_err)
            for level, score in scores.items():
                found[level].append(score)
        for level, scores_of_level in found.items():
            print_line(f"{table.name}, {level:g}", scores_of_level)


def tables(options: argparse.Namespace) -> None:
    header("table", list(map(str, PRIORS)), "auto")
    real = [read(path) for path in options.files]
    for table in [*real, *(in_colours(each) for each in real if each.name == "BOSS"), breast_cancer()]:
        found = [with_priors(PRIORS, case, options) for case, _ in folds(table, options)]
        print_line(table.name, [{"auto": each.pop("auto")} | each for each in found], "auto")


def cpu_seconds(function: Callable[[], Any]) -> float:
    gc.collect()
    start = time.process_time()
    function()
    return time.process_time() - start


def cost(options: argparse.Namespace) -> None:
    print(
        "\n| objects, trees | prior | fit | predict | fit / empirical | predict / empirical |\n| --- "
        + "| --- " * 5
        + "|"
    )
    for n, n_trees, repeats in zip(options.sizes, options.trees_of_sizes, (5, 1), strict=False):
        X, y = make_two_classes(n, random_state=0)
        noisy = add_noise(X, 1, random_state=0)
        priors = ("empirical", "joint", "auto")
        models = {prior: ProbabilisticRandomForestClassifier(n_trees, prior=prior, random_state=0) for prior in priors}
        times: dict[str, list[tuple[float, float]]] = {prior: [] for prior in priors}
        for _ in range(repeats):
            for prior, model in models.items():
                fit = cpu_seconds(lambda: model.fit(noisy.X, y, X_err=noisy.X_err))  # noqa: B023
                predict = cpu_seconds(lambda: model.predict_proba(noisy.X, X_err=noisy.X_err))  # noqa: B023
                times[prior].append((fit, predict))
        best = {prior: np.min(each, axis=0) for prior, each in times.items()}
        for prior, (fit, predict) in best.items():
            ratio = best[prior] / best[BASELINE]
            line = f"| {n:,}, {n_trees} | {prior} | {fit:.2f} | {predict:.2f} | {ratio[0]:.2f} | {ratio[1]:.2f} |"
            print(line, flush=True)


PARTS = {part.__name__: part for part in (paper, missing, independent, labels, noise, tables, cost)}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--parts", nargs="+", default=["paper", "missing", "independent", "labels", "cost"], choices=PARTS
    )
    parser.add_argument("--files", nargs="+", type=Path, default=[])
    parser.add_argument("--seeds", nargs="+", type=int, default=[10, 11, 12, 20, 21, 22])
    parser.add_argument("--levels", nargs="+", type=float, default=[0.0, 0.5, 1.0, 2.0], help="of noise in test sets")
    parser.add_argument("--repeats", type=int, default=1, help="of the five folds")
    parser.add_argument("--objects", type=int, default=5000, help="of a training set")
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--sizes", nargs="+", type=int, default=[5000, 300_000], help="of the tables of `cost`")
    parser.add_argument("--trees-of-sizes", nargs="+", type=int, default=[100, 10])
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")  # errors of some test sets differ from those of training: that is the point
    with threadpool_limits(1):
        for part in options.parts:
            PARTS[part](options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
