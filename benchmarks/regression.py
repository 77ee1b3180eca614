"""Regressors on noisy numbers: RMSE, CRPS and coverage beside scikit-learn's forest and quantile-forest.

    python benchmarks/regression.py                      # friedman1 and diabetes with noise, five seeds
    python benchmarks/regression.py --slopes             # the same with slopes=True
    python benchmarks/regression.py --coverage           # coverage of intervals, also with noise added at test
    python benchmarks/regression.py --boss FOLDER        # the BOSS redshifts that ANNZ2 comes with, boss_photoz_*.csv
    python benchmarks/regression.py --boss FOLDER --coverage
    python benchmarks/regression.py --boss FOLDER --tables DIR   # boss_train.csv, boss_test.csv with names of columns

Noise: a value of a feature with the standard deviation S gets an error of N_s × S × U(0, 1), a training target one of
N_s × its standard deviation × U(0, 1) / 2. The test targets have no noise. For coverages targets are not made noisier,
as intervals are those of measured targets. Noise added at test: each value gets noise of k × its own error (at most
5 mag), which its new error includes. quantile-forest must be installed: pip install quantile-forest.
"""

import argparse
from itertools import pairwise
from pathlib import Path

import numpy as np
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


def rivals_of(train, seed, n_jobs):
    """The forests of scikit-learn and of quantile-forest."""
    from quantile_forest import RandomForestQuantileRegressor  # here, as other benchmarks use this file without it

    X, _, y, _ = train
    parameters = {"random_state": seed, "n_jobs": n_jobs}
    return RandomForestRegressor(**parameters).fit(X, y), RandomForestQuantileRegressor(**parameters).fit(X, y)


def scores_of_rivals(rivals, test):
    """RMSE of scikit-learn's forest; CRPS and coverages of quantile-forest."""
    query, _, truth = test
    draws = rivals[1].predict(query, quantiles=LEVELS)
    intervals = [np.quantile(draws, [(1 - p) / 2, (1 + p) / 2], axis=1).T for p in INTERVALS]
    shares = [coverage(truth, each) for each in intervals]
    return [_rmse(truth, rivals[0].predict(query)), crps(truth, draws), *shares]


def probforest_of(train, seed, n_jobs, **parameters):
    X, X_err, y, y_err = train
    forest = ProbabilisticRandomForestRegressor(random_state=seed, n_jobs=n_jobs, **parameters)
    return forest.fit(X, y, X_err=X_err, y_err=y_err)


def scores_of_probforest(forest, test):
    return _scores(test[2], forest.predict_distribution(test[0], X_err=test[1]))


def _scores(truth, answer):
    return [_rmse(truth, answer.mean), crps(truth, answer), *(coverage(truth, answer, p) for p in INTERVALS)]


def _rmse(truth, mean):
    return np.sqrt(np.mean((mean - truth) ** 2))


def compare_on_noise(n_seeds, n_jobs, **parameters):
    print("table      N_s  RMSE: scikit-learn  probforest  ratio   CRPS: quantile-forest  probforest  ratio")
    for name in ("friedman1", "diabetes"):
        for noise in (0, 1, 3):
            tables = [noisy_table(name, noise, seed) for seed in range(n_seeds)]
            theirs, ours = [], []
            for seed, (train, test) in enumerate(tables):
                theirs.append(scores_of_rivals(rivals_of(train, seed, n_jobs), test))
                ours.append(scores_of_probforest(probforest_of(train, seed, n_jobs, **parameters), test))
            theirs, ours = np.mean(theirs, axis=0), np.mean(ours, axis=0)
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


def coverages(train, test_with, noises, seed, n_jobs):
    """Scores of quantile-forest, and of probforest without and with calibration, (noises, 3, 4); `test_with` makes a
    test set with noise added."""
    rivals = rivals_of(train, seed, n_jobs)
    ours = [probforest_of(train, seed, n_jobs, calibrate=each) for each in (False, True)]
    found = []
    for noise in noises:
        test = test_with(noise)
        found.append([scores_of_rivals(rivals, test), *(scores_of_probforest(forest, test) for forest in ours)])
    return found


def compare_coverages(n_seeds, n_jobs):
    print(HEADER_OF_COVERAGES)
    noises = (0, 1)
    for noise in (1, 3):
        found = []
        for seed in range(n_seeds):
            train, (X, X_err, y) = noisy_table("friedman1", noise, seed, target_noise=False)

            def test_with(added, X=X, X_err=X_err, y=y, seed=seed):
                return (*with_noise_added(X, X_err, added, seed), y)

            found.append(coverages(train, test_with, noises, seed, n_jobs))
        for added, scores in zip(noises, np.mean(found, axis=0), strict=True):
            print_coverages("friedman1", f"{noise}", added, *scores)


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
        rivals = rivals_of(train, seed, n_jobs)
        result = scores_of_rivals(rivals, test)
        _print_redshifts("scikit-learn, q.-f.", seed, z, rivals[0].predict(test[0]), None, result)
        for calibrate in (False, True):
            forest = probforest_of(train, seed, n_jobs, calibrate=calibrate)
            answer = forest.predict_distribution(test[0], X_err=test[1])
            name = "probforest, calibrated" if calibrate else "probforest"
            _print_redshifts(name, seed, z, answer.mean, answer.median, _scores(z, answer))
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
    features = [*(f"mag_{band}" for band in bands), *(f"col_{a}{b}" for a, b in pairwise(bands))]
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
    noises = (0, 0.5, 1, 2)
    found = []
    for seed in range(n_seeds):

        def test_with(added, seed=seed):
            return (*with_colours(*with_noise_added(magnitudes, errors, added, seed, MOST_ADDED)), z)

        found.append(coverages(train, test_with, noises, seed, n_jobs))
    print(HEADER_OF_COVERAGES)
    for added, scores in zip(noises, np.mean(found, axis=0), strict=True):
        print_coverages("BOSS", "", added, *scores)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--boss", type=Path, metavar="FOLDER", help="the folder with boss_photoz_*.csv")
    parser.add_argument("--coverage", action="store_true", help="coverages, also with noise added at test")
    parser.add_argument("--slopes", action="store_true", help="slopes=True, without --boss and --coverage")
    parser.add_argument("--seeds", type=int, default=5, help="number of seeds (default: 5)")
    parser.add_argument("--n-jobs", type=int, default=1, help="number of threads (default: 1)")
    parser.add_argument("--tables", type=Path, metavar="DIR", help="write the BOSS tables instead of comparing")
    options = parser.parse_args()
    if options.tables is not None:
        if options.boss is None:
            parser.error("--tables needs --boss FOLDER")
        write_tables(options.boss, options.tables)
    elif options.boss is None and options.coverage:
        compare_coverages(options.seeds, options.n_jobs)
    elif options.boss is None:
        compare_on_noise(options.seeds, options.n_jobs, slopes=True if options.slopes else "auto")
    else:
        (compare_boss_coverages if options.coverage else compare_on_boss)(options.boss, options.seeds, options.n_jobs)
