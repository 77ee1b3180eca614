"""Trees and paths in words."""

import re

import numpy as np
import pytest

from probforest import ProbabilisticDecisionTreeClassifier, ProbabilisticRandomForestClassifier
from probforest.explain import decision_paths, export_text

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(120, 3))
X_ERR = np.full((120, 3), 0.3)
Y = np.where(X[:, 0] + X[:, 1] > 0, "star", "galaxy")
FOREST = ProbabilisticRandomForestClassifier(4, random_state=0, max_depth=4).fit(X, Y, X_err=X_ERR)


def test_every_node_is_in_the_text():
    tree = FOREST.trees_[2]
    text = export_text(FOREST, 2, max_depth=50)
    assert text.count("objects)") == len(tree.leaves)
    assert text.count("<=") == tree.n_nodes - len(tree.leaves)
    assert text.splitlines()[0] == f"|--- x{tree.feature[0]} <= {tree.threshold[0]:.3g}"
    shallow = export_text(FOREST, 2, max_depth=1).splitlines()
    assert len(shallow) == 4
    assert shallow[1].endswith("...") or tree.feature[1] == -1


def test_a_tree_of_one_node():
    tree = ProbabilisticDecisionTreeClassifier(max_depth=1, min_samples_leaf=200).fit(X, Y)
    likely = "star" if (Y == "star").mean() > 0.5 else "galaxy"
    assert re.fullmatch(rf"\|--- {likely} 0\.\d+ \(120 objects\)", export_text(tree))
    assert decision_paths(tree, X[:1])[0][0].conditions == "always"
    assert repr(tree.tree_) == "<FittedTree: 1 nodes, 1 leaves, depth 0>"


def test_paths_are_those_of_leaf_proba():
    paths = decision_paths(FOREST, X[:5], X_err=X_ERR[:5], tree=1, most=2)
    first = len(FOREST.trees_[0].leaves)
    proba = FOREST.leaf_proba(X[:5], X_err=X_ERR[:5])[:, first : first + len(FOREST.trees_[1].leaves)].toarray()
    for of_object, expected in zip(paths, proba, strict=True):
        assert [path.probability for path in of_object] == pytest.approx(
            sorted(expected, reverse=True)[: len(of_object)]
        )
        assert 1 <= len(of_object) <= 2


def test_an_exact_object_keeps_all_conditions_of_its_path():
    forest = ProbabilisticRandomForestClassifier(4, random_state=0).fit(X, Y)
    for i in range(20):
        (path,) = decision_paths(forest, X[i : i + 1], tree=3, most=3)[0]
        assert path.probability == 1
        for name, sign, threshold in re.findall(r"x(\d) (<=|>) (\S+?)(?:,|$)", path.conditions):
            value, bound = X[i, int(name)], float(threshold)
            assert value <= bound + 0.01 * abs(bound) if sign == "<=" else value >= bound - 0.01 * abs(bound)


def test_thresholds_of_logarithms_are_values():
    flux = np.exp(3 * X)
    tree = ProbabilisticDecisionTreeClassifier(distribution="lognormal", max_depth=1, random_state=0)
    tree.fit(flux, Y, X_err=0.1 * flux)
    threshold = float(re.search(r"<= (\S+)", export_text(tree)).group(1))
    assert threshold == pytest.approx(np.exp(tree.tree_.threshold[0]), rel=0.01)


def test_a_tree_that_does_not_exist():
    with pytest.raises(ValueError, match="tree is 4; the model has 4 trees, from 0 on"):
        export_text(FOREST, 4)
