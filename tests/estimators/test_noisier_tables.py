"""Tables with larger errors than the training set: a forest that takes errors less seriously leaves them to another."""

import numpy as np
import pytest

from probforest import ProbabilisticRandomForestRegressor
from probforest.metrics import coverage, crps
from probforest.trees.calibration import LEVELS, calibration_at


def redshifts(seed, n, noise=0.0):
    """Magnitudes and colours, whose noise goes together, with errors that are too large by a factor of four."""
    random = np.random.default_rng(seed)
    z = random.gamma(4, 0.1, n)
    truth = 19 + np.column_stack([3 * z, 2 * np.sin(3 * z), z**2, 1.5 * z])
    error = 0.1 * np.exp(0.3 * random.normal(size=truth.shape))
    magnitudes = truth + error / 4 * random.normal(size=truth.shape)
    added = noise * error
    magnitudes, error = magnitudes + added * random.normal(size=truth.shape), np.hypot(error, added)
    X = np.hstack([magnitudes, np.diff(magnitudes, axis=1)])
    return X, np.hstack([error, np.hypot(error[:, 1:], error[:, :-1])]), z


@pytest.fixture(scope="module")
def forest():
    X, X_err, z = redshifts(0, 1500)
    return ProbabilisticRandomForestRegressor(20, random_state=0, calibrate=True).fit(X, z, X_err=X_err)


def test_errors_as_in_training_change_nothing(forest):
    """The law: the answers are those of a forest that knows nothing of other errors."""
    assert forest.error_scale_ < 1
    assert forest.noisy_forest_.error_scale_ == 1
    X, X_err, z = redshifts(0, 1500)
    plain = ProbabilisticRandomForestRegressor(
        20, random_state=0, error_scale=forest.error_scale_, prior=forest.prior_, slopes=forest.slopes_
    ).fit(X, z, X_err=X_err)
    assert plain.noisy_forest_ is None
    assert plain.usual_errors_ is None
    X, X_err, _ = redshifts(1, 400)
    assert forest.noise_factor(X, X_err=X_err) < 1.05
    np.testing.assert_array_equal(forest.predict(X, X_err=X_err), plain.predict(X, X_err=X_err))


def test_larger_errors_are_answered_by_the_other_forest(forest):
    X, X_err, z = redshifts(1, 800, noise=2.0)
    assert forest.noise_factor(X, X_err=X_err) == pytest.approx(5**0.5, rel=0.1)
    answer = forest.predict_distribution(X, X_err=X_err)
    other = forest.noisy_forest_.predict_distribution(X, X_err=X_err)
    np.testing.assert_array_equal(answer.median, other.median)
    np.testing.assert_array_equal(forest.predict(X, X_err=X_err), forest.noisy_forest_.predict(X, X_err=X_err))
    why = forest.contributions(X[:50], X_err=X_err[:50])
    np.testing.assert_allclose(why.answers[:, 0], forest.predict(X[:50], X_err=X_err[:50]), atol=1e-12)
    np.testing.assert_allclose(why.base + why.values.sum(axis=1), why.answers, atol=1e-12)
    X_train, X_train_err, z_train = redshifts(0, 1500)
    assert coverage(z, answer, 0.68) < 0.9
    sharp = ProbabilisticRandomForestRegressor(
        20, random_state=0, error_scale=forest.error_scale_, prior=forest.prior_, calibrate=True
    ).fit(X_train, z_train, X_err=X_train_err)
    of_sharp = sharp.predict_distribution(X, X_err=X_err)
    assert crps(z, answer) < 0.95 * crps(z, of_sharp)
    assert abs(coverage(z, answer, 0.95) - 0.95) < 0.05


@pytest.mark.parametrize("noise", [0.5, 1.0])
def test_noise_is_seen_in_values_where_errors_hide_it(forest, noise):
    """These errors are four times the noise, and a fifth smaller than in training: noise of half of them does not make
    them larger than usual, but makes values scatter twice as much."""
    X, X_err, z = redshifts(2, 2000, noise)
    X_err = 0.8 * X_err
    table = forest.feature_model_.read(forest._read_table((X, X_err, None, None), forest.feature_model_.layout))
    assert forest.usual_errors_.factor(table) < 1.15
    assert forest.noise_factor(X, X_err=X_err) > 1.03
    answer = forest.predict_distribution(X, X_err=X_err)
    assert coverage(z, answer, 0.68) == pytest.approx(0.68, abs=0.06)
    assert coverage(z, answer, 0.95) == pytest.approx(0.95, abs=0.03)


def test_calibration_follows_the_noise():
    random = np.random.default_rng(0)

    def table(n, noise):
        X = random.uniform(-2, 2, (n, 3))
        y = X[:, 0] + np.sin(2 * X[:, 1]) + 0.2 * random.normal(size=n)
        error = np.full(X.shape, 0.2)
        X = X + error * random.normal(size=X.shape) + noise * error * random.normal(size=X.shape)
        return X, error * np.hypot(1, noise), y

    X, X_err, y = table(1500, 0.0)
    forest = ProbabilisticRandomForestRegressor(20, random_state=0, calibrate=True, error_scale=1.0).fit(
        X, y, X_err=X_err
    )
    assert forest.noisy_forest_ is None
    assert forest.calibration_.shape == (4, 129)
    for noise in (0.0, 1.0, 1.5, 2.0):
        X, X_err, y = table(2000, noise)
        answer = forest.predict_distribution(X, X_err=X_err)
        assert coverage(y, answer, 0.68) == pytest.approx(0.68, abs=0.05)
        assert coverage(y, answer, 0.95) == pytest.approx(0.95, abs=0.025)


def test_calibrations_between_two_noises():
    calibrations = np.array([LEVELS, (LEVELS + LEVELS**2) / 2, LEVELS**2, LEVELS**3])
    np.testing.assert_array_equal(calibration_at(calibrations, 1.0), LEVELS)
    np.testing.assert_allclose(calibration_at(calibrations, np.sqrt(1.25)), (LEVELS + LEVELS**2) / 2)
    np.testing.assert_allclose(calibration_at(calibrations, np.sqrt(2)), LEVELS**2)
    np.testing.assert_array_equal(calibration_at(calibrations, 100.0), LEVELS**3)
    np.testing.assert_array_equal(calibration_at(calibrations[:1], 100.0), LEVELS)
    np.testing.assert_array_equal(calibration_at(calibrations[:2], 100.0), calibrations[1])
    assert calibration_at(None, 2.0) is None


def test_the_other_forest_grows_along():
    X, X_err, z = redshifts(0, 600)
    grown = ProbabilisticRandomForestRegressor(4, random_state=0, warm_start=True).fit(X, z, X_err=X_err)
    other = grown.noisy_forest_
    assert other is not None
    grown.set_params(n_estimators=8).fit(X, z, X_err=X_err)
    at_once = ProbabilisticRandomForestRegressor(8, random_state=0).fit(X, z, X_err=X_err)
    assert grown.noisy_forest_ is other
    assert (len(grown.trees_), len(other.trees_)) == (8, 4)
    for one, two in ((grown, at_once), (other, at_once.noisy_forest_)):
        np.testing.assert_array_equal(one.predict(X, X_err=X_err), two.predict(X, X_err=X_err))


def test_no_other_forest_where_none_is_needed():
    X, X_err, z = redshifts(0, 300)
    assert ProbabilisticRandomForestRegressor(3, random_state=0).fit(X, z).noisy_forest_ is None
    model = ProbabilisticRandomForestRegressor(3, random_state=0, error_scale=0.25)
    assert model.fit(X, z, X_err=X_err).noisy_forest_ is None
    assert model.noise_factor(X, X_err=9 * X_err) == 1
