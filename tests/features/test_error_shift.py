"""Errors of a table beside those of the training set."""

import numpy as np
import pytest

from probforest.features.error_shift import ErrorShift, find_shifts, has_far_errors, shift_note
from probforest.features.error_spread import LEVELS, learn_error_spreads
from probforest.features.measurements import read_measurements


def compare(trained, asked, *, strict=True):
    """Compare errors (n, d) or (n,) with others."""
    trained, asked = (np.asarray(each, dtype=float).reshape(len(each), -1) for each in (trained, asked))
    spreads = learn_error_spreads(read_measurements(np.zeros(trained.shape), trained), np.ones(len(trained)))
    names = [f"error of x{spread.feature}" for spread in spreads]
    return find_shifts(spreads, names, read_measurements(np.zeros(asked.shape), asked), strict=strict)


def log_normal(seed, n, spread=0.5, median=0.1):
    return median * 10.0 ** np.random.default_rng(seed).normal(0, spread, n)


def naive_distance(trained, asked, tolerance):
    """Kolmogorov's distance, on a fine grid, of tables with a tolerance; NaN counts as larger than any other."""
    trained, asked = (np.where(np.isnan(each), np.inf, np.log10(each)) for each in (trained, asked))
    known = np.concatenate([trained[np.isfinite(trained)], asked[np.isfinite(asked)]])
    grid = np.concatenate(
        [known, np.nextafter(known, -np.inf), known + tolerance, known - tolerance, [known.max() + 9]]
    )

    def share(values, at):
        return (values[None, :] <= at[:, None]).mean(axis=1)

    too_many = share(asked, grid) - share(trained, grid + tolerance)
    too_few = share(trained, grid - tolerance) - share(asked, grid)
    return max(0.0, too_many.max(), too_few.max(), abs(np.isinf(trained).mean() - np.isinf(asked).mean()))


@pytest.mark.parametrize("seed", range(12))
def test_the_distance_is_that_of_a_naive_comparison(seed):
    random = np.random.default_rng(seed)
    trained = log_normal(seed, 500, spread=0.4)
    asked = log_normal(seed + 100, 80, spread=random.uniform(0.1, 1), median=0.1 * 10 ** random.uniform(-0.5, 0.5))
    trained[random.random(500) < 0.2], asked[random.random(80) < random.uniform(0, 0.5)] = np.nan, np.nan
    (shift,) = compare(trained, asked)
    expected = naive_distance(trained, asked, 0.1)
    # The quantiles of the training set are known to 1/64 of its known errors.
    assert expected - 1 / 64 - 1e-9 <= shift.distance <= expected + 1e-9
    assert shift.unknown == pytest.approx(np.isnan(asked).mean())
    assert shift.unknown_in_training == pytest.approx(np.isnan(trained).mean())


def test_levels_rise_and_have_the_places_that_are_named():
    from probforest.features.error_spread import ABOVE, BELOW, HIGH, LOW, MEDIAN

    assert (np.diff(LEVELS) > 0).all()
    assert LEVELS[[LOW, BELOW, MEDIAN, ABOVE, HIGH]].tolist() == [0.01, 10 / 64, 0.5, 54 / 64, 0.99]


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("n", [1, 3, 10, 50, 1000])
def test_the_same_errors_give_no_alarm(strict, n):
    """Also if they are constant, or few different ones, or rounded, or in a unit that was converted."""
    trained = log_normal(0, 1000)
    for errors in (
        trained,
        np.full(1000, 0.1),
        np.round(trained, 2),
        np.random.default_rng(0).choice([0, 0.1, 0.3], 1000),
    ):
        for asked in (errors[:n], errors[:n] * 1.01, errors[:n] * 3600 / 3600.0000001):
            assert not any(shift.is_shifted for shift in compare(errors, asked, strict=strict))


def test_false_alarms_are_rare():
    """Halves of the same table, of many columns that all follow each other, as those of a catalogue do."""
    alarms, n_tables = 0, 0
    for seed in range(150):
        random = np.random.default_rng(seed)
        n = int(10 ** random.uniform(1.3, 3.3))
        brightness = random.normal(0, 1, (n, 1))
        errors = 10.0 ** (0.3 * brightness + random.normal(0, random.uniform(0.02, 0.5), (n, 20)))
        errors[random.random((n, 20)) < 0.05] = np.nan
        half = random.permutation(n) < n // 2
        alarms += any(shift.is_shifted for shift in compare(errors[half], errors[~half]))
        n_tables += 1
    assert alarms <= 0.02 * n_tables


@pytest.mark.parametrize("seed", range(20))
def test_errors_that_grew_are_noticed(seed):
    """By √5, as of values with noise of twice their errors; and by √2."""
    trained, asked = log_normal(seed, 1000), log_normal(seed + 1000, 300)
    (shift,) = compare(trained, np.sqrt(5) * asked)
    assert shift.is_shifted
    assert 1.6 < shift.ratio < 3.1
    narrow, narrower = log_normal(seed, 1000, spread=0.1), log_normal(seed + 1000, 300, spread=0.1)
    assert compare(narrow, np.sqrt(2) * narrower)[0].is_shifted


def test_a_few_objects_say_something_only_if_they_lie_far_outside():
    trained = log_normal(0, 1000)
    largest, smallest = trained.max(), trained.min()
    for n in (1, 2, 5):
        assert not any(shift.is_shifted for shift in compare(trained, np.full(n, 1.5 * largest)))
        assert all(shift.is_shifted for shift in compare(trained, np.full(n, 2.5 * largest)))
        assert all(shift.is_shifted for shift in compare(trained, np.full(n, smallest / 2.5)))
        assert all(shift.is_shifted for shift in compare(trained, np.zeros(n)))
        assert not any(shift.is_shifted for shift in compare(trained, np.full(n, np.nan)))
    assert compare(trained, np.full(30, np.nan))[0].is_shifted


def test_without_error_features_only_what_lies_far_outside_counts():
    trained = log_normal(0, 1000, spread=0.2)
    for factor, is_far in ((2.0, False), (0.4, False), (30.0, True), (0.01, True), (0.0, False)):
        assert compare(trained, factor * trained[:100], strict=False)[0].is_shifted == is_far
    assert not compare(trained, 30 * trained[:9], strict=False)[0].is_shifted
    wide = log_normal(0, 1000, spread=1.0)
    assert not compare(wide, 5 * wide[:100], strict=False)[0].is_shifted  # within what the training set has


def test_no_errors_at_all_are_others():
    trained = log_normal(0, 100)
    spreads = learn_error_spreads(read_measurements(np.zeros((100, 1)), trained[:, None]), np.ones(100))
    exact = read_measurements(np.zeros((3, 1)))
    assert find_shifts(spreads, ["error of x0"], exact, strict=True)[0].is_shifted
    assert not find_shifts(spreads, ["error of x0"], exact, strict=False)[0].is_shifted
    assert find_shifts((), [], exact, strict=True) == ()


def test_a_column_without_values_is_not_judged():
    trained = log_normal(0, 100)
    spreads = learn_error_spreads(read_measurements(np.zeros((100, 1)), trained[:, None]), np.ones(100))
    empty = read_measurements(np.full((50, 1), np.nan), 9.0)
    (shift,) = find_shifts(spreads, ["error of x0"], empty, strict=True)
    assert (shift.n_objects, shift.is_shifted) == (0, False)
    assert shift.as_dict()["ratio"] is None


def test_the_order_of_rows_does_not_matter():
    """Up to 20,000 rows; of more, some evenly distributed ones are compared."""
    trained, asked = log_normal(0, 1000), 1.7 * log_normal(1, 500)
    order = np.random.default_rng(0).permutation(500)
    assert compare(trained, asked) == compare(trained, asked[order])
    large = np.sort(log_normal(2, 50_000))
    (shift,) = compare(trained, large)
    assert shift.n_objects == 16_667
    assert not shift.is_shifted


def shift(**changed):
    return ErrorShift("error of mag", 100, 0.5, 2.236, 0.0, 0.0, True)._replace(**changed)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({}, "2.2 times those of the training set"),
        ({"ratio": 1000.0}, "1.0e+03 times those of the training set"),
        ({"ratio": 0.0}, "mostly 0, which they rarely are in the training set"),
        ({"ratio": np.inf}, "rarely 0, which they mostly are in the training set"),
        ({"ratio": 1.0}, "distributed differently, with the same median as in the training set"),
        ({"unknown": 0.52, "unknown_in_training": 0.02}, "not known for 52% of the values, 2% in the training set"),
    ],
)
def test_in_words(changed, words):
    assert shift(**changed).in_words() == words


def test_the_note_names_the_worst_columns():
    shifts = [shift(name=f"error of x{j}") for j in range(5)]
    note = shift_note(shifts, "Look out.")
    assert "error of x0: 2.2 times those of the training set; error of x1" in note
    assert "; and 2 more)" in note
    assert "x3" not in note
    assert note.endswith("). Look out.")


@pytest.mark.parametrize("kind", ["plain", "unknown", "two sides", "limits", "samples", "exact", "few", "zeros"])
def test_far_errors_are_those_that_a_comparison_finds(kind):
    """The quick answer is that of all columns compared in full, whatever the factor of the errors."""
    random = np.random.default_rng(1)
    n_objects = 9 if kind == "few" else 41_000 if kind == "plain" else 300  # of the first, some are left out
    trained = log_normal(0, 900).reshape(300, 3)
    two_sides = kind == "two sides"
    errors_of_training = (trained, 1.2 * trained) if two_sides else trained
    spreads = learn_error_spreads(read_measurements(np.zeros(trained.shape), errors_of_training), np.ones(300))
    names = [f"error {place}" for place in range(len(spreads))]
    found = []
    for factor in 10.0 ** np.linspace(-3, 3, 13):
        errors, further = log_normal(2, 3 * n_objects).reshape(n_objects, 3), {}
        errors[:, 1] *= factor
        if kind == "unknown":
            errors[random.random(errors.shape) < 0.3] = np.nan
            errors[:, 0] = np.nan
        elif kind == "limits":
            further["X_limit"] = np.where(random.random(errors.shape) < 0.5, 1, 0)
        elif kind == "samples":
            further["X_samples"] = np.where(
                random.random((n_objects, 3, 1)) < 0.5, random.random((n_objects, 3, 5)), np.nan
            )
        elif kind == "zeros":
            errors[:, 1] = 0.0
        X = np.where(random.random(errors.shape) < 0.1, np.nan, 1.0)
        asked = read_measurements(X, None if kind == "exact" else (errors, errors) if two_sides else errors, **further)
        expected = any(shift.is_shifted for shift in find_shifts(spreads, names, asked, strict=False))
        assert has_far_errors(spreads, asked) == expected
        found.append(expected)
    assert found[6] is False
    assert any(found) == (kind not in ("exact", "few", "zeros"))
