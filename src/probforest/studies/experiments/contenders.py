"""The classifiers that meet in the experiments.

A contender is a function of a case that fits and returns the test set's probabilities for each number of trees that was
requested: forests are fitted once, and predict with their first trees.
"""

import copy
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier, RandomForestRegressor
from sklearn.impute import SimpleImputer
from sklearn.tree import DecisionTreeClassifier

from ...estimators.boosting import ProbabilisticGradientBoostingClassifier
from ...estimators.forest import ProbabilisticRandomForestClassifier
from ...features.measurements import read_measurements
from ...features.prior import learn_priors, with_priors
from .cases import Case

CLEAN = 0.95  # a label that is right with at least this probability counts as clean
FEWEST_CLEAN = 50


class Setting(NamedTuple):
    """How contenders are fitted."""

    trees: Sequence[int]
    seed: int
    n_jobs: int | None
    options: dict[str, Any] = {}  # noqa: RUF012 (of the probabilistic forest)

    @property
    def most_trees(self) -> int:
        return max(self.trees)


Answers = dict[int, np.ndarray]  # number of trees → probability of class 1 for every test object; {}: can't take part
Contender = Callable[[Case, Setting], Answers]


def first_trees(forest: Any, n_trees: int) -> Any:
    """The same forest with its first trees only."""
    fewer = copy.copy(forest)
    if isinstance(forest, ProbabilisticRandomForestClassifier):
        fewer.trees_ = forest.trees_[:n_trees]
    else:
        fewer.estimators_ = forest.estimators_[:n_trees]
        fewer.n_estimators = n_trees
    return fewer


def answers_of(forest: Any, setting: Setting, X: np.ndarray, **options: Any) -> Answers:
    # Some experiments are about test sets with other errors: no warning is needed.
    expected = forest.assuming(()) if isinstance(forest, ProbabilisticRandomForestClassifier) else nullcontext()
    with expected:
        return {k: first_trees(forest, k).predict_proba(X, **options)[:, 1] for k in setting.trees}


def probabilistic(setting: Setting, **options: Any) -> ProbabilisticRandomForestClassifier:
    return ProbabilisticRandomForestClassifier(
        setting.most_trees, random_state=setting.seed, n_jobs=setting.n_jobs, **(setting.options | options)
    )


def plain(setting: Setting, **options: Any) -> RandomForestClassifier:
    return RandomForestClassifier(setting.most_trees, random_state=setting.seed, n_jobs=setting.n_jobs, **options)


def full_prf(case: Case, setting: Setting) -> Answers:
    forest = probabilistic(setting).fit(case.X, case.y, X_err=case.X_err, y_proba=case.confidence)
    return answers_of(forest, setting, case.X_test, X_err=case.X_err_test)


def prf_with_prior(prior: str | None) -> Contender:
    """None: the paper's rule, the truth scatters around the measured value."""

    def answer(case: Case, setting: Setting) -> Answers:
        forest = probabilistic(setting, prior=prior).fit(case.X, case.y, X_err=case.X_err)
        return answers_of(forest, setting, case.X_test, X_err=case.X_err_test)

    return answer


def training_only_prf(case: Case, setting: Setting) -> Answers:
    forest = probabilistic(setting).fit(case.X, case.y, X_err=case.X_err)
    return answers_of(forest, setting, case.X_test, X_err=0.0)


def test_only_prf(case: Case, setting: Setting) -> Answers:
    forest = probabilistic(setting).fit(case.X, case.y, X_err=0.0)
    return answers_of(forest, setting, case.X_test, X_err=case.X_err_test)


test_only_prf.__test__ = False  # type: ignore[attr-defined]  # its name makes pytest think otherwise


def paper_labels_prf(case: Case, setting: Setting) -> Answers:
    """Every label counts as one object, as in the paper."""
    forest = probabilistic(setting, label_information=False).fit(case.X, case.y, y_proba=case.confidence)
    return answers_of(forest, setting, case.X_test)


def mean_labels_prf(case: Case, setting: Setting) -> Answers:
    """The mean PMFs of leaves, as in the paper: what labels say, not what is true."""
    forest = probabilistic(setting).fit(case.X, case.y, y_proba=case.confidence)
    forest.label_truth_ = None
    return answers_of(forest, setting, case.X_test)


def forest(case: Case, setting: Setting) -> Answers:
    return answers_of(plain(setting).fit(case.X, case.y), setting, case.X_test)


def boosting(case: Case, setting: Setting) -> Answers:
    """Gradient boosting has its own number of trees; the answer is the same for all."""
    model = HistGradientBoostingClassifier(random_state=setting.seed).fit(case.X, case.y)
    return dict.fromkeys(setting.trees, model.predict_proba(case.X_test)[:, 1])


def boosted_prf(case: Case, setting: Setting) -> Answers:
    """Boosting with the trees of the PRF has its own number of trees, too."""
    model = ProbabilisticGradientBoostingClassifier(random_state=setting.seed, n_jobs=setting.n_jobs)
    model.fit(case.X, case.y, X_err=case.X_err, y_proba=case.confidence)
    with model.assuming(()):
        proba = model.predict_proba(case.X_test, X_err=case.X_err_test)
    return dict.fromkeys(setting.trees, proba[:, 1])


def errors_as_columns(case: Case, setting: Setting) -> Answers:
    assert case.X_err is not None
    assert case.X_err_test is not None
    model = plain(setting).fit(np.hstack([case.X, case.X_err]), case.y)
    return answers_of(model, setting, np.hstack([case.X_test, case.X_err_test]))


def shrunk(case: Case, setting: Setting) -> Answers:
    """The forest on the best estimates of the true values: what the prior makes of measured values, without errors."""
    training, test = read_measurements(case.X, case.X_err), read_measurements(case.X_test, case.X_err_test)
    priors = learn_priors("normal", training, np.ones(len(case.X)))
    X, X_test = (with_priors(priors, measurements).center.T for measurements in (training, test))
    return answers_of(plain(setting).fit(X, case.y), setting, X_test)


def perturbed(case: Case, setting: Setting) -> Answers:
    """Each tree sees one draw of every value, in training and in prediction."""
    assert case.X_err is not None
    assert case.X_err_test is not None
    random = np.random.RandomState(setting.seed)
    total, answers = np.zeros(len(case.X_test)), {}
    for count in range(1, setting.most_trees + 1):
        drawn = random.randint(len(case.X), size=len(case.X))
        X = case.X[drawn] + case.X_err[drawn] * random.normal(size=case.X.shape)
        tree = DecisionTreeClassifier(max_features="sqrt", random_state=random).fit(X, case.y[drawn])
        total += tree.predict_proba(case.X_test + case.X_err_test * random.normal(size=case.X_test.shape))[:, 1]
        if count in setting.trees:
            answers[count] = total / count
    return answers


def probability_of_one(case: Case) -> np.ndarray:
    assert case.confidence is not None
    return np.where(case.y == 1, case.confidence, 1 - case.confidence)


def weighted_forest(case: Case, setting: Setting) -> Answers:
    """The more probable label, with the weight |2p - 1|."""
    p = probability_of_one(case)
    weight = np.abs(2 * p - 1)
    if not weight.any():
        return {}
    used = weight > 0
    model = plain(setting).fit(case.X[used], (p > 0.5).astype(int)[used], sample_weight=weight[used])
    return answers_of(model, setting, case.X_test) if len(model.classes_) == 2 else {}


def regression_forest(case: Case, setting: Setting) -> Answers:
    """A regression of the probability."""
    model = RandomForestRegressor(
        setting.most_trees, max_features="sqrt", random_state=setting.seed, n_jobs=setting.n_jobs
    ).fit(case.X, probability_of_one(case))
    return {k: first_trees(model, k).predict(case.X_test) for k in setting.trees}


def clean_forest(case: Case, setting: Setting) -> Answers:
    """Only the objects whose labels are clean."""
    assert case.confidence is not None
    clean = case.confidence >= CLEAN
    if clean.sum() < FEWEST_CLEAN:
        return {}
    return answers_of(plain(setting).fit(case.X[clean], case.y[clean]), setting, case.X_test)


def missing_prf(rule: str) -> Contender:
    def answer(case: Case, setting: Setting) -> Answers:
        return answers_of(probabilistic(setting, missing=rule).fit(case.X, case.y), setting, case.X_test)

    return answer


def mean_imputed_forest(case: Case, setting: Setting) -> Answers:
    imputer = SimpleImputer().fit(case.X)
    model = plain(setting).fit(imputer.transform(case.X), case.y)
    return answers_of(model, setting, imputer.transform(case.X_test))


def imputed_prf(case: Case, setting: Setting) -> Answers:
    """The probabilistic forest with a missing value as its mean, and the feature's scatter as its error."""
    imputer = SimpleImputer().fit(case.X)
    scatter = np.nanstd(case.X, axis=0)
    X, X_test = imputer.transform(case.X), imputer.transform(case.X_test)
    errors = np.where(np.isnan(case.X), scatter, 0.0), np.where(np.isnan(case.X_test), scatter, 0.0)
    return answers_of(probabilistic(setting).fit(X, case.y, X_err=errors[0]), setting, X_test, X_err=errors[1])


FEATURES: dict[str, Contender] = {
    "forest": forest,
    "full PRF": full_prf,
    "training-only PRF": training_only_prf,
    "test-only PRF": test_only_prf,
    "PRF, no prior": prf_with_prior(None),
    "PRF, normal prior": prf_with_prior("normal"),
    "boosted PRF": boosted_prf,
    "gradient boosting": boosting,
    "forest, errors as columns": errors_as_columns,
    "forest, perturbed values": perturbed,
    "forest, shrunk values": shrunk,
}
LABELS: dict[str, Contender] = {
    "forest": forest,
    "PRF": full_prf,
    "PRF, labels count alike": paper_labels_prf,
    "PRF, mean labels": mean_labels_prf,
    "boosted PRF": boosted_prf,
    "gradient boosting": boosting,
    "forest, weights |2p − 1|": weighted_forest,
    "regression forest on p": regression_forest,
    "forest, clean labels only": clean_forest,
}
MISSING: dict[str, Contender] = {
    'PRF, missing="auto"': missing_prf("auto"),
    'PRF, missing="observed"': missing_prf("observed"),
    'PRF, missing="equal"': missing_prf("equal"),
    'PRF, missing="learned"': missing_prf("learned"),
    "PRF, mean and scatter": imputed_prf,
    "forest": forest,
    "forest, mean imputed": mean_imputed_forest,
    "boosted PRF": boosted_prf,
    "gradient boosting": boosting,
}
