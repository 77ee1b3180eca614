"""What must not matter does not matter."""

import hashlib
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone

from probforest import ProbabilisticDecisionTreeClassifier, ProbabilisticRandomForestClassifier
from problems import random_problem

PROBLEM = random_problem(1, n=150, d=5, k=3, missing=0.05)
Y = PROBLEM.pmf.argmax(axis=1)
QUERY = random_problem(2, n=80, d=5, k=3, missing=0.1)
FOREST = ProbabilisticRandomForestClassifier(20, random_state=0)
TREE = ProbabilisticDecisionTreeClassifier()


def answers(
    model, values=PROBLEM.values, errors=PROBLEM.errors, y=Y, query=QUERY.values, query_errors=QUERY.errors, **fit
):
    fitted = clone(model).fit(values, y, X_err=errors, **fit)
    return fitted.predict_proba(query, X_err=query_errors)


@pytest.mark.parametrize("factor", [1e-15, 1e-200, 1e150, 3.0])
@pytest.mark.parametrize("model", [TREE, FOREST], ids=["tree", "forest"])
def test_unit_of_a_feature(model, factor):
    scale = np.array([1.0, factor, 1.0, factor, 1.0])
    found = answers(
        model,
        PROBLEM.values * scale,
        PROBLEM.errors * scale,
        query=QUERY.values * scale,
        query_errors=QUERY.errors * scale,
    )
    np.testing.assert_allclose(found, answers(model), atol=1e-6)


@pytest.mark.parametrize("model", [TREE, FOREST], ids=["tree", "forest"])
def test_offset_of_a_feature(model):
    offset = 1e6 * np.nanstd(PROBLEM.values, axis=0)
    found = answers(model, PROBLEM.values + offset, query=QUERY.values + offset)
    np.testing.assert_allclose(found, answers(model), atol=1e-6)


@pytest.mark.parametrize("max_bins", [16, 255, 65_535])
def test_order_of_rows(max_bins):
    order = np.random.default_rng(0).permutation(len(Y))
    tree = ProbabilisticDecisionTreeClassifier(max_bins=max_bins)
    found = answers(tree, PROBLEM.values[order], PROBLEM.errors[order], Y[order])
    np.testing.assert_allclose(found, answers(tree), atol=1e-9)


def test_order_of_queries():
    order = np.random.default_rng(0).permutation(len(QUERY.values))
    found = answers(FOREST, query=QUERY.values[order], query_errors=QUERY.errors[order])
    np.testing.assert_array_equal(found, answers(FOREST)[order])


@pytest.mark.parametrize("names", [["ant", "bee", "cow"], [-5, 0, 7], [0.0, 1.0, 5.0], [False, True, True]])
def test_names_of_classes(names):
    if isinstance(names[0], bool):
        labels, expected = Y > 0, answers(FOREST, y=(Y > 0).astype(int))
    else:
        labels, expected = np.array(names)[Y], answers(FOREST)
    np.testing.assert_array_equal(answers(FOREST, y=labels), expected)


@pytest.mark.parametrize("max_bins", [16, 255])
def test_integer_weights_are_repeated_rows(max_bins):
    weight = np.random.default_rng(0).integers(0, 4, len(Y))
    again = np.repeat(np.arange(len(Y)), weight)
    errors = PROBLEM.errors.copy()
    errors[::7] = np.nan  # unknown errors take the median, which must count rows as well
    tree = ProbabilisticDecisionTreeClassifier(max_bins=max_bins, class_weight="balanced")
    weighted = answers(tree, errors=errors, sample_weight=weight)
    repeated = answers(tree, PROBLEM.values[again], errors[again], Y[again])
    np.testing.assert_allclose(weighted, repeated, atol=1e-9)


@pytest.mark.parametrize(
    "options", [{}, {"voting": "majority"}, {"oob_score": True, "class_weight": "balanced_subsample"}]
)
def test_number_of_threads(options):
    models = [
        clone(FOREST).set_params(n_jobs=n, **options).fit(PROBLEM.values, Y, X_err=PROBLEM.errors) for n in (1, 2, 4)
    ]
    # more rows than one block, so that threads share the work of the prediction
    query, errors = np.tile(QUERY.values, (60, 1)), np.tile(QUERY.errors, (60, 1))
    first = models[0].predict_proba(query, X_err=errors)
    for model in models[1:]:
        np.testing.assert_array_equal(model.predict_proba(query, X_err=errors), first)
        if "oob_score" in options:
            np.testing.assert_array_equal(model.oob_decision_function_, models[0].oob_decision_function_)


def test_another_process_gives_the_same_bits():
    code = (
        "import test_invariance as t; import hashlib; print(hashlib.sha256(t.answers(t.FOREST).tobytes()).hexdigest())"
    )
    path = [p for p in sys.path if p]
    outputs = [
        subprocess.run(
            [sys.executable, "-c", f"import sys; sys.path[:0] = {path!r}; {code}"],
            capture_output=True, text=True, check=True,
        ).stdout
        for _ in range(2)
    ]  # fmt: skip
    assert outputs == [hashlib.sha256(answers(FOREST).tobytes()).hexdigest() + "\n"] * 2


def test_another_seed_gives_another_forest():
    assert (answers(FOREST) != answers(clone(FOREST).set_params(random_state=1))).any()


@pytest.mark.parametrize("bootstrap", [True, False])
def test_seed_matters_only_where_something_is_drawn(bootstrap):
    a, b = (
        clone(FOREST).set_params(random_state=seed, bootstrap=bootstrap, max_features=None, n_estimators=2)
        for seed in (0, 1)
    )
    assert np.array_equal(answers(a), answers(b)) is not bootstrap


@pytest.mark.filterwarnings("ignore:The errors of this table")
def test_errors_may_be_given_in_every_form():
    per_feature = np.array([0.1, 0.0, 0.5, 1.0, 0.2])
    full = np.tile(per_feature, (len(Y), 1))
    kwargs = {"query_errors": 0.3}
    np.testing.assert_array_equal(answers(FOREST, errors=per_feature, **kwargs), answers(FOREST, errors=full, **kwargs))
    np.testing.assert_array_equal(
        answers(FOREST, errors=0.3, **kwargs), answers(FOREST, errors=np.full((len(Y), 5), 0.3), **kwargs)
    )
    np.testing.assert_array_equal(
        answers(FOREST, errors=None, query_errors=None), answers(FOREST, errors=0, query_errors=[0, 0, 0, 0, 0])
    )


@pytest.mark.parametrize("form", ["float32", "fortran", "list", "read_only", "strided"])
def test_form_of_the_arrays(form):
    values, errors = PROBLEM.values, PROBLEM.errors
    if form == "float32":
        values, errors = values.astype(np.float32), errors.astype(np.float32)
        expected = answers(FOREST, values.astype(float), errors.astype(float))
    else:
        expected = answers(FOREST)
    if form == "fortran":
        values, errors = np.asfortranarray(values), np.asfortranarray(errors)
    if form == "list":
        values, errors = values.tolist(), errors.tolist()
    if form == "read_only":
        values, errors = values.copy(), errors.copy()
        values.flags.writeable = errors.flags.writeable = False
    if form == "strided":
        values, errors = np.repeat(values, 2, axis=0)[::2], np.repeat(errors, 2, axis=1)[:, ::2]
    np.testing.assert_array_equal(answers(FOREST, values, errors), expected)


@pytest.mark.filterwarnings("ignore:The errors of this table")
def test_integer_input():
    values = np.round(np.nan_to_num(PROBLEM.values) * 10).astype(int)
    np.testing.assert_array_equal(answers(FOREST, values, 1), answers(FOREST, values.astype(float), 1.0))


@pytest.mark.parametrize("order", ["C", "F"])
def test_nothing_of_the_caller_is_written_to(order):
    arrays = {
        "X": PROBLEM.values,
        "X_err": PROBLEM.errors,
        "y": Y,
        "y_proba": np.full(len(Y), 0.8),
        "sample_weight": PROBLEM.weight,
    }
    arrays = {name: np.array(array, order=order) for name, array in arrays.items()}
    arrays["X_err"][3, 2], arrays["X_err"][4, 2] = np.nan, np.inf
    before = {name: array.copy() for name, array in arrays.items()}
    forest = clone(FOREST).set_params(oob_score=True).fit(**arrays)
    forest.predict(arrays["X"], X_err=arrays["X_err"])
    for name, array in arrays.items():
        np.testing.assert_array_equal(array, before[name])


def test_changing_the_callers_arrays_later_does_not_change_the_model():
    values = PROBLEM.values.copy(order="F")
    forest = clone(FOREST).fit(values, Y)
    before = forest.predict_proba(QUERY.values)
    values[:] = 0
    np.testing.assert_array_equal(forest.predict_proba(QUERY.values), before)
