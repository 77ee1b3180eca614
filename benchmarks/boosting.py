"""Boosting beside our forest and scikit-learn's boosting and forest, on data with known truth.

    python benchmarks/boosting.py noise --kinds groups cells --seeds 11   # the noisy data of the paper
    python benchmarks/boosting.py labels                                  # doubtful labels
    python benchmarks/boosting.py exact                                   # exact values, certain labels
    python benchmarks/boosting.py losses                                  # squared error and Huber loss, by the noise
    python benchmarks/boosting.py redshifts --folder FOLDER               # the BOSS redshifts that ANNZ2 comes with
    python benchmarks/boosting.py iterations --folder FOLDER              # the same, cross-validated in training files
    python benchmarks/boosting.py speed                                   # one thread, CPU seconds

`noise` prints accuracy and log loss for every noise level, averaged over the kinds of noise and the seeds of the data,
and in how many kinds and levels (cells) our boosting is ahead of all others but itself.
"""

import argparse
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import datasets
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold, train_test_split
from threadpoolctl import threadpool_limits

from probforest import (
    ProbabilisticGradientBoostingClassifier,
    ProbabilisticGradientBoostingRegressor,
    ProbabilisticRandomForestClassifier,
)
from probforest.datasets import add_noise, make_two_classes
from probforest.features.measurements import read_measurements
from probforest.features.prior import learn_priors, with_priors
from probforest.metrics import outlier_rate, sigma_nmad
from probforest.studies.experiments.cases import Case, noisy_features, noisy_labels
from regression import photometry, with_colours

OURS, OUR_FOREST = "boosting of probforest", "forest of probforest"
LEAST_PROBABILITY = 0.005  # half a vote of 100 trees: no classifier is punished for a 0 without bounds
LABELS = {"uniform": 0.45, "constant": 0.4, "clean": 0.45}  # kinds of doubt, and shares of wrong labels


def shrunk(case: Case) -> tuple[np.ndarray, np.ndarray]:
    """Best estimates of the true values under a normal prior."""
    training = read_measurements(case.X, case.X_err)
    priors = learn_priors("normal", training, np.ones(len(case.y)))
    test = read_measurements(case.X_test, case.X_err_test)
    return with_priors(priors, training).center.T, with_priors(priors, test).center.T


def answers_to_noise(case: Case, options: argparse.Namespace) -> dict[str, np.ndarray]:
    """Probabilities of the test set. With `--priors`, ours are compared for each of them."""

    def of_probforest(model: Any) -> np.ndarray:
        return model.fit(case.X, case.y, X_err=case.X_err).predict_proba(case.X_test, X_err=case.X_err_test)

    def of_scikit_learn(model: Any, X: np.ndarray = case.X, X_test: np.ndarray = case.X_test) -> np.ndarray:
        return model.fit(X, case.y).predict_proba(X_test)

    found = {}
    for prior in options.priors:
        boosting = ProbabilisticGradientBoostingClassifier(max_iter=options.iterations, prior=prior, random_state=0)
        found[f"{OURS}, {prior}"] = of_probforest(boosting)
    for prior in options.forest_priors:
        forest = ProbabilisticRandomForestClassifier(options.trees, prior=prior, random_state=0)
        found[f"{OUR_FOREST}, {prior}"] = of_probforest(forest)
    for n_iterations in sorted({100, options.iterations}):
        rival = HistGradientBoostingClassifier(max_iter=n_iterations, random_state=0)
        found[f"scikit-learn's boosting, {n_iterations}"] = of_scikit_learn(rival)
    found["the same on shrunk values"] = of_scikit_learn(rival, *shrunk(case))
    rival_forest = RandomForestClassifier(options.trees, random_state=0)
    return found | {"scikit-learn's forest": of_scikit_learn(rival_forest)}


def scores(y: np.ndarray, proba: np.ndarray) -> tuple[float, float]:
    clipped = np.clip(proba, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY)
    return float((clipped.argmax(axis=1) == y).mean()), float(log_loss(y, clipped))


def is_rival(name: str, ours: str) -> bool:
    """Whether answers are to be compared with ours: those of scikit-learn, and of our forest with the same prior."""
    return name == ours.replace(OURS, OUR_FOREST) or not name.startswith((OURS, OUR_FOREST))


def compare_on_noise(options: argparse.Namespace) -> None:
    n_ahead: dict[str, np.ndarray] = {}
    n_cells = 0
    for level in options.levels:
        of_level = []
        for kind in options.kinds:
            found = []
            for seed in options.seeds:
                case = noisy_features(options.objects, level, kind, "paper", seed)
                answers = answers_to_noise(case, options)
                found.append([scores(case.y_test, each) for each in answers.values()])
            names, mean = list(answers), np.mean(found, axis=0)
            of_level.append(mean)
            n_cells += 1
            for name, ours in zip(names, mean, strict=True):
                if name.startswith(OURS):
                    rest = mean[[is_rival(each, name) for each in names]]
                    ahead = [ours[0] > rest[:, 0].max(), ours[1] < rest[:, 1].min()]
                    n_ahead[name] = n_ahead.get(name, np.zeros(2, dtype=int)) + ahead
                print(f"  {kind} {level:g}  {name:34s} {ours[0]:.4f} / {ours[1]:.4f}", flush=True)
        for name, (accuracy, loss) in zip(names, np.mean(of_level, axis=0), strict=True):
            print(f"level {level:g}  {name:34s} {accuracy:.3f} / {loss:.3f}", flush=True)
    for name, ahead in n_ahead.items():
        rivals = "scikit-learn and of the forest with the same prior"
        print(f"{name} is ahead of {rivals} in accuracy in {ahead[0]}, in log loss in {ahead[1]} of {n_cells} cells")


def compare_on_labels(options: argparse.Namespace) -> None:
    """Only the training labels are doubtful; the test set has the true ones."""
    print("labels               model                                  accuracy / log loss, mean over seeds")
    for kind, wrong in LABELS.items():
        cases = [noisy_labels(options.objects, wrong, kind, "paper", seed) for seed in options.seeds]
        models: dict[str, Callable[[], Any]] = {
            OUR_FOREST: lambda: ProbabilisticRandomForestClassifier(options.trees, random_state=0),
            **{
                f"{OURS}, max_iter={n}": lambda n=n: ProbabilisticGradientBoostingClassifier(max_iter=n, random_state=0)
                for n in (100, 300, 1000)
            },
        }
        for name, make in models.items():
            found = [
                scores(case.y_test, make().fit(case.X, case.y, y_proba=case.confidence).predict_proba(case.X_test))
                for case in cases
            ]
            accuracy, loss = np.mean(found, axis=0)
            print(f"{kind:10s} {wrong:4.0%}      {name:38s} {accuracy:.3f} / {loss:.3f}", flush=True)


def compare_on_exact_values(options: argparse.Namespace) -> None:
    """At equal settings; the scatter is that of the differences between seeds of the split."""
    print("table            accuracy (R²): scikit-learn  probforest  difference        log loss (RMSE): difference")
    tables: dict[str, Callable[[int], tuple[np.ndarray, np.ndarray]]] = {
        "iris": lambda seed: datasets.load_iris(return_X_y=True),
        "wine": lambda seed: datasets.load_wine(return_X_y=True),
        "breast cancer": lambda seed: datasets.load_breast_cancer(return_X_y=True),
        "digits": lambda seed: datasets.load_digits(return_X_y=True),
        "the paper's": lambda seed: make_two_classes(2000, random_state=seed),
        "diabetes": lambda seed: datasets.load_diabetes(return_X_y=True),
        "friedman1": lambda seed: datasets.make_friedman1(4000, noise=1.0, random_state=seed),
        "friedman2": lambda seed: datasets.make_friedman2(4000, noise=50.0, random_state=seed),
    }
    for name, load in tables.items():
        found = []
        for seed in options.seeds:
            X, y = load(seed)
            numbers = y.dtype.kind == "f"
            parts = train_test_split(X, y, test_size=0.5, random_state=seed, stratify=None if numbers else y)
            found.append([_on_exact(*parts, model, numbers) for model in ("scikit-learn", "probforest")])
        (theirs, ours), differences = np.mean(found, axis=0), np.diff(found, axis=1)[:, 0]
        error = differences.std(axis=0, ddof=1) / np.sqrt(len(differences))
        mean = differences.mean(axis=0)
        print(
            f"{name:16s} {theirs[0]:28.4f} {ours[0]:11.4f}  {mean[0]:+.4f} ± {error[0]:.4f} "
            f"{mean[1] / theirs[1]:+20.1%} ± {error[1] / theirs[1]:.1%}",
            flush=True,
        )


def _on_exact(X: Any, X_test: Any, y: Any, y_test: Any, model: str, numbers: bool) -> tuple[float, float]:
    if numbers:
        regressor = {
            "scikit-learn": HistGradientBoostingRegressor(random_state=0),
            "probforest": ProbabilisticGradientBoostingRegressor(random_state=0),
        }[model].fit(X, y)
        off = regressor.predict(X_test) - y_test
        return float(regressor.score(X_test, y_test)), float(np.sqrt(np.mean(off**2)))
    classifier = {
        "scikit-learn": HistGradientBoostingClassifier(random_state=0),
        "probforest": ProbabilisticGradientBoostingClassifier(random_state=0),
    }[model].fit(X, y)
    proba = classifier.predict_proba(X_test)
    return float((proba.argmax(axis=1) == y_test).mean()), float(log_loss(y_test, proba))


def compare_on_redshifts(options: argparse.Namespace) -> None:
    *measured, z = photometry(options.folder, "train_0", "train_1")
    *measured_test, z_test = photometry(options.folder, "eval")
    (X, X_err), (X_test, X_err_test) = with_colours(*measured), with_colours(*measured_test)
    print("model                                     seed  NMAD    outliers > 0.05  RMSE")
    for seed in options.seeds:
        for loss in ("squared_error", "absolute_error", "huber", "auto"):
            ours = ProbabilisticGradientBoostingRegressor(loss, random_state=seed).fit(X, z, X_err=X_err)
            answers = {f"{OURS}, {loss}": ours.predict(X_test, X_err=X_err_test)}
            if loss not in ("huber", "auto"):
                theirs = HistGradientBoostingRegressor(loss, random_state=seed).fit(X, z)
                answers[f"scikit-learn's boosting, {loss}"] = theirs.predict(X_test)
            if loss == "squared_error":
                answers["scikit-learn's forest"] = RandomForestRegressor(random_state=seed).fit(X, z).predict(X_test)
            for name, mean in answers.items():
                robust, outliers = sigma_nmad(z_test, mean), outlier_rate(z_test, mean, 0.05)
                rmse = np.sqrt(np.mean((mean - z_test) ** 2))
                print(f"{name:40s} {seed:4d}  {robust:.5f} {outliers:.4f}           {rmse:.4f}", flush=True)
    print(ours.error_trial_, ours.loss_trial_)


def friedman_with(noise: Callable[[Any, int], np.ndarray]) -> Callable[[int], tuple[np.ndarray, np.ndarray]]:
    def make(seed: int) -> tuple[np.ndarray, np.ndarray]:
        X, truth = datasets.make_friedman1(4000, random_state=seed)
        return X, truth + noise(np.random.default_rng(100 + seed), len(truth))

    return make


def counts(seed: int) -> tuple[np.ndarray, np.ndarray]:
    X, truth = datasets.make_friedman1(4000, random_state=seed)
    return X, 1.0 * np.random.default_rng(100 + seed).poisson(np.exp((truth - 14) / 5))


NOISES: dict[str, Callable[[int], tuple[np.ndarray, np.ndarray]]] = {
    "normal": friedman_with(lambda random, n: random.normal(size=n)),
    "Student's t, 2 degrees": friedman_with(lambda random, n: random.standard_t(2, n)),
    "3 % outliers": friedman_with(
        lambda random, n: np.where(random.random(n) < 0.03, 15.0, 1.0) * random.normal(size=n)
    ),
    "3 % outliers upwards": friedman_with(
        lambda random, n: np.where(random.random(n) < 0.03, 10.0, 0.0) + random.normal(size=n)
    ),
    "exponential": friedman_with(lambda random, n: random.exponential(2.0, n)),
    "log-normal": friedman_with(lambda random, n: 2 * random.lognormal(size=n)),
    "counts": counts,
    "diabetes": lambda seed: datasets.load_diabetes(return_X_y=True),
    "friedman2": lambda seed: datasets.make_friedman2(4000, noise=50.0, random_state=seed),
}


def compare_losses(options: argparse.Namespace) -> None:
    """RMSE of the Huber loss, and of what "auto" chooses, relative to that of the squared error."""
    print(
        "noise                   RMSE, squared error   huber             auto              share in which auto is huber"
    )
    for name, make in NOISES.items():
        found = []
        for seed in options.seeds:
            X, X_test, y, y_test = train_test_split(*make(seed), test_size=0.5, random_state=seed)
            fitted = [
                ProbabilisticGradientBoostingRegressor(loss, random_state=0, n_jobs=1).fit(X, y)
                for loss in ("squared_error", "huber", "auto")
            ]
            errors = [np.sqrt(np.mean((model.predict(X_test) - y_test) ** 2)) for model in fitted]
            found.append([*errors, fitted[-1].loss_ == "huber"])
        table = np.array(found)
        relative = table[:, 1:3] / table[:, :1] - 1
        error = relative.std(axis=0, ddof=1) / np.sqrt(len(table))
        columns = "   ".join(f"{mean:+.1%} ± {off:.1%}" for mean, off in zip(relative.mean(axis=0), error, strict=True))
        print(f"{name:24s} {table[:, 0].mean():18.4g}   {columns}   {table[:, 3].mean():.0%}", flush=True)


def compare_numbers_of_iterations(options: argparse.Namespace) -> None:
    """The squared error of redshifts, cross-validated within the training files, the folds repeated for each seed;
    differences to our boosting with early stopping are paired by fold."""
    *measured, z = photometry(options.folder, "train_0", "train_1")
    X, X_err = with_colours(*measured)
    settings = {"early stopping": {"early_stopping": True}} | {
        f"{n} iterations": {"early_stopping": False, "max_iter": n} for n in (100, 200, 300)
    }
    found: dict[str, list[tuple[float, float, float]]] = {}
    for seed in options.seeds:
        for train, test in KFold(5, shuffle=True, random_state=seed).split(X):
            for name, setting in settings.items():
                ours = ProbabilisticGradientBoostingRegressor("squared_error", random_state=seed, n_jobs=1, **setting)
                ours.fit(X[train], z[train], X_err=X_err[train])
                theirs = HistGradientBoostingRegressor(random_state=seed, **setting).fit(X[train], z[train])
                answers = {OURS: ours.predict(X[test], X_err=X_err[test]), "scikit-learn's": theirs.predict(X[test])}
                for model, mean in answers.items():
                    rmse = float(np.sqrt(np.mean((mean - z[test]) ** 2)))
                    scores_of_fold = sigma_nmad(z[test], mean), outlier_rate(z[test], mean, 0.05), rmse
                    found.setdefault(f"{model}, {name}", []).append(scores_of_fold)
            for loss in ("absolute_error", "huber", "auto"):
                model = ProbabilisticGradientBoostingRegressor(loss, random_state=seed, n_jobs=1, early_stopping=True)
                mean = model.fit(X[train], z[train], X_err=X_err[train]).predict(X[test], X_err=X_err[test])
                rmse = float(np.sqrt(np.mean((mean - z[test]) ** 2)))
                scores_of_fold = sigma_nmad(z[test], mean), outlier_rate(z[test], mean, 0.05), rmse
                found.setdefault(f"{OURS}, {loss}", []).append(scores_of_fold)
    print("model                                      NMAD, outliers > 0.05, RMSE, and difference")
    usual = np.array(found[f"{OURS}, early stopping"])
    for name, scores_of_folds in found.items():
        differences = np.array(scores_of_folds) - usual
        error = differences.std(axis=0, ddof=1) / np.sqrt(len(differences))
        columns = zip(np.mean(scores_of_folds, axis=0), differences.mean(axis=0), error, strict=True)
        print(f"{name:42s}" + "   ".join(f"{mean:.4f} ({more:+.4f} ± {off:.4f})" for mean, more, off in columns))


def measure_speed(options: argparse.Namespace) -> None:
    """100 iterations on everything, reading, prior and binning included; CPU seconds, the best of some repeats."""
    print("objects  noise  prior      fit: probforest  scikit-learn  ratio   predict: probforest  scikit-learn  ratio")
    for n_objects, level in ((5000, 1.0), (40_000, 2.0), (40_000, 0.0)):
        X, y = make_two_classes(n_objects, random_state=0)
        about = {}
        if level:
            noisy = add_noise(X, level, random_state=1)
            X, about = noisy.X, {"X_err": noisy.X_err}
        rival = HistGradientBoostingClassifier(early_stopping=False, random_state=0)
        for prior in (None, "empirical", "auto") if level else ("auto",):
            model = ProbabilisticGradientBoostingClassifier(early_stopping=False, random_state=0, n_jobs=1, prior=prior)
            model.fit(X[:200], y[:200], **{name: each[:200] for name, each in about.items()})  # compiles
            times = np.array([_times(model, rival, X, y, about) for _ in range(options.repeats)]).min(axis=0)
            chosen = f"{prior or 'none'}" + (f" ({model.prior_ or 'none'})" if prior == "auto" and level else "")
            print(
                f"{n_objects:7,}  {level:5g}  {chosen:16s} {times[0]:9.2f} {times[1]:13.2f} {times[0] / times[1]:6.2f}"
                f" {times[2]:21.2f} {times[3]:13.2f} {times[2] / times[3]:6.2f}",
                flush=True,
            )


def _times(model: Any, rival: Any, X: np.ndarray, y: np.ndarray, about: dict[str, Any]) -> list[float]:
    """CPU seconds of both fits and of both predictions."""

    def seconds(work: Callable[[], Any]) -> float:
        start = time.process_time()
        work()
        return time.process_time() - start

    return [
        seconds(lambda: model.fit(X, y, **about)),
        seconds(lambda: rival.fit(X, y)),
        seconds(lambda: model.predict_proba(X, **about)),
        seconds(lambda: rival.predict_proba(X)),
    ]


COMPARISONS = {
    "noise": compare_on_noise,
    "labels": compare_on_labels,
    "exact": compare_on_exact_values,
    "losses": compare_losses,
    "redshifts": compare_on_redshifts,
    "iterations": compare_numbers_of_iterations,
    "speed": measure_speed,
}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=COMPARISONS)
    parser.add_argument("--kinds", nargs="+", default=["objects", "groups", "transfer", "cells"])
    parser.add_argument("--levels", nargs="+", type=float, default=[1.0, 2.0, 3.0, 5.0])
    parser.add_argument("--seeds", nargs="+", type=int, default=[10, 11, 12])
    parser.add_argument("--priors", nargs="+", default=["empirical", "joint", "auto"], help="of our boosting")
    parser.add_argument("--forest-priors", nargs="+", default=["empirical", "joint", "auto"], help="of our forest")
    parser.add_argument("--iterations", type=int, default=300)
    parser.add_argument("--trees", type=int, default=50)
    parser.add_argument("--objects", type=int, default=5000)
    parser.add_argument("--folder", type=Path, help="with boss_photoz_*.csv")
    parser.add_argument("--repeats", type=int, default=3, help="of each measurement of speed")
    options = parser.parse_args(arguments)
    if options.what in ("redshifts", "iterations") and options.folder is None:
        parser.error(f"{options.what} needs --folder")
    warnings.simplefilter("ignore")  # errors of the test set differ in some kinds of noise: that is the point of them
    with threadpool_limits(1):
        COMPARISONS[options.what](options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
