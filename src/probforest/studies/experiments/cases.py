"""The data of the experiments, in two recipes: the text of the paper, and what its authors' notebooks ran."""

from typing import NamedTuple

import numpy as np

from ...datasets import add_noise, flip_labels, make_two_classes, remove_cells, switch_probabilities

RECIPES = ("paper", "authors")
NOISE_SEED = 10_000  # added to the seed of the data: noise from the same seed could be of the very numbers of the data


class Case(NamedTuple):
    """A training set, and a test set with the true labels."""

    X: np.ndarray
    y: np.ndarray  # as given, perhaps wrong
    X_test: np.ndarray
    y_test: np.ndarray
    X_err: np.ndarray | None = None
    X_err_test: np.ndarray | None = None
    confidence: np.ndarray | None = None  # that each label in `y` is right
    mean_noise: float = 0.0  # mean of error / standard deviation of the true values, the paper's <N_o,f>


def truth(n_train: int, seed: int, recipe: str) -> tuple[np.ndarray, np.ndarray]:
    return make_two_classes(2 * n_train, random_state=seed, simple=recipe == "authors")


def noisy_features(n_train: int, level: float, experiment: str, recipe: str, seed: int) -> Case:
    """Experiments (ii) "objects", (iii) "groups", (iv) "transfer"; "constant" and "cells" of the noise complexity."""
    X, y = truth(n_train, seed, recipe)
    in_test = np.arange(2 * n_train) >= n_train
    options: dict = {"case": "groups" if experiment == "transfer" else experiment}
    if experiment == "transfer":
        options["groups"] = in_test
    if recipe == "authors":
        options["spread"] = "magnitudes"
        if experiment == "groups":
            options |= {"groups": 500, "noisy_share": 0.5}
        if experiment == "transfer":
            options |= {"noisy_share": 0.3, "per_object": False}
    table = add_noise(X, level, random_state=NOISE_SEED + seed, **options)
    train, test = ~in_test, in_test
    mean_noise = float(np.mean(table.X_err / X.std(axis=0)))
    errors = table.X_err[train], table.X_err[test]
    return Case(table.X[train], y[train], table.X[test], y[test], *errors, mean_noise=mean_noise)


def noisy_labels(n_train: int, wrong: float, kind: str, recipe: str, seed: int) -> Case:
    """Experiment (i): only the training set has wrong labels."""
    X, y = truth(n_train, seed, recipe)
    probability = switch_probabilities(n_train, wrong, kind, random_state=NOISE_SEED + seed)
    labels = flip_labels(y[:n_train], probability, random_state=2 * NOISE_SEED + seed)
    return Case(X[:n_train], labels.y, X[n_train:], y[n_train:], confidence=labels.confidence)


def missing_cells(n_train: int, share: float, recipe: str, seed: int) -> Case:
    """Cells that are gone at random, in the training and in the test set."""
    X, y = truth(n_train, seed, recipe)
    X = remove_cells(X, share, random_state=NOISE_SEED + seed)
    return Case(X[:n_train], y[:n_train], X[n_train:], y[n_train:])
