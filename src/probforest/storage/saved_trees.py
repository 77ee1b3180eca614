"""Nodes and bootstraps of all trees as few arrays and back, with a check of everything that kernels rely on."""

from collections.abc import Sequence

import numpy as np

from ..kernels.layout import FEATURE, INDEX, LEAF, REAL, RIGHT, WEIGHT, Nodes
from ..trees.bootstrap import MAX_SEED, Draw
from ..trees.fitted_tree import FittedTree

MOST_OBJECTS = np.iinfo(INDEX).max  # that a tree can be grown on
FALLBACK = "fallback_"  # in front of the names of the arrays of fallback trees
_NO_BOOTSTRAP = -1  # number of draws of a tree that took every object once
_ROUNDING = 1e-6  # of a sum of probabilities, which are ratios of sums
LARGEST_SCORE = 1e100  # of a leaf of boosting: sums over all trees are still numbers
_WIDTHS: dict[str, int | None] = {"links": 2, "threshold": None, "shares": 2, "summary": 3}
_NAMES = {name: f"nodes_{name}" for name in Nodes._fields} | {"summary": "nodes_facts"}  # of the arrays in a file


def trees_to_arrays(trees: Sequence[FittedTree], prefix: str = "") -> dict[str, np.ndarray]:
    """The nodes of all trees, one tree after the other, and how many each has; names begin with `prefix`."""
    arrays = {
        f"{prefix}{_NAMES[name]}": np.concatenate([getattr(tree.nodes, name) for tree in trees])
        for name in Nodes._fields
    }
    return {f"{prefix}tree_sizes": np.array([tree.n_nodes for tree in trees], dtype=np.int64), **arrays}


def trees_from_arrays(
    arrays: dict[str, np.ndarray], n_features: int, n_classes: int | None, prefix: str = "", *, boosted: bool = False
) -> list[FittedTree]:
    """The trees; a ValueError if a kernel that goes down one of them could leave its arrays. `n_classes` is None for
    trees that answer with a number; `boosted`: nodes have raw scores."""
    sizes = arrays[f"{prefix}tree_sizes"]
    nodes = Nodes(*(arrays[f"{prefix}{_NAMES[name]}"] for name in Nodes._fields))
    _check_arrays(nodes, sizes, 1 if boosted or n_classes is None else n_classes)
    first = np.cumsum(sizes) - sizes
    _check_links(nodes.links, sizes, first, n_features)
    _check_numbers(nodes)
    if boosted:
        _check_scores(nodes.value)
    elif n_classes is None:
        _check_means(nodes.value)
    else:
        _check_probabilities(nodes.value)
    return [
        FittedTree(Nodes(*(array[start : start + size] for array in nodes)), conserves=boosted)
        for start, size in zip(first.tolist(), sizes.tolist(), strict=True)
    ]


def _check_arrays(nodes: Nodes, sizes: np.ndarray, n_classes: int) -> None:
    if sizes.dtype != np.int64 or sizes.ndim != 1 or len(sizes) == 0 or not (sizes >= 1).all():
        raise ValueError("the sizes of the trees are invalid")
    n_nodes = len(nodes.links)
    if not (sizes <= n_nodes).all() or sizes.sum() != n_nodes:  # the first, so that the sum does not overflow
        raise ValueError("the trees do not have as many nodes as the arrays")
    for name, width in {**_WIDTHS, "value": n_classes}.items():
        array = getattr(nodes, name)
        shape = (n_nodes,) if width is None else (n_nodes, width)
        if array.shape != shape or array.dtype != (INDEX if name == "links" else REAL):
            raise ValueError(f"the {name} of the nodes are {array.dtype} of shape {array.shape}")


def _check_links(links: np.ndarray, sizes: np.ndarray, first: np.ndarray, n_features: int) -> None:
    """Every node but a root is the child of one other, which lies before it."""
    feature, right = links[:, FEATURE], links[:, RIGHT]
    if feature.min() < LEAF or feature.max() >= n_features:
        raise ValueError("a node splits a feature that does not exist")
    if not np.array_equal(feature == LEAF, right == LEAF):
        raise ValueError("a leaf has children, or a split has none")
    inner = np.flatnonzero(feature != LEAF)
    tree = np.repeat(np.arange(len(sizes)), sizes)[inner]
    right = first[tree] + right[inner]
    if not ((inner + 1 < right) & (right < (first + sizes)[tree])).all():
        raise ValueError("a child lies outside of its tree")
    n_parents = np.bincount(np.concatenate([inner + 1, right]), minlength=len(links))
    n_parents[first] += 1
    if not (n_parents == 1).all():
        raise ValueError("a node has no parent, or two")


def _check_numbers(nodes: Nodes) -> None:
    inner = nodes.links[:, FEATURE] != LEAF
    # A threshold of +inf splits observed values from missing ones.
    if np.isnan(nodes.threshold[inner]).any() or np.isneginf(nodes.threshold[inner]).any():
        raise ValueError("a split has no threshold")
    shares = nodes.shares[inner]
    if not ((shares >= 0) & (shares <= 1)).all():
        raise ValueError("a share of a split is not between 0 and 1")
    if not np.isfinite(nodes.summary).all() or (nodes.summary[:, WEIGHT] < 0).any():
        raise ValueError("the weight or the impurity of a node is negative or not finite")


def _check_probabilities(value: np.ndarray) -> None:
    if not (value >= 0).all() or not (np.abs(value.sum(axis=1) - 1) <= _ROUNDING).all():
        raise ValueError("the class probabilities of a node do not sum to 1, or one is negative")


def _check_means(value: np.ndarray) -> None:
    if not np.isfinite(value).all():
        raise ValueError("the mean of a node is not a number")


def _check_scores(value: np.ndarray) -> None:
    if not (np.abs(value) <= LARGEST_SCORE).all():
        raise ValueError("the score of a node is not a number, or too large")


def draws_to_array(draws: Sequence[Draw]) -> np.ndarray:
    """A row per tree: seed, number of objects, number of draws."""
    rows = [(draw.seed, draw.n_objects, _NO_BOOTSTRAP if draw.n_draws is None else draw.n_draws) for draw in draws]
    return np.array(rows, dtype=np.int64)


def draws_from_array(rows: np.ndarray, n_trees: int) -> list[Draw]:
    """The bootstraps of all trees."""
    if rows.dtype != np.int64 or rows.shape != (n_trees, 3):
        raise ValueError("it does not have a bootstrap for each tree")
    seed, n_objects, n_draws = rows.T
    is_seed = (seed >= 1) & (seed < MAX_SEED)
    is_draw = (n_objects >= 1) & (n_objects <= MOST_OBJECTS) & (n_draws >= _NO_BOOTSTRAP) & (n_draws <= n_objects)
    if not (is_seed & is_draw).all():
        raise ValueError("invalid bootstrap record")
    return [Draw(a, b, None if c == _NO_BOOTSTRAP else c) for a, b, c in rows.tolist()]
