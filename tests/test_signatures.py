"""Every kernel is compiled once: a second signature costs every user seconds on the first fit, unseen. And
`probforest precompile` leaves nothing to compile."""

import json
import os
import subprocess
import sys

import numba
import pytest

# Run with an empty cache: what is loaded from a cache is not compiled, and so not counted.
USE = """
import importlib, json, pkgutil
import numba
import numpy as np
from probforest import (
    ProbabilisticDecisionTreeClassifier,
    ProbabilisticGradientBoostingClassifier,
    ProbabilisticGradientBoostingRegressor,
    ProbabilisticRandomForestClassifier,
    ProbabilisticRandomForestRegressor,
    kernels,
)
from probforest.cli.main import main

def signatures():
    found = {}
    for module in pkgutil.iter_modules(kernels.__path__, f"{kernels.__name__}."):
        for name, thing in vars(importlib.import_module(module.name)).items():
            if isinstance(thing, numba.core.registry.CPUDispatcher):
                found[name] = [str(signature) for signature in thing.signatures]
                found[f"{name}, part"] = [str(signature) for signature in getattr(thing, "part", thing).signatures]
    return found

assert main(["precompile", "--json"]) == 0
precompiled = signatures()

random = np.random.default_rng(0)
X, y = random.normal(size=(60, 4)), random.integers(0, 2, 60)
X = np.cumsum(X, axis=1)  # features that say something about each other
X[::9, 1] = np.nan

def explain(model, asked):
    model.contributions(X, **asked)
    model.value_of_measurement(X, **asked)
    background = {name.replace("X_", "background_"): about for name, about in asked.items()}
    model.shapley_values(X, **asked, background=np.asfortranarray(X), **background, n_background=2)

tables = [
    {},
    {"X_err": 0.3},
    {"X_err": np.full((60, 4), 0.3), "y_proba": np.full(60, 0.8)},
    {"X_err": np.asfortranarray(np.full((60, 4), 0.3)), "sample_weight": np.arange(60)},
    {"X_err": (0.2, np.full((60, 4), 0.3)), "X_limit": random.integers(-1, 2, (60, 4))},
    {"X_samples": random.normal(size=(60, 4, 9))},
]
models = [
    ProbabilisticRandomForestClassifier(30, random_state=0, oob_score=True),
    ProbabilisticDecisionTreeClassifier(criterion="entropy", missing="learned", max_depth=np.int32(4), keep_proba=0),
    ProbabilisticDecisionTreeClassifier(prior="normal", distribution="laplace"),
    ProbabilisticDecisionTreeClassifier(criterion="entropy", max_bins=65535),
    ProbabilisticGradientBoostingClassifier(max_iter=3, min_samples_leaf=5, max_features=0.5, early_stopping=True),
    ProbabilisticGradientBoostingClassifier(max_iter=3, min_samples_leaf=0.1, max_bins=65535, max_depth=3),
    ProbabilisticDecisionTreeClassifier(prior="joint"),
]
for model in models:
    for options in tables:
        model.fit(np.asfortranarray(X), y, **options)
        asked = {name: about for name, about in options.items() if name.startswith("X_")} or {"X_err": 0.0}
        model.predict_proba(X, **asked)
        model.leaf_proba(X.astype(np.float32), **asked)
        if model in (models[1], models[4], models[6]):  # a tree, boosting, the joint prior
            explain(model, asked)
with_error_features = ProbabilisticRandomForestClassifier(30, random_state=0, error_features=True)
with_error_features.fit(X, y, X_err=random.gamma(2, 0.2, X.shape))
for errors in (random.gamma(2, 0.2, X.shape), 0.0):
    with_error_features.predict_proba(X, X_err=errors)
for options in tables:
    about = {name: about for name, about in options.items() if name.startswith("X_")}
    forest = ProbabilisticRandomForestRegressor(5, random_state=0, error_scale=1.0).fit(X, X[:, 0], **about)
    forest.predict_distribution(X, **(about or {"X_err": 0.0})).median
    with_slopes = ProbabilisticRandomForestRegressor(5, random_state=0, slopes=True).fit(X, X[:, 0], **about)
    with_slopes.predict_quantiles(X, [0.5], **(about or {"X_err": 0.0}))
    explain(with_slopes, about)
    for loss in ("squared_error", "absolute_error", "huber", "poisson"):
        model = ProbabilisticGradientBoostingRegressor(loss, max_iter=3, min_samples_leaf=5, monotonic_cst=[1, 0, 0, 0])
        model.fit(X, np.abs(X[:, 0]), **about).predict(X, **(about or {"X_err": 0.0}))
    explain(forest, about)
print(json.dumps([precompiled, signatures()]))
"""


def differ_in_bin_codes(signatures):
    """Whether there are just two, for codes of one byte and of two."""
    one_byte, two_bytes = sorted(signatures, key=lambda signature: "uint16" in signature)
    return one_byte == two_bytes.replace("uint16", "uint8")


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
def test_no_use_of_the_estimators_compiles_a_kernel_twice_or_what_precompile_has_left(tmp_path):
    run = subprocess.run(
        [sys.executable, "-c", USE],
        env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    report, _, counted = run.stdout.rpartition("\n[")
    assert json.loads(report)["folder"].startswith(str(tmp_path))
    precompiled, found = json.loads(f"[{counted}")
    assert precompiled == found
    assert len(found["grow_nodes"]) == len(found["grow_best_first"]) == 2
    assert {name: each for name, each in found.items() if len(each) > 1 and not differ_in_bin_codes(each)} == {}
