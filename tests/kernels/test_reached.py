"""The leaves that objects reach, object by object, beside a dictionary of them."""

import numpy as np

from probforest.kernels.reached import add_reach, count_rows, put_in_rows


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
