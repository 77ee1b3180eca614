"""Cells without a family, one object after the other."""

import numpy as np
import pytest

from probforest.features.tabulated_cells import forms_of_samples, in_order_of_cells


def draws_with_gaps(n=40, d=3, m=8):
    random = np.random.default_rng(0)
    draws = random.normal(size=(n, d, m)).round(1)
    draws[random.random(draws.shape) < 0.3] = np.nan
    draws[random.random((n, d)) < 0.3] = np.nan
    return draws


def test_each_cell_is_as_if_it_were_alone(monkeypatch):
    draws = draws_with_gaps()
    before = draws.copy()
    monkeypatch.setattr("probforest.features.tabulated_cells._BLOCK", 7)
    sampled, forms = forms_of_samples(draws)
    np.testing.assert_array_equal(draws, before)
    np.testing.assert_array_equal(sampled, ~np.isnan(draws).all(axis=2))
    for number, (i, j) in enumerate(np.argwhere(sampled)):
        _, alone = forms_of_samples(draws[i : i + 1, j : j + 1])
        for part, of_one in zip(forms, alone, strict=True):
            np.testing.assert_array_equal(part[number], of_one[0])


def test_draws_that_lie_in_memory_in_another_order():
    draws = draws_with_gaps()
    for part, other in zip(forms_of_samples(draws)[1], forms_of_samples(np.copy(draws, order="F"))[1], strict=True):
        np.testing.assert_array_equal(part, other)


def test_minus_zero_is_zero():
    _, forms = forms_of_samples(np.array([[[0.0, -0.0, -0.0]], [[-0.0, 0.0, 1.0]]]))
    assert not np.signbit(np.concatenate(forms[:3])).any()


@pytest.mark.parametrize("order", [[[0, 1], [-1, 2]], [[1, 0], [2, -1]], [[2, -1], [-1, 2]], [[-1, -1]]])
def test_tables_lie_in_the_order_of_their_cells(order):
    tables, index = np.arange(3.0)[:, None] + np.zeros(33), np.array(order)
    found, of_cells = in_order_of_cells(tables, index)
    own = index >= 0
    np.testing.assert_array_equal(of_cells >= 0, own)
    np.testing.assert_array_equal(of_cells[own], np.arange(own.sum()))
    np.testing.assert_array_equal(found[of_cells[own]], tables[index[own]])
