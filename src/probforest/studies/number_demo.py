"""The last line of `probforest demo`: numbers predicted from noisy features, beside scikit-learn's forest."""

import time
from typing import NamedTuple

import numpy as np
from sklearn.datasets import make_friedman1
from sklearn.ensemble import RandomForestRegressor

from ..estimators.forest_regressor import ProbabilisticRandomForestRegressor
from ..metrics import coverage, crps

NAME = "numbers, errors per cell"
ERROR = 0.29  # standard deviation of the features: errors lie between 0 and it


class NumberOutcome(NamedTuple):
    rmse: float
    crps: float  # of a forest that predicts a number: its mean absolute error
    coverage: float | None  # of 68 % intervals
    fit_seconds: float
    predict_seconds: float


def compare_numbers(
    n_train: int, n_trees: int, n_jobs: int | None, seed: int
) -> tuple[str, NumberOutcome, NumberOutcome]:
    """Scikit-learn's forest and ours on Friedman's first function, with an error for every value."""
    X, y = make_friedman1(2 * n_train, n_features=15, noise=1.0, random_state=seed)
    random = np.random.default_rng(seed)
    X_err = ERROR * random.uniform(size=X.shape)
    X = X + X_err * random.normal(size=X.shape)
    train, test = slice(0, n_train), slice(n_train, None)
    theirs = RandomForestRegressor(n_trees, n_jobs=n_jobs, random_state=seed)
    ours = ProbabilisticRandomForestRegressor(n_trees, n_jobs=n_jobs, random_state=seed, calibrate=True)
    times = [time.perf_counter()]
    theirs.fit(X[train], y[train])
    times.append(time.perf_counter())
    number = theirs.predict(X[test])
    times.append(time.perf_counter())
    ours.fit(X[train], y[train], X_err=X_err[train])
    times.append(time.perf_counter())
    mean = ours.predict(X[test], X_err=X_err[test])
    times.append(time.perf_counter())
    answer = ours.predict_distribution(X[test], X_err=X_err[test])
    fit, predict, our_fit, our_predict = np.diff(times).tolist()
    inside = coverage(y[test], answer, 0.68)
    return (
        NAME,
        NumberOutcome(_rmse(y[test], number), crps(y[test], number), None, fit, predict),
        NumberOutcome(_rmse(y[test], mean), crps(y[test], answer), inside, our_fit, our_predict),
    )


def _rmse(truth: np.ndarray, predicted: np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.square(predicted - truth))))


HEADER = "\n                              RMSE                  CRPS                 fit [s]         predict [s]"


def line(name: str, theirs: NumberOutcome, ours: NumberOutcome) -> str:
    return (
        f"{name:27s}{theirs.rmse:7.3f}{ours.rmse:12.3f}{theirs.crps:9.3f}{ours.crps:12.3f}"
        f"{theirs.fit_seconds:9.2f}{ours.fit_seconds:8.2f}{theirs.predict_seconds:9.2f}{ours.predict_seconds:8.2f}\n"
        f"  68 % intervals of probforest contain {ours.coverage:.1%} of the numbers"
    )
