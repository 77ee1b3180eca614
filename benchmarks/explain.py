"""The time that explanations take: python benchmarks/explain.py [--quick].

Contributions of many objects beside `predict_proba`, the value of a measurement for one object, and Shapley values of
ten objects; 15 features with errors, 100 trees, one thread. CPU seconds, the best of several runs.
"""

import argparse
import time
from collections.abc import Callable

import numpy as np

from probforest import (
    ProbabilisticGradientBoostingClassifier,
    ProbabilisticRandomForestClassifier,
    ProbabilisticRandomForestRegressor,
)
from probforest.datasets import add_noise, make_two_classes
from probforest.explain import ShapExplainer

N_TRAINING, N_FEATURES = 5000, 15


def seconds(call: Callable[[], object], repeats: int) -> float:
    """CPU seconds of the fastest call, the first one not counted: it may compile kernels."""
    call()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="2,000 objects instead of 50,000, and one run each")
    options = parser.parse_args()
    n_objects, repeats = (2000, 1) if options.quick else (50_000, 3)
    truth, y = make_two_classes(N_TRAINING + n_objects, random_state=0)
    noisy = add_noise(truth[:, :N_FEATURES], 1, case="objects", random_state=0)
    train, test = slice(0, N_TRAINING), slice(N_TRAINING, None)
    X, X_err, first, first_err = noisy.X[test], noisy.X_err[test], noisy.X[train], noisy.X_err[train]
    for prior in ("joint", "empirical"):
        forest = ProbabilisticRandomForestClassifier(random_state=0, prior=prior).fit(first, y[train], X_err=first_err)
        predict = seconds(lambda: forest.predict_proba(X, X_err=X_err), repeats)  # noqa: B023
        explain = seconds(lambda: forest.contributions(X, X_err=X_err), repeats)  # noqa: B023
        print(f"contributions of {n_objects:,} objects, prior {prior}: {explain / predict:.2f} × predict_proba")
        one = slice(7, 8)
        value = seconds(lambda: forest.value_of_measurement(X[one], X_err=X_err[one]), 10 * repeats)  # noqa: B023
        print(f"value of a measurement, one object × 15 features × 100 trees, prior {prior}: {1000 * value:.0f} ms")
    ten = slice(0, 10)
    models = {
        "forest": forest,
        "boosting": ProbabilisticGradientBoostingClassifier(random_state=0),
        "regressor": ProbabilisticRandomForestRegressor(random_state=0, error_scale=1.0),
    }
    for name, model in models.items():
        target = y[train] if name != "regressor" else y[train] + 0.1 * np.sin(first[:, 0])
        if model is not forest:
            model.fit(first, target, X_err=first_err)
        explainer = ShapExplainer(model, first, X_err=first_err)
        needed = seconds(lambda: explainer.shap_values(X[ten], X_err=X_err[ten]), repeats)  # noqa: B023
        print(f"Shapley values of ten objects × {N_FEATURES} features, {name}: {needed:.2f} s")


if __name__ == "__main__":
    main()
