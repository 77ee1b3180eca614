import numpy as np
import pandas as pd
import pytest

from probforest.inputs.labels import read_labels


def test_hard_labels():
    table = read_labels(["b", "a", "b"], None, None, 3)
    assert table.classes.tolist() == ["a", "b"]
    np.testing.assert_array_equal(table.class_index, [1, 0, 1])
    assert table.pmf is None  # no table of zeros and ones
    np.testing.assert_array_equal(table.information, 1)
    assert len(table.for_kernels().columns) == 0


def test_confidence_shares_the_rest_evenly():
    table = read_labels([0, 1, 2], [0.7, 1.0, 0.4], None, 3)
    np.testing.assert_allclose(table.pmf, [[0.7, 0.15, 0.15], [0, 1, 0], [0.3, 0.3, 0.4]])
    np.testing.assert_array_equal(table.class_index, [0, 1, 2])


def test_classes_name_more_than_the_labels_have():
    table = read_labels(["b", "b"], [0.8, 1.0], ["c", "b", "a"], 2)
    assert table.classes.tolist() == ["a", "b", "c"]
    np.testing.assert_allclose(table.pmf, [[0.1, 0.8, 0.1], [0, 1, 0]])


@pytest.mark.parametrize("as_frame", [False, True])
def test_probability_matrix_is_sorted_by_class(as_frame):
    pmf, names = np.array([[0.2, 0.5, 0.3]]), ["star", "galaxy", "quasar"]
    given = pd.DataFrame(pmf, columns=names) if as_frame else pmf
    table = read_labels(None, given, None if as_frame else names, 1)
    assert table.classes.tolist() == ["galaxy", "quasar", "star"]
    np.testing.assert_allclose(table.pmf, [[0.5, 0.3, 0.2]])


def test_hard_probabilities_are_hard_labels():
    table = read_labels(None, [[0.0, 1.0], [1.0, 0.0]], ["a", "b"], 2)
    assert table.pmf is None
    np.testing.assert_array_equal(table.class_index, [1, 0])


def test_probabilities_of_another_thing_than_the_label_are_noticed():
    with pytest.warns(UserWarning, match="another class more probable than y for 67% of the objects"):
        read_labels([0, 0, 1], [0.1, 0.2, 0.9], None, 3)
    with pytest.warns(UserWarning, match="another class more probable"):
        read_labels([0, 0, 1], [[0.1, 0.9], [0.1, 0.9], [0.3, 0.7]], None, 3)


def test_labels_beside_a_matrix_name_its_classes():
    table = read_labels(["b", "a"], [[0.9, 0.1], [0.9, 0.1]], None, 2)
    assert table.classes.tolist() == ["a", "b"]
    np.testing.assert_allclose(table.pmf[:, 0], 0.9)


def test_rounded_rows_are_accepted_and_made_exact():
    table = read_labels(None, [[0.3333333, 0.3333333, 0.3333333]], [0, 1, 2], 1)
    assert table.pmf.sum() == pytest.approx(1, abs=1e-15)


def test_information():
    pmf = [[1, 0, 0], [1 / 3, 1 / 3, 1 / 3], [0.5, 0.5, 0], [0.6, 0.2, 0.2]]
    found = read_labels(None, pmf, [0, 1, 2], 4).information
    np.testing.assert_allclose(found, [1, 0, 0.25, (3 * 0.44 - 1) / 2], atol=1e-15)
    assert found[1] == 0
    assert read_labels([7, 7], None, None, 2).information.tolist() == [1, 1]


def test_class_weights_multiply_the_class_masses():
    table = read_labels(None, [[0.9, 0.1], [0.2, 0.8]], [0, 1], 2)
    weighted, factor = table.reweighted(np.array([1.0, 3.0]))
    np.testing.assert_allclose(weighted.pmf * factor[:, None], table.pmf * [1, 3])
    np.testing.assert_allclose(weighted.pmf.sum(axis=1), 1)


def test_probabilities_of_one_class_are_noticed_though_most_labels_agree():
    """The probability of being a planet, given for stars as well: right for planets, wrong for stars."""
    y = np.array(["planet"] * 30 + ["star"] * 20)
    probability_of_a_planet = np.array([0.9] * 30 + [0.1] * 20)
    with pytest.warns(UserWarning, match="100% of the objects whose label is 'star'"):
        read_labels(y, probability_of_a_planet, None, 50)


@pytest.mark.parametrize("kind", ["numpy", "astropy"])
def test_what_lies_below_a_mask_is_no_label(kind):
    y, mask = np.array([0, 1, 99, 1]), np.array([False, False, True, False])
    if kind == "numpy":
        masked, without = np.ma.MaskedArray(y, mask=mask), np.ma.MaskedArray(y[:2])
    else:
        table = pytest.importorskip("astropy.table")
        masked, without = table.MaskedColumn(y, mask=mask), table.MaskedColumn(y[:2], mask=mask[:2])
    with pytest.raises(ValueError, match="y is masked at row 2; every object needs a label"):
        read_labels(masked, None, None, 4)
    assert read_labels(without, None, None, 2).classes.tolist() == [0, 1]
