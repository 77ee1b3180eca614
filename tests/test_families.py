import pickle

import numpy as np
import pytest
from scipy import stats

from probforest import ProbabilisticDecisionTreeClassifier, ProbabilisticRandomForestClassifier
from probforest.families import LAPLACE, LOGNORMAL, NORMAL, UNIFORM, Family, read_families, student_t, tables_of

RANDOM = np.random.default_rng(0)
X = np.exp(RANDOM.normal(size=(200, 2)))
Y = (X[:, 0] > 1).astype(int)
X_ERR = 0.5 * X


@pytest.mark.parametrize(
    ("distribution", "expected"),
    [
        ("laplace", (LAPLACE, LAPLACE)),
        (["uniform", "normal"], (UNIFORM, NORMAL)),
        ({"flux": "lognormal"}, (NORMAL, LOGNORMAL)),
        ({1: ("student_t", 4)}, (NORMAL, student_t(4.0))),
        (("student_t", 4.0), (student_t(4.0),) * 2),
        (NORMAL, (NORMAL, NORMAL)),
    ],
)
def test_ways_to_say_it(distribution, expected):
    assert read_families(distribution, 2, ["mag", "flux"]) == expected


@pytest.mark.parametrize(
    ("distribution", "message"),
    [
        ("gauss", "distribution is 'gauss'; expected 'normal'"),
        ("student_t", "degrees of freedom"),
        (("student_t", 2), "more than two degrees"),
        (("student_t", "many"), "must be a number"),
        (["normal"], "1 families in a list, but X has 2 features"),
        ({"z": "normal"}, "names the feature 'z', but X has"),
        ({5: "normal"}, "names the feature 5"),
        (None, "distribution is None"),
        (stats.cauchy(), "both must be finite"),
        (stats.gamma, "open parameters"),
        (("student_t", np.inf), "is a normal for infinitely many"),
        (Family("falling", lambda z: -z, lambda p: p), "falls or is no number"),
    ],
)
def test_bad_distributions(distribution, message):
    with pytest.raises(ValueError, match=message):
        ProbabilisticRandomForestClassifier(2, distribution=distribution).fit(X, Y, X_err=X_ERR)


def test_features_share_the_tables_of_their_families():
    table, start = tables_of((LAPLACE, NORMAL, LOGNORMAL, LAPLACE))
    assert start.tolist() == [4097, 0, 0, 4097]
    assert len(table) == 2 * 4097


@pytest.mark.parametrize("distribution", ["uniform", "laplace", ("student_t", 5), "lognormal", stats.gumbel_r()])
@pytest.mark.parametrize("prior", [None, "normal", "empirical"])
def test_every_family_fits_predicts_and_is_pickled(distribution, prior):
    forest = ProbabilisticRandomForestClassifier(5, random_state=0, distribution=distribution, prior=prior)
    answer = forest.fit(X, Y, X_err=X_ERR).predict_proba(X, X_err=X_ERR)
    assert forest.score(X, Y, X_err=X_ERR) > 0.7
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(forest)).predict_proba(X, X_err=X_ERR), answer)


def test_families_differ_between_features():
    kwargs = {"random_state": 0, "prior": None}
    mixed = ProbabilisticRandomForestClassifier(5, distribution={0: "uniform"}, **kwargs)
    both = [ProbabilisticRandomForestClassifier(5, distribution=name, **kwargs) for name in ("uniform", "normal")]
    answers = [f.fit(X, Y, X_err=X_ERR).predict_proba(X, X_err=X_ERR) for f in (mixed, *both)]
    assert not np.array_equal(answers[0], answers[1])
    assert not np.array_equal(answers[0], answers[2])


def test_a_lognormal_feature_is_a_normal_one_of_its_logarithm():
    sigma = np.sqrt(np.log1p((X_ERR / X) ** 2))
    logarithm = np.log(X) - sigma**2 / 2
    kwargs = {"random_state": 0}
    found = ProbabilisticRandomForestClassifier(5, distribution="lognormal", **kwargs).fit(X, Y, X_err=X_ERR)
    expected = ProbabilisticRandomForestClassifier(5, **kwargs).fit(logarithm, Y, X_err=sigma)
    np.testing.assert_allclose(
        found.predict_proba(X, X_err=X_ERR), expected.predict_proba(logarithm, X_err=sigma), atol=1e-9
    )


def test_a_lognormal_feature_is_positive_and_has_one_error():
    forest = ProbabilisticRandomForestClassifier(2, distribution="lognormal")
    with pytest.raises(ValueError, match=r"X is -1.0 at row 3, column 1; a log-normal feature has positive"):
        forest.fit(np.where(np.arange(400).reshape(200, 2) == 7, -1.0, X), Y, X_err=X_ERR)
    with pytest.raises(ValueError, match="lower and upper errors that differ in column 0"):
        forest.fit(X, Y, X_err=(X_ERR, 2 * X_ERR))
    with pytest.raises(ValueError, match=r"X_samples is -1.0 at row 0, column 0; a log-normal feature has positive"):
        forest.fit(X, Y, X_samples=np.full((200, 2, 3), -1.0))


def test_a_family_of_ones_own():
    """What the page of the docs says about adding one."""
    rayleigh = stats.rayleigh()
    tree = ProbabilisticDecisionTreeClassifier(distribution=rayleigh, prior=None, keep_proba=0.0)
    tree.fit([[0.0], [1.0]], [0, 1], X_err=0.0)
    z = np.linspace(-3, 4, 50)
    found = tree.predict_proba(0.5 - 2 * z[:, None], X_err=2.0)[:, 0]  # the one split lies at 0.5
    np.testing.assert_allclose(found, rayleigh.cdf(rayleigh.mean() + z * rayleigh.std()), atol=2e-4)


def test_unknown_errors_of_a_lognormal_feature_are_the_median_error():
    errors = np.where(np.arange(400).reshape(200, 2) % 9 == 0, np.nan, X_ERR)
    medians = np.nanmedian(errors, axis=0)
    forests = [ProbabilisticRandomForestClassifier(5, random_state=0, distribution="lognormal") for _ in range(2)]
    found = forests[0].fit(X, Y, X_err=errors).predict_proba(X, X_err=errors)
    known = np.where(np.isnan(errors), medians, errors)
    np.testing.assert_allclose(forests[0].median_errors_, medians)
    np.testing.assert_array_equal(found, forests[1].fit(X, Y, X_err=known).predict_proba(X, X_err=known))


def test_a_lognormal_value_with_a_huge_error_overflows_nothing():
    values, errors = X.copy(), X_ERR.copy()
    values[3], errors[3] = 1e-200, 1.0
    forest = ProbabilisticRandomForestClassifier(5, random_state=0, distribution="lognormal")
    assert np.isfinite(forest.fit(values, Y, X_err=errors).predict_proba(values, X_err=errors)).all()


def test_a_distribution_of_scipy_can_be_gone_on_with():
    forest = ProbabilisticRandomForestClassifier(2, distribution=stats.gumbel_r(), warm_start=True, random_state=0)
    forest.fit(X, Y, X_err=X_ERR).set_params(n_estimators=3).fit(X, Y, X_err=X_ERR)
    assert len(forest.trees_) == 3
