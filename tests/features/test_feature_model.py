"""The FeatureModel: what a fit learns about the features, and cells of any table."""

import numpy as np
import pytest

from probforest import ProbabilisticRandomForestClassifier
from probforest.families import LOGNORMAL, NORMAL
from probforest.features.feature_model import FeatureModel
from probforest.features.measurements import Measurements, read_measurements
from probforest.features.prior import learn_priors, with_priors
from probforest.inputs.tables import read_table

N = 60
RANDOM = np.random.default_rng(0)
TRUTH = RANDOM.normal(5, 1, (N, 3))
X_ERR = np.where(RANDOM.random((N, 3)) < 0.1, np.nan, RANDOM.gamma(1, 0.5, (N, 3)))
X = np.abs(TRUTH + 0.5 * RANDOM.normal(size=(N, 3)))
X[3, 0] = np.nan
X_LIMIT = np.where(RANDOM.random((N, 3)) < 0.1, RANDOM.choice([-1, 1], (N, 3)), 0)
X_SAMPLES = X[:, :, None] * np.exp(0.1 * RANDOM.normal(size=(N, 3, 9)))
X_SAMPLES[RANDOM.random((N, 3)) < 0.8] = np.nan
FAMILIES = (NORMAL, LOGNORMAL, NORMAL)


def table(rows=slice(None), layout=None):
    given = X[rows], X_ERR[rows], X_LIMIT[rows], X_SAMPLES[rows]
    return read_table(given, np.asarray, None, None, layout)


def fitted(content, weight=None):
    weight = np.ones(len(content.X)) if weight is None else weight
    return FeatureModel.fit(content, weight, FAMILIES, prior="empirical", unknown_error="median", max_bins=16)


def applied(model, content):
    return model.apply(model.read(content), unknown_error="median")


def own_tables(cells):
    """F of the cells that have a table of their own."""
    starts = cells.values[:, :, 3][cells.values[:, :, 3] >= 0].astype(int)
    return [cells.table[start : start + 33].tolist() for start in starts]


def assert_same_cells(found, expected):
    np.testing.assert_array_equal(found.values[:, :, :3], expected.values[:, :, :3])
    assert own_tables(found) == own_tables(expected)


def test_a_fit_and_a_prediction_make_the_same_cells():
    features = fitted(table())
    assert_same_cells(applied(features.model, table()), features.cells)


def test_pieces_of_a_table_have_the_cells_of_the_whole():
    model = fitted(table()).model
    whole = applied(model, table())
    for rows in (slice(0, 7), slice(7, 8), slice(8, N)):
        piece = applied(model, table(rows, model.layout))
        np.testing.assert_array_equal(piece.values[:, :, :3], whole.values[rows, :, :3])
    assert len(own_tables(whole)) > 20


def test_an_object_without_weight_changes_nothing_but_has_cells():
    weight = RANDOM.integers(0, 3, N).astype(float)
    kept = weight > 0
    some, expected = fitted(table(), weight), fitted(table(kept), weight[kept])
    np.testing.assert_array_equal(some.model.median_errors, expected.model.median_errors)
    for found, spread in zip(some.model.spreads, expected.model.spreads, strict=True):
        np.testing.assert_array_equal(found.points, spread.points)
        np.testing.assert_array_equal(found.below, spread.below)
    np.testing.assert_array_equal(some.bins.codes[..., :7], expected.bins.codes[..., :7])
    assert_same_cells(some.cells, applied(expected.model, table()))


def test_nothing_is_overwritten():
    measurements = read_measurements(X, np.nan_to_num(X_ERR), None, X_SAMPLES, FAMILIES)
    logarithms = measurements.with_logarithms()
    posteriors = with_priors(learn_priors("empirical", logarithms, np.ones(N)), logarithms)
    again = read_measurements(X, np.nan_to_num(X_ERR), None, X_SAMPLES, FAMILIES)
    for name in ("center", "lower", "upper"):
        np.testing.assert_array_equal(getattr(measurements, name), getattr(again, name))
        np.testing.assert_array_equal(getattr(logarithms, name), getattr(again.with_logarithms(), name))
        assert (getattr(posteriors, name) != getattr(logarithms, name)).any()


def test_a_fit_spreads_limits_once(monkeypatch):
    n_objects, spread = [], Measurements.with_limits_spread

    def counting(self, spreads):
        n_objects.append(self.n_objects)
        return spread(self, spreads)

    monkeypatch.setattr(Measurements, "with_limits_spread", counting)
    forest = ProbabilisticRandomForestClassifier(20, random_state=0, oob_score=True)
    weight = np.arange(N) % 3
    forest.fit(X, TRUTH[:, 0] > 5, X_err=X_ERR, X_limit=X_LIMIT, sample_weight=weight)
    assert n_objects == [N]


def test_a_column_with_a_name_is_named_in_errors():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(np.append(X, [[1.0, -2.0, 1.0]], axis=0), columns=["a", "b", "c"])
    content = read_table((frame, None, None, None), np.asarray, None, None)
    with pytest.raises(ValueError, match=rf"column 'b' of X is -2.0 at row {N}; a log-normal feature has positive"):
        fitted(content)


def test_error_sizes_are_relative_to_the_training_set():
    y = np.arange(N) % 2
    errors = np.tile([1.0, 2.0, 0.0], (N, 1))
    forest = ProbabilisticRandomForestClassifier(2, random_state=0).fit(TRUTH, y, X_err=errors)
    values = np.array([[1.0, 1, 1], [1, 1, 1], [np.nan, 1, 1], [np.nan, np.nan, 1], [1, 1, 1]])
    asked = np.array([[1.0, 2, 9], [3, 2, 9], [5, 6, 9], [1, 2, 9], [np.nan, 8, 9]])
    np.testing.assert_array_equal(forest.error_sizes(values, X_err=asked), [1, 2, 3, np.nan, 4])
    np.testing.assert_array_equal(forest.error_sizes(values, X_err=(asked, 3 * asked)), [2, 4, 6, np.nan, 8])
    limit = np.zeros((5, 3))
    limit[1, 0] = 1  # the error of a limit is not used
    np.testing.assert_array_equal(forest.error_sizes(values, X_err=asked, X_limit=limit), [1, 1, 3, np.nan, 4])
    assert np.isnan(forest.error_sizes(values)).all()
