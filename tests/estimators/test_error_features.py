"""Sizes of errors as features, and the trees that answer where the errors are others."""

import warnings

import astropy.units as u
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.feature_selection import SelectFromModel
from sklearn.model_selection import GridSearchCV

from error_table import PAIR_MAP, Y, forest, make_table
from probforest import ProbabilisticDecisionTreeClassifier, ProbabilisticRandomForestClassifier
from probforest.importance import permutation_importance

SHIFTED = "The errors of this table are not like those of the training set"
PLANET, STAR = "planet", "star"


def telling_errors(seed, n):
    """Three features, which hardly tell the classes apart, and errors, which do: planets have larger ones."""
    random = np.random.default_rng(seed)
    y = np.where(random.random(n) < 0.5, PLANET, STAR)
    truth = random.normal(size=(n, 3)) + 0.7 * (y == PLANET)[:, None] * [1, 0, 0]
    X_err = 10.0 ** (random.normal(-1, 0.2, (n, 3)) + np.where(y == PLANET, 0.5, 0.0)[:, None] * [1, 1, 0])
    return random.normal(truth, X_err), X_err, y


X, X_ERR, LABEL = telling_errors(0, 600)
X_TEST, X_ERR_TEST, LABEL_TEST = telling_errors(1, 300)
WORSE = X_TEST + 2 * X_ERR_TEST * np.random.default_rng(2).normal(size=X_TEST.shape), np.sqrt(5) * X_ERR_TEST


def both(estimator=ProbabilisticRandomForestClassifier, data=(X, LABEL), *, about=None, **parameters):
    """A model with error features, and the same without."""
    few = {"n_estimators": 10} if estimator is ProbabilisticRandomForestClassifier else {}
    model = estimator(**few | {"random_state": 0, "error_features": True} | parameters)
    about = {"X_err": X_ERR} if about is None else about
    return model.fit(*data, **about), clone(model).set_params(error_features=False).fit(*data, **about)


def assert_same_trees(found, expected):
    for tree, twin in zip(found, expected, strict=True):
        for array, other in zip(tree.nodes, twin.nodes, strict=True):
            np.testing.assert_array_equal(array, other)


# What it gains, and that it does not collapse


def test_errors_tell_classes_apart_as_long_as_they_are_those_of_the_training_set():
    model, plain = both()
    gained = model.score(X_TEST, LABEL_TEST, X_err=X_ERR_TEST)
    assert gained > plain.score(X_TEST, LABEL_TEST, X_err=X_ERR_TEST) + 0.1
    with pytest.warns(UserWarning, match=SHIFTED):
        found = model.score(WORSE[0], LABEL_TEST, X_err=WORSE[1])
    assert found == plain.score(WORSE[0], LABEL_TEST, X_err=WORSE[1])
    with model.assuming([]):  # what would have happened
        assert model.score(WORSE[0], LABEL_TEST, X_err=WORSE[1]) < found - 0.05


def test_random_halves_of_a_table_give_no_alarm():
    for seed in range(60):
        values, errors, y = telling_errors(seed + 100, 200)
        half = np.random.default_rng(seed).permutation(200) < 100
        model = ProbabilisticDecisionTreeClassifier(error_features=True, max_depth=2)
        model.fit(values[half], y[half], X_err=errors[half])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model.predict(values[~half], X_err=errors[~half])


def test_weighted_classes_give_no_alarm_either():
    model, _ = both(class_weight={PLANET: 20.0, STAR: 1.0})
    assert not any(shift.is_shifted for shift in model.error_shifts(X_TEST, X_err=X_ERR_TEST))


# The fallback is the model without error features, bit for bit

ROUGH = np.where(np.arange(1800).reshape(600, 3) % 7 == 0, np.nan, X)
UNKNOWN = np.where(np.arange(1800).reshape(600, 3) % 11 == 0, np.nan, X_ERR)
DRAWS = X[:, :, None] + [0.0, 1.0]
KINDS = {
    "errors": {},
    "unknown": {"about": {"X_err": UNKNOWN}},
    "pairs": {"about": {"X_err": (X_ERR, X_ERR * [1, 2, 1])}},
    "limits": {"about": {"X_err": X_ERR, "X_limit": np.arange(1800).reshape(600, 3) % 9 // 8}},
    "samples": {
        "about": {
            "X_err": X_ERR,
            "X_samples": np.where(np.arange(600)[:, None, None] < 50, X[:, :, None] + [0, 1], np.nan),
        }
    },
    "families": {"distribution": {1: "laplace"}, "prior": "normal"},
    "no prior": {"prior": None},
    "missing": {"data": (ROUGH, LABEL), "missing": "learned"},
    "weights": {"about": {"X_err": X_ERR, "sample_weight": np.arange(600) % 3}},
    "doubtful labels": {"about": {"X_err": X_ERR, "y_proba": 0.6 + np.arange(600) % 5 / 10}},
    "many bins": {"max_bins": 65_535},
    "few bins": {"max_bins": 8},
    "all features": {"max_features": None},
    "threads": {"n_jobs": 2},
    "majority": {"voting": "majority", "class_weight": "balanced_subsample", "bootstrap": False},
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_fallback_is_the_model_without_error_features(kind):
    model, plain = both(**KINDS[kind])
    assert plain.fallback_trees_ == []
    assert_same_trees(model.fallback_trees_, plain.trees_)
    assert any((tree.feature >= 3).any() for tree in model.trees_)
    for values, errors in (WORSE, (X_TEST, 0.0), (X_TEST[:2], 100 * X_ERR_TEST[:2])):
        with pytest.warns(UserWarning, match=SHIFTED):
            found = model.predict_proba(values, X_err=errors)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=SHIFTED)
            expected = plain.predict_proba(values, X_err=errors)
        assert found.tobytes() == expected.tobytes()


def test_the_fallback_of_a_single_tree():
    model, plain = both(ProbabilisticDecisionTreeClassifier)
    assert plain.fallback_tree_ is None
    assert_same_trees([model.fallback_tree_], [plain.tree_])
    with pytest.warns(UserWarning, match=SHIFTED):
        found = model.predict_proba(WORSE[0], X_err=WORSE[1])
    assert found.tobytes() == plain.predict_proba(WORSE[0], X_err=WORSE[1]).tobytes()


def test_values_without_any_errors_are_answered_by_the_fallback():
    model, plain = both()
    for rows in (slice(0, 1), slice(None)):
        with pytest.warns(UserWarning, match=r"X_err is not given.* trees that don't look at errors answer") as caught:
            found = model.predict_proba(X_TEST[rows])
        assert len(caught) == 1
        with pytest.warns(UserWarning, match="X_err is not given"):
            assert found.tobytes() == plain.predict_proba(X_TEST[rows]).tobytes()


def test_samples_instead_of_errors_are_answered_by_the_fallback():
    model, plain = both()
    with pytest.warns(UserWarning, match=r"error of x\d: not known for 100% of the values, 0% in the training set"):
        found = model.predict_proba(X, X_samples=DRAWS)
    assert found.tobytes() == plain.predict_proba(X, X_samples=DRAWS).tobytes()


def test_a_number_of_features_is_one_of_all():
    model = ProbabilisticRandomForestClassifier(10, random_state=0, error_features=True, max_features=5)
    model.fit(X, LABEL, X_err=X_ERR)
    assert all(tree.feature.max() >= 3 for tree in model.trees_)
    everything = both(max_features=None)[0]
    assert_same_trees(model.fallback_trees_, everything.fallback_trees_)
    with pytest.raises(ValueError, match="an integer from 1 to the 6 features"):
        model.set_params(max_features=7).fit(X, LABEL, X_err=X_ERR)


# What the trees see


def test_sizes_are_exact_features_behind_the_values():
    model, _ = both(ProbabilisticDecisionTreeClassifier, about={"X_err": UNKNOWN})
    features = model.feature_model_
    table = model._read_table((X, UNKNOWN, None, None), features.layout)
    cells = features.apply(features.read(table), unknown_error="median")
    np.testing.assert_array_equal(cells.values[:, 3:, 0], np.log10(UNKNOWN))
    assert np.isposinf(cells.values[:, 3:, 1:]).all()
    values = features.apply(features.read(table), unknown_error="median", values_only=True)
    np.testing.assert_array_equal(cells.values[:, :3], values.values)


def test_the_unit_of_an_error_does_not_matter():
    values, errors = X * u.day, X_ERR * u.day
    model = ProbabilisticRandomForestClassifier(5, random_state=0, error_features=True)
    model.fit(values, LABEL, X_err=errors.to("min"))
    asked = {"X": values.to("h"), "X_err": errors.to("s")}
    assert not any(shift.is_shifted for shift in model.error_shifts(**asked))
    assert max(shift.distance for shift in model.error_shifts(**asked)) == 0
    np.testing.assert_allclose(model.predict_proba(**asked), model.predict_proba(values, X_err=errors), atol=1e-6)


def test_order_of_rows_and_objects_without_weight_change_nothing():
    order = np.random.default_rng(3).permutation(600)
    weight = (np.arange(600) % 4 > 0).astype(float)
    options = {"error_features": True, "max_features": None}
    first = ProbabilisticDecisionTreeClassifier(**options).fit(X, LABEL, X_err=X_ERR, sample_weight=weight)
    rows = order[weight[order] > 0]
    second = ProbabilisticDecisionTreeClassifier(**options).fit(X[rows], LABEL[rows], X_err=X_ERR[rows])
    found, expected = (each.predict_proba(X_TEST, X_err=X_ERR_TEST) for each in (first, second))
    np.testing.assert_allclose(found, expected, atol=1e-9)
    for one, other in zip(first.feature_model_.error_spreads, second.feature_model_.error_spreads, strict=True):
        np.testing.assert_array_equal(one.quantiles, other.quantiles)


# Names and importances


def test_names_and_importances_of_a_table():
    model = forest(error_columns=PAIR_MAP, error_features=True).fit(make_table(), Y)
    assert model.feature_names_.tolist() == [
        *("a", "b", "c"),
        *("lower error of a", "upper error of a", "error of b", "lower error of c", "upper error of c"),
    ]
    importance = model.feature_importances_
    assert importance.shape == (8,)
    assert importance.sum() == pytest.approx(1)
    by_column = dict(zip(model.feature_names_in_, model.column_importances_, strict=True))
    of_a, of_b, of_c = importance[[0, 3, 4]].sum(), importance[[1, 5]].sum(), importance[[2, 6, 7]].sum()
    expected = {name: {"a": of_a, "b": of_b, "c": of_c}[name.removeprefix("e_")[0]] for name in make_table()}
    assert by_column == pytest.approx(expected)
    selector = SelectFromModel(model, importance_getter="column_importances_", threshold=of_b, prefit=True)
    assert selector.get_support().tolist() == [by_column[name] >= of_b for name in make_table()]


def test_auto_columns_are_the_same():
    table = make_table()
    auto, told = (forest(error_columns=each, error_features=True).fit(table, Y) for each in ("auto", PAIR_MAP))
    assert auto.feature_names_.tolist() == told.feature_names_.tolist()
    assert auto.predict_proba(table).tobytes() == told.predict_proba(table).tobytes()
    worse = table.copy()
    worse[["a_err1", "a_err2"]] *= 10
    with pytest.warns(
        UserWarning, match=r"\((upper|lower) error of a: 10 times those of the training set; (upper|lower)"
    ):
        auto.predict(worse)


def test_names_of_arrays_and_feature_selection():
    model, plain = both()
    assert model.feature_names_.tolist() == ["x0", "x1", "x2", "error of x0", "error of x1", "error of x2"]
    assert model.feature_importances_[3:].sum() > 0.4
    np.testing.assert_allclose(
        model.column_importances_, model.feature_importances_[:3] + model.feature_importances_[3:]
    )
    with pytest.raises(ValueError, match="has the 6 features, but X has 3 columns"):
        SelectFromModel(model, prefit=True).get_support()
    assert SelectFromModel(plain, prefit=True).get_support().shape == (3,)


def test_permutation_importance_moves_a_value_with_its_error():
    model, _ = both()
    found = permutation_importance(model, X_TEST, LABEL_TEST, X_err=X_ERR_TEST, random_state=0).importances_mean
    assert found.shape == (3,)
    assert found[2] < found[:2].min()


# What can't be


@pytest.mark.parametrize("about", [{}, {"X_err": 0.0}, {"X_err": 0.1}, {"X_err": [0.1, 0.2, 0.3]}])
def test_nothing_to_learn_from(about):
    model = ProbabilisticRandomForestClassifier(2, error_features=True)
    with pytest.raises(ValueError, match="error_features=True, but no known error of a value"):
        model.fit(X, LABEL, **about)
    assert not hasattr(model, "trees_")


def test_other_words_than_true_and_false():
    with pytest.raises(ValueError, match="error_features must be True or False; got 'yes'"):
        ProbabilisticRandomForestClassifier(error_features="yes").fit(X, LABEL, X_err=X_ERR)


# Warm start


def test_warm_start_extends_both():
    model, _ = both(warm_start=True, n_estimators=4)
    model.set_params(n_estimators=10).fit(X, LABEL, X_err=X_ERR)
    whole, _ = both()
    assert_same_trees(model.trees_, whole.trees_)
    assert_same_trees(model.fallback_trees_, whole.fallback_trees_)
    # The old trees know these features only, whatever errors are given now.
    model.set_params(n_estimators=12).fit(X, LABEL, X_err=X_ERR * [1, 1, 0])
    assert len(model.trees_) == len(model.fallback_trees_) == 12
    assert len(model.feature_names_) == 6
    with pytest.raises(ValueError, match="warm_start=True needs the error_features of before"):
        model.set_params(error_features=False, n_estimators=14).fit(X, LABEL, X_err=X_ERR)


# Tables in pieces, and other methods


def test_pieces_are_answered_by_the_trees_that_the_whole_table_needs():
    model, _ = both()
    order = np.argsort(X_ERR_TEST[:, 0])  # the pieces have other errors than the whole table
    values, errors = X_TEST[order], X_ERR_TEST[order]
    expected = model.predict_proba(values, X_err=errors)
    pieces = [slice(0, 150), slice(150, 300)]
    with pytest.warns(UserWarning, match=SHIFTED):
        alone = [model.predict_proba(values[piece], X_err=errors[piece]) for piece in pieces]
    with model.assuming(model.error_shifts(values, X_err=errors)):
        together = [model.predict_proba(values[piece], X_err=errors[piece]) for piece in pieces]
    assert np.concatenate(together).tobytes() == expected.tobytes()
    assert np.concatenate(alone).tobytes() != expected.tobytes()
    assert vars(model).keys() == vars(both()[0]).keys()


def test_leaves_are_those_of_all_trees():
    model, _ = both()
    with pytest.warns(UserWarning, match=f"{SHIFTED}.*The leaves are those of trees that use the sizes of errors"):
        leaves = model.leaf_proba(*WORSE[:1], X_err=WORSE[1])
    assert leaves.shape[1] == sum(len(tree.leaves) for tree in model.trees_)


def test_out_of_bag_answers_are_those_of_all_trees():
    model, plain = both(n_estimators=30, oob_score=True)
    assert model.oob_score_ > plain.oob_score_ + 0.05


# Without error features


def test_a_plain_model_warns_only_of_errors_far_outside():
    _, plain = both()
    plain.predict(*WORSE[:1], X_err=WORSE[1])
    plain.predict(X_TEST[:9], X_err=1000 * X_ERR_TEST[:9])
    before = plain.predict_proba(X_TEST, X_err=X_ERR_TEST * [60, 1, 1], X_limit=np.ones((300, 3)))
    assert before.shape == (300, 2)
    with pytest.warns(UserWarning, match=r"error of x0: \d\d times those of the training set\)\. Check their units"):
        plain.predict(X_TEST, X_err=X_ERR_TEST * [60, 1, 1])
    exact = ProbabilisticRandomForestClassifier(2, random_state=0).fit(X, LABEL)
    exact.predict(X_TEST, X_err=1000 * X_ERR_TEST)


# scikit-learn


def test_clone_and_grid_search():
    model, _ = both()
    assert clone(model).error_features is True
    table = pd.DataFrame(np.hstack([X, X_ERR]), columns=["a", "b", "c", "e_a", "e_b", "e_c"])
    search = GridSearchCV(forest(error_columns="auto"), {"error_features": [False, True]}, cv=3).fit(table, LABEL)
    assert search.best_params_ == {"error_features": True}
