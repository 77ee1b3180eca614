"""The parameters of a model, and what scikit-learn was told to hand to it, as JSON and back."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.utils import check_random_state

from ..families import Family
from ..features.prior import PRIORS
from ..inputs.parameters import MISSING_RULES, check_integer, check_number, check_word, number_of_draws
from ..trees.prior_trial import PriorTrial
from .saved_families import FamilyShelf
from .saved_trees import MOST_OBJECTS
from .saved_values import from_json, to_json

_INSTEAD_OF_FUNCTIONS = {
    "oob_score": "model.set_params(oob_score=True) first: oob_score_ stays as it is",
    "scoring": 'model.set_params(scoring="loss") first: train_score_ and validation_score_ stay as they are',
}
# Methods that scikit-learn hands more to.
_ROUTED = ("fit", "predict", "predict_proba", "predict_log_proba", "decision_function", "score")

Json = dict[str, Any]


def parameters_to_json(model: Any, shelf: FamilyShelf) -> Json:
    """The parameters of a model; distributions are put on the shelf."""
    parameters = model.get_params(deep=False)
    for name, remedy in _INSTEAD_OF_FUNCTIONS.items():
        if callable(parameters.get(name)):
            raise ValueError(
                f"The parameter {name} is a function ({parameters[name]!r}), which can't be saved. Call {remedy}."
            )
    return {name: to_json(value, f"The parameter {name}", shelf.special) for name, value in parameters.items()}


def set_parameters(model: Any, parameters: Json, families: Sequence[Family]) -> None:
    """Give a new model its parameters."""
    readers = {"$family": lambda number: one_of(families, number)}
    unknown = set(parameters) - set(model.get_params(deep=False))
    if unknown:
        raise ValueError(
            f"it has the parameters {sorted(unknown)}, which this version does not know; upgrade probforest"
        )
    model.set_params(**{name: from_json(value, readers) for name, value in parameters.items()})


def one_of(families: Sequence[Family], number: Any) -> Family:
    """The family with a number."""
    if type(number) is not int or not 0 <= number < len(families):
        raise ValueError("it refers to a distribution that does not exist")
    return families[number]


def checked_missing_rules(rules: Any, n_features: int) -> np.ndarray:
    """The rule for missing values of each feature."""
    if not isinstance(rules, list) or len(rules) != n_features:
        raise ValueError(f"it needs a rule for missing values of each of the {n_features} features")
    for rule in rules:
        check_word("the rule for missing values", rule, MISSING_RULES)
    return np.array(rules, dtype=str)


def checked_prior(prior: Any) -> str | None:
    """The prior that was used."""
    if prior is not None:
        check_word("the prior", prior, PRIORS)
    return prior


def checked_trial(trial: Any) -> PriorTrial | None:
    """The trial that a prior was chosen by."""
    if trial is None:
        return None
    if not isinstance(trial, list) or len(trial) not in (4, 6):
        raise ValueError("the trial of priors needs four numbers, or six")
    empirical, none, error, n_objects, *joint = trial
    joint = [] if joint == [None, None] else joint
    for number in (empirical, none, error, *joint):
        check_number("a loss of the trial of priors", number, 0)
    check_integer("n_objects of the trial of priors", n_objects, 1)
    return PriorTrial(float(empirical), float(none), float(error), n_objects, *map(float, joint))


def check_parameters(model: Any) -> None:
    """Raise a ValueError for parameters that `fit` or a prediction would refuse, whatever the table."""
    model.check_parameters()
    check_random_state(model.random_state)
    number_of_draws(getattr(model, "max_samples", None), MOST_OBJECTS)


def _routed(model: Any) -> list[str]:
    return [name for name in _ROUTED if hasattr(model, name)]


def routing_of(model: Any) -> Json:
    """What `set_fit_request` and the like were told, which scikit-learn copies with a model."""
    requests = {name: getattr(model.get_metadata_routing(), name).requests for name in _routed(model)}
    told = {
        name: {key: answer for key, answer in each.items() if answer is not None} for name, each in requests.items()
    }
    return {name: to_json(each, f"set_{name}_request") for name, each in told.items() if each}


def route(model: Any, routing: Json) -> None:
    """Tell a model what `routing_of` found."""
    with config_context(enable_metadata_routing=True):
        for name, requests in routing.items():
            if name not in _routed(model):
                raise ValueError(f"scikit-learn hands nothing to {name!r}")
            getattr(model, f"set_{name}_request")(**from_json(requests))
