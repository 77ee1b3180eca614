"""The joint prior: laws that hold whatever it learns."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ndtr

from probforest import ProbabilisticDecisionTreeClassifier, ProbabilisticRandomForestClassifier
from probforest.datasets import add_noise, make_two_classes, remove_cells
from probforest.families import LAPLACE, NORMAL
from probforest.features.feature_groups import LARGEST_GROUP
from probforest.features.joint_prior import FeatureGroup, JointPrior, learn_joint_prior, with_posteriors
from probforest.features.measurements import read_measurements
from probforest.features.prior import EmpiricalPrior, learn_priors, with_priors
from probforest.features.scored_cells import NormalScores, scored_cells, sites_of
from probforest.kernels.layout import Mixture


def learnt(table, weight=None, n_jobs=None):
    """The priors of features, the joint prior, and the posteriors under both."""
    weight = np.ones(table.n_objects) if weight is None else weight
    priors = learn_priors("empirical", table, weight)
    joint = learn_joint_prior(priors, table, weight, np.ones(len(priors), dtype=bool), n_jobs)
    return priors, joint, with_priors(priors, table), with_posteriors(priors, joint, table, n_jobs)


def correlated(n=2500, d=4, noise=0.5, seed=0):
    """Features that are one hidden number, each with some scatter, skewed; and their errors."""
    random = np.random.default_rng(seed)
    truth = np.exp(0.5 * (random.normal(size=(n, 1)) + 0.2 * random.normal(size=(n, d))))
    errors = random.gamma(1, noise, (n, d))
    return truth, truth + errors * random.normal(size=(n, d)), errors


def test_cells_are_closer_to_the_truth_and_their_errors_shrink():
    truth, X, X_err = correlated()
    _, joint, alone, found = learnt(read_measurements(X, X_err))
    assert len(joint.groups) == 1

    def miss(table):
        return np.mean(np.abs(table.center - truth.T))

    assert miss(found) < 0.6 * miss(alone)
    assert np.mean(found.lower + found.upper) < 0.6 * np.mean(alone.lower + alone.upper)


def test_independent_features_have_the_cells_of_their_own_priors():
    random = np.random.default_rng(1)
    X, X_err = random.lognormal(size=(2000, 3)), random.gamma(1, 0.5, (2000, 3))
    X += X_err * random.normal(size=X.shape)
    table = read_measurements(X, X_err)
    priors, learnt_joint, alone, found = learnt(table)
    # What is learnt from a sample differs a little from independence; independence itself changes nothing.
    width = alone.lower + alone.upper
    assert np.median(np.abs(found.center - alone.center) / width) < 0.02
    standard = Mixture(np.ones(1), np.zeros((1, 3)), np.eye(3)[None])
    independent = JointPrior((FeatureGroup(np.arange(3), standard),), learnt_joint.completed)
    found = with_posteriors(priors, independent, table)
    np.testing.assert_allclose(found.center, alone.center, atol=1e-9)
    np.testing.assert_allclose(found.lower, alone.lower, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(found.upper, alone.upper, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("two_sides", [False, True])
@pytest.mark.parametrize("kind", [None, "normal", "empirical"])
def test_pieces_of_a_table_have_the_posteriors_of_the_whole(kind, two_sides, n_jobs):
    """More objects than a piece has; exact, missing and sampled cells, and limits, are among them."""
    random = np.random.default_rng(2)
    _, X, X_err = correlated(n=9000, d=3)
    X[random.random(X.shape) < 0.1], X_err[random.random(X.shape) < 0.1] = np.nan, 0.0
    limit = np.where(random.random(X.shape) < 0.1, -1, 0)
    samples = np.where(random.random((9000, 3, 1)) < 0.1, random.normal(size=(9000, 3, 4)), np.nan)
    for further in ({}, {"X_limit": limit}, {"X_samples": samples}):
        table = read_measurements(X, (X_err, 2 * X_err) if two_sides else X_err, **further)
        priors = learn_priors(kind, table, np.ones(9000))
        whole, found = with_priors(priors, table), with_posteriors(priors, None, table, n_jobs)
        for name in ("center", "lower", "upper"):
            np.testing.assert_array_equal(getattr(found, name), getattr(whole, name))
        assert found.is_symmetric == whole.is_symmetric
        if not further:
            cells = found.into_cells().values, whole.into_cells().values
            np.testing.assert_array_equal(*cells)
            assert all(values.flags.c_contiguous for values in cells)  # others would have kernels of their own


def test_a_missing_value_that_is_a_function_of_the_others_has_that_value():
    random = np.random.default_rng(2)
    hidden = random.normal(size=2500)
    X = np.column_stack([hidden, np.exp(hidden), hidden**3, 5 - 2 * hidden])
    holes = np.arange(2500), random.integers(0, 4, 2500)
    values = X.copy()
    values[holes] = np.nan
    *_, found = learnt(read_measurements(values))
    inside = np.abs(hidden) < 1.5  # beyond, there are few values to learn from
    off = np.abs(found.center.T[holes] - X[holes]) / X[inside].std(axis=0)[holes[1]]
    assert np.quantile(off[inside], 0.95) < 0.05
    np.testing.assert_array_equal(found.center.T[~np.isnan(values)], X[~np.isnan(values)])


def test_exact_values_and_values_far_from_the_prior_stay_but_others_learn_from_them():
    _, X, X_err = correlated()
    X[0], X_err[0] = [2.0, 1.0, 1.0, 1.0], [0.0, 2.0, 2.0, 2.0]
    X[1], X_err[1] = [1e4, 1.0, 1.0, 1.0], [1.0, 2.0, 2.0, 2.0]
    _, _, alone, found = learnt(read_measurements(X, X_err))
    assert found.center[0, 0] == 2.0
    assert found.lower[0, 0] == found.upper[0, 0] == 0
    assert found.center[0, 1] == 1e4
    assert (np.abs(found.center[1:, 0] - 2.0) < 0.3).all()
    assert (found.center[1:, 1] > alone.center[1:, 1] + 1.0).all()


def test_limits_and_samples_stay_but_others_learn_from_them():
    _, X, X_err = correlated()
    limit, samples = np.zeros(X.shape), np.full((*X.shape, 5), np.nan)
    X[0], X_err[0], limit[0] = [0.4, 1.0, 1.0, 1.0], [0.0, 2.0, 2.0, 2.0], [1, 0, 0, 0]
    X[1], X_err[1], samples[1, 0] = 1.0, 2.0, [3.0, 3.1, 3.2, 3.1, 3.0]
    table = read_measurements(X, X_err, limit, samples)
    _, _, alone, found = learnt(table)
    assert found.center[0, 0] == 0.4
    assert found.limit[0, 0] == 1
    assert (found.center[1:, 0] < 0.6).all()
    assert found.center[0, 1] == alone.center[0, 1]
    np.testing.assert_array_equal(found.forms.table, table.forms.table)
    assert (found.center[1:, 1] > 2.5).all()


@pytest.mark.parametrize("change", ["units", "order of features", "order of objects", "threads"])
def test_what_changes_nothing(change):
    _, X, X_err = correlated(1500)
    X[::7, 2] = np.nan
    *_, expected = learnt(read_measurements(X, X_err))
    order, rows, scale = np.arange(4), np.arange(1500), np.ones(4)
    if change == "units":
        scale = 2.0 ** np.array([-20, 3, 30, 0])
    elif change == "order of features":
        order = np.array([3, 1, 0, 2])
    elif change == "order of objects":
        rows = np.random.default_rng(0).permutation(1500)
    changed = (X * scale)[rows][:, order], (X_err * scale)[rows][:, order]
    *_, found = learnt(read_measurements(*changed), n_jobs=2 if change == "threads" else None)
    for name in ("center", "lower", "upper"):
        value = (getattr(expected, name) * scale[:, None])[order][:, rows]
        rtol = 0 if change in ("threads", "units") else 1e-5
        np.testing.assert_allclose(getattr(found, name), value, rtol=rtol)


@pytest.mark.parametrize("family", [NORMAL, LAPLACE])
def test_asymmetric_errors_and_other_families(family):
    truth, X, X_err = correlated()
    table = read_measurements(X, (X_err, 2 * X_err), families=(family,) * 4)
    _, _, alone, found = learnt(table)
    assert np.mean(np.abs(found.center - truth.T)) < 0.7 * np.mean(np.abs(alone.center - truth.T))
    assert found.families == alone.families


def test_sites_give_back_the_posterior_in_one_dimension():
    _, X, X_err = correlated()
    priors, _, alone, _ = learnt(read_measurements(X, X_err))
    cells = scored_cells(NormalScores.of(priors[0]), alone, 0)
    sites = sites_of(cells)
    measured = np.isfinite(sites.variance)
    precision = 1 + 1 / sites.variance[measured]
    np.testing.assert_allclose(
        sites.place[measured] / sites.variance[measured] / precision, cells.quantiles[1][measured]
    )
    width = (cells.quantiles[2] - cells.quantiles[0])[measured] / 2
    np.testing.assert_allclose(precision**-0.5, np.maximum(width, 1e-6), rtol=1e-6)


def test_scores_are_normal_and_have_an_inverse():
    _, X, X_err = correlated()
    priors = learn_priors("empirical", read_measurements(X, X_err), np.ones(len(X)))
    scale = NormalScores.of(priors[0])
    z = np.linspace(-3, 3, 50)
    np.testing.assert_allclose(scale.score(scale.value(z)), z, atol=1e-6)
    assert np.isnan(scale.score(np.array([np.nan])))[0]
    assert not scale.knows(np.array([np.nan, 1e9])).any()


def test_scores_are_those_of_the_prior_at_its_edges_and_close_to_them_between():
    """z = Φ⁻¹(F(x)) with F of the prior, whose density is constant between edges; the tails know little of it."""
    _, X, X_err = correlated()
    prior = learn_priors("empirical", read_measurements(X, X_err), np.ones(len(X)))[0]
    scale, below = NormalScores.of(prior), np.append(0.0, np.cumsum(prior.mass)) / prior.mass.sum()
    np.testing.assert_allclose(ndtr(scale.score(prior.edges)), below, atol=5e-4)
    x = np.linspace(*np.interp([0.02, 0.98], below, prior.edges), 500)
    np.testing.assert_allclose(ndtr(scale.score(x)), np.interp(x, prior.edges, below), atol=0.01)


def test_hundreds_of_features_are_divided_into_groups_of_those_that_correlate():
    random = np.random.default_rng(0)
    blocks = random.normal(size=(400, 6, 1)) + 0.5 * random.normal(size=(400, 6, 15))
    order = random.permutation(90)
    X = blocks.reshape(400, 90)[:, order]
    _, joint, _, _ = learnt(read_measurements(X, 0.3))
    assert max(len(group.features) for group in joint.groups) <= LARGEST_GROUP
    together = np.sort(np.concatenate([group.features for group in joint.groups]))
    assert len(np.unique(together)) == len(together) > 80
    whole = sum(np.bincount(order[group.features] // 15, minlength=6).max() for group in joint.groups)
    assert whole > 50  # most features are in a group with others of their block


def useless_tables():
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 3))
    yield "one object", X[:1], 0.1
    yield "two objects", X[:2], 0.1
    yield "one feature", X[:, :1], 0.1
    yield "constants", np.ones((60, 3)), 0.1
    yield "a constant", np.column_stack([X, np.ones(60)]), 0.1
    yield "a flag", np.column_stack([X, X[:, 0] > 0]), 0.1
    yield "nothing", np.full((60, 3), np.nan), 0.1
    yield "a feature that was never measured", np.column_stack([X, np.full(60, np.nan)]), 0.1
    yield "copies", np.repeat(random.normal(size=(60, 1)), 5, axis=1), 0.0
    yield "more features than objects", random.normal(size=(30, 60)), 0.1
    yield "enormous", X * 1e298, 1e297
    yield "minute", X * 1e-300, 1e-301
    yield "huge errors", X, 1e9
    yield "outliers", random.standard_cauchy(size=(300, 3)) ** 3, 1.0


@pytest.mark.parametrize(("name", "X", "error"), list(useless_tables()))
@pytest.mark.filterwarnings("ignore:The model was fitted with X_err")
def test_useless_tables_do_no_harm(name, X, error):
    y = np.arange(len(X)) % 2
    forest = ProbabilisticRandomForestClassifier(3, random_state=0, prior="joint", n_jobs=1)
    probability = forest.fit(X, y, X_err=error).predict_proba(X, X_err=error)
    assert np.isfinite(probability).all()
    assert np.isfinite(forest.predict_proba(np.full(X.shape, np.nan), X_err=error)).all()


def test_an_answer_has_the_same_bits_alone_and_in_any_company():
    random = np.random.default_rng(0)
    _, X, errors = correlated(600)
    y = (X[:, 0] > 1).astype(int)
    forest = ProbabilisticRandomForestClassifier(10, random_state=0, prior="joint").fit(X, y, X_err=errors)
    assert forest.feature_model_.joint_prior.groups
    X, errors = X[:60].copy(), errors[:60].copy()
    X[random.random(X.shape) < 0.1] = np.nan
    X[7], errors[9], errors[11, 0], errors[13] = np.nan, np.nan, 1e9, 0.0
    for X_err in (errors, (errors, 2 * errors), 0.0):
        together = forest.predict_proba(X, X_err=X_err)
        for i in range(len(X)):
            own = (
                X_err
                if np.isscalar(X_err)
                else tuple(e[[i]] for e in X_err)
                if isinstance(X_err, tuple)
                else X_err[[i]]
            )
            np.testing.assert_array_equal(forest.predict_proba(X[[i]], X_err=own)[0], together[i])


def test_the_same_forest_for_any_number_of_threads():
    X, y = make_two_classes(800, random_state=0)
    table = add_noise(X, 1, random_state=1)
    answers = [
        ProbabilisticRandomForestClassifier(10, random_state=0, prior="joint", n_jobs=n_jobs)
        .fit(table.X, y, X_err=table.X_err)
        .predict_proba(table.X, X_err=table.X_err)
        for n_jobs in (1, 2)
    ]
    np.testing.assert_array_equal(*answers)


@pytest.mark.parametrize(("kind", "gain"), [("noise", 0.015), ("holes", 0.03)])
def test_it_pays_on_the_data_of_the_paper(kind, gain):
    X, y = make_two_classes(4000, random_state=10)
    errors = None
    if kind == "noise":
        X, errors = add_noise(X, 2, case="groups", random_state=1)
    else:
        X = remove_cells(X, 0.2, random_state=1)
    train, test = slice(0, 2000), slice(2000, 4000)

    def accuracy(prior):
        forest = ProbabilisticRandomForestClassifier(60, random_state=0, prior=prior)
        forest.fit(X[train], y[train], X_err=None if errors is None else errors[train])
        return forest.score(X[test], y[test], X_err=None if errors is None else errors[test])

    assert accuracy("joint") > accuracy("empirical") + gain


def test_holes_that_tell_the_class_stay_holes():
    _, X, errors = correlated(1500)
    y = np.random.default_rng(0).integers(0, 2, 1500)
    X[(y == 1) & (np.arange(1500) % 3 > 0), 1] = np.nan
    X[np.arange(1500) % 5 == 0, 2] = np.nan
    forest = ProbabilisticRandomForestClassifier(20, random_state=0, prior="joint").fit(X, y, X_err=errors)
    np.testing.assert_array_equal(forest.feature_model_.joint_prior.completed, [True, False, True, True])
    np.testing.assert_array_equal(forest.missing_, ["observed", "learned", "observed", "observed"])
    assert forest.score(X, y, X_err=errors) > 0.8
    for missing, completed in (("observed", True), ("learned", False), ("equal", False)):
        forest = ProbabilisticRandomForestClassifier(2, random_state=0, prior="joint", missing=missing)
        forest.fit(X, y, X_err=errors)
        assert (forest.feature_model_.joint_prior.completed == completed).all()


def test_the_posterior_is_shown_in_the_units_of_the_table():
    truth, X, errors = correlated(1500)
    y = np.arange(1500) % 2
    X = np.maximum(X, 0.01)
    X[0] = [1.5, np.nan, 1.0, 1.0]
    errors[0] = [0.0, 0.1, 0.1, 2.0]
    forest = ProbabilisticRandomForestClassifier(2, random_state=0, prior="joint", distribution={1: "lognormal"})
    found = forest.fit(X, y, X_err=errors).posterior(X, X_err=errors)
    assert all(part.shape == X.shape for part in found)
    assert np.isfinite(found.center).all()
    assert (found.lower[0, 0], found.center[0, 0], found.upper[0, 0]) == (0.0, 1.5, 0.0)
    assert np.mean(np.abs(found.center - truth)) < 0.7 * np.mean(np.abs(X - truth)[np.isfinite(X)])
    # The widths are those of posteriors: 68 % of the true values lie within. Trees see narrower cells.
    inside = (truth > found.center - found.lower) & (truth < found.center + found.upper)
    noisy = np.nan_to_num(errors) > 0.1
    assert 0.6 < inside[noisy].mean() < 0.76


def test_the_posterior_without_a_prior_is_the_table_itself():
    _, X, errors = correlated(300)
    limit = np.zeros(X.shape)
    limit[0, 0], X[1, 1] = 1, np.nan
    forest = ProbabilisticRandomForestClassifier(2, random_state=0, prior=None)
    forest.fit(X, np.arange(300) % 2, X_err=errors, X_limit=limit)
    found = forest.posterior(X, X_err=errors, X_limit=limit)
    assert found.center[0, 0] < X[0, 0]
    np.testing.assert_allclose(found.center[1:], X[1:])
    np.testing.assert_allclose(found.lower[2:], errors[2:])


def test_objects_of_which_nothing_is_known_stay_so():
    _, X, errors = correlated(800)
    X[0] = np.nan
    y = (X[:, 0] > 1).astype(int)
    tree = ProbabilisticDecisionTreeClassifier(random_state=0, prior="joint", missing="observed", keep_proba=0)
    tree.fit(X, y, X_err=errors)
    assert np.isnan(tree.posterior(X[:1], X_err=errors[:1]).center).all()
    np.testing.assert_allclose(tree.predict_proba(X[:1], X_err=errors[:1])[0, 1], y.mean())


def test_errors_that_vanish_are_none():
    """Also of values between which there is nothing."""
    random = np.random.default_rng(0)
    X = np.round(random.normal(size=(300, 1)) + 0.3 * random.normal(size=(300, 3)))
    X[:, 0] += 0.3 * (np.arange(300) == 7)
    *_, found = learnt(read_measurements(X, np.full(X.shape, 1e-12)))
    np.testing.assert_allclose(found.center, X.T, atol=1e-9)


def test_cells_take_over_the_memory_of_posteriors_only():
    """They are what a copy would be, and neither the table nor what it was made of changes before."""
    _, X, X_err = correlated(500)
    table = read_measurements(X, X_err)
    before = [part.copy() for part in (table.center, table.lower, table.upper)]
    found = learnt(table)[3]
    copied = replace(found, memory=None).into_cells()
    part = found.rows(slice(0, 3)).into_cells()
    taken = found.into_cells()
    assert np.shares_memory(taken.values, found.memory)
    assert not np.shares_memory(copied.values, found.memory)
    np.testing.assert_array_equal(taken.values, copied.values)
    np.testing.assert_array_equal(part.values, copied.values[:3])
    for now, then in zip((table.center, table.lower, table.upper), before, strict=True):
        np.testing.assert_array_equal(now, then)


def test_a_scale_without_any_mass_is_even():
    """Where all values lie beyond the edges, as far as their numbers tell."""
    scale = NormalScores.of(EmpiricalPrior(np.array([0.0, 1.0, 2.0]), np.zeros(2)))
    np.testing.assert_allclose(scale.scores[1], 0.0, atol=1e-12)
    assert np.isfinite(scale.scores).all()
