"""Objects without labels, which priors learn from."""

import numpy as np
import pandas as pd
import pytest

from probforest import (
    ProbabilisticGradientBoostingClassifier,
    ProbabilisticRandomForestClassifier,
    ProbabilisticRandomForestRegressor,
)
from probforest.features.measurements import read_measurements


def noisy_table(n, seed):
    """Five features that depend on two hidden numbers, with errors and holes, and the class."""
    random = np.random.default_rng(seed)
    hidden = random.normal(size=(n, 2))
    truth = hidden @ np.random.default_rng(0).normal(size=(2, 5)) + 0.1 * random.normal(size=(n, 5))
    X_err = random.gamma(1, 1.0, truth.shape)
    X = random.normal(truth, X_err)
    X[random.random(X.shape) < 0.2] = np.nan
    return X, X_err, (hidden[:, 0] > 0).astype(int), truth


@pytest.fixture(scope="module")
def tables():
    return noisy_table(60, 1), noisy_table(1500, 2)


def fitted(few, many=None, model=ProbabilisticRandomForestClassifier, y=None, **options):
    X, X_err, labels, _ = few
    given = {} if many is None else {"X_unlabelled": many[0], "X_err_unlabelled": many[1]}
    y = labels if y is None else y
    return model(**{"prior": "joint", "random_state": 0} | options).fit(X, y, X_err=X_err, **given)


def test_they_make_posteriors_better(tables):
    few, many = tables
    X, X_err, _, truth = noisy_table(300, 3)
    errors = []
    for model in (fitted(few, n_estimators=2), fitted(few, many, n_estimators=2)):
        errors.append(np.sqrt(np.nanmean((model.posterior(X, X_err=X_err).center - truth) ** 2)))
    assert errors[1] < 0.85 * errors[0]
    assert len(model.feature_model_.joint_prior.groups) == 1


def test_they_are_objects_like_those_with_labels_for_the_priors(tables):
    """Half of a table without labels: the priors are those of the whole table."""
    (X, X_err, y, _), half = tables[1], slice(750, None)
    first = {"X": X[:750], "y": y[:750], "X_err": X_err[:750]}
    options = {"n_estimators": 2, "prior": "joint", "random_state": 0}
    whole = ProbabilisticRandomForestClassifier(**options, missing="observed").fit(X, y, X_err=X_err)
    parts = ProbabilisticRandomForestClassifier(**options, missing="observed").fit(
        **first, X_unlabelled=X[half], X_err_unlabelled=X_err[half]
    )
    for one, other in zip(whole.feature_model_.priors, parts.feature_model_.priors, strict=True):
        np.testing.assert_allclose(one.mass, other.mass, atol=1e-8)
    for one, other in zip(whole.posterior(X, X_err=X_err), parts.posterior(X, X_err=X_err), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)


def test_they_change_nothing_but_the_priors(tables):
    few, many = tables
    far = many[0] + 1e4, many[1], None, None
    plain, more = fitted(few, n_estimators=2), fitted(few, far, n_estimators=2)
    np.testing.assert_array_equal(plain.median_errors_, more.median_errors_)
    assert plain.trees_[0].value.shape[1] == more.trees_[0].value.shape[1] == 2


def test_auto_tries_the_joint_prior_with_them(tables):
    few, many = noisy_table(150, 1), tables[1]
    model = fitted(few, many, prior="auto", n_estimators=50)
    assert model.prior_trial_.joint != fitted(few, prior="auto", n_estimators=50).prior_trial_.joint


@pytest.mark.parametrize("model", [ProbabilisticRandomForestRegressor, ProbabilisticGradientBoostingClassifier])
def test_other_models_take_them(tables, model):
    few, many = tables
    y = few[2].astype(float) if model is ProbabilisticRandomForestRegressor else None
    size = {"n_estimators": 5} if model is ProbabilisticRandomForestRegressor else {"max_iter": 5}
    plain, more = fitted(few, model=model, y=y, **size), fitted(few, many, model=model, y=y, **size)
    X, X_err = many[0][:50], many[1][:50]
    assert not np.array_equal(plain.predict(X, X_err=X_err), more.predict(X, X_err=X_err)) or not np.array_equal(
        plain.posterior(X, X_err=X_err).center, more.posterior(X, X_err=X_err).center
    )


def test_a_table_has_its_errors_in_columns(tables):
    few, many = tables

    def frame(table):
        names = [f"f{j}" for j in range(5)], [f"f{j}_err" for j in range(5)]
        return pd.DataFrame(np.hstack(table[:2]), columns=[*names[0], *names[1]])

    forest = ProbabilisticRandomForestClassifier(2, error_columns="auto", prior="joint", random_state=0)
    by_columns = forest.fit(frame(few), few[2], X_unlabelled=frame(many)[::-1].iloc[::-1])
    found, expected = (
        by_columns.posterior(frame(few)),
        fitted(few, many, n_estimators=2).posterior(few[0], X_err=few[1]),
    )
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_wrong_ones_are_refused(tables):
    few, many = tables
    X, X_err, y, _ = few
    forest = ProbabilisticRandomForestClassifier(2, prior="joint")
    with pytest.raises(ValueError, match="X_err_unlabelled is given without X_unlabelled"):
        forest.fit(X, y, X_err=X_err, X_err_unlabelled=many[1])
    with pytest.raises(ValueError, match="X_unlabelled can't be used: X has 4 features"):
        forest.fit(X, y, X_err=X_err, X_unlabelled=many[0][:, :4], X_err_unlabelled=0.1)
    with pytest.raises(ValueError, match="X has errors, but X_err_unlabelled is not given"):
        forest.fit(X, y, X_err=X_err, X_unlabelled=many[0])
    wrong = many[1].copy()
    wrong[7, 2] = -1
    with pytest.raises(ValueError, match=r"X_err_unlabelled is -1\.0 at row 7, column 2"):
        forest.fit(X, y, X_err=X_err, X_unlabelled=many[0], X_err_unlabelled=wrong)
    with pytest.raises(ValueError, match="X_unlabelled can't be used: X_err"):
        forest.fit(X, y, X_err=X_err, X_unlabelled=many[0], X_err_unlabelled=many[1][:, :3])
    with pytest.raises(ValueError, match="prior=None: only priors can learn"):
        forest.set_params(prior=None).fit(X, y, X_err=X_err, X_unlabelled=many[0], X_err_unlabelled=many[1])


def test_two_tables_of_any_kind_can_be_one():
    random = np.random.default_rng(0)
    X, errors = random.normal(size=(4, 2)), random.gamma(1, 1, (4, 2))
    limit = np.array([[0, 1], [0, 0], [-1, 0], [0, 0]])
    draws = random.normal(size=(4, 2, 3))
    kinds = [(), (errors,), ((errors, 2 * errors),), (errors, limit), (errors, None, draws)]
    for one in kinds:
        for other in kinds:
            first, second = read_measurements(X, *one), read_measurements(X + 1, *other)
            both = first.followed_by(second)
            assert both.n_objects == 8
            np.testing.assert_array_equal(both.center[:, :4], first.center)
            np.testing.assert_array_equal(both.center[:, 4:], second.center)
            for j in range(2):
                points = both.column(j), first.column(j), second.column(j)
                for name in ("center", "lower", "upper"):
                    parts = [getattr(each, name) for each in points]
                    expected = [np.zeros(4) if len(part) == 0 else part for part in parts[1:]]
                    found = np.zeros(8) if len(parts[0]) == 0 else parts[0]
                    np.testing.assert_array_equal(found, np.concatenate(expected))
                if both.has_free_forms and second.has_free_forms:
                    np.testing.assert_array_equal(
                        points[0].points[points[0].points_row[4:]], points[2].points[points[2].points_row]
                    )
