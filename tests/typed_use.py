"""The package as a typed program uses it. mypy checks this file in CI, and `test_types.py` runs it.

`assert_type` fails in mypy when a method returns another type. A `type: ignore` marks a mistake that a type checker
must find: mypy reports it if there is nothing to ignore.
"""

from typing import assert_type

import numpy as np
from scipy.stats import norm

from probforest import Errors, ProbabilisticDecisionTreeClassifier, ProbabilisticRandomForestClassifier
from probforest.datasets import NoisyTable, add_noise, make_two_classes
from probforest.importance import permutation_importance
from probforest.metrics import ScorerWithErrors, get_scorer, pmf_log_loss

Forest = ProbabilisticRandomForestClassifier
Tree = ProbabilisticDecisionTreeClassifier


def fit_and_predict() -> None:
    truth, y = make_two_classes(60, random_state=0)
    table = add_noise(truth, level=0.5, random_state=0)
    assert_type(table, NoisyTable)
    X, X_err = table
    forest = Forest(3, random_state=0, oob_score=True, max_samples=0.5)
    assert_type(forest.fit(X, y, X_err=(X_err, 2 * X_err)), Forest)
    for answer in (forest.predict_proba(X, X_err=X_err), forest.predict(X.tolist(), X_err=0.1)):
        assert_type(answer, np.ndarray)
    assert_type(forest.apply(X, X_err=X_err), np.ndarray)
    assert_type(forest.oob_decision_function_, np.ndarray)
    assert_type(forest.feature_importances_, np.ndarray)
    assert_type(forest.score(X, y, X_err=X_err), float)
    tree = Tree(max_features="sqrt").fit(X, list(y), y_proba=np.full(60, 0.9))
    assert_type(tree, Tree)
    assert_type(tree.get_depth(), int)
    scorer = get_scorer("accuracy")
    assert_type(scorer, ScorerWithErrors)
    assert_type(scorer(forest, X, y, X_err=X_err), float)
    assert_type(pmf_log_loss(y, forest.predict_proba(X, X_err=0), classes=[0, 1]), float)
    permutation_importance(forest, X, y, X_err=X_err, n_repeats=1, scoring=scorer, random_state=0)


def parameters() -> list[Forest]:
    return [
        Forest(class_weight={"star": 1, "quasar": 2.5}, max_depth=3, max_features=0.5),
        Forest(class_weight="balanced_subsample", random_state=np.random.RandomState(0)),
        Forest(distribution=norm(), prior=None),
        Forest(distribution=("student_t", 5), error_columns="auto"),
        Forest(distribution={"flux": "lognormal"}, error_columns={"g": "e_g", "r": ("r1", "r2"), "m": Errors("m_err")}),
        Forest(oob_score=lambda y_true, y_pred: 0.5, sentinels={"*": [-9999, 99.0]}),
    ]


def mistakes() -> list[object]:
    return [
        Forest(criterion=3),  # type: ignore[arg-type]
        Forest(voting=None),  # type: ignore[arg-type]
        Forest(n_estimators="many"),  # type: ignore[arg-type]
        Tree(class_weight="balanced_subsample"),  # type: ignore[arg-type]
    ]
