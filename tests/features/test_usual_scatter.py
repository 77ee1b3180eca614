"""How noisy a table is by its values: beside those of training objects with the same errors."""

from dataclasses import fields

import numpy as np
import pytest

from probforest import families
from probforest.features.measurements import read_measurements
from probforest.features.usual_scatter import NOISES, learn_usual_scatter


def photometry(seed, n, noise=0.0, real=0.25, tilt=0.0):
    """Four magnitudes that go together, with noise that is a part of their errors, and a colour."""
    random = np.random.default_rng(seed)
    kind = random.normal(size=(n, 1))
    X = (
        random.uniform(18, 22, (n, 1))
        + kind * np.array([0.3, 0.1, -0.1, -0.3 + tilt])
        + 0.05 * random.normal(size=(n, 4))
    )
    X_err = 0.2 * 10 ** (0.2 * (X - 20)) * np.exp(0.2 * random.normal(size=X.shape))
    X = X + np.hypot(real, noise) * X_err * random.normal(size=X.shape)
    X_err = X_err * np.hypot(1, noise)
    return np.column_stack([X, X[:, 0] - X[:, 1]]), np.column_stack([X_err, np.hypot(X_err[:, 0], X_err[:, 1])])


def measured(X, X_err):
    return read_measurements(X, X_err, None, None, (families.NORMAL,) * X.shape[1])


@pytest.fixture(scope="module")
def usual():
    return learn_usual_scatter(measured(*photometry(0, 3000)), np.ones(3000), np.full(5, 0.2))


def test_a_colour_counts_for_its_magnitudes(usual):
    assert usual.features.tolist() == [0, 1, 2, 3]
    np.testing.assert_allclose(usual.shares, [0.3, 0.3, 0.2, 0.2])
    np.testing.assert_array_equal(np.diag(usual.slopes), 0)


def test_more_noise_means_more_scatter(usual):
    assert (np.diff(usual.growth, axis=1) >= 0).all()
    np.testing.assert_allclose(usual.growth[:, 0], 0, atol=1e-12)
    assert usual.growth.shape == (4, len(NOISES))


@pytest.mark.parametrize("noise", [0.5, 1.0, 2.0])
def test_added_noise_is_found(usual, noise):
    found = usual.factor(measured(*photometry(1, 3000, noise)))
    assert np.sqrt(found**2 - 1) == pytest.approx(noise, rel=0.2)


def test_tables_like_the_training_set_are_not_noisier(usual):
    for seed in range(2, 7):
        assert usual.factor(measured(*photometry(seed, 500))) < 1.005
    X, X_err = photometry(1, 4000)
    faint = X[:, 0] > 20.5
    assert usual.factor(measured(X[faint], X_err[faint])) < 1.005
    assert usual.factor(measured(X, None)) == 1
    assert usual.factor(measured(np.full(X.shape, np.nan), X_err)) == 1


def test_one_feature_from_elsewhere_is_no_noise(usual):
    """Other kinds of objects have other values in some features; noise is in all of them."""
    assert usual.factor(measured(*photometry(1, 2000, tilt=0.3))) < 1.03


@pytest.mark.parametrize(
    ("noise", "expected"),
    [
        ([1.0, 1.0, 1.0, 1.0], 1.0),
        ([1.0, 1.0, 1.1, 1.2], 1.06),
        ([0.2, 0.2, 4.0, 4.0], 0.22),  # objects of another kind
        ([0.0, 0.0, 4.0, 4.0], 0.0),
    ],
)
def test_noise_is_the_mean_of_features_that_agree(usual, noise, expected):
    assert usual._agreed(np.array(noise)) == pytest.approx(expected)


def test_honest_errors_say_it_all():
    """If errors are the noise, values scatter as their errors say, whatever the noise is."""
    random = np.random.default_rng(0)
    X_err = random.uniform(0.1, 2, (2000, 3))
    assert (
        learn_usual_scatter(measured(X_err * random.normal(size=X_err.shape), X_err), np.ones(2000), np.ones(3)) is None
    )


def test_units_change_nothing(usual):
    X, X_err = photometry(0, 3000)
    other = learn_usual_scatter(measured(1e6 * X, 1e6 * X_err), np.ones(3000), np.full(5, 0.2))
    X, X_err = photometry(1, 1000, 1.0)
    expected = usual.factor(measured(X, X_err))
    assert other.factor(measured(1e6 * X, 1e6 * X_err)) == pytest.approx(expected, rel=1e-6)


def test_objects_of_zero_weight_do_not_count(usual):
    X, X_err = photometry(0, 3000)
    others = np.full((500, 5), 1e3)
    weight = np.concatenate([np.ones(3000), np.zeros(500)])
    found = learn_usual_scatter(measured(np.vstack([X, others]), np.vstack([X_err, others])), weight, np.full(5, 0.2))
    for each in fields(usual):
        np.testing.assert_array_equal(getattr(found, each.name), getattr(usual, each.name))


def test_what_tells_nothing():
    X, X_err = photometry(0, 300)
    assert learn_usual_scatter(measured(X, None), np.ones(300), np.ones(5)) is None
    assert learn_usual_scatter(measured(X, X_err), np.ones(300), np.zeros(5)) is None
    assert learn_usual_scatter(measured(X[:50], X_err[:50]), np.ones(50), np.ones(5)) is None
    assert learn_usual_scatter(measured(np.ones_like(X), X_err), np.ones(300), np.ones(5)) is None


def test_noise_that_can_not_be_seen_is_not_assumed():
    """Independent features with errors as large as themselves: noise of a quarter of them changes nothing."""
    random = np.random.default_rng(0)
    X, X_err = random.uniform(size=(900, 3)), np.full((900, 3), 0.3)
    usual = learn_usual_scatter(measured(X, X_err), np.ones(900), np.full(3, 1 / 3))
    assert (usual.growth[:, 1] == usual.growth[:, 0]).any()
    assert usual.factor(measured(X, X_err)) == 1
