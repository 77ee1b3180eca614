"""Values that users give, such as parameters and names, as JSON and back.

Values that JSON lacks are objects with one key, a tag: `(1, nan)` is `{"$tuple": [1, {"$float": "nan"}]}`. NumPy's
scalars become Python's. Anything else raises an error when it is written.
"""

import math
import re
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import numpy as np

from ..inputs.columns import Errors

_STATE_LENGTH = 624  # numbers in the state of a Mersenne twister
_MOST_BYTES = 1 << 27  # of all arrays, which have class names, not data: short JSON must not fill the memory
_DTYPES = re.compile(r"O|\|b1|\|[iu]1|<[iu][248]|<f(?:2|4|8|12|16)|<U[1-9]\d{0,8}")
_BYTES_OF_A_LETTER = 4  # in an array
_NOT_IN_JSON = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}

Special = Callable[[Any], dict[str, Any] | None]  # JSON of a value of a kind that is not known here, or None
Reader = Callable[[Any], Any]  # makes a value of the JSON behind a tag


def to_json(value: Any, what: str, special: Special = lambda value: None) -> Any:
    """JSON from which `from_json` restores `value`; `what` names it in error messages.

    >>> to_json({"class_weight": {0: 1.5}}, "a parameter")
    {'class_weight': {'$map': [[0, 1.5]]}}
    """

    def encoded(value: Any) -> Any:
        return to_json(value, what, special)

    value = value.item() if isinstance(value, np.generic) else value
    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float:
        return value if math.isfinite(value) else {"$float": str(value)}
    if isinstance(value, Mapping):
        return _mapping(value, encoded)
    if type(value) in (list, tuple):
        items = [encoded(item) for item in value]
        return items if type(value) is list else {"$tuple": items}
    if isinstance(value, Errors):
        return {"$errors": [value.lower, value.upper, value.limit]}
    if type(value) is np.ndarray:
        return {"$array": _array(value, encoded)}
    if isinstance(value, np.random.RandomState):
        return {"$random_state": _random_state(value, what)}
    found = special(value)
    return _refuse(value, what) if found is None else found


def from_json(data: Any, readers: Mapping[str, Reader] | None = None) -> Any:
    """The value that `to_json` wrote; `readers` know more tags. Anything else raises an error.

    >>> from_json({"class_weight": {"$map": [[0, 1.5]]}})
    {'class_weight': {0: 1.5}}
    """

    def decoded(data: Any) -> Any:
        return from_json(data, readers)

    if isinstance(data, list):
        return [decoded(item) for item in data]
    if not isinstance(data, dict):
        return data
    tag = next(iter(data), "")
    if not tag.startswith("$"):
        return {key: decoded(item) for key, item in data.items()}
    ((tag, content),) = data.items()
    if readers is not None and tag in readers:
        return readers[tag](content)
    return _READERS[tag](content, decoded)


def _refuse(value: Any, what: str) -> NoReturn:
    shown = repr(value)
    raise ValueError(
        f"{what} has {shown if len(shown) <= 80 else shown[:77] + '...'}, a {type(value).__name__}, which can't be "
        "saved; only numbers, text, True, False, None, and lists, tuples, mappings and arrays of these can."
    )


def _mapping(value: Mapping, encoded: Reader) -> dict[str, Any]:
    """The mapping itself, unless a key is not text or looks like a tag."""
    pairs = [(encoded(key), encoded(item)) for key, item in value.items()]
    if all(type(key) is str and not key.startswith("$") for key, _ in pairs):
        return dict(pairs)
    return {"$map": [[key, item] for key, item in pairs]}


def _array(array: np.ndarray, encoded: Reader) -> dict[str, Any]:
    """Any array but those of dates and records. The items of one of objects are saved one by one."""
    text = array.dtype.kind in "OT"  # these have no width: the code of one, "|O", says all
    dtype = array.dtype.kind if text else array.dtype.newbyteorder("<").str
    items = array.ravel() if array.dtype.kind in "biufUOT" else array.astype(object).ravel()
    return {"dtype": dtype, "shape": list(array.shape), "items": [encoded(item) for item in items.tolist()]}


def _read_array(content: dict[str, Any], decoded: Reader) -> np.ndarray:
    check_sizes({"$array": content})
    items = np.empty(len(content["items"]), dtype=object)
    items[:] = [decoded(item) for item in content["items"]]
    dtype = _dtype(content["dtype"])
    if dtype.kind == "U" and any(len(item) * _BYTES_OF_A_LETTER > dtype.itemsize for item in items):
        raise ValueError(f"an array of the dtype {content['dtype']!r} has longer text")
    return items.astype(dtype).reshape(content["shape"])


def _dtype(kind: Any) -> Any:
    """The dtype of an array; text must have a width, or NumPy would give it that of the longest item."""
    if kind == "T":
        return np.dtypes.StringDType()
    if type(kind) is not str or not _DTYPES.fullmatch(kind):
        raise ValueError(f"an array has the dtype {str(kind)[:50]!r}")
    return np.dtype(kind).newbyteorder("=")


def check_sizes(data: Any) -> None:
    """Raise a ValueError if the arrays in JSON, all together, would take much more memory than they should."""
    total, pending = 0, [data]
    while pending:
        each = pending.pop()
        if isinstance(each, list):
            pending += each
        elif isinstance(each, dict):
            pending += each.values()
            array = each.get("$array")
            if isinstance(array, dict):
                total += len(array["items"]) * _dtype(array["dtype"]).itemsize
    if total > _MOST_BYTES:
        raise ValueError(f"its arrays of text or numbers would take {total:,} bytes")


def _random_state(generator: np.random.RandomState, what: str) -> dict[str, Any]:
    state = generator.get_state(legacy=False)
    if state["bit_generator"] != "MT19937":
        raise ValueError(
            f"{what} is a RandomState of {state['bit_generator']}, which can't be saved; take an integer, or "
            "RandomState(seed)."
        )
    numbers = state["state"]
    return {
        "key": numbers["key"].tolist(),
        "position": int(numbers["pos"]),
        "has_gauss": int(state["has_gauss"]),
        "gauss": float(state["gauss"]),
    }


def _read_random_state(content: dict[str, Any], _: Reader) -> np.random.RandomState:
    key = np.array(content["key"], dtype=np.uint32)
    # NumPy would look behind the end of the state at another position.
    if key.shape != (_STATE_LENGTH,) or not 0 <= content["position"] <= _STATE_LENGTH:
        raise ValueError("the state of a RandomState is invalid")
    generator = np.random.RandomState()
    generator.set_state(("MT19937", key, content["position"], content["has_gauss"], content["gauss"]))
    return generator


def _read_errors(content: list, _: Reader) -> Errors:
    lower, upper, limit = content
    return Errors(lower, upper, limit)


def _read_mapping(content: list, decoded: Reader) -> dict[Any, Any]:
    return {decoded(key): decoded(item) for key, item in content}


_READERS: dict[str, Callable[[Any, Reader], Any]] = {
    "$float": lambda content, _: _NOT_IN_JSON[content],
    "$map": _read_mapping,
    "$tuple": lambda content, decoded: tuple(decoded(item) for item in content),
    "$errors": _read_errors,
    "$array": _read_array,
    "$random_state": _read_random_state,
}
