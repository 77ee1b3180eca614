"""When the Huber loss estimates means better than the squared error."""

import numpy as np
import pytest
from sklearn.datasets import make_friedman1

import naive_boosting
from probforest import ProbabilisticGradientBoostingRegressor
from probforest.estimators.choices import describe_choices
from probforest.trees.loss_trial import LossTrial, delta_of, try_huber
from probforest.trees.number_losses import huber_center


@pytest.mark.parametrize("delta", [0.01, 0.5, 3.0, 100.0])
def test_the_center_is_where_pulls_cancel(delta):
    random = np.random.default_rng(0)
    values, weight = random.standard_t(2, 50), random.random(50)
    expected = naive_boosting.huber_center_of(values, weight, delta)
    assert huber_center(values, weight, delta) == pytest.approx(expected, abs=1e-8 * max(delta, 1))


def test_the_center_of_two_groups_is_their_middle():
    assert huber_center(np.array([0.0, 10.0]), np.ones(2), 1.0) == pytest.approx(5.0)
    assert huber_center(np.array([4.0]), np.ones(1), 1.0) == pytest.approx(4.0)


def trial_of(noise, huber_is_worse=0.0):
    """Small models that know the truth, of which the Huber loss adds an error of its own."""
    own = huber_is_worse * np.random.default_rng(1).normal(size=len(noise))
    return try_huber(
        noise, np.ones(len(noise)), lambda kind, delta, seed: own if kind == "huber" else np.zeros(len(noise))
    )


def test_heavy_tails_on_both_sides_ask_for_the_huber_loss():
    random = np.random.default_rng(0)
    heavy = random.standard_t(2, 2000)
    trial, delta = trial_of(heavy)
    assert trial.choice == "huber"
    assert trial.relative_variance < 0.8
    assert delta == pytest.approx(np.quantile(np.abs(heavy), 0.9), rel=0.01)
    assert trial_of(heavy, huber_is_worse=1.5)[0].choice == "squared_error"
    for other in (random.normal(size=2000), random.uniform(size=2000), random.lognormal(0, 1, 2000), np.zeros(50)):
        trial, _ = trial_of(other)
        assert trial.choice == "squared_error"
        assert trial.huber is None
    assert trial_of(random.normal(size=2000))[0].relative_variance == pytest.approx(1.0, abs=0.1)


@pytest.mark.parametrize(("worse", "expected"), [(-9.0, "huber"), (2.9, "huber"), (3.1, "squared_error")])
def test_squared_errors_only_speak_against_the_huber_loss_if_they_are_clearly_larger(worse, expected):
    trial = LossTrial(0.5, 0.0, 1.0, squared_error=4.0, huber=4.0 + 0.1 * worse, error=0.1, n_objects=2000)
    assert trial.choice == expected


def test_weights_are_numbers_of_objects():
    random = np.random.default_rng(0)
    noise, times = random.standard_t(2, 500), random.integers(1, 4, 500)
    repeated, _ = trial_of(np.repeat(noise, times))
    weighted, _ = try_huber(noise, 1.0 * times, lambda kind, delta, seed: np.zeros(500))
    for name in ("relative_variance", "shift", "squared_error", "huber"):
        assert getattr(weighted, name) == pytest.approx(getattr(repeated, name))


def test_delta_is_above_0():
    assert delta_of(np.array([0.0, 0.0, 0.0, 2.0]), np.ones(4), 0.5) == 2.0
    assert delta_of(np.zeros(3), np.ones(3), 0.9) == 1.0


def test_auto_chooses_what_suits_the_noise():
    X, truth = make_friedman1(1200, random_state=0)
    random = np.random.default_rng(0)
    outliers = np.where(random.random(1200) < 0.05, 20.0, 1.0) * random.normal(size=1200)
    noises = {"huber": outliers, "squared_error": random.normal(size=1200)}
    for expected, noise in noises.items():
        found = {
            loss: ProbabilisticGradientBoostingRegressor(loss, random_state=0).fit(X[:800], (truth + noise)[:800])
            for loss in ("auto", "squared_error", "huber")
        }
        auto = found["auto"]
        assert (auto.loss_, auto.loss_trial_.choice) == (expected, expected)
        assert (auto.delta_ is None) == (expected == "squared_error")
        np.testing.assert_array_equal(auto.predict(X), found[expected].predict(X))
        assert f"loss: {expected}" in describe_choices(auto)[-1]
    off = {loss: np.mean((model.predict(X[800:]) - truth[800:]) ** 2) for loss, model in found.items()}
    assert off["huber"] < 1.2 * off["squared_error"]  # of normal noise


def test_delta_is_a_quantile_of_the_noise():
    X, truth = make_friedman1(3000, random_state=0)
    noise = np.random.default_rng(0).standard_t(3, 3000)
    for quantile, usual in ((None, 0.9), (0.5, 0.5)):
        model = ProbabilisticGradientBoostingRegressor("huber", quantile=quantile, max_iter=5, random_state=0)
        model.fit(X, 10 * (truth + noise))
        expected = 10 * np.quantile(np.abs(noise), usual)
        assert expected < model.delta_ < 3 * expected  # small models add their own errors
        assert model.loss_trial_ is None
    few = ProbabilisticGradientBoostingRegressor("huber", max_iter=2).fit(X[:30], truth[:30])
    assert few.delta_ == pytest.approx(np.quantile(np.abs(truth[:30] - np.median(truth[:30])), 0.9), rel=0.2)
    assert ProbabilisticGradientBoostingRegressor(max_iter=2).fit(X[:30], truth[:30]).loss_ == "squared_error"


def test_warm_start_keeps_the_loss():
    X, truth = make_friedman1(500, random_state=0)
    y = truth + 3 * np.random.default_rng(0).standard_t(2, 500)
    options = {"n_iter_no_change": 50, "early_stopping": True, "random_state": 0}
    whole = ProbabilisticGradientBoostingRegressor("huber", max_iter=20, **options).fit(X, y, X_err=0.1)
    model = ProbabilisticGradientBoostingRegressor("huber", max_iter=8, warm_start=True, **options)
    model.fit(X, y, X_err=0.1)
    delta = model.delta_
    model.set_params(max_iter=20, loss="auto").fit(X, y, X_err=0.1)
    assert (model.loss_, model.delta_) == ("huber", delta)
    np.testing.assert_allclose(model.predict(X, X_err=0.1), whole.predict(X, X_err=0.1), rtol=1e-9)
    np.testing.assert_allclose(model.validation_score_, whole.validation_score_, rtol=1e-9)
    with pytest.raises(ValueError, match="needs the loss of before, 'huber'; got 'absolute_error'"):
        model.set_params(loss="absolute_error", max_iter=25).fit(X, y, X_err=0.1)


def test_errors_of_targets_weigh_them():
    X, truth = make_friedman1(400, random_state=4)
    random = np.random.default_rng(0)
    y_err = np.where(random.random(400) < 0.5, 0.1, 20.0)
    y = truth + y_err * random.normal(size=400)
    knowing, blind = (
        ProbabilisticGradientBoostingRegressor("huber", random_state=0).fit(X, y, y_err=errors)
        for errors in (y_err, None)
    )
    assert np.mean((knowing.predict(X) - truth) ** 2) < 0.8 * np.mean((blind.predict(X) - truth) ** 2)
