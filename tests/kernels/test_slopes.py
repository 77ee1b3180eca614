"""Sums for linear models, and what their slopes add, beside sums of matrices."""

import numpy as np
from scipy import sparse

from probforest.kernels.slopes import add_moments, add_to_leaves, add_to_models_above, slopes_of_leaves


def visits(random, n_objects=30, n_places=4, n_visits=80):
    row = random.integers(n_objects, size=n_visits)
    place = np.concatenate([np.arange(n_places), random.integers(n_places, size=n_visits - n_places)])
    return row, place.astype(np.int32), random.uniform(0.1, 1, size=n_visits)


def test_moments_are_sums_of_products():
    random = np.random.default_rng(0)
    row, model, mass = visits(random)
    columns = random.normal(size=(30, 5))
    found = np.zeros((4, 5, 5))
    add_moments(row, model, mass, columns, found)
    for m in range(4):
        here = row[model == m]
        expected = np.triu((columns[here] * mass[model == m, None]).T @ columns[here])
        np.testing.assert_allclose(found[m], expected, rtol=1e-12)


def test_models_above_have_the_sums_of_those_below():
    random = np.random.default_rng(1)
    own = np.triu(random.normal(size=(6, 3, 3)))
    above = np.array([-1, 0, 1, 1, 0, 4], dtype=np.int32)
    found = own.copy()
    add_to_models_above(above, found)
    below = {0: range(6), 1: (1, 2, 3), 2: (2,), 3: (3,), 4: (4, 5), 5: (5,)}
    for m, those in below.items():
        np.testing.assert_allclose(found[m], sum(own[each] for each in those), rtol=1e-12)


def test_leaves_have_the_sums_of_their_objects():
    random = np.random.default_rng(2)
    row, leaf, mass = visits(random)
    places = random.normal(size=(30, 3))
    sums, total = np.zeros((4, 3)), np.zeros(4)
    add_to_leaves(row, leaf, mass, places, sums, total)
    for at in range(4):
        np.testing.assert_allclose(sums[at], mass[leaf == at] @ places[row[leaf == at]], rtol=1e-12)
        np.testing.assert_allclose(total[at], mass[leaf == at].sum(), rtol=1e-12)


def test_slopes_are_averaged_over_the_leaves_of_an_object():
    random = np.random.default_rng(3)
    reach = sparse.random(10, 6, 0.4, random_state=0, format="lil")
    reach[np.arange(10), random.integers(6, size=10)] = 0.5
    reach = sparse.csr_matrix(reach)
    model = np.array([0, 0, 1, 2, 1, 2], dtype=np.int32)
    slope, mean, places = random.normal(size=(3, 4)), random.normal(size=(6, 4)), random.normal(size=(10, 4))
    found = np.full((10, 4), np.nan)
    rows = reach.indptr.astype(np.int64), reach.indices.astype(np.int32), reach.data
    slopes_of_leaves(*rows, places, model, slope, mean, found)
    dense = reach.toarray() / reach.toarray().sum(axis=1, keepdims=True)
    for i in range(10):
        expected = sum(dense[i, at] * slope[model[at]] * (places[i] - mean[at]) for at in range(6))
        np.testing.assert_allclose(found[i], expected, rtol=1e-12)
