"""What better measurements would bring."""

import numpy as np
import pytest
from scipy.stats import norm

from probforest import ProbabilisticRandomForestClassifier
from probforest.estimators import explaining
from probforest.explain import MeasurementValue, value_of_measurement

RANDOM = np.random.default_rng(0)


def only_the_third_counts(n, error=0.5, random=RANDOM):
    truth = random.normal(size=(n, 5))
    errors = np.full((n, 5), 0.1)
    errors[:, 3] = error
    return truth, truth + errors * random.normal(size=(n, 5)), errors, (truth[:, 3] > 0).astype(int)


_, X, X_ERR, Y = only_the_third_counts(800)
FOREST = ProbabilisticRandomForestClassifier(20, random_state=0, prior="empirical", keep_proba=0.002, max_depth=8)
FOREST.fit(X, Y, X_err=X_ERR)


def entropy(pmf):
    return -np.sum(pmf * np.log2(np.where(pmf > 0, pmf, 1)), axis=-1)


def test_the_limiting_error_is_found():
    _, X_new, errors, _ = only_the_third_counts(200)
    found = value_of_measurement(FOREST, X_new, X_err=errors)
    assert isinstance(found, MeasurementValue)
    doubtful = found.top_probability < 0.9
    assert doubtful.sum() > 40
    assert (found.gain[doubtful].argmax(axis=1) == 3).mean() > 0.95
    # In the mean over objects, no measurement makes answers less sure.
    scatter = found.gain.std(axis=0) / np.sqrt(len(found.gain))
    assert (found.gain.mean(axis=0) > -2 * scatter - 1e-4).all()
    assert (found.expected_top_probability.mean(axis=0) > found.top_probability.mean() - 1e-3).all()


def test_the_forecast_comes_true():
    """Objects are measured again with half of their errors: they gain the information that was forecast."""
    random = np.random.default_rng(1)
    truth, X_new, errors, _ = only_the_third_counts(1000, random=random)
    forecast = FOREST.value_of_measurement(X_new, X_err=errors, factor=0.5).gain[:, 3]
    better = errors.copy()
    better[:, 3] = errors[:, 3] / 2
    X_better = X_new.copy()
    X_better[:, 3] = truth[:, 3] + better[:, 3] * random.normal(size=len(truth))
    before, after = (FOREST.predict_proba(x, X_err=e) for x, e in ((X_new, errors), (X_better, better)))
    real = entropy(before) - entropy(after)
    scatter = (real - forecast).std() / np.sqrt(len(real))
    assert forecast.mean() > 5 * scatter
    assert forecast.mean() == pytest.approx(real.mean(), abs=3 * scatter)


def test_nothing_is_gained_where_nothing_is_open():
    errors = X_ERR[:20].copy()
    errors[:, 1] = 0
    found = FOREST.value_of_measurement(X[:20], X_err=errors)
    np.testing.assert_array_equal(found.gain[:, 1], 0)
    np.testing.assert_array_equal(found.change[:, 1], 0)
    same = FOREST.value_of_measurement(X[:20], X_err=errors, factor=1)
    np.testing.assert_array_equal(same.gain, 0)
    np.testing.assert_array_equal(same.expected_top_probability, np.repeat(same.top_probability[:, None], 5, axis=1))
    exact = ProbabilisticRandomForestClassifier(5, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(exact.value_of_measurement(X[:20]).gain, 0)


def test_it_is_what_answers_for_exact_values_say():
    """Plain arithmetic: the value is put to its quantiles one after the other, with an error of 0."""
    forest = ProbabilisticRandomForestClassifier(10, random_state=0, prior=None, keep_proba=0.002)
    forest.fit(X, Y, X_err=X_ERR)
    row, errors = X[5], X_ERR[5]
    places = norm.ppf((np.arange(12) + 0.5) / 12, row[3], errors[3])
    rows, all_errors = np.tile(row, (12, 1)), np.tile(errors, (12, 1))
    rows[:, 3], all_errors[:, 3] = places, 0
    answers = forest.predict_proba(rows, X_err=all_errors)
    found = forest.value_of_measurement(row[None], X_err=errors[None])
    now = forest.predict_proba(row[None], X_err=errors[None])[0]
    assert found.gain[0, 3] == pytest.approx(entropy(now) - entropy(answers).mean(), abs=1e-6)
    assert found.top_probability[0] == now.max()
    assert found.entropy[0] == pytest.approx(entropy(now))
    assert found.change[0, 3] == (answers.argmax(axis=1) != now.argmax()).mean()


@pytest.mark.parametrize("kind", ["holes", "limits", "samples", "asymmetric", "exact with holes"])
def test_any_kind_of_cell(kind):
    given = {"X": X, "X_err": X_ERR}
    if "holes" in kind:
        given["X"] = np.where(np.arange(5) == 3, np.nan, X[:40])
        given = {"X": given["X"]} if kind.startswith("exact") else {**given, "X_err": X_ERR[:40]}
    elif kind == "limits":
        given = {"X": np.abs(X[:40]), "X_err": X_ERR[:40], "X_limit": np.tile([0, 0, 0, 1, 0], (40, 1))}
    elif kind == "samples":
        draws = X[:40, :, None] + X_ERR[:40, :, None] * RANDOM.normal(size=(40, 5, 30))
        given = {"X": X[:40], "X_samples": draws}
    else:
        given = {"X": X[:40], "X_err": (X_ERR[:40], 2 * X_ERR[:40])}
    fit_errors = {} if kind.startswith("exact") else {"X_err": X_ERR}
    forest = ProbabilisticRandomForestClassifier(20, random_state=0).fit(X, Y, **fit_errors)
    for factor in (0, 0.5):
        found = forest.value_of_measurement(**given, factor=factor)
        assert np.isfinite(found.gain).all()
        assert found.gain[:, 3].mean() > 0.02
    before = [np.array(array) for array in given.values()]
    forest.value_of_measurement(**given)
    for array, now in zip(before, given.values(), strict=True):
        np.testing.assert_array_equal(array, now)


@pytest.fixture(scope="module")
def joint():
    """Features that say something about each other, and a forest that knows it."""
    random = np.random.default_rng(5)
    common = random.normal(size=(2000, 1))
    truth = common + 0.3 * random.normal(size=(2000, 4))
    errors = random.uniform(0.3, 1.2, size=truth.shape)
    x, y = truth + errors * random.normal(size=truth.shape), (common[:, 0] > 0).astype(int)
    x = np.where(random.random(x.shape) < 0.1, np.nan, x)
    forest = ProbabilisticRandomForestClassifier(15, random_state=0, prior="joint", keep_proba=0.002, max_depth=8)
    forest.fit(x[:1000], y[:1000], X_err=errors[:1000])
    assert forest.feature_model_.says_something_jointly
    return forest, truth[1000:], x[1000:], errors[1000:]


def test_a_better_value_says_something_about_the_others(joint):
    """Plain arithmetic, as above: the value is put to the quantiles of its posterior, and all other cells follow."""
    forest, _, x, errors = joint
    row = int(np.flatnonzero(~np.isnan(x).any(axis=1))[0])
    center, lower, upper = (part[0] for part in forest.posterior(x[row : row + 1], X_err=errors[row : row + 1]))
    z = norm.ppf((np.arange(12) + 0.5) / 12)
    rows, all_errors = np.tile(x[row], (12, 1)), np.tile(errors[row], (12, 1))
    rows[:, 1], all_errors[:, 1] = center[1] + z * np.where(z < 0, lower[1], upper[1]), 0
    now = forest.predict_proba(x[row : row + 1], X_err=errors[row : row + 1])[0]
    then = forest.predict_proba(rows, X_err=all_errors)
    found = forest.value_of_measurement(x[row : row + 1], X_err=errors[row : row + 1])
    assert found.gain[0, 1] == pytest.approx(entropy(now) - entropy(then).mean(), abs=2e-3)


@pytest.mark.parametrize("factor", [0.0, 0.5])
def test_the_forecast_of_the_joint_prior_comes_true(joint, factor):
    forest, truth, x, errors = joint
    random = np.random.default_rng(6)
    value = forest.value_of_measurement(x, X_err=errors, factor=factor)
    assert (value.gain.mean(axis=0) > 0).all()
    again, x_again = errors.copy(), x.copy()
    again[:, 1] = np.where(np.isnan(x[:, 1]), 0, factor * errors[:, 1])
    x_again[:, 1] = truth[:, 1] + again[:, 1] * random.normal(size=len(truth))
    real = entropy(forest.predict_proba(x, X_err=errors)) - entropy(forest.predict_proba(x_again, X_err=again))
    error = (real - value.gain[:, 1]).std() / np.sqrt(len(real))
    assert real.mean() > 3 * error
    assert value.gain[:, 1].mean() == pytest.approx(real.mean(), abs=3 * error)


def test_exact_and_missing_values_with_the_joint_prior(joint):
    forest, _, x, errors = joint
    errors = errors[:40].copy()
    errors[:, 2] = 0
    found = forest.value_of_measurement(x[:40], X_err=errors)
    missing = np.isnan(x[:40])
    np.testing.assert_array_equal(found.gain[:, 2][~missing[:, 2]], 0)
    assert (found.gain[:, [0, 1, 3]][missing[:, [0, 1, 3]]] != 0).all()
    alone = forest.value_of_measurement(x[7:8], X_err=errors[7:8]).gain[0]
    np.testing.assert_array_equal(alone, found.gain[7])


def test_pruning_hardly_changes_it(monkeypatch):
    forest = ProbabilisticRandomForestClassifier(20, random_state=0, prior="empirical").fit(X, Y, X_err=X_ERR)
    found = forest.value_of_measurement(X[:60], X_err=X_ERR[:60])
    monkeypatch.setattr(explaining, "KEEP_PROBA", 0.0)
    expected = forest.value_of_measurement(X[:60], X_err=X_ERR[:60])
    assert (found.gain != expected.gain).any()
    np.testing.assert_allclose(found.gain, expected.gain, atol=0.02)
    assert found.gain.mean() == pytest.approx(expected.gain.mean(), rel=0.1)


def test_an_object_has_the_same_value_alone_and_with_any_number_of_threads():
    forest = ProbabilisticRandomForestClassifier(5, random_state=0).fit(X, Y, X_err=X_ERR)
    expected = forest.value_of_measurement(X[:700], X_err=X_ERR[:700]).gain  # more than one block of objects
    alone = forest.value_of_measurement(X[650:651], X_err=X_ERR[650:651]).gain[0]
    np.testing.assert_array_equal(alone, expected[650])
    again = forest.set_params(n_jobs=2).value_of_measurement(X[:700], X_err=X_ERR[:700]).gain
    np.testing.assert_array_equal(again, expected)


def test_a_better_measurement_is_worth_more():
    gains = [FOREST.value_of_measurement(X[:200], X_err=X_ERR[:200], factor=f).gain[:, 3].mean() for f in (0, 0.3, 0.7)]
    assert gains[0] > gains[1] > gains[2] > 0


def test_in_words_and_as_a_ranking():
    found = FOREST.value_of_measurement(X[:50], X_err=X_ERR[:50])
    row, name, gain = found.ranking(3)[0]
    assert (name, gain) == ("x3", found.gain.max())
    assert found.gain[row, 3] == gain
    assert found.text(row).startswith("x3 limits this answer most. If it were known exactly, ")
    once = found.ranking(50, each_object_once=True)
    assert once[0] == (row, name, gain)
    assert sorted(place for place, _, _ in once) == list(range(50))
    assert [each.gain for each in once] == sorted(found.gain.max(axis=1), reverse=True)
    assert found.limiting(row) == 3
    sure = int(found.gain.max(axis=1).argmin())
    assert found.limiting(sure) is None
    assert found.brief(sure) == ""
    then = found.expected_top_probability[row, 3]
    assert found.brief(row) == f"x3: if it were exact, {found.top_probability[row]:.2f} would become {then:.2f}"
    assert "No single error limits" in found.text(sure)
    assert repr(found) == "<MeasurementValue of 5 features for 50 objects, errors × 0>"


def test_what_errors_cost():
    """The forecast is the accuracy that exact values would really gain."""
    truth, X_new, errors, y = only_the_third_counts(1000, random=np.random.default_rng(3))
    found = FOREST.value_of_measurement(X_new, X_err=errors).error_importances()
    gain, scatter = found.values[0], found.errors[0]
    assert found.index[0] == "x3"
    assert list(found) == sorted(found, reverse=True)
    errors_now = errors.copy()
    errors_now[:, 3] = 0
    X_exact = X_new.copy()
    X_exact[:, 3] = truth[:, 3]
    real = FOREST.score(X_exact, y, X_err=errors_now) - FOREST.score(X_new, y, X_err=errors)
    assert gain == pytest.approx(real, abs=0.05)
    assert gain > 10 * scatter > 0


@pytest.mark.parametrize("factor", [-0.1, 1.5, "half", None])
def test_a_factor_that_makes_no_sense(factor):
    with pytest.raises(ValueError, match=r"factor is .*; expected a number from 0"):
        FOREST.value_of_measurement(X[:2], X_err=X_ERR[:2], factor=factor)


def test_a_figure():
    plt = pytest.importorskip("matplotlib.pyplot")
    found = FOREST.value_of_measurement(X[:50], X_err=X_ERR[:50])
    ax = found.plot(found.ranking(1)[0][0], most=3)
    assert ax.get_yticklabels()[0].get_text() == "x3"
    assert len(ax.patches) == 3
    plt.close("all")
