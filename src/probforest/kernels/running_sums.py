"""Sums of numbers from the first one on."""

from .jit import kernel


@kernel
def running_sums(numbers):
    """Replace numbers (n,) by their sums from the first one on. Returns that of all. Four numbers at a time: each sum
    waits for the last one."""
    count, total = numbers.shape[0], 0.0
    fours = count - count % 4
    for k in range(0, fours, 4):
        one, two, three, four = numbers[k], numbers[k + 1], numbers[k + 2], numbers[k + 3]
        numbers[k], numbers[k + 1], numbers[k + 2] = total + one, total + (one + two), total + ((one + two) + three)
        total += (one + two) + (three + four)
        numbers[k + 3] = total
    for k in range(fours, count):
        total += numbers[k]
        numbers[k] = total
    return total
