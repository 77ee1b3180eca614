"""The leaves that objects reach, object by object, beside a dictionary of them."""

import numpy as np
import pytest

from probforest import ProbabilisticDecisionTreeRegressor
from probforest.kernels.reached import add_reach, count_rows, put_in_rows, visits_of
from probforest.kernels.route import route


def test_entries_of_trees_are_put_together_by_object():
    random = np.random.default_rng(0)
    n_objects, number = 7, np.array([5, 6, 7, 8, 9], dtype=np.int32)
    trees = [
        (random.integers(n_objects, size=20).astype(np.int32), random.integers(5, size=20).astype(np.int32))
        for _ in range(3)
    ]
    reaches = [random.uniform(size=20) for _ in trees]
    expected = {row: [] for row in range(n_objects)}
    for (row, leaf), reach in zip(trees, reaches, strict=True):
        for i, node, probability in zip(row, leaf, reach, strict=True):
            expected[i].append((number[node], probability / reach[row == i].sum()))

    count = np.zeros(n_objects, dtype=np.int64)
    for row, _ in trees:
        count_rows(row, count)
    np.testing.assert_array_equal(count, [len(expected[row]) for row in range(n_objects)])
    first = np.concatenate([[0], np.cumsum(count)])
    end, columns, values = first[:-1].copy(), np.empty(first[-1], dtype=np.int32), np.empty(first[-1])
    for (row, leaf), reach in zip(trees, reaches, strict=True):
        total = np.zeros(n_objects)
        add_reach(row, reach, total)
        put_in_rows(row, leaf, reach, number, total, end, columns, values)
    np.testing.assert_array_equal(end, first[1:])
    for row in range(n_objects):
        entries = slice(first[row], first[row + 1])
        np.testing.assert_array_equal(columns[entries], [column for column, _ in expected[row]])
        np.testing.assert_allclose(values[entries], [value for _, value in expected[row]], rtol=1e-14)


@pytest.mark.parametrize("keep_proba", [0.0, 0.05, 1.0])
@pytest.mark.parametrize("most_entries", [1, 2**19])
def test_one_call_finds_the_leaves_that_many_find(monkeypatch, keep_proba, most_entries):
    random = np.random.default_rng(0)
    X, X_err = random.normal(size=(600, 3)), random.uniform(0, 0.5, (600, 3))
    tree = ProbabilisticDecisionTreeRegressor(min_samples_leaf=5).fit(X, X[:, 0] * X[:, 1], X_err=X_err)
    monkeypatch.setattr("probforest.kernels.reached._MOST_ENTRIES", most_entries)
    for errors in (X_err, 0.0):
        query = tree._query_and_trees(X, errors, None, None)[0]
        nodes = tree.tree_.nodes
        for one, other in zip(visits_of(query, nodes, keep_proba), route(query, nodes, keep_proba), strict=True):
            np.testing.assert_array_equal(one, other)
            assert one.dtype == other.dtype
