"""The table of parameters, the signatures and the docstrings agree."""

import inspect
import re

import pytest

from probforest import (
    ProbabilisticDecisionTreeClassifier,
    ProbabilisticGradientBoostingClassifier,
    ProbabilisticGradientBoostingRegressor,
    ProbabilisticRandomForestClassifier,
)
from probforest.estimators.arguments import ATTRIBUTES
from probforest.estimators.boosting_parameters import BOOSTING_PARAMETERS, BOOSTING_REGRESSOR_PARAMETERS
from probforest.estimators.parameters import FOREST_PARAMETERS, TREE_PARAMETERS

ESTIMATORS = {
    ProbabilisticDecisionTreeClassifier: TREE_PARAMETERS,
    ProbabilisticRandomForestClassifier: FOREST_PARAMETERS,
    ProbabilisticGradientBoostingClassifier: BOOSTING_PARAMETERS,
}
ALL = ESTIMATORS | {ProbabilisticGradientBoostingRegressor: BOOSTING_REGRESSOR_PARAMETERS}
METHODS = [
    getattr(estimator, name)
    for estimator in ALL
    for name in ("fit", "predict", "predict_proba", "predict_log_proba", "score", "apply", "leaf_proba", "proximity")
    if hasattr(estimator, name)
]
each_estimator = pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: estimator.__name__)
every_estimator = pytest.mark.parametrize("estimator", ALL, ids=lambda estimator: estimator.__name__)


def arguments_of(function):
    return [each for each in inspect.signature(function).parameters.values() if each.name != "self"]


def entries(docstring, section):
    """The (name, type, text) of the entries in a section of numpydoc."""
    body = re.search(rf"^{section}\n-+\n(.*?)(?=\n\n|\Z)", docstring, flags=re.MULTILINE | re.DOTALL).group(1)
    return re.findall(r"^(\w+) : (.+)\n((?: {4}.+\n?)+)", body, flags=re.MULTILINE)


def described_default(type_of):
    """The default that the line of an argument tells, as Python reads it; `empty` if there is none."""
    found = re.search(r", default=(.*)$", type_of)
    return inspect.Parameter.empty if found is None else eval(found.group(1))


@every_estimator
def test_the_table_has_the_parameters_of_the_signature(estimator):
    assert estimator._parameters is ALL[estimator]
    assert set(ALL[estimator]) == {each.name for each in arguments_of(estimator)}


@pytest.mark.parametrize("described", [*ALL, *METHODS], ids=lambda described: described.__qualname__)
def test_docstrings_describe_every_argument_of_the_signature_in_its_order(described):
    arguments, found = arguments_of(described), entries(inspect.getdoc(described), "Parameters")
    assert [name for name, _, _ in found] == [each.name for each in arguments]
    assert [described_default(type_of) for _, type_of, _ in found] == [each.default for each in arguments]
    assert all(text.strip() for _, _, text in found)
    assert not re.search(r"^\s*\{\w+\}\s*$", described.__doc__, flags=re.MULTILINE)


@every_estimator
def test_lines_of_docstrings_are_not_too_long(estimator):
    assert max(map(len, estimator.__doc__.splitlines())) <= 120


@each_estimator
def test_docstrings_describe_the_attributes(estimator):
    names = [name for name, _, _ in entries(inspect.getdoc(estimator), "Attributes")]
    assert set(ATTRIBUTES) < set(names)
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    options = (
        {"n_estimators": 10, "oob_score": True, "random_state": 0} if "n_estimators" in ESTIMATORS[estimator] else {}
    )
    fitted = estimator(**options).fit(X, y)
    assert [name for name in names if not hasattr(fitted, name)] == ["feature_names_in_"]  # X has no names
    public = {name for name in vars(fitted) if name.endswith("_") and not name.startswith("_")}
    assert public <= set(names)


@each_estimator
def test_a_subclass_with_its_own_signature_checks_the_parameters_it_inherits(estimator):
    class Deep(estimator):
        def __init__(self, depth=0):
            self.depth = depth
            super().__init__(max_depth=depth)

    with pytest.raises(ValueError, match="max_depth must be an integer from 1 to"):
        Deep().fit([[0.0], [1.0]], [0, 1])
    assert Deep(2).fit([[0.0], [1.0]] * 50, [0, 1] * 50).predict([[1.0]]) == [1]
