"""Ways to test on a table: as it is, measured worse, on fainter or brighter objects, with labels that can be wrong."""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from probforest.datasets import flip_labels

from .tables import ErrorTable

NOISIER = {"as it is": 0.0, "test noisier by 1": 1.0, "test noisier by 2": 2.0}
# Errors that are added to the test set, in units of the features' scatter.
STRONG_NOISE = {"half as strong noise in test": 0.5, "strong noise in test": 1.0, "twice as strong noise in test": 2.0}
SETTINGS = (*NOISIER, *STRONG_NOISE, "bright to faint", "faint to bright", "labels flipped")
MOST_FLIPPED = 0.9  # the probability that a label is wrong is drawn from U(0, 0.9)


class Trial(NamedTuple):
    """A training set, and one or more test sets by the name of their setting."""

    training: ErrorTable
    tests: dict[str, ErrorTable]
    seed: int


def trials(table: ErrorTable, settings: list[str], n_repeats: int) -> Iterator[Trial]:
    """Five folds, several times; each fold is a training set and the tests that it can be used for."""
    faint = np.zeros(len(table.y), dtype=bool)
    if table.faintness is not None:
        faint = table.faintness > np.nanmedian(table.faintness)
    for repeat in range(n_repeats):
        for fold, (train, test) in enumerate(_folds(table, repeat)):
            seed = 100 * repeat + fold
            training, left_out = table.rows(train), table.rows(test)
            tests = {name: noisier(left_out, by, seed) for name, by in NOISIER.items() if name in settings}
            for name, level in STRONG_NOISE.items():
                if name in settings:
                    tests[name] = in_strong_noise(left_out, training, level, seed)
            if tests:
                yield Trial(training, tests, seed)
            for name, is_trained_on in (("bright to faint", ~faint), ("faint to bright", faint)):
                if name in settings and table.faintness is not None:
                    tested = {name: left_out.rows(~is_trained_on[test])}
                    yield Trial(training.rows(is_trained_on[train]), tested, seed)
            if "labels flipped" in settings:
                yield Trial(flipped(training, seed), {"labels flipped": left_out}, seed)


def _folds(table: ErrorTable, repeat: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    options = {"shuffle": True, "random_state": repeat}
    if table.group is None:
        return StratifiedKFold(5, **options).split(table.X, table.y)
    return StratifiedGroupKFold(5, **options).split(table.X, table.y, table.group)


def noisier(table: ErrorTable, by: float, seed: int) -> ErrorTable:
    """The same objects, measured worse: noise of `by` × their errors is added."""
    if by == 0:
        return table
    draw = np.random.default_rng(seed).normal(size=table.X.shape)
    error = np.nan_to_num(np.where(draw < 0, table.lower, table.upper))
    factor = np.sqrt(1 + by**2)
    return replace(table, X=table.X + by * error * draw, lower=factor * table.lower, upper=factor * table.upper)


def in_strong_noise(table: ErrorTable, training: ErrorTable, level: float, seed: int) -> ErrorTable:
    """The same objects, with errors up to `level` times the features' scatter: every value has an error of its own."""
    random = np.random.default_rng(seed)
    low, high = np.nanquantile(training.X, [0.16, 0.84], axis=0)
    added = level * random.uniform(size=table.X.shape) * (high - low) / 2
    return replace(
        table,
        X=table.X + added * random.normal(size=table.X.shape),
        lower=np.hypot(table.lower, added),
        upper=np.hypot(table.upper, added),
    )


def flipped(table: ErrorTable, seed: int) -> ErrorTable:
    """Labels that are wrong with known probabilities."""
    probability = np.random.default_rng(seed).uniform(0, MOST_FLIPPED, len(table.y))
    labels = flip_labels(table.y, probability, random_state=seed)
    return replace(table, y=labels.y, confidence=labels.confidence)
