"""Which regressors reach which scatter and outlier rate on the BOSS redshifts, each tuned on the training files.

    python benchmarks/redshift_rivals.py FOLDER    # with boss_photoz_*.csv; about ten minutes

Each model is fitted with some settings to three quarters of the training files, four times; the setting with the fewest
outliers (> 0.05) in the other quarters is then fitted to all of them and judged by the test file, with two seeds.
quantile-forest and LightGBM must be installed: pip install quantile-forest lightgbm.
"""

import argparse
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
from lightgbm import LGBMRegressor
from quantile_forest import RandomForestQuantileRegressor
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor
from sklearn.model_selection import KFold

from probforest import ProbabilisticRandomForestRegressor
from probforest.metrics import outlier_rate, sigma_nmad
from regression import photometry, with_colours

SEEDS = 2


def answers_of_forest(forest):
    """Means of a forest that takes values as exact."""

    def answers(settings, seed, train, query):
        X, _, z = train
        return forest(random_state=seed, n_jobs=1, **settings).fit(X, z).predict(query[0])

    return answers


def medians_of_quantile_forest(settings, seed, train, query):
    X, _, z = train
    return RandomForestQuantileRegressor(random_state=seed, n_jobs=1, **settings).fit(X, z).predict(query[0], 0.5)


def answers_of_lightgbm(objective, **others):
    def answers(settings, seed, train, query):
        X, _, z = train
        model = LGBMRegressor(objective=objective, random_state=seed, n_jobs=1, verbose=-1, **others, **settings)
        return model.fit(X, z).predict(query[0])

    return answers


def answers_of_probforest(settings, seed, train, query, **others):
    """With what "auto" chooses on these files: a quarter of the errors, no prior, slopes."""
    X, X_err, z = train
    chosen = {"error_scale": 0.25, "prior": None, "slopes": True} | others
    forest = ProbabilisticRandomForestRegressor(random_state=seed, n_jobs=1, **chosen, **settings)
    return forest.fit(X, z, X_err=X_err).predict(query[0], X_err=query[1])


def grid(**choices):
    """All combinations of the settings."""
    return [dict(zip(choices, values, strict=True)) for values in product(*choices.values())]


FOREST = grid(max_features=[1 / 3, 0.5, 1.0], min_samples_leaf=[1, 5])
BOOSTING = [
    {"learning_rate": rate, "n_estimators": number, "num_leaves": leaves}
    for (rate, number), leaves in product([(0.1, 100), (0.05, 400)], [31, 63])
]
PROBFOREST = grid(max_features=[0.5, 1.0], min_samples_leaf=[1, 3])
MODELS = {
    "RandomForest": (answers_of_forest(RandomForestRegressor), FOREST),
    "ExtraTrees": (answers_of_forest(ExtraTreesRegressor), FOREST),
    "quantile-forest, median": (medians_of_quantile_forest, FOREST),
    "LightGBM, squared error": (answers_of_lightgbm("regression"), BOOSTING),
    "LightGBM, absolute error": (answers_of_lightgbm("regression_l1"), BOOSTING),
    "LightGBM, Huber loss": (answers_of_lightgbm("huber", alpha=0.05), BOOSTING),
    "probforest without slopes": (partial(answers_of_probforest, slopes=False), PROBFOREST),
    "probforest": (answers_of_probforest, PROBFOREST),
    "probforest, median": (partial(answers_of_probforest, prediction="median"), PROBFOREST),
}


def scores(z, answer):
    return sigma_nmad(z, answer), outlier_rate(z, answer, 0.05)


def part(table, rows):
    return tuple(each[rows] for each in table)


def in_folds(answers, settings, train):
    """Mean scores of objects that were not trained on."""
    folds = KFold(4, shuffle=True, random_state=0).split(train[0])
    found = [
        scores(train[2][test], answers(settings, seed, part(train, rest), part(train, test)))
        for seed, (rest, test) in enumerate(folds)
    ]
    return np.mean(found, axis=0)


def main(folder, names):
    magnitudes, errors, z = photometry(folder, "train_0", "train_1")
    train = (*with_colours(magnitudes, errors), z)
    magnitudes, errors, z = photometry(folder, "eval")
    test = (*with_colours(magnitudes, errors), z)
    print("model                      training: NMAD  outliers   test: NMAD  outliers   range of all settings   chosen")
    for name in names or MODELS:
        answers, settings = MODELS[name]
        tuned = [in_folds(answers, each, train) for each in settings]
        best = int(np.argmin([outliers for _, outliers in tuned]))
        judged = np.mean(
            [[scores(z, answers(each, seed, train, test)) for seed in range(SEEDS)] for each in settings], axis=1
        )
        lines = [f"{nmad:.4f}  {outliers:.4f}" for nmad, outliers in (tuned[best], judged[best])]
        around = f"{judged[:, 1].min():.4f} to {judged[:, 1].max():.4f}"
        print(f"{name:26s} {lines[0]:>24s}   {lines[1]:>19s}   {around:>21s}   {settings[best]}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the folder with boss_photoz_*.csv")
    parser.add_argument("--models", nargs="*", choices=list(MODELS), help="only these (default: all)")
    options = parser.parse_args()
    main(options.folder, options.models)
