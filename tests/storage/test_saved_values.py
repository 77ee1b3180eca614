import json
import math
from types import MappingProxyType

import numpy as np
import pytest

from probforest import Errors
from probforest.storage.saved_values import check_sizes, from_json, to_json

VALUES = [
    None,
    True,
    0,
    -(10**40),
    0.1,
    5e-324,
    math.inf,
    -math.inf,
    "",
    "ü\ud800\0",
    [],
    (),
    {},
    [1, (2, [3, ("a",)])],
    {"a": {"b": [None]}},
    {"$tuple": [1]},
    {"a": 1, "$": 2},
    {1: "a", (2, 3): "b", None: "c", False: "d"},
    Errors("a", "b", "c"),
    {"x": Errors(limit="l")},
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_values_come_back(value):
    found = from_json(json.loads(json.dumps(to_json(value, "it"), allow_nan=False)))
    assert found == value
    assert repr(found) == repr(value)  # also the types, and the order of keys


def test_what_is_no_number_is_none_again():
    assert math.isnan(from_json(to_json(math.nan, "it")))
    assert str(from_json(to_json(-0.0, "it"))) == "-0.0"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.float32(0.1), float(np.float32(0.1))),
        (np.int8(3), 3),
        (np.True_, True),
        (np.str_("a"), "a"),
        ({np.str_("a"): np.float64(1)}, {"a": 1.0}),
        (MappingProxyType({"a": 1}), {"a": 1}),
    ],
)
def test_values_of_other_types_become_plain(value, expected):
    assert repr(from_json(to_json(value, "it"))) == repr(expected)


@pytest.mark.parametrize(
    "array",
    [
        np.array([1.5, np.nan, np.inf]),
        np.array([[1, 2]], dtype=np.uint8),
        np.array([0.1], dtype=np.float32),
        np.array([True, False]),
        np.array(["a", "bcd"]),
        np.array(["a"], dtype="<U9"),
        np.array([1, "a", None, 2.5, True], dtype=object),
        np.empty((0, 3)),
        np.array(3.5),
    ],
    ids=repr,
)
def test_arrays_come_back(array):
    found = from_json(json.loads(json.dumps(to_json(array, "it"))))
    assert (found.dtype, found.shape) == (array.dtype, array.shape)
    np.testing.assert_array_equal(found, array)


def test_random_states_go_on():
    generator = np.random.RandomState(3)
    generator.normal(size=3)  # one is kept for the next time
    twin = from_json(json.loads(json.dumps(to_json(generator, "it"))))
    np.testing.assert_array_equal(twin.normal(size=2000), generator.normal(size=2000))


@pytest.mark.parametrize("value", [object(), {1, 2}, b"bytes", 1j, np.datetime64("2020"), np.array([b"a"]), len])
def test_other_values_are_refused_by_name(value):
    with pytest.raises(ValueError, match=r"The parameter p has .* can't be saved"):
        to_json({"a": [value]}, "The parameter p")


@pytest.mark.parametrize(
    "data",
    [
        {"$unknown": 1},
        {"$tuple": 3},
        {"$float": "1"},
        {"$map": [[[], 1]]},
        {"$errors": [1, 2, 3]},
        {"$array": {"dtype": "O", "shape": [3], "items": []}},
        {"$array": {"dtype": "V8", "shape": [1], "items": [1]}},
        {"$array": {"dtype": "<U100000000", "shape": [1], "items": ["a"]}},
        {"$array": {"dtype": "<U0", "shape": [1], "items": ["a"]}},
        {"$array": {"dtype": "str", "shape": [1], "items": ["a"]}},
        {"$array": {"dtype": "<U2", "shape": [1], "items": ["abc"]}},
        {"$array": {"dtype": "f8,f8", "shape": [1], "items": [1.0]}},
        {"$array": {"dtype": 8, "shape": [1], "items": [1.0]}},
        pytest.param(
            {"$array": {"dtype": "|i1", "shape": [1], "items": [1000]}},
            marks=pytest.mark.skipif(
                np.__version__ < "2", reason="NumPy 1 warns, and takes what is left of the number"
            ),
        ),
        {"$random_state": {"key": [], "position": 0, "has_gauss": 0, "gauss": 0.0}},
        {"$random_state": {"key": [1] * 624, "position": 625, "has_gauss": 0, "gauss": 0.0}},
        {"$random_state": {"key": [1] * 624, "position": -1, "has_gauss": 0, "gauss": 0.0}},
    ],
)
def test_what_is_no_value_is_refused(data):
    with pytest.raises((ValueError, TypeError, LookupError, OverflowError)):
        from_json(data)


def test_many_arrays_together_are_too_large():
    array = {"$array": {"dtype": "<U9999999", "shape": [1], "items": ["a"]}}
    check_sizes([array, {"x": {"$tuple": [array]}}])
    with pytest.raises(ValueError, match="would take 159,999,984 bytes"):
        check_sizes({"about": [array, {"x": {"$map": [[array, [array]], [1, array]]}}]})
