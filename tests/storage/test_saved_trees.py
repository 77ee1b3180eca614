import numpy as np
import pytest

from probforest import ProbabilisticRandomForestClassifier
from probforest.storage.saved_trees import trees_from_arrays, trees_to_arrays
from problems import random_problem

PROBLEM = random_problem(0, n=20, missing=0.1)
FOREST = ProbabilisticRandomForestClassifier(4, random_state=0, max_depth=3)
FOREST.fit(PROBLEM.values, PROBLEM.pmf.argmax(axis=1), X_err=PROBLEM.errors)


def naive_is_tree(links, n_features):
    """Whether a walk from the root meets every node once, and finds its way at each."""
    pending, met = [0], []
    while pending:
        node = pending.pop()
        if not 0 <= node < len(links) or node in met:
            return False
        met.append(node)
        feature, right = links[node]
        if feature == -1 and right == -1:
            continue
        if not 0 <= feature < n_features or right <= node + 1:
            return False
        pending += [right, node + 1]
    return len(met) == len(links)


def accepts(arrays):
    try:
        trees_from_arrays(arrays, 3, 2)
    except ValueError:
        return False
    return True


def test_trees_come_back():
    trees = trees_from_arrays(trees_to_arrays(FOREST.trees_), 3, 2)
    for found, expected in zip(trees, FOREST.trees_, strict=True):
        for name in expected.nodes._fields:
            np.testing.assert_array_equal(getattr(found.nodes, name), getattr(expected.nodes, name))


def test_links_are_right_when_a_walk_says_so():
    """Random changes, of which some exchange one tree for another."""
    random = np.random.default_rng(0)
    arrays = trees_to_arrays(FOREST.trees_)
    sizes = arrays["tree_sizes"]
    for name in ("nodes_threshold", "nodes_shares"):
        arrays[name] = np.zeros_like(arrays[name])  # right for any node
    n_right = 0
    for _ in range(3000):
        links = arrays["nodes_links"].copy()
        for _ in range(random.integers(1, 3)):
            node = random.integers(len(links))
            links[node] = random.choice([[-1, -1], [random.integers(-2, 4), random.integers(-2, sizes.max() + 2)]])
        pieces = np.split(links, np.cumsum(sizes)[:-1])
        expected = all(naive_is_tree(piece.tolist(), 3) for piece in pieces)
        assert accepts({**arrays, "nodes_links": links}) == expected
        n_right += expected
    assert 20 < n_right < 2000


@pytest.mark.parametrize("n_nodes", [1, 2, 3, 5])
def test_all_trees_of_few_nodes(n_nodes):
    for number in range(n_nodes**n_nodes):
        right = np.array([number // n_nodes**k % n_nodes for k in range(n_nodes)])
        links = np.column_stack([np.where(right > 0, 0, -1), np.where(right > 0, right, -1)]).astype(np.int32)
        arrays = {
            "tree_sizes": np.array([n_nodes]),
            "nodes_links": links,
            "nodes_threshold": np.zeros(n_nodes),
            "nodes_shares": np.zeros((n_nodes, 2)),
            "nodes_facts": np.zeros((n_nodes, 3)),
            "nodes_value": np.full((n_nodes, 2), 0.5),
        }
        assert accepts(arrays) == naive_is_tree(links.tolist(), 3)
