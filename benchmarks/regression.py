"""Regressors on noisy numbers: RMSE, CRPS and coverage beside scikit-learn's forest and quantile-forest.

    python benchmarks/regression.py                      # friedman1 and diabetes with noise, five seeds
    python benchmarks/regression.py --coverage           # coverage of intervals, also with noise added at test
    python benchmarks/regression.py --boss FOLDER        # the BOSS redshifts that ANNZ2 comes with, boss_photoz_*.csv
    python benchmarks/regression.py --boss FOLDER --coverage
    python benchmarks/regression.py --boss FOLDER --tables DIR   # boss_train.csv and boss_test.csv with names of columns

Noise: a value of a feature with the standard deviation S gets an error of N_s × S × U(0, 1), a training target one of
N_s × its standard deviation × U(0, 1) / 2. The test targets have no noise. For coverages targets are not made noisier,
as intervals are those of measured targets. Noise added at test: each value gets noise of k × its own error (at most
5 mag), which its new error includes. quantile-forest must be installed: pip install quantile-forest.
"""

import argparse
from pathlib import Path

import numpy as np
from quantile_forest import RandomForestQuantileRegressor
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.ensemble import RandomForestRegressor

from probforest import ProbabilisticRandomForestRegressor
from probforest.metrics import coverage, crps, outlier_rate, sigma_nmad

LEVELS = ((np.arange(400) + 0.5) / 400).tolist()  # quantiles that stand for a distribution of quantile-forest
INTERVALS = (0.68, 0.95)
MOST_ADDED = 5.0  # magnitudes


def noisy_table(name, noise, seed, target_noise=True):
    """Training and test: values, errors, targets, errors of targets."""
    random = np.random.default_rng(seed)
    X, y = make_friedman1(2000, noise=1.0, random_state=seed) if name == "friedman1" else load_diabetes(return_X_y=True)
    order = random.permutation(len(y))
    X, y, n_train = X[order], y[order], len(y) // 2 if name == "friedman1" else 300
    X_err = noise * X.std(axis=0) * random.uniform(size=X.shape)
    y_err = (noise if target_noise else 0) * y.std() * random.uniform(size=len(y)) / 2
    X = X + random.normal(size=X.shape) * X_err
    noisy = y + random.normal(size=len(y)) * y_err
    train, test = slice(0, n_train), slice(n_train, None)
    return (X[train], X_err[train], noisy[train], y_err[train]), (X[test], X_err[test], y[test])


def scores_of_rivals(train, test, seed, n_jobs):
    """RMSE of scikit-learn's forest; CRPS and coverages of quantile-forest."""
    X, _, y, _ = train
    query, _, truth = test
    mean = RandomForestRegressor(random_state=seed, n_jobs=n_jobs).fit(X, y).predict(query)
    forest = RandomForestQuantileRegressor(random_state=seed, n_jobs=n_jobs).fit(X, y)
    draws = forest.predict(query, quantiles=LEVELS)
    intervals = [np.quantile(draws, [(1 - p) / 2, (1 + p) / 2], axis=1).T for p in INTERVALS]
    shares = [coverage(truth, each) for each in intervals]
    return mean, [_rmse(truth, mean), crps(truth, draws), *shares]


def scores_of_probforest(train, test, seed, n_jobs, **parameters):
    X, X_err, y, y_err = train
    query, query_err, truth = test
    forest = ProbabilisticRandomForestRegressor(random_state=seed, n_jobs=n_jobs, **parameters)
    forest.fit(X, y, X_err=X_err, y_err=y_err)
    return forest, _scores(truth, forest.predict_distribution(query, X_err=query_err))


def _scores(truth, answer):
    return [_rmse(truth, answer.mean), crps(truth, answer), *(coverage(truth, answer, p) for p in INTERVALS)]


def _rmse(truth, mean):
    return np.sqrt(np.mean((mean - truth) ** 2))


def compare_on_noise(n_seeds, n_jobs):
    print("table      N_s  RMSE: scikit-learn  probforest  ratio   CRPS: quantile-forest  probforest  ratio")
    for name in ("friedman1", "diabetes"):
        for noise in (0, 1, 3):
            tables = [noisy_table(name, noise, seed) for seed in range(n_seeds)]
            theirs = np.mean([scores_of_rivals(*t, seed, n_jobs)[1] for seed, t in enumerate(tables)], axis=0)
            ours = np.mean([scores_of_probforest(*t, seed, n_jobs)[1] for seed, t in enumerate(tables)], axis=0)
            rmse, score = (f"{theirs[i]:18.3f}  {ours[i]:10.3f}  {ours[i] / theirs[i]:.3f}" for i in (0, 1))
            print(f"{name:10s} {noise:3d} {rmse}  {score}", flush=True)


def with_noise_added(values, errors, factor, seed, most=np.inf):
    added = np.minimum(factor * errors, most)
    return values + added * np.random.default_rng(seed).normal(size=values.shape), np.hypot(errors, added)


HEADER_OF_COVERAGES = (
    "table      N_s  added   quantile-forest   probforest      calibrated      CRPS: q.-forest  probforest"
)


def print_coverages(name, noise, added, rivals, plain, calibrated):
    shares = "   ".join(f"{each[2]:.3f} {each[3]:.3f} " for each in (rivals, plain, calibrated))
    print(f"{name:10s} {noise:3s}  {added:5g}   {shares}  {rivals[1]:12.5g} {calibrated[1]:12.5g}", flush=True)


def compare_coverages(n_seeds, n_jobs):
    print(HEADER_OF_COVERAGES)
    for noise in (1, 3):
        for added in (0, 1):
            found = []
            for seed in range(n_seeds):
                train, test = noisy_table("friedman1", noise, seed, target_noise=False)
                test = (*with_noise_added(*test[:2], added, seed), test[2])
                ours = [scores_of_probforest(train, test, seed, n_jobs, calibrate=each)[1] for each in (False, True)]
                found.append([scores_of_rivals(train, test, seed, n_jobs)[1], *ours])
            print_coverages("friedman1", f"{noise}", added, *np.mean(found, axis=0))


def photometry(folder, *names):
    """Magnitudes, their errors, and redshifts."""
    tables = [np.loadtxt(folder / f"boss_photoz_{name}.csv", delimiter=",") for name in names]
    table = np.concatenate(tables)
    return table[:, 0:10:2], table[:, 1:10:2], table[:, 10]


def with_colours(magnitudes, errors):
    """Magnitudes and neighbouring colours, and their errors."""
    colours = magnitudes[:, :-1] - magnitudes[:, 1:]
    return np.hstack([magnitudes, colours]), np.hstack([errors, np.hypot(errors[:, :-1], errors[:, 1:])])


def compare_on_boss(folder, n_seeds, n_jobs):
    magnitudes, errors, z = photometry(folder, "train_0", "train_1")
    train = (*with_colours(magnitudes, errors), z, None)
    magnitudes, errors, z = photometry(folder, "eval")
    test = (*with_colours(magnitudes, errors), z)
    print(
        "model                 seed  NMAD    outliers  NMAD    outliers  CRPS     68 %   95 %   (mean; median; > 0.05)"
    )
    for seed in range(n_seeds):
        mean, result = scores_of_rivals(train, test, seed, n_jobs)
        _print_redshifts("scikit-learn, q.-f.", seed, z, mean, None, result)
        for calibrate in (False, True):
            forest, result = scores_of_probforest(train, test, seed, n_jobs, calibrate=calibrate)
            answer = forest.predict_distribution(test[0], X_err=test[1])
            name = "probforest, calibrated" if calibrate else "probforest"
            _print_redshifts(name, seed, z, answer.mean, answer.median, result)
        print(forest.error_trial_)


def _print_redshifts(name, seed, z, mean, median, result):
    points = [
        "   -       -   " if each is None else f"{sigma_nmad(z, each):.5f} {outlier_rate(z, each, 0.05):.4f} "
        for each in (mean, median)
    ]
    print(f"{name:22s} {seed:3d}  {'   '.join(points)}   {result[1]:.5f}  {result[2]:.3f}  {result[3]:.3f}", flush=True)


def write_tables(folder, out):
    """The BOSS tables with names of columns that `probforest train` understands."""
    bands = "ugriz"
    features = [*(f"mag_{band}" for band in bands), *(f"col_{a}{b}" for a, b in zip(bands, bands[1:], strict=False))]
    for name, parts in {"boss_train": ("train_0", "train_1"), "boss_test": ("eval",)}.items():
        magnitudes, errors, z = photometry(folder, *parts)
        values, errors = with_colours(magnitudes, errors)
        header = ",".join([*features, *(f"e_{feature}" for feature in features), "redshift"])
        table = np.column_stack([values, errors, z])
        np.savetxt(out / f"{name}.csv", table, "%.6g", delimiter=",", header=header, comments="")


def compare_boss_coverages(folder, n_seeds, n_jobs):
    magnitudes, errors, z = photometry(folder, "train_0", "train_1")
    train = (*with_colours(magnitudes, errors), z, None)
    magnitudes, errors, z = photometry(folder, "eval")
    print(HEADER_OF_COVERAGES)
    for added in (0, 0.5, 1, 2):
        found = []
        for seed in range(n_seeds):
            test = (*with_colours(*with_noise_added(magnitudes, errors, added, seed, MOST_ADDED)), z)
            ours = [scores_of_probforest(train, test, seed, n_jobs, calibrate=each)[1] for each in (False, True)]
            found.append([scores_of_rivals(train, test, seed, n_jobs)[1], *ours])
        print_coverages("BOSS", "", added, *np.mean(found, axis=0))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--boss", type=Path, metavar="FOLDER", help="the folder with boss_photoz_*.csv")
    parser.add_argument("--coverage", action="store_true", help="coverages, also with noise added at test")
    parser.add_argument("--seeds", type=int, default=5, help="number of seeds (default: 5)")
    parser.add_argument("--n-jobs", type=int, default=1, help="number of threads (default: 1)")
    parser.add_argument("--tables", type=Path, metavar="DIR", help="write the BOSS tables instead of comparing")
    options = parser.parse_args()
    if options.tables is not None:
        if options.boss is None:
            parser.error("--tables needs --boss FOLDER")
        write_tables(options.boss, options.tables)
    elif options.boss is None:
        (compare_coverages if options.coverage else compare_on_noise)(options.seeds, options.n_jobs)
    else:
        (compare_boss_coverages if options.coverage else compare_on_boss)(options.boss, options.seeds, options.n_jobs)
