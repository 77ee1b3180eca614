"""The classifiers that are compared: each fits a training set and returns its probabilities for some test sets."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

from probforest import ProbabilisticGradientBoostingClassifier, ProbabilisticRandomForestClassifier
from probforest.features.measurements import read_measurements
from probforest.features.prior import learn_priors, with_priors

from .settings import Trial
from .tables import ErrorTable

TREES = 100
Answers = dict[str, np.ndarray]  # name of a setting → probabilities of its test set, classes in sorted order
Contender = Callable[[Trial], Answers]
View = Callable[[ErrorTable], np.ndarray]  # what a classifier of scikit-learn sees of a table


def values(table: ErrorTable) -> np.ndarray:
    return table.X


def values_and_errors(table: ErrorTable) -> np.ndarray:
    return table.with_error_columns


def of_scikit_learn(make: Callable[[int], Any], view: View) -> Contender:
    """A classifier of scikit-learn. It takes doubtful labels as weights."""

    def answer(trial: Trial) -> Answers:
        training = trial.training
        weight = None if training.confidence is None else np.abs(2 * training.confidence - 1)
        model = make(trial.seed).fit(view(training), _likely_labels(training), sample_weight=weight)
        return {name: model.predict_proba(view(test)) for name, test in trial.tests.items()}

    return answer


def _likely_labels(table: ErrorTable) -> np.ndarray:
    """The more probable label, where there are two."""
    classes = np.unique(table.y)
    if table.confidence is None or len(classes) != 2:
        return table.y
    other = np.where(table.y == classes[0], classes[1], classes[0])
    return np.where(table.confidence < 0.5, other, table.y)


def on_shrunk_values(make: Callable[[int], Any]) -> Contender:
    """A classifier of scikit-learn on the best estimates of the true values under a normal prior."""

    def answer(trial: Trial) -> Answers:
        medians = np.nan_to_num(np.nanmedian((trial.training.lower + trial.training.upper) / 2, axis=0))
        priors = learn_priors("normal", _measured(trial.training, medians), np.ones(len(trial.training.y)))

        def view(table: ErrorTable) -> np.ndarray:
            return with_priors(priors, _measured(table, medians)).center.T

        return of_scikit_learn(make, view)(trial)

    return answer


def _measured(table: ErrorTable, medians: np.ndarray) -> Any:
    error = (table.lower + table.upper) / 2
    return read_measurements(table.X, np.where(np.isnan(error), medians, error))


def probabilistic(**options: Any) -> Contender:
    """Our forest."""

    def answer(trial: Trial) -> Answers:
        training = trial.training
        forest = ProbabilisticRandomForestClassifier(TREES, random_state=trial.seed, n_jobs=-1, **options)
        forest.fit(training.X, training.y, X_err=training.X_err, y_proba=training.confidence)
        return {name: forest.predict_proba(test.X, X_err=test.X_err) for name, test in trial.tests.items()}

    return answer


def boosted(**options: Any) -> Contender:
    """Our boosting."""

    def answer(trial: Trial) -> Answers:
        training = trial.training
        model = ProbabilisticGradientBoostingClassifier(random_state=trial.seed, n_jobs=-1, **options)
        model.fit(training.X, training.y, X_err=training.X_err, y_proba=training.confidence)
        return {name: model.predict_proba(test.X, X_err=test.X_err) for name, test in trial.tests.items()}

    return answer


def without_errors(**options: Any) -> Contender:
    """Our forest on values that are taken as exact."""

    def answer(trial: Trial) -> Answers:
        training = trial.training
        forest = ProbabilisticRandomForestClassifier(TREES, random_state=trial.seed, n_jobs=-1, **options)
        forest.fit(training.X, training.y, y_proba=training.confidence)
        return {name: forest.predict_proba(test.X) for name, test in trial.tests.items()}

    return answer


def _forest(seed: int) -> RandomForestClassifier:
    return RandomForestClassifier(TREES, random_state=seed, n_jobs=-1)


def _boosting(seed: int) -> HistGradientBoostingClassifier:
    return HistGradientBoostingClassifier(random_state=seed)


BASELINE = "forest"
RIVALS: dict[str, Contender] = {
    BASELINE: of_scikit_learn(_forest, values),
    "forest, error columns": of_scikit_learn(_forest, values_and_errors),
    "forest, shrunk values": on_shrunk_values(_forest),
    "boosting": of_scikit_learn(_boosting, values),
    "boosting, error columns": of_scikit_learn(_boosting, values_and_errors),
    "boosting, shrunk values": on_shrunk_values(_boosting),
}
OURS: dict[str, Contender] = {
    "default": probabilistic(),
    "error features": probabilistic(error_features=True),
    "observed, empirical": probabilistic(missing="observed", prior="empirical"),
    "observed, none": probabilistic(missing="observed", prior=None),
    "learned, empirical": probabilistic(missing="learned", prior="empirical"),
    "learned, none": probabilistic(missing="learned", prior=None),
    "learned, normal": probabilistic(missing="learned", prior="normal"),
    "auto, empirical": probabilistic(prior="empirical"),
    "auto, none": probabilistic(prior=None),
    "auto, joint": probabilistic(prior="joint"),
    "keep_proba=0.1": probabilistic(keep_proba=0.1),
    "min_samples_leaf=2": probabilistic(min_samples_leaf=2),
    'max_features="sqrt"': probabilistic(max_features="sqrt"),
    "max_features=0.5": probabilistic(max_features=0.5),
    "exact values": without_errors(),
    "boosted": boosted(),
    "boosted, 300": boosted(max_iter=300),
    "boosted, early stopping": boosted(max_iter=300, early_stopping=True),
    "boosted, error features": boosted(error_features=True),
}
CONTENDERS = RIVALS | OURS
