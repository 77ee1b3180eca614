"""From mean PMFs of labels to probabilities of true classes."""

import numpy as np
import pytest
from scipy.optimize import minimize

import naive
from probforest.trees.label_truth import (
    INFORMATION_SHARE,
    LEAST_SOFTNESS,
    DoubtfulLabels,
    HeldOut,
    LabelTruth,
    learn_label_truth,
)

FLIPS = np.array([[0.8, 0.2], [0.2, 0.8]])
ASYMMETRIC = np.array([[0.7, 0.2, 0.1], [0.05, 0.85, 0.1], [0.3, 0.1, 0.6]])


def labels_of(classes, channel, frequencies=None):
    """The PMF of every label given by `channel`[true class, label], once for each of the labels of `classes`, and the
    share of the objects of that class that have it."""
    k = len(channel)
    frequencies = np.full(k, 1 / k) if frequencies is None else np.asarray(frequencies)
    joint = frequencies[:, None] * channel
    pmf = (joint / joint.sum(axis=0)).T
    return np.tile(pmf, (len(classes), 1)), np.concatenate([channel[c] for c in classes])


def doubtful(pmf, weight=None, information=None, class_weight=None):
    ones = np.ones(len(pmf))
    class_weight = np.ones(pmf.shape[1]) if class_weight is None else np.asarray(class_weight, dtype=float)
    return DoubtfulLabels(
        pmf,
        ones if weight is None else weight,
        ones if information is None else information,
        class_weight,
        class_weight,
    )


def exact(truth):
    """With the least softness, as if a leaf had infinitely many objects."""
    return LabelTruth(truth.channel, truth.prior, truth.scale, LEAST_SOFTNESS, truth.wrong)


def random_truth(random, k, softness):
    channel = 0.6 * np.eye(k) + 0.4 * random.dirichlet(np.ones(k), k)
    return LabelTruth(channel, random.dirichlet(np.ones(k)), np.ones(k), softness, 0.1)


@pytest.mark.parametrize("k", [2, 3, 7])
@pytest.mark.parametrize("softness", [1e-6, 0.01, 1.0])
def test_answers_are_those_of_the_naive_twin(k, softness):
    random = np.random.default_rng(k)
    truth, mean_pmf = random_truth(random, k, softness), random.dirichlet(np.ones(k), 40)
    expected = [naive.true_classes(each, truth.channel, truth.prior, softness) for each in mean_pmf]
    np.testing.assert_allclose(truth.answers(mean_pmf), expected, rtol=1e-7, atol=1e-10)


def test_an_answer_is_the_minimum_of_what_the_module_says():
    random = np.random.default_rng(1)
    truth, mean_pmf = random_truth(random, 3, 0.02), random.dirichlet(np.ones(3))
    z = mean_pmf @ np.linalg.inv(truth.channel)

    def loss(x):
        q = np.append(x, 1 - x.sum())
        return np.inf if q.min() <= 0 else 0.5 * np.sum((q - z) ** 2) - 0.02 * truth.prior @ np.log(q)

    best = minimize(loss, [1 / 3, 1 / 3], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-15}).x
    np.testing.assert_allclose(truth.answers(mean_pmf[None])[0, :2], best, atol=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_the_matrix_is_that_of_the_naive_twin(seed):
    random = np.random.default_rng(seed)
    pmf, weight, information = random.dirichlet(np.ones(4), 30), random.random(30) + 0.1, random.random(30) + 0.1
    truth = learn_label_truth(doubtful(pmf, weight, information), [3])
    share = INFORMATION_SHARE
    expected = (1 - share) * naive.mean_pmfs(pmf, weight) + share * naive.mean_pmfs(pmf, weight * information)
    np.testing.assert_allclose(truth.channel, expected, rtol=1e-12)
    np.testing.assert_allclose(truth.prior, weight @ pmf / weight.sum(), rtol=1e-12)
    assert truth.wrong == pytest.approx(weight @ (1 - pmf.max(axis=1)) / weight.sum())


@pytest.mark.parametrize("wrong", [0.01, 0.2, 0.45])
def test_pure_leaves_under_known_flips_answer_one(wrong):
    channel = np.array([[1 - wrong, wrong], [wrong, 1 - wrong]])
    truth = exact(learn_label_truth(doubtful(*labels_of([0, 1], channel)), [2]))
    assert truth.channel[0, 0] == pytest.approx(1 - 2 * wrong * (1 - wrong))  # 0.68 for 20 %
    np.testing.assert_allclose(truth.answers(truth.channel), np.eye(2), atol=1e-4)
    assert truth.wrong == pytest.approx(wrong)


@pytest.mark.parametrize("class_weight", [[1, 1, 1], [1, 2, 5], [3, 1, 0.1]])
@pytest.mark.parametrize("frequencies", [[1 / 3, 1 / 3, 1 / 3], [0.7, 0.25, 0.05]])
def test_a_leaf_of_any_true_classes_answers_with_them(class_weight, frequencies):
    """The classes as they count with class weights: in a leaf, PMFs of labels are multiplied by these."""
    class_weight, frequencies = np.array(class_weight, dtype=float), np.array(frequencies)
    pmf, share = labels_of(range(3), ASYMMETRIC, frequencies)
    truth = exact(learn_label_truth(doubtful(pmf, share * np.repeat(frequencies, 3), None, class_weight), [2]))
    for q in ([1, 0, 0], [0, 1, 0], [0, 0, 1], [0.2, 0.5, 0.3], frequencies):
        masses = (np.repeat(q, 3) * share) @ (pmf * class_weight)
        expected = class_weight * q / (class_weight @ q)
        np.testing.assert_allclose(truth.answers((masses / masses.sum())[None])[0], expected, atol=1e-4)


def test_the_mean_of_all_labels_answers_with_the_class_frequencies():
    """With any softness."""
    pmf = np.random.default_rng(0).dirichlet([1, 2, 3], 50)
    truth = learn_label_truth(doubtful(pmf), [10])
    assert truth.softness > 0.01
    np.testing.assert_allclose(truth.answers(pmf.mean(axis=0)[None])[0], pmf.mean(axis=0), atol=1e-12)


@pytest.mark.parametrize("k", [2, 3, 50])
@pytest.mark.parametrize("softness", [LEAST_SOFTNESS, 1e-4, 1.0])
def test_answers_are_on_the_simplex_and_never_zero(k, softness):
    random = np.random.default_rng(0)
    truth = random_truth(random, k, softness)
    answers = truth.answers(np.vstack([np.eye(k), np.full((1, k), 1 / k), random.dirichlet(np.full(k, 0.1), 100)]))
    assert (answers > 0).all()
    np.testing.assert_allclose(answers.sum(axis=1), 1, rtol=1e-12)


@pytest.mark.parametrize("doubt", [0.0, 1e-15, 1e-12, 1e-9, 1e-6, 1e-3])
def test_labels_that_say_next_to_nothing_do_not_blow_up(doubt):
    pmf = np.array([[0.5 + doubt, 0.5 - doubt], [0.5 - doubt, 0.5 + doubt]] * 10)
    truth = learn_label_truth(doubtful(pmf), [2])
    answers = truth.answers(np.array([[0.5, 0.5], pmf[0], pmf[1], [1.0, 0.0]]))
    assert np.isfinite(answers).all()
    np.testing.assert_allclose(answers.sum(axis=1), 1)
    np.testing.assert_allclose(answers[0], 0.5, atol=1e-6)
    assert np.abs(answers[1:3] - 0.5).max() < 0.4  # two objects with such labels are no evidence


def test_classes_that_labels_can_not_tell_apart_share_what_they_have():
    """As in the whole training set."""
    pmf = np.array([[0.6, 0.3, 0.1], [0.1, 0.05, 0.85]] * 5)
    truth = learn_label_truth(doubtful(pmf), [2])
    answers = truth.answers(np.vstack([pmf, pmf.mean(axis=0)]))
    np.testing.assert_allclose(answers[-1], pmf.mean(axis=0))
    assert answers[0, 2] < answers[-1, 2] < answers[1, 2]
    assert (answers[:, 0] > answers[:, 1]).all()


def test_a_class_that_nobody_has_gets_nothing():
    pmf = np.column_stack([*labels_of([0, 1], FLIPS)[0].T, np.zeros(4)])
    truth = learn_label_truth(doubtful(pmf), [2])
    answers = truth.answers(pmf)
    assert (answers[:, 2] == 0).all()
    np.testing.assert_allclose(answers.sum(axis=1), 1)
    without = learn_label_truth(doubtful(pmf[:, :2]), [2])
    np.testing.assert_allclose(answers[:, :2], without.answers(pmf[:, :2]))


def test_a_class_of_weight_zero_gets_nothing():
    pmf = np.random.default_rng(0).dirichlet([1, 1, 1], 50)
    weighted = pmf * [1, 2, 0]
    answers = learn_label_truth(doubtful(pmf, class_weight=[1, 2, 0]), [5]).answers(
        weighted / weighted.sum(axis=1)[:, None]
    )
    assert (answers[:, 2] == 0).all()
    np.testing.assert_allclose(answers.sum(axis=1), 1)


def test_a_label_of_a_class_of_weight_zero_was_held_out():
    pmf = np.array([[0.9, 0.1, 0.0], [0.2, 0.8, 0.0], [0.0, 0.0, 1.0]])
    held_out = HeldOut(np.arange(3), np.array([[0.7, 0.3, 0.0]] * 3))
    assert 0 < learn_label_truth(doubtful(pmf, class_weight=[1, 1, 0]), [1], held_out).softness < 10


def test_the_order_of_classes_permutes_answers():
    random = np.random.default_rng(0)
    pmf, order = random.dirichlet([1, 2, 3], 60), [2, 0, 1]
    held_out = HeldOut(np.arange(60), pmf[::-1])
    answers = learn_label_truth(doubtful(pmf), [5], held_out).answers(pmf)
    permuted = learn_label_truth(doubtful(pmf[:, order]), [5], HeldOut(np.arange(60), pmf[::-1, order]))
    np.testing.assert_allclose(permuted.answers(pmf[:, order]), answers[:, order], atol=1e-10)


@pytest.mark.parametrize("k", [2, 12])
def test_an_object_has_the_same_answer_alone_and_among_others(k):
    random = np.random.default_rng(0)
    truth, mean_pmf = random_truth(random, k, 0.01), random.dirichlet(np.ones(k), 20_000)
    together = truth.answers(mean_pmf)
    for i in (0, 1, 2729, 2730, 16_383, 16_384, 19_999):
        np.testing.assert_array_equal(truth.answers(mean_pmf[i : i + 1])[0], together[i])


def test_rows_of_nan_stay():
    truth = random_truth(np.random.default_rng(0), 2, 0.01)
    answers = truth.answers(np.array([[0.4, 0.6], [np.nan, np.nan]]))
    assert np.isnan(answers[1]).all()
    single = LabelTruth(np.eye(2), np.array([1.0, 0.0]), np.ones(2), 0.01, 0.0)
    np.testing.assert_array_equal(single.answers(np.array([[1.0, 0.0], [np.nan, np.nan]])), [[1, 0], [np.nan, np.nan]])
    np.testing.assert_array_equal(answers[0], truth.answers(np.array([[0.4, 0.6]]))[0])


def held_out_case(n, seed, noise):
    """Objects of two classes with labels that are wrong in 20 %, and mean PMFs in pure leaves, plus noise."""
    random = np.random.default_rng(seed)
    y = random.integers(0, 2, n)
    pmf = FLIPS[np.where(random.random(n) < 0.2, 1 - y, y)]
    first = np.where(y == 0, 0.68, 0.32) + noise * random.normal(size=n)
    first = np.clip(first, 0.2, 0.8)
    return doubtful(pmf), HeldOut(np.arange(n), np.column_stack([first, 1 - first]))


def test_noise_and_few_objects_make_softer_answers():
    softness = {
        (n, noise): np.mean([learn_label_truth(*spread(held_out_case(n, s, noise))).softness for s in range(5)])
        for n, noise in ((2000, 0.0), (2000, 0.15), (50, 0.0))
    }
    assert 4 * softness[2000, 0.0] < softness[2000, 0.15]
    assert 4 * softness[2000, 0.0] < softness[50, 0.0]


def spread(case):
    labels, held_out = case
    return labels, [10], held_out


def test_few_objects_in_leaves_and_few_trees_make_softer_answers():
    labels = doubtful(*labels_of([0, 1] * 50, FLIPS))
    softness = [learn_label_truth(labels, leaves).softness for leaves in ([2], [50], [2] * 16)]
    assert softness[2] < softness[0] < softness[1]


def test_hard_labels_are_the_limit_of_doubtful_ones():
    for doubt in (1e-3, 1e-6, 1e-9):
        pmf = np.array([[1 - doubt, doubt], [doubt, 1 - doubt]] * 20)
        held_out = HeldOut(np.arange(40), pmf)
        mean_pmf = np.array([[0.9, 0.1], [0.5, 0.5], [0.3, 0.7]])
        for truth in (learn_label_truth(doubtful(pmf), [20]), learn_label_truth(doubtful(pmf), [20], held_out)):
            np.testing.assert_allclose(truth.answers(mean_pmf), mean_pmf, atol=30 * doubt**0.5)
