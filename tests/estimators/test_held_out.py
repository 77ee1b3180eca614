"""Objects that boosting holds out, one part after the other."""

import numpy as np
import pytest

from probforest import ProbabilisticGradientBoostingClassifier
from probforest.datasets import flip_labels, make_two_classes
from probforest.estimators import boosted_trees
from probforest.estimators.held_out import held_out_parts, held_out_rows
from probforest.trees.boosting import MeanCourse, Stopping


@pytest.mark.parametrize(("n", "fraction", "expected"), [(100, 0.1, 10), (103, 0.1, 10), (50, 0.5, 2), (20, 0.9, 2)])
def test_parts_have_no_object_in_common(n, fraction, expected):
    classes = np.arange(n) % 3
    parts = held_out_parts(n, fraction, 7, classes, 20)
    np.testing.assert_array_equal(parts[0], held_out_rows(n, fraction, 7, classes))
    assert np.sum(parts, axis=0).max() == 1 or fraction > 0.5
    assert len({part.sum() for part in parts}) == 1
    assert len(parts) <= expected
    assert len(held_out_parts(n, fraction, 7, classes, 1)) == 1
    assert len(held_out_parts(n, fraction, 7, None, 20)) == len(parts)


def test_the_only_object_of_a_class_is_learnt_from():
    classes = np.zeros(60, dtype=int)
    classes[[7, 30]] = 1, 2
    for seed in range(20):
        held_out = held_out_rows(60, 0.3, seed, classes)
        assert held_out.sum() == 18
        assert not held_out[[7, 30]].any()
    assert held_out_rows(3, 0.5, 0, np.arange(3)).sum() == 1  # there are no others


class _Course:
    def __init__(self, losses):
        self._losses = losses

    def course(self, n_iterations):
        for loss in self._losses[: n_iterations + 1]:
            self._now = loss
            yield loss

    def held_out_scores(self):
        return self._now


def test_the_mean_of_several_models_stops():
    stopping = Stopping(np.zeros(0, dtype=bool), 2, 0.0)
    models = [_Course([4.0, 3.0, 2.0, 1.0, 2.0, 3.0, 4.0]), _Course([4.0, 2.0, 1.0])]  # nothing is left in the second
    course = MeanCourse(models)
    assert list(course.run(10, stopping)) == course.losses == [4.0, 2.5, 1.5, 1.0, 1.5, 2.0]
    assert (course.n_best, course.best) == (3, [1.0, 1.0])  # what the models said then
    course = MeanCourse(models)
    assert list(course.run(2, stopping)) == [4.0, 2.5, 1.5]
    assert (course.n_best, course.best) == (2, [2.0, 1.0])


def test_an_iteration_is_grown_even_if_it_is_worse_than_none():
    course = MeanCourse([_Course([1.0, 2.0, 3.0])])
    assert list(course.run(2, Stopping(np.zeros(0, dtype=bool), 9, 0.0))) == [1.0, 2.0, 3.0]
    assert (course.n_best, course.best) == (1, [2.0])


def test_doubtful_labels_are_held_out_in_turn():
    X, y = make_two_classes(600, random_state=0)
    labels = flip_labels(y, np.full(600, 0.3), random_state=1)
    model = ProbabilisticGradientBoostingClassifier(max_iter=60, random_state=0)
    model.fit(X, labels.y, y_proba=labels.confidence)
    assert len(model.validation_score_) == len(model.train_score_) == model.n_iter_ + 1
    assert model.validation_score_.argmax() == model.n_iter_
    known = ProbabilisticGradientBoostingClassifier(max_iter=model.n_iter_, early_stopping=False, random_state=0)
    known.fit(X, labels.y, y_proba=labels.confidence)
    # All objects were learnt from; then all scores are multiplied by one factor.
    scores, known_scores = (each.decision_function(X) - each.baseline_ for each in (model, known))
    factor = (scores @ known_scores) / (known_scores @ known_scores)
    assert abs(factor - 1) > 0.01
    np.testing.assert_allclose(scores, factor * known_scores, atol=1e-12)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_as_many_iterations_are_grown_as_were_best_also_if_trees_without_splits_were_drawn(seed, monkeypatch):
    found = []

    class Watched(MeanCourse):
        def run(self, *arguments):
            for loss in super().run(*arguments):
                found.append(loss)
                yield loss

    monkeypatch.setattr(boosted_trees, "MeanCourse", Watched)
    random = np.random.default_rng(seed)
    X, y = random.normal(size=(70, 4)), np.arange(70) % 2
    X[:, 0] += 2 * y
    about = {"X_err": np.ones(X.shape), "y_proba": np.full(70, 0.85)}
    model = ProbabilisticGradientBoostingClassifier(max_iter=60, prior=None, random_state=0).fit(X, y, **about)
    assert model.n_iter_ == np.argmin(found) == len(model.validation_score_) - 1


@pytest.mark.parametrize("seed", range(3))
def test_iterations_that_are_added_are_those_of_a_longer_fit_also_if_trees_without_splits_were_drawn(seed):
    random = np.random.default_rng(seed)
    X, y = random.normal(size=(60, 4)), random.integers(0, 2, 60)
    options = {"prior": None, "early_stopping": False, "random_state": 0}
    about = {"X_err": 2 * np.ones(X.shape)}
    long = ProbabilisticGradientBoostingClassifier(max_iter=40, **options).fit(X, y, **about)
    grown = ProbabilisticGradientBoostingClassifier(max_iter=10, warm_start=True, **options).fit(X, y, **about)
    for n in (25, 40):
        grown.set_params(max_iter=n).fit(X, y, **about)
    assert grown.n_iter_ == long.n_iter_
    np.testing.assert_allclose(grown.predict_proba(X, **about), long.predict_proba(X, **about), rtol=1e-12)
