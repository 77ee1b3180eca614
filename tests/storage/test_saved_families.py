import pickle

import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtr, ndtri

from probforest.families import (
    LAPLACE,
    LOGNORMAL,
    NORMAL,
    UNIFORM,
    Family,
    family_from_scipy,
    full_table,
    student_t,
)
from probforest.storage.saved_families import FamilyShelf, read_shelf, tabulated_family

GAMMA = family_from_scipy(stats.gamma(2.0))


def back(*families):
    """The families after a shelf, and their places there."""
    shelf = FamilyShelf()
    found = [shelf.place(family) for family in families]
    arrays = shelf.arrays()
    return read_shelf(shelf.entries, arrays["family_grids"], arrays["family_tables"]), found


@pytest.mark.parametrize("family", [NORMAL, LOGNORMAL, UNIFORM, LAPLACE, student_t(5.0), student_t(2.0000001)])
def test_families_with_a_name_are_themselves(family):
    for each in (family, pickle.loads(pickle.dumps(family))):
        assert back(each) == ([family], [0])
    assert back(family)[0][0] is family


@pytest.mark.parametrize(
    "family",
    [GAMMA, Family("mine", GAMMA.cdf, GAMMA.ppf, log=True), family_from_scipy(stats.t(2.5)), Family("a", ndtr, ndtri)],
    ids=lambda family: family.name,
)
def test_other_families_are_their_tables(family):
    ((found,), _) = back(family)
    assert (found.name, found.log, found.is_normal) == (family.name, family.log, family.is_normal)
    assert found.grid().tobytes() == family.grid().tobytes()
    assert full_table(found).tobytes() == full_table(family).tobytes()
    z = np.linspace(-5, 5, 1001)
    np.testing.assert_allclose(found.cdf(z), family.cdf(z), atol=1e-3)


def test_a_family_is_there_once():
    twin = family_from_scipy(stats.gamma(2.0))
    families, places = back(GAMMA, NORMAL, twin, Family("other", GAMMA.cdf, GAMMA.ppf), GAMMA)
    assert places == [0, 1, 0, 2, 0]
    assert len(families) == 3


def test_tables_are_compared_and_pickled_by_content():
    ((one,), _), ((two,), _) = back(GAMMA), back(GAMMA)
    assert one == two == pickle.loads(pickle.dumps(one))
    assert hash(one) == hash(two)
    assert back(one)[0] == [one]


@pytest.mark.parametrize(
    ("grid", "table"),
    [
        (GAMMA.grid()[::-1], full_table(GAMMA)),
        (np.full(7, np.nan), full_table(GAMMA)),
        (GAMMA.grid()[:-1], full_table(GAMMA)),
        (GAMMA.grid(), full_table(GAMMA)[:-1]),
        (GAMMA.grid(), full_table(GAMMA)[::-1]),
        (GAMMA.grid(), np.where(full_table(GAMMA) > 0.5, np.nan, full_table(GAMMA))),
        (GAMMA.grid(), 2 * full_table(GAMMA)),
    ],
)
def test_tables_that_are_no_distribution(grid, table):
    with pytest.raises(ValueError, match="does not rise"):
        tabulated_family("bad", False, False, grid, table)
