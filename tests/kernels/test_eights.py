"""Operations on eight numbers at once, beside NumPy's."""

import numba
import numpy as np
import pytest

from probforest.kernels import eights
from probforest.kernels.cache import compiler_is_off
from probforest.kernels.eights import (
    EIGHT,
    above,
    at_least,
    below,
    equal,
    following,
    larger,
    load_indices,
    load_numbers,
    load_words,
    magnitude,
    n_chosen,
    negative,
    product,
    rest,
    select,
    smaller,
    write,
    write_in_turn,
)
from probforest.kernels.jit import kernel

ALL = np.uint8(255)


@kernel
def calculate(x, y, k, chosen, out):
    a, b = load_numbers(x, k), load_numbers(y, k)
    write(rest(a), ALL, out[0], 0)
    write(product(a, b), ALL, out[1], 0)
    write(larger(a, b), ALL, out[2], 0)
    write(smaller(a, b), ALL, out[3], 0)
    write(magnitude(a), ALL, out[4], 0)
    write(select(chosen, a, b), ALL, out[5], 0)


@kernel
def keep_indices(indices, k, x, chosen, out, numbers, end):
    write(load_indices(indices, k), chosen, out, end)
    write(at_least(load_numbers(x, k), 0.5), ALL, numbers, 0)


@kernel
def compare(x, words, k, limit, out):
    a = load_numbers(x, k)
    out[0], out[1], out[2], out[3] = above(a, limit), below(a, limit), equal(a, limit), negative(load_words(words, k))


@kernel
def append(words, other, k, chosen, chosen_other, one, two, end):
    a, b = load_words(words, k), load_words(other, k)
    write(following(a), chosen, one, end)
    write_in_turn(a, b, chosen, chosen_other, two, end)
    return n_chosen(chosen), n_chosen(chosen) + n_chosen(chosen_other)


def bits(chosen):
    return np.packbits(chosen, bitorder="little")[0]


def numbers(seed):
    """With NaN, infinities, equal ones and both zeros; eight of them, anywhere in memory."""
    random = np.random.default_rng(seed)
    return random.choice([-1.5, -0.0, 0.0, 0.5, 1.0, 3.0, np.nan, np.inf, -np.inf, random.normal()], size=13)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("k", [0, 3, 5])
def test_numbers_are_those_of_each_lane(seed, k):
    x, y, out = numbers(seed), numbers(100 + seed), np.zeros((6, EIGHT))
    chosen = np.random.default_rng(seed).random(EIGHT) < 0.5
    calculate(x, y, k, bits(chosen), out)
    a, b = x[k : k + EIGHT], y[k : k + EIGHT]
    with np.errstate(invalid="ignore"):
        expected = 1 - a, a * b, np.where(a > b, a, b), np.where(a < b, a, b), np.abs(a), np.where(chosen, a, b)
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("seed", range(20))
def test_comparisons_set_a_bit_for_each_lane(seed):
    x, words = numbers(seed), np.random.default_rng(seed).integers(-3, 3, 13)
    out = np.zeros(4, dtype=np.uint8)
    compare(x, words, 2, 0.5, out)
    a, b = x[2:10], words[2:10]
    np.testing.assert_array_equal(out, [bits(each) for each in (a > 0.5, a < 0.5, a == 0.5, b < 0)])


@pytest.mark.parametrize("seed", range(10))
def test_indices_and_the_larger_one_of_a_number(seed):
    random = np.random.default_rng(seed)
    indices, x, chosen = random.integers(0, 2**31, 11).astype(np.int32), numbers(seed), random.random(EIGHT) < 0.6
    out, at_least_half = np.full(12, 7, dtype=np.int32), np.zeros(EIGHT)
    keep_indices(indices, 3, x, bits(chosen), out, at_least_half, np.uint64(2))
    np.testing.assert_array_equal(out[2 : 2 + chosen.sum()], indices[3:][chosen])
    assert (out[:2] == 7).all()
    assert (out[10:] == 7).all()
    np.testing.assert_array_equal(at_least_half, np.where(x[3:11] > 0.5, x[3:11], 0.5))


def check_appended(append, seed):
    random = np.random.default_rng(seed)
    words, other = random.integers(-(2**62), 2**62, (2, 11))
    chosen, chosen_other = random.random((2, EIGHT)) < random.choice([0.0, 0.2, 0.7, 1.0])
    one, two = np.full(12, 7), np.full(20, 7)
    counts = append(words, other, 3, bits(chosen), bits(chosen_other), one, two, np.uint64(2))
    expected = words[3:][chosen] + 1
    in_turn = np.stack([words[3:], other[3:]], axis=1)[np.stack([chosen, chosen_other], axis=1)]
    assert counts == (len(expected), len(in_turn))
    np.testing.assert_array_equal(one[2 : 2 + len(expected)], expected)
    np.testing.assert_array_equal(two[2 : 2 + len(in_turn)], in_turn)
    for array, room in ((one, EIGHT), (two, 2 * EIGHT)):  # nothing in front, nothing behind the room
        assert (array[:2] == 7).all()
        assert (array[2 + room :] == 7).all()


@pytest.mark.parametrize("seed", range(30))
def test_chosen_ones_are_written_one_after_the_other(seed):
    check_appended(append, seed)


@pytest.mark.skipif(compiler_is_off(), reason="nothing is compiled")
def test_processors_without_the_instruction_write_one_by_one(monkeypatch):
    monkeypatch.setattr(eights, "_has_compress", lambda context: False)
    one_by_one = numba.njit(append.py_func)
    for seed in range(30):
        check_appended(one_by_one, seed)
    assert "vcompress" not in next(iter(one_by_one.inspect_asm().values()))
