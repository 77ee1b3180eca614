"""The prior that the table decides: prior="auto"."""

import numpy as np
import pytest

from probforest import ProbabilisticDecisionTreeClassifier, ProbabilisticRandomForestClassifier, load, save
from probforest.datasets import add_noise, make_two_classes, remove_cells
from probforest.estimators.choices import describe_choices


@pytest.fixture(scope="module")
def constant_noise():
    """Errors that are all alike, and features that say nothing about each other: a prior only blurs what tells classes
    apart."""
    random = np.random.default_rng(0)
    X = random.uniform(-1.7, 1.7, (6000, 12))
    return X + random.normal(size=X.shape), (X.sum(axis=1) > 0).astype(int), np.ones(X.shape)


def forest(**options):
    return ProbabilisticRandomForestClassifier(**({"n_estimators": 100, "random_state": 0} | options))


def test_no_prior_is_taken_where_it_is_better(constant_noise):
    X, y, X_err = constant_noise
    auto = forest().fit(X, y, X_err=X_err)
    assert auto.prior_ is None
    trial = auto.prior_trial_
    said, _ = describe_choices(auto)
    assert said.startswith(f"prior: none, chosen by the out-of-bag log loss of {trial.n_objects:,} objects: ")
    assert trial.empirical - trial.none > 2.5 * trial.error > 0
    chosen = forest(prior=None).fit(X, y, X_err=X_err)
    query, errors = X[:100], X_err[:100]
    # The cells of one have two sides, as some might be posteriors, and so another table of F.
    expected = chosen.predict_proba(query, X_err=errors)
    np.testing.assert_allclose(auto.predict_proba(query, X_err=errors), expected, atol=1e-5)
    assert chosen.prior_trial_ is None


def test_a_prior_is_kept_where_whole_groups_are_noisy():
    X, y = make_two_classes(2000, random_state=0)
    noisy = add_noise(X, 2, case="groups", groups=5, random_state=1)
    auto = forest(n_jobs=2).fit(noisy.X, y, X_err=noisy.X_err)
    assert auto.prior_ is not None
    again = forest(random_state=9).fit(noisy.X, y, X_err=noisy.X_err)
    assert again.prior_trial_ == auto.prior_trial_  # it depends on the table alone


def test_the_joint_prior_is_taken_where_it_is_better(tmp_path):
    X, y = make_two_classes(3000, random_state=12)
    noisy = add_noise(X, 2, case="cells", random_state=1)
    auto = forest().fit(noisy.X, y, X_err=noisy.X_err)
    trial = auto.prior_trial_
    assert auto.prior_ == "joint"
    assert min(trial.empirical, trial.none) - trial.joint > trial.joint_error > 0
    said, _ = describe_choices(auto)
    assert said.startswith("prior: joint, chosen by")
    assert f"{trial.joint:.4f} with the joint prior" in said
    assert said.endswith(" for 15 features")
    chosen = forest(prior="joint").fit(noisy.X, y, X_err=noisy.X_err)
    query = {"X": noisy.X[:100], "X_err": noisy.X_err[:100]}
    np.testing.assert_array_equal(auto.predict_proba(**query), chosen.predict_proba(**query))
    save(auto, tmp_path / "forest.prf")
    assert load(tmp_path / "forest.prf").prior_trial_ == trial


def test_nothing_is_tried_without_errors_or_on_a_few_objects(constant_noise):
    X, y, X_err = constant_noise
    for fitted in (
        forest(n_estimators=2).fit(X, y),
        forest(n_estimators=2).fit(X, y, X_err=0.0),
        forest(n_estimators=2).fit(X[:90], y[:90], X_err=X_err[:90]),
    ):
        assert (fitted.prior_, fitted.prior_trial_) == ("empirical", None)


def test_trees_that_are_added_have_the_prior_of_the_others(constant_noise):
    X, y, X_err = constant_noise
    growing = forest(n_estimators=100, warm_start=True).fit(X, y, X_err=X_err)
    trial = growing.prior_trial_
    growing.set_params(n_estimators=110).fit(X, y, X_err=X_err)
    assert (growing.prior_, growing.prior_trial_) == (None, trial)


def test_error_features_do_not_change_the_choice(constant_noise):
    X, y, X_err = constant_noise
    X_err = X_err * np.random.default_rng(0).uniform(0.999, 1.001, X.shape)
    plain, both = (forest(n_estimators=50, error_features=on).fit(X, y, X_err=X_err) for on in (False, True))
    assert plain.prior_trial_ == both.prior_trial_


def test_objects_without_weight_change_nothing(constant_noise):
    X, y, X_err = constant_noise
    weight = np.ones(6000)
    weight[::3] = 0.0
    some = weight > 0
    weighted = forest(n_estimators=20).fit(X, y, X_err=X_err, sample_weight=weight)
    assert weighted.prior_trial_ == forest(n_estimators=20).fit(X[some], y[some], X_err=X_err[some]).prior_trial_


def test_a_tree_can_choose_too(constant_noise):
    X, y, X_err = constant_noise
    tree = ProbabilisticDecisionTreeClassifier(prior="auto", random_state=0).fit(X, y, X_err=X_err)
    assert tree.prior_trial_.n_objects <= 500


def test_the_choice_is_saved(constant_noise, tmp_path):
    X, y, X_err = constant_noise
    model = forest(n_estimators=30).fit(X, y, X_err=X_err)
    save(model, tmp_path / "forest.prf")
    loaded = load(tmp_path / "forest.prf")
    assert (loaded.prior_, loaded.prior_trial_) == (model.prior_, model.prior_trial_)


@pytest.mark.parametrize(
    "trial", [(1.0, 2.0), (np.nan, 1.0, 1.0, 3), (1.0, 1.0, -1.0, 3), (1.0, 1.0, 1.0, 3, 1.0, None), "four"]
)
def test_a_trial_of_a_file_is_checked(trial, tmp_path):
    X, y = make_two_classes(50, random_state=0)
    model = forest(n_estimators=2).fit(X, y)
    model.prior_trial_ = trial
    with pytest.raises(ValueError, match="trial of priors"):
        save(model, tmp_path / "forest.prf")
    model.prior_trial_, model.prior_ = None, "auto"
    with pytest.raises(ValueError, match="the prior must be"):
        save(model, tmp_path / "forest.prf")


def few_known_errors():
    """A table in which a sample may have no known error of a column, or none that differs from the others."""
    random = np.random.default_rng(0)
    X = random.normal(size=(2000, 3))
    return X, (X[:, 0] > 0).astype(int), random.uniform(0.1, 0.3, (2000, 3))


def test_a_sample_needs_no_known_error_of_a_column():
    X, y, X_err = few_known_errors()
    X_err[1:, 1] = np.nan
    assert forest(n_estimators=2).fit(X, y, X_err=X_err).prior_trial_ is not None


def test_a_sample_needs_no_error_features():
    X, y, X_err = few_known_errors()
    X_err[:, 1:] = 0.2
    X_err[1, 1] = 0.3
    model = forest(n_estimators=2, error_features=True, max_features=5).fit(X, y, X_err=X_err)
    assert len(model.feature_names_) == 5
    with pytest.raises(ValueError, match="an integer from 1 to the 5 features"):
        forest(n_estimators=2, error_features=True, max_features=6).fit(X, y, X_err=X_err)


def test_errors_name_the_row_of_the_table_not_of_the_sample():
    X, y, X_err = few_known_errors()
    X_err[1500, 2] = np.nan
    with pytest.raises(ValueError, match="row 1500"):
        forest(n_estimators=2, unknown_error="raise").fit(X, y, X_err=X_err)


@pytest.mark.parametrize("changed", [{"missing": "learned"}, {"prior": None}])
def test_warm_start_needs_the_rules_of_before(changed):
    X, y, X_err = few_known_errors()
    model = forest(n_estimators=2, warm_start=True, missing="observed", prior="empirical").fit(X, y, X_err=X_err)
    with pytest.raises(ValueError, match=r"warm_start=True needs the (missing|prior) of before"):
        model.set_params(n_estimators=3, **changed).fit(X, y, X_err=X_err)
    model.set_params(missing="auto", prior="auto").fit(X, y, X_err=X_err)
    assert len(model.trees_) == 3


def test_missing_values_of_exact_tables_are_estimated_where_that_is_better(tmp_path):
    X, y = make_two_classes(1500, random_state=3)
    holes = remove_cells(X, 0.3, random_state=1)
    auto = forest(n_estimators=40).fit(holes, y)
    trial = auto.prior_trial_
    assert auto.prior_ == "joint"
    assert (trial.none, trial.error) == (trial.empirical, 0.0)
    assert trial.empirical - trial.joint > trial.joint_error > 0
    save(auto, tmp_path / "forest.prf")
    assert load(tmp_path / "forest.prf").prior_trial_ == trial
    independent = np.random.default_rng(0).uniform(size=(400, 4))
    independent[::7, 1] = np.nan
    plain = forest(n_estimators=10).fit(independent, y[:400])
    assert plain.prior_ == "empirical"
