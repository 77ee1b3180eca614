"""Asymmetric errors, limits and samples through the estimators."""

import numpy as np
import pytest

from probforest import ProbabilisticDecisionTreeClassifier, ProbabilisticRandomForestClassifier

RANDOM = np.random.default_rng(0)
N = 150
X = RANDOM.normal(size=(N, 3))
Y = (X[:, 0] + 0.5 * X[:, 1] > 0).astype(int)
X_ERR = RANDOM.gamma(2, 0.2, (N, 3))
NONE = np.zeros((N, 3))


def forest(**options):
    return ProbabilisticRandomForestClassifier(8, random_state=0, **options)


def answer(query=X, *, X=X, options=None, **about):
    """Probabilities of a forest that was fitted and asked with the same."""
    return forest(**(options or {})).fit(X, Y, **about).predict_proba(query, **about)


def altered(array, where, value):
    copy = np.array(array, dtype=float)
    copy[where] = value
    return copy


# Pairs


@pytest.mark.parametrize("prior", [None, "normal"])
def test_a_pair_of_equal_errors_is_one_error(prior):
    options = {"prior": prior}
    expected = answer(X_err=X_ERR, options=options)
    for pair in ((X_ERR, X_ERR), (-X_ERR, X_ERR), np.stack([X_ERR, X_ERR], axis=2), np.stack([-X_ERR, X_ERR], axis=2)):
        np.testing.assert_allclose(answer(X_err=pair, options=options), expected, atol=1e-5)


NEGATIVE_ZEROS = {
    "upper": (X_ERR, altered(X_ERR, ..., -0.0)),
    "lower": (altered(X_ERR, ..., -0.0), X_ERR),
    "both": (altered(X_ERR, ..., -0.0), altered(X_ERR, ..., -0.0)),
    "some": (X_ERR, altered(X_ERR, slice(None, None, 2), -0.0)),
    "one per feature": (X_ERR, [-0.0, 0.1, -0.0]),
    "symmetric": altered(X_ERR, slice(None, None, 2), -0.0),
    "scalar": -0.0,
}


@pytest.mark.parametrize("prior", [None, "empirical"])
@pytest.mark.parametrize("form", NEGATIVE_ZEROS)
def test_minus_zero_is_zero(form, prior):
    X_err = NEGATIVE_ZEROS[form]
    as_zero = tuple(np.abs(side) for side in X_err) if isinstance(X_err, tuple) else np.abs(X_err)
    expected = answer(X_err=as_zero, options={"prior": prior})
    np.testing.assert_array_equal(answer(X_err=X_err, options={"prior": prior}), expected)
    fitted = forest(prior=prior).fit(X, Y, X_err=X_err)
    assert not np.signbit(fitted.median_errors_).any()


def test_draws_of_minus_zero_are_zero():
    draws = np.round(X)[:, :, None] * np.ones(5)
    assert np.signbit(draws[draws == 0]).any()
    np.testing.assert_array_equal(answer(X_samples=draws), answer(X_samples=draws + 0.0))


def test_a_median_of_minus_zero_is_zero():
    """Such as in a file of an earlier version."""
    fitted = forest().fit(X, Y, X_err=(X_ERR, 0.0))
    unknown = X_ERR, np.full_like(X_ERR, np.nan)
    expected = fitted.predict_proba(X, X_err=unknown)
    fitted.median_errors_[1] = -0.0
    np.testing.assert_array_equal(fitted.predict_proba(X, X_err=unknown), expected)


def test_sides_of_a_pair_have_any_shape():
    expected = answer(X_err=(np.full((N, 3), 0.1), np.tile([0.1, 0.2, 0.3], (N, 1))))
    np.testing.assert_array_equal(answer(X_err=(0.1, [0.1, 0.2, 0.3])), expected)


def test_a_list_of_two_is_an_error_for_each_of_two_features():
    one, other = (forest().fit(X[:, :2], Y, X_err=errors).median_errors_ for errors in ([0.1, 0.2], (0.1, 0.2)))
    np.testing.assert_array_equal(one, [0.1, 0.2])
    np.testing.assert_array_equal(other, [[0.1, 0.1], [0.2, 0.2]])


def test_mirror_image():
    """The answers for mirrored objects, with their sides exchanged, of the tree of mirrored exact values."""
    low, high = X_ERR, 2 * X_ERR
    tree = ProbabilisticDecisionTreeClassifier(max_depth=3, prior=None, max_bins=65_535)
    one = tree.fit(X, Y).predict_proba(X, X_err=(low, high))
    other = tree.fit(-X, Y).predict_proba(-X, X_err=(high, low))
    np.testing.assert_allclose(one, other, atol=1e-6)


def test_unknown_sides_take_the_median_of_their_side():
    low, high = altered(X_ERR, (4, 1), np.nan), altered(2 * X_ERR, (5, 1), np.nan)
    medians = np.nanmedian(low[:, 1]), np.nanmedian(high[:, 1])
    known = altered(low, (4, 1), medians[0]), altered(high, (5, 1), medians[1])
    model = forest().fit(X, Y, X_err=(low, high))
    np.testing.assert_allclose(model.median_errors_[:, 1], medians)
    np.testing.assert_array_equal(
        model.predict_proba(X, X_err=(low, high)), forest().fit(X, Y, X_err=known).predict_proba(X, X_err=known)
    )


@pytest.mark.parametrize(("prior", "tolerance"), [("empirical", 0), (None, 1e-6)])
def test_a_model_of_pairs_answers_single_errors(prior, tolerance):
    """Without a prior, cells of one error are looked up in a table of their own."""
    model = forest(prior=prior).fit(X, Y, X_err=(X_ERR, X_ERR))
    one, pair = (model.predict_proba(X, X_err=errors) for errors in (X_ERR, (X_ERR, X_ERR)))
    np.testing.assert_allclose(one, pair, rtol=0, atol=tolerance)


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        ((X_ERR, -X_ERR), r"X_err\[1\], the upper error, is -.* at row 0, column 0"),
        ((altered(X_ERR, (3, 2), -0.5), X_ERR), r"X_err\[0\], the lower error, is -0.5 at row 3, column 2.*same sign"),
        ((X_ERR[:5], X_ERR), r"X_err\[0\] has shape \(5, 3\), but X has shape \(150, 3\)"),
        (("a", X_ERR), r"X_err\[0\] must hold numbers"),
        ((X_ERR, X_ERR, X_ERR), r"X_err has shape \(3, 150, 3\)"),
    ],
)
def test_bad_pairs(pair, message):
    with pytest.raises(ValueError, match=message):
        forest().fit(X, Y, X_err=pair)


# Limits


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("X_err", [None, X_ERR], ids=["exact", "noisy"])
def test_a_limit_beyond_all_data_is_a_missing_value(sign, X_err):
    rows = np.arange(0, N, 7)
    beyond, limit = altered(X, (rows, 1), sign * 1e3), altered(NONE, (rows, 1), sign)
    missing = altered(X, (rows, 1), np.nan)
    options = {"missing": "observed"}
    found = answer(beyond, X=beyond, X_err=X_err, X_limit=limit, options=options)
    errors = np.zeros((N, 3)) if X_err is None else X_err
    expected = answer(missing, X=missing, X_err=errors, options=options)
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_a_limit_is_spread_over_what_the_training_set_has_on_its_side():
    values, y = np.arange(1.0, 101.0)[:, None], (np.arange(100) >= 40).astype(int)  # the split lies at 40.5
    tree = ProbabilisticDecisionTreeClassifier(keep_proba=0.0).fit(values, y)
    assert tree.get_n_leaves() == 2

    def first_class(value, limit):
        return tree.predict_proba([[value]], X_limit=[[limit]])[0, 0]

    assert first_class(80.0, 1) == pytest.approx(40 / 80, abs=0.02)  # below 80: half lies below 40.5
    assert first_class(50.0, 1) == pytest.approx(40 / 50, abs=0.02)
    assert first_class(30.0, 1) == pytest.approx(1, abs=1e-3)
    assert first_class(0.5, 1) == 1  # below all
    assert first_class(20.0, -1) == pytest.approx(20 / 80, abs=0.02)
    assert first_class(60.0, -1) == pytest.approx(0, abs=1e-3)
    assert first_class(100.5, -1) == 0  # above all
    assert first_class(20.0, 0) == 1


def test_limits_in_training_say_something():
    """Half of the objects have an upper limit that tells their class; without it they would say nothing."""
    random = np.random.default_rng(1)
    y = np.arange(400) % 2
    values = random.normal(4.0 * y, 1.0)[:, None]
    limit = np.where((np.arange(400) < 200) & (y == 0), 1, 0)[:, None]
    values[limit == 1] = 2.0
    model = forest().fit(values, y, X_limit=limit)
    assert model.score([[2.0]] * 2, [0, 0], X_limit=[[1], [1]]) == 1


def test_a_limit_has_no_error():
    rows = np.arange(0, N, 7)
    limit = altered(NONE, (rows, 1), 1)
    expected = answer(X_err=X_ERR, X_limit=limit)
    for error in (np.nan, np.inf, 5.0):
        np.testing.assert_array_equal(answer(X_err=altered(X_ERR, (rows, 1), error), X_limit=limit), expected)


def test_no_limits_change_nothing():
    np.testing.assert_allclose(answer(X_err=X_ERR, X_limit=NONE), answer(X_err=X_ERR), atol=1e-6)
    np.testing.assert_allclose(answer(X_err=X_ERR, X_limit=NONE * np.nan), answer(X_err=X_ERR), atol=1e-6)


@pytest.mark.parametrize(
    ("limit", "message"),
    [
        (altered(NONE, (2, 1), 2), r"X_limit is 2.0 at row 2, column 1; expected \+1"),
        (NONE[:5], r"X_limit has shape \(5, 3\), but X has shape \(150, 3\)"),
        (1, r"X_limit has shape \(\)"),
        (np.full((N, 3), "upper"), "X_limit must hold numbers"),
    ],
)
def test_bad_limits(limit, message):
    with pytest.raises(ValueError, match=message):
        forest().fit(X, Y, X_limit=limit)


# Samples


def test_samples_of_normals_give_the_answer_of_normals():
    draws = X[:, :, None] + X_ERR[:, :, None] * np.random.default_rng(1).normal(size=(N, 3, 3000))
    found, expected = answer(X_samples=draws, X_err=0.0), answer(X_err=X_ERR, options={"prior": None})
    assert np.abs(found - expected).mean() < 0.04
    assert np.abs(found - expected).max() < 0.3
    model = forest(prior=None, keep_proba=0).fit(X, Y, X_err=X_ERR)  # a branch that is just pruned would differ
    asked = model.predict_proba(X, X_samples=draws)
    np.testing.assert_allclose(asked, model.predict_proba(X, X_err=X_ERR), atol=0.03)


def test_samples_take_the_place_of_values_where_there_are_some():
    draws = np.full((N, 3, 4), np.nan)
    draws[:, 1] = X[:, 1, None]  # four times the value: as good as exact
    errors = X_ERR * [1, 0, 1]
    found = answer(altered(X, (slice(None), 1), np.nan), X=X, X_err=X_ERR, X_samples=draws)
    np.testing.assert_allclose(found, answer(X_err=errors), atol=1e-5)


def test_order_of_draws_and_padding_do_not_matter():
    draws = X[:, :, None] + np.random.default_rng(1).normal(size=(N, 3, 20))
    padded = np.concatenate([np.full((N, 3, 5), np.nan), draws[:, :, ::-1]], axis=2)
    np.testing.assert_array_equal(answer(X_samples=padded), answer(X_samples=draws))


@pytest.mark.parametrize(
    ("samples", "message"),
    [
        (X, r"X_samples has shape \(150, 3\), but X has shape \(150, 3\). Give shape \(150, 3, m\)"),
        (np.ones((N, 2, 5)), r"X_samples has shape \(150, 2, 5\)"),
        (np.ones((N, 3, 0)), r"X_samples has shape \(150, 3, 0\)"),
        (altered(np.ones((N, 3, 2)), (6, 1, 0), np.inf), "X_samples is infinity at row 6, column 1"),
        (np.full((N, 3, 2), "x"), "X_samples must hold numbers"),
    ],
)
def test_bad_samples(samples, message):
    with pytest.raises(ValueError, match=message):
        forest().fit(X, Y, X_samples=samples)


def test_nothing_of_the_users_is_changed():
    draws = np.full((N, 3, 4), np.nan)
    draws[:9, 2] = 1.0
    given = {"X_err": (-X_ERR, X_ERR.copy()), "X_limit": altered(NONE, (slice(20), 0), 1), "X_samples": draws}
    before = {name: np.array(value) for name, value in given.items()}
    values = X.copy()
    forest().fit(values, Y, **given).predict_proba(values, **given)
    np.testing.assert_array_equal(values, X)
    for name, value in given.items():
        np.testing.assert_array_equal(np.array(value), before[name])


def test_everything_at_once_is_the_same_for_any_number_of_threads():
    draws = np.full((N, 3, 4), np.nan)
    draws[:50, 2] = RANDOM.normal(size=(50, 4))
    given = {"X_err": (X_ERR, 2 * X_ERR), "X_limit": altered(NONE, (slice(20), 0), 1), "X_samples": draws}
    options = {"distribution": ["laplace", "uniform", ("student_t", 3)], "oob_score": True, "n_estimators": 30}
    models = [forest().set_params(n_jobs=n_jobs, **options).fit(X, Y, **given) for n_jobs in (1, 2)]
    one, two = (model.predict_proba(X, **given) for model in models)
    np.testing.assert_array_equal(one, two)
    assert models[0].oob_score_ == models[1].oob_score_ > 0.6


@pytest.mark.parametrize("prior", ["flat", True, 1])
def test_bad_prior(prior):
    with pytest.raises(ValueError, match="prior must be one of"):
        forest(prior=prior).fit(X, Y)
