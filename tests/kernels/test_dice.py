import numpy as np
import pytest

from probforest.families import CHUNK
from probforest.kernels.dice import draw_below, draw_points, first_numbers


def test_draws_are_even_and_reproducible():
    state = np.array([12345], dtype=np.int64)
    draws = np.array([draw_below(state, 5) for _ in range(5000)])
    counts = np.bincount(draws, minlength=5)
    assert len(counts) == 5
    assert np.abs(counts - 1000).max() < 150
    again = np.array([12345], dtype=np.int64)
    assert [draw_below(again, 5) for _ in range(20)] == draws[:20].tolist()


def test_state_stays_within_32_bits_and_is_never_zero():
    for seed in (1, 2**31, 2**32 - 1):
        state = np.array([seed], dtype=np.int64)
        for _ in range(200):
            draw_below(state, 3)
            assert 0 < state[0] < 2**32


def test_grid_points_are_drawn_with_their_probabilities():
    chunk = np.array([0.00135, 0.0214, 0.1359, 0.3413, 0.3413, 0.1359, 0.02285])
    codes = np.tile(np.arange(8, dtype=np.uint8), (2000, 50, 1))
    drawn, state = np.empty((2000, 50, 1), dtype=np.uint8), np.array([9], dtype=np.uint64)
    whole = np.zeros(50, dtype=np.int64)
    draw_points(codes, 255, first_numbers(chunk), whole, whole, state, drawn)
    counts = np.bincount(drawn.ravel(), minlength=7)
    assert len(counts) == 7  # never the unused slot
    spread = np.sqrt(100_000 * chunk * (1 - chunk))
    assert (np.abs(counts - 100_000 * chunk) < 4 * spread + 2).all()
    # neighbours, which share a number of 64 bits, and rows are independent
    first, second, below = drawn[:-1, :-1, 0].ravel(), drawn[:-1, 1:, 0].ravel(), drawn[1:, :-1, 0].ravel()
    assert max(abs(np.corrcoef(first, other)[0, 1]) for other in (second, below)) < 4 / np.sqrt(len(first))


def test_other_states_draw_other_points_and_missing_cells_stay():
    codes = np.tile(np.arange(8, dtype=np.uint16), (100, 3, 1))
    codes[:, 1] = 65_535
    draws = []
    for seed in (5, 5, 6):
        drawn = np.empty((100, 3, 1), dtype=np.uint16)
        even, whole = first_numbers(np.full(7, 1 / 7)), np.zeros(3, dtype=np.int64)
        draw_points(codes, 65_535, even, whole, whole, np.array([seed], dtype=np.uint64), drawn)
        assert (drawn[:, 1] == 65_535).all()
        draws.append(drawn)
    np.testing.assert_array_equal(draws[0], draws[1])
    assert (draws[0] != draws[2]).any()


def drawn_one_by_one(codes, missing_code, chunk, shift, offset, x):
    """Four cells for each step of the generator, 13 bits of every 16 for each."""
    drawn, edges = np.empty(codes.shape[:2], dtype=codes.dtype), np.cumsum(chunk)[:-1]
    for cell in range(drawn.size):
        if cell % 4 == 0:
            x ^= (x << 13) % 2**64
            x ^= x >> 7
            x ^= (x << 17) % 2**64
        i, j = divmod(cell, codes.shape[1])
        number = (x >> (16 * (cell % 4))) % 2**13
        code = int(codes[i, j, np.searchsorted(edges, (number + 0.5) / 2**13)])
        drawn[i, j] = missing_code if code == missing_code else (code + int(offset[j])) >> int(shift[j])
    return drawn, x


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@pytest.mark.parametrize(("n", "d"), [(1, 1), (5, 3), (1501, 1), (150, 15), (7, 301)])
def test_blocks_of_cells_are_those_that_are_drawn_one_by_one(n, d, dtype):
    random, missing_code = np.random.default_rng(n), np.iinfo(dtype).max
    codes = np.sort(random.integers(0, missing_code, (n, d, 8)), axis=2).astype(dtype)
    codes[random.random((n, d)) < 0.1] = missing_code
    shift = random.integers(0, 4, d)
    offset = random.integers(0, 8, d) % (1 << shift)
    expected, after = drawn_one_by_one(codes, missing_code, CHUNK, shift, offset, 12345)
    drawn, state = np.empty((n, d, 1), dtype=dtype), np.array([12345], dtype=np.uint64)
    draw_points(codes, missing_code, first_numbers(CHUNK), shift, offset, state, drawn)
    np.testing.assert_array_equal(drawn[:, :, 0], expected)
    assert state[0] == after
