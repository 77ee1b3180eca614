"""Every kernel is compiled once: a second signature costs the user seconds, unseen."""

import importlib
import pkgutil

import numba
import numpy as np
import pytest

from probforest import ProbabilisticDecisionTreeClassifier, ProbabilisticRandomForestClassifier, kernels

TABLES = {
    "exact": {},
    "errors": {"X_err": 0.3},
    "errors and soft labels": {"X_err": np.full((60, 4), 0.3), "y_proba": np.full(60, 0.8)},
    "fortran": {"X_err": np.asfortranarray(np.full((60, 4), 0.3))},
    "weights": {"sample_weight": np.arange(60)},
}


def signatures():
    found = {}
    for module in pkgutil.iter_modules(kernels.__path__, f"{kernels.__name__}."):
        for name, thing in vars(importlib.import_module(module.name)).items():
            if isinstance(thing, numba.core.registry.CPUDispatcher):
                found[name] = set(map(str, thing.signatures))
    return found


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_no_use_of_the_estimators_compiles_a_kernel_twice():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(60, 4)), random.integers(0, 2, 60)
    X[::9, 1] = np.nan
    use = [
        ProbabilisticRandomForestClassifier(3, random_state=0, oob_score=False),
        ProbabilisticDecisionTreeClassifier(
            criterion="entropy", missing="learned", max_depth=np.int32(4), keep_proba=0
        ),
    ]
    ProbabilisticRandomForestClassifier(1).fit(X, y).predict(X)
    before = signatures()
    for model in use:
        for options in TABLES.values():
            model.fit(np.asfortranarray(X), y, **options)
            errors = options.get("X_err", 0.0)
            model.predict_proba(X, X_err=errors)
            model.leaf_proba(X.astype(np.float32), X_err=errors)
    after = signatures()
    assert {name: found - before[name] for name, found in after.items() if found - before[name]} == {}
