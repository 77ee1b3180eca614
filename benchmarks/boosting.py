"""Boosting on the noisy data of the paper, beside our forest and scikit-learn's boosting and forest.

    python benchmarks/boosting.py --kinds groups cells --seeds 11

prints accuracy and log loss for every noise level, averaged over the kinds of noise and the seeds of the data, and in
how many kinds and levels (cells) boosting is ahead of all others.
"""

import argparse
import sys
import warnings

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.metrics import log_loss
from threadpoolctl import threadpool_limits

from probforest import ProbabilisticGradientBoostingClassifier, ProbabilisticRandomForestClassifier
from probforest.features.measurements import read_measurements
from probforest.features.prior import learn_priors, with_priors
from probforest.studies.experiments.cases import Case, noisy_features

OURS = "boosting of probforest"
LEAST_PROBABILITY = 0.005  # half a vote of 100 trees: no classifier is punished for a 0 without bounds


def shrunk(case: Case) -> tuple[np.ndarray, np.ndarray]:
    """Best estimates of the true values under a normal prior."""
    training = read_measurements(case.X, case.X_err)
    priors = learn_priors("normal", training, np.ones(len(case.y)))
    test = read_measurements(case.X_test, case.X_err_test)
    return with_priors(priors, training).center.T, with_priors(priors, test).center.T


def answers(case: Case, n_iterations: int, n_trees: int) -> dict[str, np.ndarray]:
    """Probabilities of the test set."""
    boosting = ProbabilisticGradientBoostingClassifier(max_iter=n_iterations, random_state=0)
    forest = ProbabilisticRandomForestClassifier(n_trees, random_state=0)
    rival, rival_forest = (
        HistGradientBoostingClassifier(max_iter=n_iterations, random_state=0),
        RandomForestClassifier(n_trees, random_state=0),
    )
    best, best_test = shrunk(case)
    found = {
        name: model.fit(case.X, case.y, X_err=case.X_err).predict_proba(case.X_test, X_err=case.X_err_test)
        for name, model in ((OURS, boosting), ("forest of probforest", forest))
    }
    return found | {
        "scikit-learn's boosting": rival.fit(case.X, case.y).predict_proba(case.X_test),
        "the same on shrunk values": rival.fit(best, case.y).predict_proba(best_test),
        "scikit-learn's forest": rival_forest.fit(case.X, case.y).predict_proba(case.X_test),
    }


def scores(y: np.ndarray, proba: np.ndarray) -> tuple[float, float]:
    clipped = np.clip(proba, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY)
    return float((clipped.argmax(axis=1) == y).mean()), float(log_loss(y, clipped))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", nargs="+", default=["objects", "groups", "transfer", "cells"])
    parser.add_argument("--levels", nargs="+", type=float, default=[1.0, 2.0, 3.0, 5.0])
    parser.add_argument("--seeds", nargs="+", type=int, default=[10, 11, 12])
    parser.add_argument("--iterations", type=int, default=300)
    parser.add_argument("--trees", type=int, default=50)
    parser.add_argument("--objects", type=int, default=5000)
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")  # errors of the test set differ in some kinds of noise: that is the point of them
    n_ahead, n_cells = np.zeros(2, dtype=int), 0
    for level in options.levels:
        of_level = []
        for kind in options.kinds:
            cases = [noisy_features(options.objects, level, kind, "paper", seed) for seed in options.seeds]
            with threadpool_limits(1):
                found = [(case, answers(case, options.iterations, options.trees)) for case in cases]
            names = list(found[0][1])
            of_level.append(np.mean([[scores(case.y_test, each[name]) for name in names] for case, each in found], 0))
            others = [names.index(name) for name in names if name != OURS]
            ours, rest = of_level[-1][names.index(OURS)], of_level[-1][others]
            n_ahead += np.array([ours[0] > rest[:, 0].max(), ours[1] < rest[:, 1].min()])
            n_cells += 1
        for name, (accuracy, loss) in zip(names, np.mean(of_level, axis=0), strict=True):
            print(f"level {level:g}  {name:26s} {accuracy:.3f} / {loss:.3f}", flush=True)
    print(f"{OURS} is ahead of all others in accuracy in {n_ahead[0]}, in log loss in {n_ahead[1]} of {n_cells} cells")
    return 0


if __name__ == "__main__":
    sys.exit(main())
