"""Random classification problems: a model's parameters, a training set and a query."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.stats import gamma, gumbel_r

from probforest import ProbabilisticDecisionTreeClassifier, ProbabilisticRandomForestClassifier

from .values import Table, pick, random_errors, random_features, random_limits, random_samples, random_values

ESTIMATORS = {"forest": ProbabilisticRandomForestClassifier, "tree": ProbabilisticDecisionTreeClassifier}
ALL_FORMS = ("none", "scalar", "feature", "cell", "cell", "pair", "cube")
_NAMES_OF_CLASSES = (
    [0, 1, 2, 3, 4],
    [-7, 0, 3, 4, 10**12],
    ["agn", "galaxy", "quasar", "star", "ünbekannt"],
    [0.0, 1.0, 2.0, 3.0, 5.0],
)


@dataclass
class Problem:
    """Everything that a fit and a prediction take, and what must become of it."""

    estimator: str  # "forest" or "tree"
    parameters: dict[str, Any]
    table: Table
    labels: dict[str, Any]  # y, y_proba, classes, sample_weight
    query: Table
    expected: str = "success"  # or "refusal"; "either" where the documentation does not say
    notes: list[str] = field(default_factory=list)  # what makes it special

    def model(self, **changed: Any) -> Any:
        return ESTIMATORS[self.estimator](**{**self.parameters, **changed})

    def fit(self, **changed: Any) -> Any:
        """A model with some parameters changed, fitted."""
        return self.model(**changed).fit(self.table.X, **self.table.about(), **self.labels)

    def may_be_refused(self, why: str) -> None:
        if self.expected == "success":
            self.expected = "either"
        self.notes.append(why)

    def __str__(self) -> str:
        parameters = ", ".join(f"{name}={value!r}" for name, value in self.parameters.items())
        given = {**self.table.about(), **self.labels}
        arguments = ", ".join(f"{name}={_in_short(value)}" for name, value in given.items())
        asked = ", ".join(f"{name}={_in_short(value)}" for name, value in self.query.about().items())
        lines = [
            f"{ESTIMATORS[self.estimator].__name__}({parameters})",
            f".fit(X={_in_short(self.table.X)}, {arguments})",
            f".predict_proba(X={_in_short(self.query.X)}, {asked})",
        ]
        return "\n".join(lines + ([f"notes: {', '.join(self.notes)}"] if self.notes else []))


def _in_short(value: Any) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(_in_short(each) for each in value)})"
    if np.ndim(value) == 0:
        return repr(value)
    return f"<{type(value).__name__} {np.shape(value)}>"


def random_problem(
    random: np.random.Generator,
    *,
    tame: bool = False,
    forms: tuple[str, ...] = ALL_FORMS,
    estimator: str | None = None,
    **parameters: Any,
) -> Problem:
    """A problem that must succeed, unless it says otherwise; tame ones have moderate values and errors.

    `forms` are those that errors may have; `parameters` are fixed, the others random.
    """
    n_objects = int(pick(random, random.integers(1, 8), random.integers(8, 60), random.integers(60, 301)))
    n_features, n_classes = int(random.integers(1, 9)), int(random.integers(2, 6))
    if tame:
        n_objects = max(n_objects, 4)
    families, positive = _random_families(random, n_features)
    if "distribution" in parameters:
        families, positive = parameters["distribution"], [False] * n_features
    classes = random.integers(0, n_classes, n_objects)
    features = random_features(random, n_features, tame=tame, positive=positive)
    labels, all_known = random_labels(random, classes, n_classes)
    estimator = estimator or pick(random, "forest", "forest", "tree")
    values = random_parameters(random, estimator, n_features, labels, all_known)
    problem = Problem(
        estimator,
        {**values, "distribution": families, **parameters},
        _random_table(random, features, classes, tame=tame, forms=forms),
        labels,
        _random_table(random, features, random.integers(0, n_classes, random.integers(1, 40)), tame=tame, forms=forms),
    )
    _note_what_may_be_refused(problem, any(positive))
    return problem


def _random_table(
    random: np.random.Generator, features: list, classes: np.ndarray, *, tame: bool, forms: tuple[str, ...]
) -> Table:
    X = random_values(random, features, classes)
    X_err = random_errors(random, len(X), features, tame=tame, forms=forms)
    return Table(X, X_err, random_limits(random, X.shape), random_samples(random, X, features))


def _note_what_may_be_refused(problem: Problem, has_lognormal: bool) -> None:
    weight = problem.labels.get("sample_weight")
    is_balanced = problem.parameters["class_weight"] == "balanced"
    is_mixed = weight is not None and np.ptp(np.log10(weight[weight > 0])) > 20
    if is_mixed or (is_balanced and "y_proba" in problem.labels):
        problem.may_be_refused(UNBALANCED)
    if weight is not None and weight.mean() > 3 and problem.parameters["keep_proba"] < 0.05:
        problem.may_be_refused(ENDLESS)
    for table in (problem.table, problem.query):
        if table.has_unknown_errors:
            problem.may_be_refused("unknown errors")
        is_pair = isinstance(table.X_err, tuple) or np.ndim(table.X_err) == 3
        if has_lognormal and is_pair:
            problem.may_be_refused("asymmetric errors of a log-normal feature")
        if isinstance(table.X_err, tuple) and any((side < 0).any() for side in table.X_err):
            problem.notes.append("lower errors with a sign")


UNBALANCED, ENDLESS = "classes of next to no weight can't be balanced", "a tree of few heavy objects would not end"


# Families


def _random_families(random: np.random.Generator, n_features: int) -> tuple[Any, list[bool]]:
    """The parameter `distribution`, and which features are log-normal."""
    if random.random() < 0.5:
        return "normal", [False] * n_features
    form = pick(random, "one", "list", "mapping")
    if form == "one":
        family = _random_family(random)
        return family, [family == "lognormal"] * n_features
    chosen = [_random_family(random) for _ in range(n_features)]
    if form == "list":
        return chosen, [family == "lognormal" for family in chosen]
    mapping = {j: family for j, family in enumerate(chosen) if random.random() < 0.5}
    return mapping, [mapping.get(j) == "lognormal" for j in range(n_features)]


def _random_family(random: np.random.Generator) -> Any:
    t = ("student_t", float(pick(random, 2.1, 4, 50)))
    return pick(random, "normal", "uniform", "laplace", "lognormal", t, pick(random, gumbel_r(), gamma(2.0)))


# Labels and weights


def random_labels(random: np.random.Generator, classes: np.ndarray, n_classes: int) -> tuple[dict[str, Any], list]:
    """Labels of objects with class numbers (n,), and the names of all classes. The first object weighs something."""
    names = pick(random, *_NAMES_OF_CLASSES)[:n_classes]
    y = np.array(names)[classes]
    kind = pick(random, "hard", "hard", "confidence", "pmf")
    labels: dict[str, Any] = {"y": y}
    if kind == "confidence":
        labels["y_proba"] = _confidences(random, len(y))
        labels["classes"] = names
    elif kind == "pmf":
        labels = {"y_proba": _random_pmf(random, classes, n_classes), "classes": names}
    weight = _random_weights(random, len(y))
    if weight is not None:
        labels["sample_weight"] = weight
    return labels, names


def _confidences(random: np.random.Generator, n: int) -> np.ndarray:
    confidence = random.choice([1.0, 0.9, 0.5, 0.0, 1e-300], n)
    confidence[0] = 1.0
    return confidence


def _random_pmf(random: np.random.Generator, classes: np.ndarray, n_classes: int) -> np.ndarray:
    hardness = random.choice([0.0, 0.5, 1.0], len(classes))[:, None]
    spread = random.dirichlet(np.full(n_classes, pick(random, 0.01, 1.0, 1e6)), len(classes))
    pmf = hardness * np.eye(n_classes)[classes] + (1 - hardness) * spread
    pmf[random.random(len(classes)) < 0.1] = 1 / n_classes
    pmf[0] = np.eye(n_classes)[classes[0]]
    return pmf


def _random_weights(random: np.random.Generator, n: int) -> np.ndarray | None:
    kind = pick(random, "none", "none", "integers", "any", "tiny", "huge", "mixed")
    if kind == "none":
        return None
    if kind == "integers":
        weight = random.integers(0, 4, n).astype(float)
    elif kind == "any":
        weight = random.lognormal(0, 1, n)
    else:
        low, high = {"tiny": (-58, -40), "huge": (30, 57), "mixed": (-300, 57)}[kind]
        weight = 10.0 ** random.uniform(low, high, n)
    weight[0] = max(weight[0], 1e-58)
    return weight


# Parameters


def random_parameters(
    random: np.random.Generator, estimator: str, n_features: int, labels: dict[str, Any], classes: list
) -> dict[str, Any]:
    """Parameters that are all valid; those of the forest only for one."""
    parameters = {
        "criterion": pick(random, "gini", "gini", "entropy"),
        "max_depth": pick(random, None, None, 1, 3),
        "min_samples_split": pick(random, 2, 2, 5, 0.3),
        "min_samples_leaf": pick(random, 1, 1, 1, 3, 0.1),
        "min_weight_fraction_leaf": pick(random, 0.0, 0.0, 0.1, 0.5),
        "max_features": pick(random, None, "sqrt", "log2", 1, 0.5, n_features),
        "min_impurity_decrease": pick(random, 0.0, 0.0, 0.01),
        "class_weight": _random_class_weight(random, classes, labels),
        "random_state": int(random.integers(2**31)),
        "keep_proba": pick(random, 0.0, 0.05, 0.05, 0.5, 1.0),
        "missing": pick(random, "observed", "equal", "learned"),
        "unknown_error": pick(random, "median", "median", "exact", "raise"),
        "label_information": pick(random, True, True, False),
        "max_bins": pick(random, 2, 16, 255, 255, 65_535),
        "prior": pick(random, None, "normal", "empirical", "joint"),
    }
    return parameters if estimator == "tree" else parameters | _random_forest_parameters(random)


def _random_forest_parameters(random: np.random.Generator) -> dict[str, Any]:
    bootstrap = bool(random.random() < 0.7)
    return {
        "n_estimators": int(random.integers(1, 7)),
        "bootstrap": bootstrap,
        "max_samples": pick(random, None, None, 0.5, 0.01, 1) if bootstrap else None,
        "oob_score": bool(bootstrap and random.random() < 0.4),
        "n_jobs": pick(random, None, 1, 2),
        "voting": pick(random, "soft", "soft", "majority"),
        **({"class_weight": "balanced_subsample"} if random.random() < 0.1 else {}),
    }


def _random_class_weight(random: np.random.Generator, classes: list, labels: dict[str, Any]) -> Any:
    if random.random() < 0.6:
        return None
    if random.random() < 0.5:
        return "balanced"
    factors = random.choice([0.0, 1e-3, 1.0, 7.0, 1e3], len(classes)).tolist()
    first = labels["y"][0] if "y" in labels else classes[int(np.argmax(labels["y_proba"][0]))]
    known = list(classes) if "classes" in labels else sorted(set(labels["y"].tolist()))
    weights = {name: factor for name, factor in zip(classes, factors, strict=True) if name in known}
    return weights | {getattr(first, "item", lambda: first)(): 1.0}
