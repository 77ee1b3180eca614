"""Boosting as a loop: when to stop, what is kept."""

import numpy as np
import pytest

from probforest.trees.boosting import Boosted, Stopping


def test_stopping_waits_for_an_improvement():
    stopping = Stopping(np.zeros(1, dtype=bool), n_iter_no_change=3, tolerance=0.01)
    assert not stopping.is_due([1.0, 1.0, 1.0])  # too few to say
    assert stopping.is_due([1.0, 1.0, 1.0, 0.995])  # within the tolerance
    assert not stopping.is_due([1.0, 0.9, 1.0, 1.0])
    assert stopping.is_due([1.0, 0.9, 1.0, 1.0, 1.0])


@pytest.mark.parametrize(("losses", "n_kept"), [([3, 2, 1, 2, 3], 2), ([1, 2, 3], 1), ([3, 2, 1], 2), ([], 4)])
def test_iterations_are_kept_up_to_the_smallest_held_out_loss(losses, n_kept):
    trees = [[]] * (len(losses) - 1 if losses else 4)
    kept = Boosted(trees, list(range(len(trees) + 1)), losses).up_to_best()
    assert len(kept.trees) == n_kept
    assert len(kept.training_loss) == n_kept + 1
    assert len(kept.validation_loss) == (n_kept + 1 if losses else 0)
