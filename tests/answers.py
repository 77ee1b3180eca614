"""Probabilities to evaluate, with the true classes."""

import numpy as np

CLASSES = np.array(["galaxy", "quasar", "star"])


def answers(n_objects=400, classes=CLASSES, seed=0):
    """Labels, probabilities that know something of them, and sizes of errors that go with them."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, len(classes), n_objects)
    sizes = rng.exponential(size=n_objects)
    noise = rng.dirichlet(np.ones(len(classes)), n_objects)
    trust = np.exp(-sizes)[:, None]
    return np.asarray(classes)[truth], trust * np.eye(len(classes))[truth] + (1 - trust) * noise, sizes
