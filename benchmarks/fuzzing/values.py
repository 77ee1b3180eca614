"""Random tables of measurements: values of all scales, errors of all kinds, limits, samples."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

LARGEST = 1e300  # of values and errors
_LEAST = 1e-9  # of the values of a positive feature, in units of its spread
_EXTREMES = np.array([0.0, -0.0, 5e-324, -5e-324, 2.3e-308, 1.0, -1.0, 1e-200, 1e200, -1e200, LARGEST, -LARGEST])
_RELATIVE = (0.0, -0.0, 1e-12, 1e-3, 0.1, 0.5, 1.0, 10.0, 1e6)  # errors in units of a feature's spread
_ABSOLUTE = (5e-324, 1e-300, 1e200, LARGEST, np.inf, np.nan)


def pick(random: np.random.Generator, *options: Any) -> Any:
    """One of the options, as it is."""
    return options[random.integers(len(options))]


@dataclass(frozen=True)
class Table:
    """What fit and predict_proba take about some objects."""

    X: Any
    X_err: Any = None
    X_limit: Any = None
    X_samples: Any = None

    def about(self) -> dict[str, Any]:
        """The arguments beside X."""
        given = {"X_err": self.X_err, "X_limit": self.X_limit, "X_samples": self.X_samples}
        return {name: value for name, value in given.items() if value is not None}

    def rows(self, index: Any) -> "Table":
        """Some of the objects."""
        limit, samples = (None if each is None else each[index] for each in (self.X_limit, self.X_samples))
        return Table(self.X[index], _rows_of_errors(self.X_err, index), limit, samples)

    def scaled(self, factor: np.ndarray) -> "Table":
        """The features (d,) in other units."""
        samples = None if self.X_samples is None else self.X_samples * factor[:, None]
        return replace(self, X=self.X * factor, X_err=_scaled_errors(self.X_err, factor), X_samples=samples)

    @property
    def has_unknown_errors(self) -> bool:
        return self.X_err is not None and any(np.isnan(side).any() for side in sides(self.X_err))


def sides(X_err: Any) -> tuple[np.ndarray, ...]:
    """Errors in any form as one array, or as those of the lower and upper side."""
    if isinstance(X_err, tuple):
        return tuple(np.asarray(side, dtype=float) for side in X_err)
    errors = np.asarray(X_err, dtype=float)
    return (errors[..., 0], errors[..., 1]) if errors.ndim == 3 else (errors,)


def _rows_of_errors(X_err: Any, index: Any) -> Any:
    if isinstance(X_err, tuple):
        return tuple(_rows_of_errors(side, index) for side in X_err)
    return X_err[index] if np.ndim(X_err) >= 2 else X_err


def _scaled_errors(X_err: Any, factor: np.ndarray) -> Any:
    if X_err is None:
        return None
    if isinstance(X_err, tuple):
        return tuple(_scaled_errors(side, factor) for side in X_err)
    return X_err * (factor[:, None] if np.ndim(X_err) == 3 else factor)


class Feature(NamedTuple):
    """How the values of a feature are spread."""

    style: str
    center: float
    spread: float
    signal: float  # how far apart the classes are, in units of the spread
    missing: float  # share of missing values
    is_positive: bool


def random_features(
    random: np.random.Generator, n_features: int, *, tame: bool, positive: Sequence[bool]
) -> list[Feature]:
    """Features; tame ones have moderate scales, so that no computation with them overflows."""
    return [_random_feature(random, tame=tame, is_positive=positive[j]) for j in range(n_features)]


def _random_feature(random: np.random.Generator, *, tame: bool, is_positive: bool) -> Feature:
    styles = ("normal", "normal", "integers", "constant", "offset") if tame else ("decades", "extremes")
    style = pick(random, *styles, "normal")
    exponent = random.uniform(-3, 3) if tame or random.random() < 0.6 else random.uniform(-300, 300)
    spread = 10.0**exponent
    center = spread * pick(random, 0.0, 1.0, -30.0) if style != "offset" else 1e9 * spread
    missing = pick(random, 0.0, 0.0, 0.0, 0.1, 0.5, 0.5 if tame else 1.0)
    return Feature(style, center, spread, pick(random, 0.0, 1.0, 3.0), missing, is_positive)


def random_values(random: np.random.Generator, features: Sequence[Feature], classes: np.ndarray) -> np.ndarray:
    """Values (n, d) of objects whose classes (n,) are numbers."""
    with np.errstate(all="ignore"):
        columns = [_column(random, feature, classes) for feature in features]
    return np.column_stack(columns)


def _column(random: np.random.Generator, feature: Feature, classes: np.ndarray) -> np.ndarray:
    n = len(classes)
    around = random.normal(size=n)
    if feature.style == "integers":
        around = np.round(2 * around)
    elif feature.style == "constant":
        around = np.zeros(n)
    elif feature.style == "decades":
        around = np.sign(around) * 10.0 ** random.uniform(-20, 20, n)
    values = feature.center + feature.spread * (around + feature.signal * classes)
    if feature.style == "extremes":
        values = random.choice(_EXTREMES, n)
    values = np.clip(values, -LARGEST, LARGEST)
    if feature.is_positive:
        values = np.maximum(np.abs(values), _LEAST * feature.spread)
    return np.where(random.random(n) < feature.missing, np.nan, values)


def random_errors(
    random: np.random.Generator, n_objects: int, features: Sequence[Feature], *, tame: bool, forms: Sequence[str]
) -> Any:
    """Errors in one of the forms: "none", "scalar", "feature", "cell", "pair", "cube". Tame ones are finite."""
    form = pick(random, *forms)
    if form == "none":
        return None
    spread = np.array([feature.spread for feature in features])
    sizes = _palette(random, tame=tame)
    if form == "scalar":
        return _sized(random, sizes, np.median(spread), ())[()]
    if form == "feature":
        return _sized(random, sizes, spread, spread.shape)
    shape = (n_objects, len(features))
    if form == "cell":
        return _sized(random, sizes, spread, shape)
    below, above = _sized(random, sizes, spread, shape), _sized(random, sizes, spread, shape)
    above = np.where(random.random(shape) < pick(random, 0.0, 0.5), below, above)  # some are symmetric
    if form == "cube":
        return np.stack([below, above], axis=2)
    return (-below if random.random() < 0.3 else below), above  # archives store lower errors with a sign


def _palette(random: np.random.Generator, *, tame: bool) -> list[tuple[bool, float]]:
    """A few sizes of errors, and whether each is in units of the spread."""
    relative = [(True, size) for size in (_RELATIVE[3:8] if tame else _RELATIVE)]
    absolute = [] if tame else [(False, size) for size in _ABSOLUTE]
    options = relative + relative + absolute
    return [options[random.integers(len(options))] for _ in range(random.integers(1, 5))]


def _sized(random: np.random.Generator, sizes: list[tuple[bool, float]], spread: Any, shape: tuple) -> np.ndarray:
    which = random.integers(len(sizes), size=shape)
    is_relative, size = (np.array(each)[which] for each in zip(*sizes, strict=True))
    scatter = random.gamma(2.0, 0.5, shape) if random.random() < 0.7 else 1.0
    with np.errstate(all="ignore"):
        errors = np.where(is_relative, size * spread * scatter, size)
    return np.where(np.isfinite(size), np.minimum(errors, LARGEST), errors)


def random_limits(random: np.random.Generator, shape: tuple[int, int]) -> np.ndarray | None:
    """Some upper and lower limits, or nothing."""
    if random.random() < 0.8:
        return None
    limits = random.choice([1.0, -1.0], shape) * (random.random(shape) < pick(random, 0.1, 0.5, 1.0))
    return limits.astype(int) if random.random() < 0.5 else np.where(random.random(shape) < 0.05, np.nan, limits)


def random_samples(random: np.random.Generator, X: np.ndarray, features: Sequence[Feature]) -> np.ndarray | None:
    """Draws for some of the cells, or nothing."""
    if random.random() < 0.85:
        return None
    n_draws = int(random.integers(1, 12))
    spread = np.array([feature.spread for feature in features])[:, None]
    scatter = pick(random, 1e-9, 0.1, 1.0, 100.0)
    with np.errstate(all="ignore"):
        samples = X[:, :, None] + scatter * spread * random.normal(size=(*X.shape, n_draws))
    samples = np.clip(samples, -LARGEST, LARGEST)
    positive = np.array([feature.is_positive for feature in features])[:, None]
    samples = np.where(positive, np.maximum(np.abs(samples), _LEAST * spread), samples)
    samples[random.random(X.shape) < pick(random, 0.0, 0.5)] = np.nan
    return np.where(random.random(samples.shape) < pick(random, 0.0, 0.3), np.nan, samples)
