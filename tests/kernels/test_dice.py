import numpy as np

from probforest.kernels.dice import draw_below, draw_points, points_of_numbers


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
    draw_points(codes, 255, points_of_numbers(chunk), whole, whole, state, drawn)
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
        even, whole = points_of_numbers(np.full(7, 1 / 7)), np.zeros(3, dtype=np.int64)
        draw_points(codes, 65_535, even, whole, whole, np.array([seed], dtype=np.uint64), drawn)
        assert (drawn[:, 1] == 65_535).all()
        draws.append(drawn)
    np.testing.assert_array_equal(draws[0], draws[1])
    assert (draws[0] != draws[2]).any()
