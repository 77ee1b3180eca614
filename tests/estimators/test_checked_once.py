"""The table of a fit is read once, also if small models are tried on it first."""

from functools import partial

import numpy as np
import pytest

from probforest import ProbabilisticRandomForestClassifier, ProbabilisticRandomForestRegressor
from probforest.features import feature_model
from probforest.features.measurements import read_measurements


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("regression", [False, True])
def test_a_table_is_checked_once(monkeypatch, regression, weighted):
    """What the trial has checked is passed on, with the medians of the weights that count, and is not kept."""
    random = np.random.default_rng(0)
    X, X_err = random.normal(size=(300, 3)), random.gamma(1, 0.5, (300, 3))
    y = X[:, 0] + 0.1 * random.normal(size=300)
    options = {"error_scale": 1.0} if regression else {}  # a second forest, for noisier tables, would read it again
    kind = ProbabilisticRandomForestRegressor if regression else ProbabilisticRandomForestClassifier
    model = partial(kind, **options)
    further = {"y_err": random.gamma(1, 0.3, 300)} if regression and weighted else {}
    further |= {"sample_weight": random.integers(0, 3, 300)} if weighted else {}
    reads = []

    def counted(*arguments):
        reads.append(1)
        return read_measurements(*arguments)

    monkeypatch.setattr(feature_model, "read_measurements", counted)
    forest = model(3, random_state=0).fit(X, y if regression else y > 0, X_err=X_err, **further)
    assert (forest.error_trial_ if regression else forest.prior_trial_) is not None
    assert len(reads) == 1
    assert "_checked" not in vars(forest)
    learn = feature_model.FeatureModel.fit
    monkeypatch.setattr(feature_model.FeatureModel, "fit", lambda *what, checked=None, **how: learn(*what, **how))
    other = model(3, random_state=0).fit(X, y if regression else y > 0, X_err=X_err, **further)
    assert len(reads) > 3
    np.testing.assert_array_equal(forest.median_errors_, other.median_errors_)
    np.testing.assert_array_equal(forest.predict(X, X_err=X_err), other.predict(X, X_err=X_err))
    more = model(2, random_state=1).fit(X, y if regression else y > 0, X_err=X_err, **further, feature_model=forest)
    assert "_checked" not in vars(more)
