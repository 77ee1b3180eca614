"""Copies between layouts, beside plain ones."""

import numpy as np
import pytest

from probforest.support.block_copy import copy_in_blocks, row_by_row, side_by_side


@pytest.mark.parametrize("shape", [(0, 0), (3, 0), (1, 1), (2, 255), (3, 256), (5, 257), (4, 1000)])
def test_copies_are_the_same_in_every_layout(shape):
    table = np.random.default_rng(0).normal(size=shape)
    for source in (table, np.asfortranarray(table), np.repeat(table, 2, axis=1)[:, ::2]):
        copy = row_by_row(source)
        np.testing.assert_array_equal(copy, table)
        assert copy.flags.c_contiguous
        assert not np.shares_memory(copy, source)
        np.testing.assert_array_equal(side_by_side(source, table, -source), np.stack([table, table, -table], axis=2))
        assert side_by_side(source, table, n_more=2).shape == (*shape, 4)
        among_others = np.full((*shape[::-1], 3), 7.0)
        copy_in_blocks(source, among_others[:, :, 1].T)
        np.testing.assert_array_equal(among_others[:, :, 1], table.T)
        assert (among_others[:, :, [0, 2]] == 7.0).all()
