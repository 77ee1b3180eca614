import numpy as np
import pytest

from probforest.datasets import add_noise, flip_labels, make_two_classes, remove_cells, switch_probabilities


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


def relative_errors(**options):
    X = np.random.default_rng(0).normal(3.0, 1.0, size=(600, 8))
    return add_noise(X, 2.0, random_state=1, **options).X_err / X.std(axis=0)


def test_constant_noise_is_the_same_everywhere():
    np.testing.assert_allclose(relative_errors(case="constant"), 2.0)


def test_groups_have_noisy_features_of_their_own():
    group = np.arange(600) % 3
    errors = relative_errors(case="groups", groups=group)
    for g in range(3):
        assert np.linalg.matrix_rank(errors[group == g], tol=1e-8) == 1
    assert np.linalg.matrix_rank(errors, tol=1e-8) == 3
    assert np.linalg.matrix_rank(relative_errors(case="groups", groups=4), tol=1e-8) == 4
    names = np.array(["a", "b", "c"])[group]
    np.testing.assert_array_equal(relative_errors(case="groups", groups=names), errors)


def test_noise_of_whole_features():
    errors = relative_errors(case="groups", groups=np.arange(600) >= 300, noisy_share=0.4, per_object=False)
    assert set(np.unique(errors.round(9))) == {0.0, 2.0}
    assert (errors[:300] == errors[0]).all()
    assert (errors[300:] == errors[300]).all()
    assert (errors[0] != errors[300]).any()


def test_spread_of_magnitudes():
    X = np.array([[-1.0], [1.0], [-3.0], [3.0]])
    np.testing.assert_allclose(add_noise(X, 1, case="constant", spread="magnitudes").X_err, np.abs(X).std())


def test_simple_classes_have_no_wrong_label_and_one_cluster():
    X, y = make_two_classes(300, random_state=0, simple=True)
    assert X.shape == (300, 15)
    assert abs(y.mean() - 0.5) < 0.01


@pytest.mark.parametrize(
    ("kind", "wrong", "low", "high", "mean"),
    [
        ("uniform", 0.45, 0, 0.9, 0.45),
        ("upper", 0.4, 0.3, 0.5, 0.4),
        ("upper", 0.1, 0, 0.2, 0.1),
        ("constant", 0.3, 0.3, 0.3, 0.3),
        ("clean", 0.4, 0, 0.4, 0.36),
        ("authors", 0.25, 0, 0.5, 0.225),
    ],
)
def test_switch_probabilities(kind, wrong, low, high, mean):
    found = switch_probabilities(20_000, wrong, kind, random_state=0)
    assert low <= found.min()
    assert found.max() <= high
    assert found.mean() == pytest.approx(mean, abs=0.01)
    if kind in ("clean", "authors"):
        assert (found == 0).mean() >= 0.09


def test_removed_cells():
    X = np.arange(1000.0).reshape(100, 10)
    found = remove_cells(X, 0.3, random_state=0)
    assert np.isnan(found).sum() == 300
    kept = ~np.isnan(found)
    np.testing.assert_array_equal(found[kept], X[kept])
    assert not np.isnan(X).any()


def test_bad_input():
    with pytest.raises(ValueError, match="one group for each of the 2 objects"):
        add_noise([[1.0], [2.0]], 1, case="groups", groups=[0, 1, 2])
    for options in ({"groups": 3}, {"case": "cells", "noisy_share": 0.5}, {"case": "constant", "per_object": False}):
        with pytest.raises(ValueError, match=r"Leave (it|them) out"):
            add_noise([[1.0], [2.0]], 1, **options)
    with pytest.raises(ValueError, match="groups must be"):
        add_noise([[1.0], [2.0]], 1, case="groups", groups=0)
    with pytest.raises(ValueError, match="spread must be one of"):
        add_noise([[1.0]], 1, spread="range")
    with pytest.raises(ValueError, match="noisy_share must be"):
        add_noise([[1.0]], 1, noisy_share=2)
    with pytest.raises(ValueError, match="kind must be one of"):
        switch_probabilities(3, 0.1, "some")
    with pytest.raises(ValueError, match="wrong must be"):
        switch_probabilities(3, 0.6)
    with pytest.raises(ValueError, match="share must be"):
        remove_cells([[1.0]], 2)
    with pytest.raises(ValueError, match="level must be"):
        add_noise([[1.0]], -1)
    with pytest.raises(ValueError, match="case must be one of"):
        add_noise([[1.0]], 1, case="rows")
    with pytest.raises(ValueError, match="between 0 and 1"):
        flip_labels([0, 1], 2.0)
    with pytest.raises(ValueError, match="two classes"):
        flip_labels([1, 1], 0.5)
