import numpy as np

from probforest.kernels.dice import draw_below


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
