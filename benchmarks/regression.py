"""Regressors on noisy numbers: RMSE, CRPS and coverage beside scikit-learn's forest, whose distributions are those of
quantile regression forests (Meinshausen 2006).

    python benchmarks/regression.py                      # friedman1 and diabetes with noise, five seeds
    python benchmarks/regression.py --boss FOLDER        # the BOSS redshifts that ANNZ2 comes with, boss_photoz_*.csv

Noise: a value of a feature with the standard deviation S gets an error of N_s × S × U(0, 1), a training target one of
N_s × its standard deviation × U(0, 1) / 2. The test targets have no noise.
"""

import argparse
from pathlib import Path

import numpy as np
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.ensemble import RandomForestRegressor

from probforest import ProbabilisticRandomForestRegressor
from probforest.metrics import coverage, crps, outlier_rate, sigma_nmad

N_DRAWS = 400  # quantiles that stand for a distribution of scikit-learn's forest


def quantiles_of_forest(forest, X, y, query):
    """Quantiles (n, N_DRAWS) of the distributions of a forest of scikit-learn."""
    leaves, leaves_of_query = forest.apply(X), forest.apply(query)
    weights = np.zeros((len(query), len(y)))
    for t, drawn in enumerate(forest.estimators_samples_):
        together = (leaves_of_query[:, t, None] == leaves[None, :, t]) * np.bincount(drawn, minlength=len(y))
        weights += together / together.sum(axis=1, keepdims=True)
    order = np.argsort(y)
    cumulative = np.cumsum(weights[:, order], axis=1) / len(forest.estimators_samples_)
    levels = (np.arange(N_DRAWS) + 0.5) / N_DRAWS
    return np.array([y[order][np.minimum(np.searchsorted(row, levels), len(y) - 1)] for row in cumulative])


def noisy_table(name, noise, seed):
    """Training and test: values, errors, targets, errors of targets."""
    random = np.random.default_rng(seed)
    X, y = make_friedman1(2000, noise=1.0, random_state=seed) if name == "friedman1" else load_diabetes(return_X_y=True)
    order = random.permutation(len(y))
    X, y, n_train = X[order], y[order], len(y) // 2 if name == "friedman1" else 300
    X_err = noise * X.std(axis=0) * random.uniform(size=X.shape)
    y_err = noise * y.std() * random.uniform(size=len(y)) / 2
    X = X + random.normal(size=X.shape) * X_err
    noisy = y + random.normal(size=len(y)) * y_err
    train, test = slice(0, n_train), slice(n_train, None)
    return (X[train], X_err[train], noisy[train], y_err[train]), (X[test], X_err[test], y[test])


def scores(y, mean, distribution, intervals):
    """RMSE, CRPS, and coverage of 68 % and 95 % intervals."""
    shares = [coverage(y, each, p) for each, p in zip(intervals, (0.68, 0.95), strict=True)]
    return [np.sqrt(np.mean((mean - y) ** 2)), crps(y, distribution), *shares]


def scores_of_scikit_learn(train, test, seed, n_jobs):
    X, _, y, _ = train
    query, _, truth = test
    forest = RandomForestRegressor(random_state=seed, n_jobs=n_jobs).fit(X, y)
    draws = quantiles_of_forest(forest, X, y, query)
    intervals = [np.quantile(draws, [(1 - p) / 2, (1 + p) / 2], axis=1).T for p in (0.68, 0.95)]
    return scores(truth, forest.predict(query), draws, intervals)


def scores_of_probforest(train, test, seed, n_jobs, **parameters):
    X, X_err, y, y_err = train
    query, query_err, truth = test
    forest = ProbabilisticRandomForestRegressor(random_state=seed, n_jobs=n_jobs, **parameters)
    forest.fit(X, y, X_err=X_err, y_err=y_err)
    distribution = forest.predict_distribution(query, X_err=query_err)
    return scores(truth, distribution.mean, distribution, [distribution, distribution])


def compare_on_noise(n_seeds, n_jobs):
    print("table      N_s  RMSE: scikit-learn  probforest  ratio   CRPS: scikit-learn  probforest  ratio")
    for name in ("friedman1", "diabetes"):
        for noise in (0, 1, 3):
            tables = [noisy_table(name, noise, seed) for seed in range(n_seeds)]
            theirs = np.mean([scores_of_scikit_learn(*t, seed, n_jobs) for seed, t in enumerate(tables)], axis=0)
            ours = np.mean([scores_of_probforest(*t, seed, n_jobs) for seed, t in enumerate(tables)], axis=0)
            rmse, score = (f"{theirs[i]:18.3f}  {ours[i]:10.3f}  {ours[i] / theirs[i]:.3f}" for i in (0, 1))
            print(f"{name:10s} {noise:3d} {rmse}  {score}", flush=True)


def redshifts(path):
    """Magnitudes and neighbouring colours, their errors, and redshifts."""
    table = np.loadtxt(path, delimiter=",")
    magnitudes, errors, z = table[:, 0:10:2], table[:, 1:10:2], table[:, 10]
    colours = magnitudes[:, :-1] - magnitudes[:, 1:]
    return np.hstack([magnitudes, colours]), np.hstack([errors, np.hypot(errors[:, :-1], errors[:, 1:])]), z


def compare_on_boss(folder, n_seeds, n_jobs):
    parts = [redshifts(folder / f"boss_photoz_{name}.csv") for name in ("train_0", "train_1", "eval")]
    X, X_err, z = (np.concatenate([parts[0][i], parts[1][i]]) for i in range(3))
    train, test = (X, X_err, z, None), parts[2]
    print("model                 seed  NMAD    outliers  CRPS     68 %   95 %   (NMAD and outliers > 0.05 of the mean)")
    for seed in range(n_seeds):
        forest = RandomForestRegressor(random_state=seed, n_jobs=n_jobs).fit(X, z)
        mean, result = forest.predict(test[0]), scores_of_scikit_learn(train, test, seed, n_jobs)
        _print_redshifts("scikit-learn", seed, test[2], mean, result)
        for calibrate in (False, True):
            ours = ProbabilisticRandomForestRegressor(random_state=seed, n_jobs=n_jobs, calibrate=calibrate)
            distribution = ours.fit(X, z, X_err=X_err).predict_distribution(test[0], X_err=test[1])
            result = scores(test[2], distribution.mean, distribution, [distribution, distribution])
            name = "probforest, calibrated" if calibrate else "probforest"
            _print_redshifts(name, seed, test[2], distribution.mean, result)
        print(ours.error_trial_)


def _print_redshifts(name, seed, z, mean, result):
    robust, outliers = sigma_nmad(z, mean), outlier_rate(z, mean, 0.05)
    print(f"{name:22s} {seed:3d}  {robust:.5f} {outliers:.4f}    {result[1]:.5f}  {result[2]:.3f}  {result[3]:.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--boss", type=Path, metavar="FOLDER", help="the folder with boss_photoz_*.csv")
    parser.add_argument("--seeds", type=int, default=5, help="number of seeds (default: 5)")
    parser.add_argument("--n-jobs", type=int, default=1, help="number of threads (default: 1)")
    options = parser.parse_args()
    if options.boss is None:
        compare_on_noise(options.seeds, options.n_jobs)
    else:
        compare_on_boss(options.boss, options.seeds, options.n_jobs)
