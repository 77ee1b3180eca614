import numpy as np
import pytest

from probforest import ProbabilisticRandomForestClassifier
from probforest.datasets import add_noise, make_two_classes
from probforest.families import LOGNORMAL, NORMAL, UNIFORM
from probforest.features.measurements import read_measurements
from probforest.features.prior import NormalPrior, learn_priors, with_priors


def naive_normal_prior(x, sigma, weight, steps=5000):
    """The most likely prior by the EM algorithm, step by step."""
    mean, variance = np.average(x, weights=weight), x.var()
    for _ in range(steps):
        share = variance / (variance + sigma**2)
        expected, spread = mean + share * (x - mean), share * sigma**2
        mean = np.average(expected, weights=weight)
        variance = np.average(spread + (expected - mean) ** 2, weights=weight)
    return mean, np.sqrt(variance)


def noisy(seed=0, n=400, truth=None):
    random = np.random.default_rng(seed)
    truth = random.normal(5, 2, n) if truth is None else truth
    sigma = random.gamma(1, 2, len(truth)) * (random.random(len(truth)) > 0.1)
    return random.normal(truth, sigma), sigma


@pytest.mark.parametrize("weighted", [False, True])
def test_normal_prior_is_that_of_the_em_algorithm(weighted):
    x, sigma = noisy()
    weight = np.random.default_rng(1).integers(0, 4, len(x)).astype(float) if weighted else np.ones(len(x))
    (prior,) = learn_priors("normal", read_measurements(x[:, None], sigma[:, None]), weight)
    mean, deviation = naive_normal_prior(x, sigma, weight)
    assert prior.mean == pytest.approx(mean, rel=1e-3)
    assert prior.deviation == pytest.approx(deviation, rel=1e-3)


def test_prior_of_exact_values_is_their_mean_and_deviation():
    x, _ = noisy()
    for errors in (None, 0.0):
        (prior,) = learn_priors("normal", read_measurements(x[:, None], errors), np.ones(len(x)))
        assert prior.mean == pytest.approx(x.mean())
        assert prior.deviation == pytest.approx(x.std())


def test_normal_posterior_is_that_of_the_textbook():
    prior = NormalPrior(1.0, 2.0)
    x, sigma = np.array([4.0, -3.0]), np.array([1.5, 0.5])
    precision = 1 / 2.0**2 + 1 / sigma**2
    center, lower, upper = prior.posterior(x, sigma, sigma, NORMAL)
    np.testing.assert_allclose(center, (1.0 / 2.0**2 + x / sigma**2) / precision)
    np.testing.assert_allclose(lower, precision**-0.5)
    np.testing.assert_array_equal(lower, upper)


def test_an_asymmetric_value_is_drawn_over_the_error_that_faces_the_mean():
    prior = NormalPrior(0.0, 1.0)
    center, lower, upper = prior.posterior(np.array([3.0, 3.0]), np.array([0.0, 1.0]), np.array([1.0, 0.0]), NORMAL)
    np.testing.assert_allclose(center, [3.0, 1.5])
    np.testing.assert_allclose(lower, [0.0, 0.5**0.5])
    np.testing.assert_allclose(upper, [0.5**0.5, 0.0])


def test_empirical_prior_finds_two_modes_that_the_noise_hides():
    truth = np.random.default_rng(0).choice([-3.0, 3.0], 3000)
    x, sigma = noisy(1, truth=truth + np.random.default_rng(2).normal(0, 0.5, 3000))
    (prior,) = learn_priors("empirical", read_measurements(x[:, None], sigma[:, None]), np.ones(len(x)))
    middle = (prior.edges[1:] + prior.edges[:-1]) / 2
    assert prior.mass.sum() == pytest.approx(1)
    assert prior.mass[np.abs(np.abs(middle) - 3) < 1.5].sum() > 0.8
    center, lower, upper = prior.posterior(np.array([0.4]), np.array([2.0]), np.array([2.0]), NORMAL)
    assert 2 < center[0] < 3.5
    assert upper[0] < 1.0 < 3.0 < lower[0]  # the other mode is left of it


@pytest.mark.parametrize("kind", ["normal", "empirical"])
def test_limits_of_small_and_huge_errors(kind):
    x = np.random.default_rng(0).normal(5, 2, 2000)
    sigma = np.where(np.arange(2000) % 2 == 0, 1e-6, 1e6)
    table = read_measurements(x[:, None], sigma[:, None])
    priors = learn_priors(kind, table, np.ones(len(x)))
    found = with_priors(priors, table)
    np.testing.assert_allclose(found.center[0, ::2], x[::2], atol=1e-5)
    np.testing.assert_allclose(found.lower[0, ::2], 1e-6, rtol=0.05)
    center, lower, upper = found.center[0, 1::2], found.lower[0, 1::2], found.upper[0, 1::2]
    assert np.ptp(center) < 1e-3 * x.std()  # all the same: the prior
    np.testing.assert_allclose(center, np.median(x[::2]), atol=0.3)
    np.testing.assert_allclose((lower + upper) / 2, x[::2].std(), rtol=0.1)


@pytest.mark.parametrize("kind", ["normal", "empirical"])
def test_a_family_keeps_its_shape(kind):
    x, _ = noisy()
    for family in (UNIFORM, LOGNORMAL):
        values = np.exp(x / 10)[:, None]
        table = read_measurements(values, 1e-7 * np.ones((len(x), 1)), families=(family,)).with_logarithms()
        expected = table.center.copy(), table.lower.copy()
        found = with_priors(learn_priors(kind, table, np.ones(len(x))), table)
        np.testing.assert_allclose(found.center, expected[0], atol=1e-7)
        np.testing.assert_allclose(found.lower, expected[1], rtol=0.02)
        assert found.families == (family,)


@pytest.mark.parametrize("kind", ["normal", "empirical"])
def test_features_without_errors_missing_cells_limits_and_samples_stay_as_they_are(kind):
    x, sigma = noisy(n=60)
    values = np.column_stack([x, x, x])
    values[3, 0] = np.nan
    errors = np.column_stack([sigma, np.zeros(60), np.full(60, 2.0)])
    limit, draws = np.zeros((60, 3)), np.full((60, 3, 4), np.nan)
    limit[7, 2], draws[9, 2] = 1, [1.0, 2.0, 3.0, 4.0]
    table = read_measurements(values, errors, limit, draws)
    table_of_draws = table.forms.table.copy()
    found = with_priors(learn_priors(kind, table, np.ones(60)), table)
    np.testing.assert_array_equal(found.center[1], x)
    np.testing.assert_array_equal(found.lower[1], 0)
    assert np.isnan(found.center[0, 3])
    assert found.center[2, 7] == x[7]
    assert found.center[2, 9] == 2.5
    np.testing.assert_array_equal(found.forms.table, table_of_draws)


def test_an_answer_is_that_of_bayes_in_the_tail_of_a_skewed_feature():
    """P(truth > 2 | 10 ± 10) of log-normal truths: the value says little, and the truth is rarely so large."""
    random = np.random.default_rng(0)
    truth = random.lognormal(0, 1, 5000)
    x = random.normal(truth, 0.5)[:, None]
    forest = ProbabilisticRandomForestClassifier(50, random_state=0).fit(x, truth > 2, X_err=0.5)
    theta = random.lognormal(0, 1, 1_000_000)
    likelihood = np.exp(-0.5 * ((10 - theta) / 10) ** 2)
    expected = np.average(theta > 2, weights=likelihood)  # 0.29
    assert forest.predict_proba([[10.0]], X_err=10.0)[0, 1] == pytest.approx(
        expected, abs=0.1
    )  # keep_proba prunes some


@pytest.mark.parametrize("prior", [None, "normal", "empirical"])
@pytest.mark.parametrize("asymmetric_training", [False, True])
def test_an_answer_has_the_same_bits_alone_and_in_any_company(prior, asymmetric_training):
    random = np.random.default_rng(0)
    X, y = random.lognormal(0, 1, (300, 2)), random.integers(0, 2, 300)
    errors = random.gamma(1, 1, (300, 2))
    forest = ProbabilisticRandomForestClassifier(10, random_state=0, prior=prior)
    forest.fit(X, y, X_err=(errors, 2 * errors) if asymmetric_training else errors)
    X, errors = X[:60].copy(), errors[:60].copy()
    X[7], errors[9], errors[11, 0] = np.nan, np.nan, 1e9  # missing values, unknown errors, an error that says nothing
    one_asymmetric = errors.copy()
    one_asymmetric[3, 1] *= 1.7
    for X_err in (errors, (errors, errors), (errors, one_asymmetric)):
        sides = X_err if isinstance(X_err, tuple) else (X_err,)
        rows = [slice(0, 13), slice(13, 60), *(slice(i, i + 1) for i in range(60)), slice(None, None, -1)]
        together = forest.predict_proba(X, X_err=X_err)
        for part in rows:
            cut = tuple(side[part] for side in sides)
            alone = forest.predict_proba(X[part], X_err=cut if len(cut) == 2 else cut[0])
            np.testing.assert_array_equal(alone, together[part])


def test_a_pair_of_equal_errors_is_a_symmetric_error():
    random = np.random.default_rng(0)
    X, y, errors = random.lognormal(0, 1, (200, 1)), random.integers(0, 2, 200), random.gamma(1, 2, (200, 1))
    forest = ProbabilisticRandomForestClassifier(10, random_state=0).fit(X, y, X_err=errors)
    one_asymmetric = errors.copy()
    one_asymmetric[0] *= 3
    others = forest.predict_proba(X, X_err=(errors, one_asymmetric))[1:]
    np.testing.assert_array_equal(others, forest.predict_proba(X, X_err=errors)[1:])


@pytest.mark.parametrize("kind", ["normal", "empirical"])
@pytest.mark.parametrize("asymmetric", [False, True])
def test_a_table_of_posteriors_is_that_of_its_cells(kind, asymmetric):
    random = np.random.default_rng(3)
    truth = np.column_stack([random.normal(5, 2, 400), random.lognormal(0, 1, 400)])
    lower = random.gamma(1, 1, truth.shape)
    upper = random.gamma(1, 3, truth.shape) if asymmetric else lower
    x = random.normal(truth, lower)
    table = read_measurements(x, (lower, upper) if asymmetric else lower)
    priors = learn_priors(kind, table, np.ones(400))
    found = with_priors(priors, table)
    for j, prior in enumerate(priors):
        for i in range(0, 400, 20):
            cell = prior.posterior(x[i : i + 1, j], lower[i : i + 1, j], upper[i : i + 1, j], NORMAL)
            np.testing.assert_array_equal([found.center[j, i], found.lower[j, i], found.upper[j, i]], np.ravel(cell))
        has_two_sides = asymmetric or kind == "empirical"
        assert (found.lower[j] != found.upper[j]).any() == has_two_sides


@pytest.mark.parametrize("kind", ["normal", "empirical"])
def test_objects_without_weight_have_no_part_in_the_sample_of_a_large_table(kind, monkeypatch):
    monkeypatch.setattr("probforest.features.prior.SAMPLE", 100)
    x, sigma = noisy(n=400)
    (expected,) = learn_priors(kind, read_measurements(x[:, None], sigma[:, None]), np.ones(400))
    more, sigmas = np.append(np.full(50, 99.0), x), np.append(np.ones(50), sigma)
    weight = np.append(np.zeros(50), np.ones(400))
    (found,) = learn_priors(kind, read_measurements(more[:, None], sigmas[:, None]), weight)
    cells = x, sigma, sigma, NORMAL
    np.testing.assert_array_equal(found.posterior(*cells), expected.posterior(*cells))


def test_values_that_are_all_the_same_have_no_prior():
    table = read_measurements(np.ones((50, 1)), 0.5)
    assert learn_priors("normal", table, np.ones(50)) == [None]
    assert learn_priors(None, table, np.ones(50)) == [None]


@pytest.mark.parametrize("prior", ["normal", "empirical"])
def test_a_prior_helps_when_the_test_is_noisier_than_the_training(prior):
    X, y = make_two_classes(4000, random_state=0)
    in_test = np.arange(4000) >= 2000  # other features are noisy there
    table = add_noise(X, 10, case="groups", groups=in_test, noisy_share=0.3, per_object=False, random_state=1)
    train, test = slice(0, 2000), slice(2000, None)
    scores = {}
    for kind in (None, prior):
        forest = ProbabilisticRandomForestClassifier(30, random_state=0, prior=kind)
        forest.fit(table.X[train], y[train], X_err=table.X_err[train])
        scores[kind] = forest.score(table.X[test], y[test], X_err=table.X_err[test])
    assert scores[prior] > scores[None] + 0.02


def test_without_errors_a_prior_changes_nothing():
    X, y = make_two_classes(300, random_state=0)
    answers = [
        ProbabilisticRandomForestClassifier(5, random_state=0, prior=prior)
        .fit(X, y, X_err=0.0)
        .predict_proba(X, X_err=0)
        for prior in (None, "normal", "empirical")
    ]
    np.testing.assert_array_equal(answers[1], answers[0])
    np.testing.assert_array_equal(answers[2], answers[0])


def test_a_feature_between_the_smallest_of_all_numbers_has_no_prior():
    values = np.tile([1.5e-323, 2e-323, 2.5e-323], 20)[:, None]
    forest = ProbabilisticRandomForestClassifier(2, random_state=0)
    forest.fit(values, values[:, 0] > 2e-323, X_err=1e-323)
    assert forest.feature_model_.priors == (None,)
    assert np.isfinite(forest.predict_proba(values, X_err=1e-323)).all()


def test_an_object_of_next_to_no_weight_far_away_does_not_overflow():
    x, weight = np.array([0.0, 1.0, 2.0, 1e180]), np.array([1.0, 1.0, 1.0, 1e-320])
    (prior,) = learn_priors("normal", read_measurements(x[:, None], np.full((4, 1), 0.1)), weight)
    assert np.isfinite([prior.mean, prior.deviation]).all()
