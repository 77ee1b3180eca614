"""How fast regressors are, beside scikit-learn's forest and quantile-forest, and how much memory distributions need.

    python benchmarks/regression_speed.py            # a few minutes; --quick for a tenth of the objects
    python benchmarks/regression_speed.py --memory   # a million objects

The same 15 noisy features for all, one thread, ratios of processor times in one process, best of several repeats. A
ratio below 1 means that probforest is faster. quantile-forest must be installed: pip install quantile-forest.
"""

import argparse
import gc
import resource
import time

import numpy as np
from quantile_forest import RandomForestQuantileRegressor
from sklearn.ensemble import RandomForestRegressor

from probforest import ProbabilisticRandomForestRegressor

QUANTILES = [0.16, 0.5, 0.84]


def table(n_objects, noise, seed=0):
    """15 features of which 10 tell something about the target; a value of feature j has an error of up to `noise`."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n_objects, 15))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + X[:, 3:10].sum(axis=1) / 3 + 0.3 * random.normal(size=n_objects)
    X_err = noise * random.uniform(size=X.shape)
    return X + X_err * random.normal(size=X.shape), y, X_err if noise else None


def best_time(call, repeats):
    """Smallest processor time of some calls, and what the last one returned."""
    times = []
    for _ in range(repeats):
        gc.collect()
        start = time.process_time()
        found = call()
        times.append(time.process_time() - start)
    return min(times), found


def measure(n_objects, n_trees, repeats):
    print(f"{n_objects:,} × 15, {n_trees} trees, one thread; processor seconds")
    for noise in (1.0, 0.0):
        measure_noise(noise, n_objects, n_trees, repeats)


def measure_noise(noise, n_objects, n_trees, repeats):
    X, y, X_err = table(n_objects, noise)
    query, _, query_err = table(n_objects, noise, seed=1)
    parameters = {"n_estimators": n_trees, "random_state": 0, "n_jobs": 1}
    ours, theirs = ProbabilisticRandomForestRegressor(**parameters), RandomForestRegressor(**parameters)
    rivals = {
        "quantiles": RandomForestQuantileRegressor(**parameters),  # one target of each leaf, its default
        "all targets": RandomForestQuantileRegressor(max_samples_leaf=None, **parameters),  # as Meinshausen's
    }

    def compare(name, ours, theirs):
        mine, other = best_time(ours, repeats)[0], best_time(theirs, repeats)[0]
        name = f"{name}, N_s = {noise:g}"
        print(f"{name:22s} probforest {mine:8.2f}   other {other:8.2f}   ratio {mine / other:.2f}", flush=True)

    compare("fit", lambda: ours.fit(X, y, X_err=X_err), lambda: theirs.fit(X, y))
    if ours.error_trial_ is not None:
        print("   ", ours.error_trial_)
    compare("predict", lambda: ours.predict(query, X_err=query_err), lambda: theirs.predict(query))
    for name, rival in rivals.items():
        rival.fit(X, y)
        compare(
            name,
            lambda: ours.predict_quantiles(query, QUANTILES, X_err=query_err),
            lambda rival=rival: rival.predict(query, quantiles=QUANTILES),
        )


def measure_memory(n_objects):
    """Peak memory of quantiles above that of a process that has the model and the table."""
    X, y, X_err = table(20_000, 1.0)
    forest = ProbabilisticRandomForestRegressor(20, random_state=0, n_jobs=1).fit(X, y, X_err=X_err)
    query, _, query_err = table(n_objects, 1.0, seed=1)
    forest.predict_quantiles(query[:1000], QUANTILES, X_err=query_err[:1000])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    forest.predict_quantiles(query, QUANTILES, X_err=query_err)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    tables = (query.nbytes + query_err.nbytes) / 2**20
    print(f"{n_objects:,} objects × 15 ({tables:.0f} MiB of values and errors): {(peak - before) / 1024:.0f} MiB more")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a tenth of the objects")
    parser.add_argument("--memory", action="store_true", help="measure memory instead of time")
    parser.add_argument("--trees", type=int, default=10, help="number of trees (default: 10)")
    parser.add_argument("--repeats", type=int, default=2, help="repeats of each measurement (default: 2)")
    options = parser.parse_args()
    if options.memory:
        measure_memory(100_000 if options.quick else 1_000_000)
    else:
        measure(5_000 if options.quick else 50_000, options.trees, options.repeats)
