import numpy as np
import pytest

from probforest.features.measurements import read_measurements

NAN = np.nan


def test_values_and_errors_are_stored_by_feature():
    found = read_measurements(np.array([[1.0, 2.0], [3.0, NAN], [5.0, 6.0]]), [[0.1, 0.2], [NAN, 0.4], [np.inf, 0.0]])
    np.testing.assert_array_equal(found.center, [[1, 3, NAN], [2, NAN, 6]])
    np.testing.assert_array_equal(found.lower, [[0.1, NAN, NAN], [0.2, NAN, 0.0]])


def test_no_errors():
    found = read_measurements(np.ones((3, 2)), None)
    assert found.is_exact
    assert found.into_cells().values.shape == (3, 2, 1)
    assert np.isnan(found.median_errors(np.ones(3))).all()


def test_inverse_scale_of_exact_values_is_infinite():
    table = read_measurements(np.ones((2, 2)), [[0.0, 0.5], [2.0, 4.0]])
    np.testing.assert_array_equal(table.into_cells().values[:, :, 1], [[np.inf, 2.0], [0.5, 0.25]])


def test_cells_know_whether_they_are_complete():
    assert read_measurements(np.ones((2, 2)), 0.1).into_cells().complete
    assert not read_measurements(np.array([[1.0, NAN]]), None).into_cells().complete
    assert not read_measurements(np.ones((1, 2)), [[0.1, np.inf]]).into_cells().complete


@pytest.mark.parametrize("errors", [[1, 2, 10], [1, 2, 3, 10], [5], [1, 1, 1, 2]])
def test_median_error_is_that_of_numpy_and_counts_weights_as_rows(errors):
    values = np.ones((len(errors), 1))
    table = read_measurements(values, np.array(errors, dtype=float)[:, None])
    assert table.median_errors(np.ones(len(errors)))[0] == np.median(errors)
    weight = np.arange(len(errors))[::-1] + 1
    assert table.median_errors(weight.astype(float))[0] == np.median(np.repeat(errors, weight))


def test_median_error_knows_only_known_errors_of_observed_values():
    table = read_measurements(np.array([[1.0], [NAN], [2.0], [3.0], [4.0]]), [[1.0], [100.0], [NAN], [3.0], [7.0]])
    assert table.median_errors(np.ones(5))[0] == 3
    assert table.median_errors(np.array([1.0, 1, 1, 1, 0]))[0] == 2  # an object without weight does not count


def test_unknown_errors_take_the_median_they_are_given():
    table = read_measurements(np.array([[1.0], [2.0]]), [[NAN], [3.0]])
    np.testing.assert_array_equal(table.with_errors_known("median", np.array([9.0])).lower, [[9, 3]])
    np.testing.assert_array_equal(table.with_errors_known("exact", np.array([NAN])).lower, [[0, 3]])


def test_first_offender_is_found_row_by_row():
    table = np.zeros((4, 3))
    table[3, 0] = table[1, 2] = np.inf
    with pytest.raises(ValueError, match="row 1, column 2"):
        read_measurements(table, None)
