import numpy as np
import pytest

from probforest.datasets import add_noise, flip_labels, make_two_classes


def test_data_of_the_paper():
    X, y = make_two_classes(500, random_state=3)
    assert X.shape == (500, 15)
    again, _ = make_two_classes(500, random_state=3)
    np.testing.assert_array_equal(X, again)
    assert set(y) == {0, 1}


@pytest.mark.parametrize("case", ["objects", "cells"])
def test_noise_has_the_size_of_its_errors(case):
    X, _ = make_two_classes(4000, random_state=0)
    before = X.copy()
    noisy = add_noise(X, 2.0, case=case, random_state=0)
    np.testing.assert_array_equal(X, before)
    z = (noisy.X - X) / noisy.X_err
    assert z.std() == pytest.approx(1, abs=0.02)
    assert z.mean() == pytest.approx(0, abs=0.02)
    relative = noisy.X_err / X.std(axis=0)
    assert 1.8 * (case == "cells") < relative.max() <= 2.0
    # a coefficient per object times one per feature is a matrix of rank one
    singular = np.linalg.svd(relative, compute_uv=False)
    assert (singular[1] / singular[0] < 1e-10) == (case == "objects")


def test_no_noise():
    X, _ = make_two_classes(50, random_state=0)
    np.testing.assert_array_equal(add_noise(X, 0).X, X)


def test_flipped_labels_are_wrong_as_often_as_they_say():
    y = np.arange(9000) % 3
    labels = flip_labels(y, np.where(np.arange(9000) < 4500, 0.0, 0.4), random_state=0)
    wrong = labels.y != y
    assert not wrong[:4500].any()
    assert wrong[4500:].mean() == pytest.approx(0.4, abs=0.03)
    np.testing.assert_allclose(np.bincount((labels.y - y)[wrong] % 3)[1:] / wrong.sum(), 0.5, atol=0.03)
    np.testing.assert_allclose(np.unique(labels.confidence), [0.6, 1.0])


def test_bad_input():
    with pytest.raises(ValueError, match="level must be"):
        add_noise([[1.0]], -1)
    with pytest.raises(ValueError, match="case must be one of"):
        add_noise([[1.0]], 1, case="rows")
    with pytest.raises(ValueError, match="between 0 and 1"):
        flip_labels([0, 1], 2.0)
    with pytest.raises(ValueError, match="two classes"):
        flip_labels([1, 1], 0.5)
