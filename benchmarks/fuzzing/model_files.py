"""Damaged and crafted model files: `load` refuses them, or gives a model whose answers are sane.

The digest of a file is a plain one, so that whoever crafts a file can make it fit. A file whose digest does not fit
must be refused, unless only bytes that mean nothing have changed.
"""

import hashlib
import io
import json
import resource
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import probforest
from probforest.storage.model_file import DOCUMENT, read_file, write_file

from .answers import check_probabilities, check_refusal, expect, no_odd_warnings
from .problems import ESTIMATORS
from .values import pick

MEMORY = 1 << 30  # bytes that loading and asking a small model may take
_ROUNDING = 1e-6  # probabilities in a file may be off by as much as those that users give
_ODD_JSON = (
    *(None, True, False, -1, 0, 1, 3, 10**30, 2**63, -0.5, 1e308, 5e-324, "", "x", "\x00", "é" * 300),
    *([], {}, [[]], [None], {"a": 1}, {"$float": "nan"}, {"$float": "inf"}, {"$tuple": [1]}, {"$map": []}),
)
_ODD_NUMBERS = (np.nan, np.inf, -np.inf, -1.0, 0.0, 0.5, 1.0, 2.0, 1e308, 5e-324, -1e308)
_ODD_INTEGERS = (-(2**31), -2, -1, 0, 1, 2, 7, 2**31 - 1)


class Model(NamedTuple):
    """A file that is right, and what its model answers."""

    content: bytes
    query: Any
    about: dict[str, Any]
    answer: np.ndarray


class Damaged(NamedTuple):
    content: bytes
    is_sealed: bool  # whether the digest fits


def run(random: np.random.Generator) -> None:
    """Damage one file in one way."""
    model = pick(random, *models())
    name = pick(random, *_DAMAGES)
    damaged = _DAMAGES[name](model.content, random)
    try:
        with limited_memory(), no_odd_warnings():
            judge(damaged, model)
    except Exception as problem:
        problem.add_note(f"damage: {name}")
        raise


def judge(damaged: Damaged, model: Model) -> None:
    """Load a file, and ask the model if there is one."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "damaged.prf"
        path.write_bytes(damaged.content)
        _describe(path)
        try:
            loaded = probforest.load(path)
        except probforest.ModelFileError as refusal:
            expect("\n" not in str(refusal) and path.name in str(refusal), f"a refusal is no line about it: {refusal}")
            expect(damaged.content != model.content, f"a file as it should be was refused: {refusal}")
            return
    _ask(loaded, damaged, model)


def _describe(path: Path) -> None:
    try:
        probforest.describe(path)
    except probforest.ModelFileError as refusal:
        expect("\n" not in str(refusal), f"a refusal has several lines: {refusal}")


def _ask(loaded: Any, damaged: Damaged, model: Model) -> None:
    try:
        answer = loaded.predict_proba(model.query, **model.about)
    except (ValueError, TypeError) as refusal:  # a parameter or the name of a column that is another one now
        expect(damaged.is_sealed, f"a damaged file was loaded, and refuses a query: {refusal}")
        check_refusal(refusal)
        return
    check_probabilities(answer, (len(model.query), len(loaded.classes_)), tolerance=_ROUNDING)
    expect(
        damaged.is_sealed or np.array_equal(answer, model.answer), "a damaged file was loaded, and answers otherwise"
    )


@contextmanager
def limited_memory() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    with open("/proc/self/statm") as stream:
        in_use = int(stream.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (in_use + MEMORY, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


@cache
def models() -> tuple[Model, ...]:
    """Small models with all that a file can hold."""
    random = np.random.default_rng(0)
    X, y = random.lognormal(0, 1, (60, 3)), np.arange(60) % 3
    errors = 0.3 * X
    frame = pd.DataFrame(np.hstack([X, errors]), columns=["g", "r", "i", "e_g", "e_r", "e_i"])
    names = np.array(["agn", "galaxy", "star"])
    limits = random.choice([0, 0, 0, 1, -1], X.shape)
    families = {0: "lognormal", 1: ("student_t", 4.0), 2: "uniform"}
    state = np.random.RandomState(3)
    return (
        _model("forest", {"error_columns": "auto", "error_features": True, "max_depth": 2}, frame, names[y], {}),
        _model("forest", {"error_columns": "auto", "oob_score": True, "max_depth": 2}, frame, names[y], {}),
        _model(
            "forest",
            {"distribution": families, "prior": "normal", "random_state": state, "max_depth": 2},
            X,
            y,
            {"X_err": errors},
        ),
        _model("forest", {"max_depth": 2}, X, y, {"X_err": errors, "y_proba": random.uniform(0.5, 1, 60)}),
        _model("tree", {"sentinels": {0: -9999}, "class_weight": {0: 2.0}}, X, y, {"X_err": (errors, 2 * errors)}),
        _model("tree", {"prior": None, "missing": "learned"}, X, y > 0, {"X_err": 0.1, "X_limit": limits}),
    )


def _model(estimator: str, parameters: dict[str, Any], X: Any, y: Any, about: dict[str, Any]) -> Model:
    few = {"n_estimators": 12} if estimator == "forest" else {}
    fitted = ESTIMATORS[estimator](**{"random_state": 0, **few, **parameters}).fit(X, y, **about)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.prf"
        probforest.save(fitted, path, about={"table": "made up", "rows": [1, 2.5, None]})
        measured = {name: value for name, value in about.items() if name != "y_proba"}
        return Model(path.read_bytes(), X, measured, fitted.predict_proba(X, **measured))


# Damage that does not know what it damages


def _flip(content: bytes, random: np.random.Generator) -> Damaged:
    damaged = bytearray(content)
    for place in random.integers(0, len(content), random.integers(1, 5)):
        damaged[place] = random.integers(256)
    return Damaged(bytes(damaged), False)


def _cut(content: bytes, random: np.random.Generator) -> Damaged:
    first, last = np.sort(random.integers(0, len(content) + 1, 2))
    middle = pick(
        random, b"", b"", content[first:last] * 2, bytes(int(last - first)), random.bytes(int(random.integers(9)))
    )
    return Damaged(content[:first] + middle + content[pick(random, last, len(content)) :], False)


# Damage to the zip


def members_of(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(members: list[tuple[str, bytes]], stored: tuple[str, ...] = (DOCUMENT,)) -> bytes:
    """Members as they lie in a model file: those that are `stored` are not compressed."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members:
            how = zipfile.ZIP_STORED if name in stored else zipfile.ZIP_DEFLATED
            archive.writestr(zipfile.ZipInfo(name), data, compress_type=how)
    return stream.getvalue()


def _members(content: bytes, random: np.random.Generator) -> Damaged:
    """Members are swapped, removed, doubled, renamed, added, or compressed in another way."""
    members = list(members_of(content).items())
    a, b = (int(place) for place in random.integers(0, len(members), 2))
    change = pick(random, "swap", "remove", "double", "rename", "add", "order", "stored", "compressed")
    stored: tuple[str, ...] = (DOCUMENT,)
    if change == "swap":
        members[a], members[b] = (members[a][0], members[b][1]), (members[b][0], members[a][1])
    elif change == "remove":
        del members[a]
    elif change == "double":
        members.append((f"twin_{members[a][0]}", members[b][1]))
    elif change == "rename":
        members[a] = (pick(random, "", "../x.npy", members[a][0].upper(), "x" * 300), members[a][1])
    elif change == "add":
        members.append((pick(random, "extra.npy", "extra.pkl", "/etc/x"), members[a][1]))
    elif change == "order":
        random.shuffle(members)
    else:
        stored = tuple(name for name, _ in members) if change == "stored" else ()
    return Damaged(zipped(members, stored), False)


# Damage with a digest that fits


def sealed(header: dict[str, Any], members: dict[str, bytes]) -> bytes:
    """A file with the digest that this header and these arrays have."""
    header = {key: value for key, value in header.items() if key != "digest"}
    digest = hashlib.sha256(_canonical(header))
    for name in sorted(members):
        digest.update(_payload(members[name]))
    document = _canonical({**header, "digest": digest.hexdigest()})
    return zipped([(DOCUMENT, document), *sorted(members.items())])


def _canonical(header: dict[str, Any]) -> bytes:
    return json.dumps(header, ensure_ascii=True, separators=(",", ":")).encode("ascii")


def _payload(member: bytes) -> bytes:
    """The numbers of an .npy file of version 1."""
    return member[10 + int.from_bytes(member[8:10], "little") :]


def taken_apart(content: bytes) -> tuple[dict[str, Any], dict[str, bytes]]:
    members = members_of(content)
    return json.loads(members.pop(DOCUMENT)), members


def _header(content: bytes, random: np.random.Generator) -> Damaged:
    """An entry of the JSON is something else, or is missing."""
    header, members = taken_apart(content)
    places = [place for place in _places(header) if "key" not in place[:-1]]  # not the 624 numbers of a RandomState
    for _ in range(random.integers(1, 3)):
        _change_entry(header, pick(random, *places), random)
    return Damaged(sealed(header, members), True)


def _places(data: Any, at: tuple = ()) -> Iterator[tuple]:
    """The keys that lead to every entry of a JSON document."""
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, each in items:
        yield (*at, key)
        yield from _places(each, (*at, key))


def _change_entry(header: Any, place: tuple, random: np.random.Generator) -> None:
    try:
        for key in place[:-1]:
            header = header[key]
        value = header[place[-1]]
    except (LookupError, TypeError):
        return  # the first change has taken it away
    change = pick(random, "odd", "odd", "near", "remove", "double")
    if change == "remove":
        del header[place[-1]]
    elif change == "double" and isinstance(value, list | str):
        header[place[-1]] = value * 2
    elif change == "near" and isinstance(value, int | float):
        header[place[-1]] = pick(random, value + 1, value - 1, -value, value * 1000, float(value), str(value))
    else:
        header[place[-1]] = pick(random, *_ODD_JSON)


def _array(content: bytes, random: np.random.Generator) -> Damaged:
    """An array has other numbers, another type or shape, or is another one's."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.prf"
        path.write_bytes(content)
        document, arrays = read_file(path)
    name = pick(random, *arrays)
    change = pick(random, _other_numbers, _other_numbers, _other_bytes, _other_form)
    arrays[name] = pick(random, *arrays.values()) if random.random() < 0.1 else change(arrays[name].copy(), random)
    stream = io.BytesIO()
    write_file(stream, document, arrays)
    return Damaged(stream.getvalue(), True)


def _other_numbers(array: np.ndarray, random: np.random.Generator) -> np.ndarray:
    flat = array.reshape(-1)
    odd = _ODD_NUMBERS if array.dtype.kind == "f" else _ODD_INTEGERS
    for place in random.integers(0, max(len(flat), 1), random.integers(1, 4)) if len(flat) else ():
        flat[place] = pick(random, *odd)
    return array


def _other_bytes(array: np.ndarray, random: np.random.Generator) -> np.ndarray:
    raw = array.reshape(-1).view(np.uint8)
    for place in random.integers(0, max(len(raw), 1), 3) if len(raw) else ():
        raw[place] = random.integers(256)
    return array


def _other_form(array: np.ndarray, random: np.random.Generator) -> np.ndarray:
    with np.errstate(all="ignore"):
        return pick(
            random,
            array[:-1],
            array[:0],
            np.concatenate([array, array]) if array.ndim else array,
            array.reshape(-1),
            array[None],
            array.astype(np.float32),
            array.astype(np.int64),
            array.astype(np.float64),
            array.astype("U4"),
            np.zeros((1 << 16, 64)),  # compresses well
        )


_DAMAGES: dict[str, Callable[[bytes, np.random.Generator], Damaged]] = {
    "bytes": _flip,
    "cut": _cut,
    "members": _members,
    "header": _header,
    "array": _array,
    "both": lambda content, random: _header(_array(content, random).content, random),
}
