"""Saved models. The stored one in tests/data was written by `write_stored_model`, see the README there."""

import copy
import importlib
import json
import os
import pickle
import pkgutil
import subprocess
import sys
import tracemalloc
from collections import OrderedDict
from dataclasses import fields, is_dataclass
from importlib.metadata import version
from pathlib import Path

import astropy.units as u
import numba
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from astropy.table import QTable, Table
from scipy import stats
from scipy.special import ndtr, ndtri
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import balanced_accuracy_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from probforest import (
    Errors,
    ProbabilisticDecisionTreeClassifier,
    ProbabilisticGradientBoostingClassifier,
    ProbabilisticRandomForestClassifier,
    kernels,
)
from probforest.families import Family, full_table
from probforest.storage.model_file import ModelFileError, read_file, write_file
from probforest.storage.models import describe, load, save

DATA = Path(__file__).parent / "data"
RANDOM = np.random.default_rng(0)
Y = np.arange(60) % 3
X = Y[:, None] * [2.0, 1.0, 0.5] + RANDOM.normal(size=(60, 3))
X_ERR = RANDOM.gamma(2.0, 0.3, (60, 3))
NAMES = np.array(["galaxy", "quasar", "star"])
FRAME = pd.DataFrame({"mag": X[:, 0], "e_mag": X_ERR[:, 0], "rad": X[:, 1], "rad_err1": X_ERR[:, 1]}).assign(
    rad_err2=-X_ERR[:, 2], radlim=np.arange(60) % 7 == 0, count=X[:, 2]
)
FRAME["radlim"] = FRAME["radlim"].astype(float)
UNITS = QTable({"mag": X[:, 0] * u.ABmag, "e_mag": X_ERR[:, 0] * u.mag, "flux": X[:, 1] * u.Unit("1e-17 erg / s")})


def raised(z):
    """F of a triangle, as a user may write it."""
    half = np.sqrt(6.0)
    z = np.clip(z / half, -1, 1)
    return np.where(z < 0, 0.5 * (1 + z) ** 2, 1 - 0.5 * (1 - z) ** 2)


def raised_inverse(p):
    return np.sqrt(6.0) * np.where(p < 0.5, np.sqrt(2 * p) - 1, 1 - np.sqrt(2 * (1 - p)))


TRIANGLE = Family("triangle", raised, raised_inverse)


class Case:
    """A model, how it is fitted and how it is asked."""

    def __init__(self, *, X=X, y=Y, tree=False, boosting=False, fit=None, ask=None, **parameters):
        self.X, self.y, self.fit_with, self.ask_with = X, y, fit or {}, ask
        estimator, defaults = ProbabilisticRandomForestClassifier, {"n_estimators": 4}
        if tree:
            estimator, defaults = ProbabilisticDecisionTreeClassifier, {}
        if boosting:
            estimator, defaults = ProbabilisticGradientBoostingClassifier, {"max_iter": 3, "min_samples_leaf": 4}
        self.model = estimator(**defaults | {"random_state": 0} | parameters)

    def fitted(self):
        return clone(self.model).fit(self.X, self.y, **self.fit_with)

    def answer(self, model):
        ask = {name: each for name, each in self.fit_with.items() if name.startswith("X_")}
        return model.predict_proba(self.X, **(ask if self.ask_with is None else self.ask_with))


NOISY = {"X_err": X_ERR}
SOFT = 0.2 / 2 + (0.8 - 0.2 / 2) * np.eye(3)[Y]
CASES = {
    "exact": Case(),
    "exact asked with errors": Case(ask={"X_err": 0.3}),
    "errors": Case(fit=NOISY),
    "missing": Case(X=np.where(X > 2.5, np.nan, X), fit=NOISY, missing="learned", unknown_error="exact"),
    "pairs": Case(fit={"X_err": (X_ERR, 2 * X_ERR)}),
    "limits": Case(fit=NOISY | {"X_limit": np.arange(180).reshape(60, 3) % 5 // 4}),
    "samples": Case(fit={"X_samples": X[:, :, None] + RANDOM.normal(size=(60, 3, 8))}),
    "all families": Case(X=np.exp(X), fit=NOISY, distribution={0: "laplace", 1: ("student_t", 5), 2: "lognormal"}),
    "uniform": Case(fit=NOISY, distribution="uniform", prior=None),
    "scipy": Case(fit=NOISY, distribution=stats.gumbel_r()),
    "list of scipy": Case(fit=NOISY, distribution=[stats.gumbel_r(), stats.gumbel_r(), "normal"], prior="normal"),
    "own family": Case(fit=NOISY, distribution={1: TRIANGLE}),
    "own normal": Case(X=np.exp(X), fit=NOISY, distribution=[Family("a", ndtr, ndtri, log=True), "normal", "normal"]),
    "no prior": Case(fit=NOISY, prior=None),
    "normal prior": Case(fit=NOISY, prior="normal"),
    "constant feature": Case(X=X * [1, 0, 1], fit=NOISY),
    "huge values": Case(X=1e299 * X, fit={"X_err": 1e298}),
    "one object": Case(X=X[:1], y=Y[:1], prior=None),
    "pandas": Case(X=FRAME.drop(columns=["e_mag", "radlim", "rad_err1", "rad_err2"])),
    "pandas with errors": Case(
        X=pd.DataFrame(X, columns=list("abc")), fit={"X_err": pd.DataFrame(X_ERR, columns=["e_a", "e_b", "e_c"])}
    ),
    "pandas with numbers": Case(X=pd.DataFrame(X), sentinels={1: [99, -1.5], "*": np.array([-9999])}),
    "pandas with tuples": Case(X=pd.DataFrame(X, columns=pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)]))),
    "pandas with pairs": Case(
        X=pd.DataFrame(X, columns=list("abc")), fit={"X_err": (pd.DataFrame(X_ERR, columns=list("abc")), X_ERR)}
    ),
    "error columns": Case(
        X=FRAME,
        error_columns={"mag": "e_mag", "rad": Errors("rad_err2", "rad_err1", "radlim")},
        sentinels={"mag": -99, "*": (np.nan, np.inf)},
    ),
    "tuples of error columns": Case(X=FRAME.drop(columns="radlim"), error_columns={"rad": ("rad_err2", "rad_err1")}),
    "auto columns": Case(X=FRAME, error_columns="auto"),
    "polars": Case(X=pl.DataFrame(FRAME.to_dict("list")), error_columns="auto"),
    "units": Case(X=UNITS, error_columns="auto"),
    "a table with few units": Case(X=Table(UNITS, units={"mag": "", "e_mag": ""}), ask={}),
    "an array with a unit": Case(X=X * u.imperial.mile, fit={"X_err": X_ERR * u.m}),
    "soft labels": Case(fit={"y_proba": SOFT} | NOISY),
    "soft labels without y": Case(y=None, fit={"y_proba": SOFT, "classes": NAMES} | NOISY),
    "text": Case(y=NAMES[Y], class_weight={"star": 2.0, "galaxy": np.float32(0.5), np.str_("quasar"): 1}),
    "objects": Case(y=NAMES[Y].astype(object), class_weight="balanced_subsample"),
    "bool": Case(y=Y == 1, class_weight={True: 3.0, False: 1.0}),
    "small integers": Case(y=Y.astype(np.uint8), class_weight=OrderedDict({np.int64(0): 1.0, 1: 2.0, 2: 1.0})),
    "reals": Case(y=Y - 1.0),
    "one class": Case(y=np.zeros(60)),
    "unused class": Case(fit={"classes": [0, 1, 2, 7]}),
    "weights": Case(fit={"sample_weight": np.arange(60) % 4} | NOISY, oob_score=True, n_estimators=40),
    "out of bag": Case(fit=NOISY, oob_score=True, n_estimators=40, max_samples=0.8),
    "no bootstrap": Case(bootstrap=False, voting="majority", criterion="entropy", max_depth=np.int64(3)),
    "random state": Case(random_state=np.random.RandomState(3)),
    "error features": Case(fit=NOISY, error_features=True),
    "error features of a table": Case(
        X=FRAME, error_columns="auto", error_features=True, oob_score=True, n_estimators=40
    ),
    "error features of a tree": Case(tree=True, fit={"X_err": (X_ERR, 2 * X_ERR)}, error_features=True),
    "tree": Case(tree=True, fit=NOISY),
    "exact tree": Case(tree=True, min_samples_leaf=0.1, max_features=np.float64(0.5), keep_proba=0),
    "tree of one node": Case(tree=True, min_samples_leaf=40),
    "boosting": Case(boosting=True, fit=NOISY),
    "boosting of two classes": Case(boosting=True, y=Y == 1, X=np.where(X > 2.5, np.nan, X), early_stopping=True),
    "boosting on soft labels": Case(boosting=True, fit={"y_proba": SOFT} | NOISY, l2_regularization=1.0),
    "boosting with error features": Case(
        boosting=True, X=FRAME, error_columns="auto", error_features=True, early_stopping=True, max_iter=40
    ),
    "boosting without a split": Case(boosting=True, min_samples_leaf=40),
}


def assert_same(found, expected, what="model"):
    """Bit by bit, with the types, but for the scalars of NumPy, and units, which need not have the same name."""
    found, expected = plain(found), plain(expected)
    if isinstance(expected, u.UnitBase | u.FunctionUnitBase):
        assert found == expected, what
        return
    assert type(found) is type(expected), what
    if isinstance(expected, Family):
        assert (found.name, found.log, found.is_normal) == (expected.name, expected.log, expected.is_normal)
        assert found.grid().tobytes() == expected.grid().tobytes()
        assert full_table(found).tobytes() == full_table(expected).tobytes()
    elif isinstance(expected, np.ndarray):
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape), what
        if expected.dtype == object:
            assert_same(found.tolist(), expected.tolist(), what)
        else:
            assert found.tobytes() == expected.tobytes(), what
    elif isinstance(expected, dict):
        assert list(found) == list(expected), what
        for key in expected:
            assert_same(found[key], expected[key], f"{what}, {key}")
    elif isinstance(expected, list | tuple):
        assert len(found) == len(expected), what
        for place, each in enumerate(expected):
            assert_same(found[place], each, f"{what}, {place}")
    elif is_dataclass(expected):
        for field in fields(expected):
            assert_same(getattr(found, field.name), getattr(expected, field.name), f"{what}, {field.name}")
    elif isinstance(expected, np.random.RandomState):
        assert_same(found.get_state(), expected.get_state(), what)
    elif isinstance(expected, float):
        assert repr(found) == repr(expected), what
    else:
        assert found == expected, what


def plain(value):
    """Scalars as Python's, mappings as dicts, as a file has them."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, dict):
        return {plain(key): plain(each) for key, each in value.items()}
    return (
        type(value)(map(plain, value)) if isinstance(value, list | tuple) and not hasattr(value, "_fields") else value
    )


def assert_same_model(found, expected):
    assert type(found) is type(expected)
    assert set(vars(found)) == set(vars(expected))
    for name in set(vars(expected)) - {"distribution"}:
        assert_same(vars(found)[name], vars(expected)[name], name)
    assert_same(found.feature_importances_, expected.feature_importances_)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.prf"


@pytest.mark.parametrize("name", CASES)
def test_a_loaded_model_is_the_same_bit_by_bit(name, path):
    case = CASES[name]
    model = case.fitted()
    before = copy.deepcopy(model)
    answer = case.answer(model)
    size = save(model, path, about={"case": name})
    assert size == path.stat().st_size
    loaded = load(path)
    assert_same_model(loaded, model)
    assert case.answer(loaded).tobytes() == answer.tobytes()
    assert_same_model(model, before)  # saving and loading changed nothing
    # again: the same bytes, also of what was loaded, and of a copy
    first = path.read_bytes()
    for again in (model, loaded, pickle.loads(pickle.dumps(loaded))):
        save(again, path, about={"case": name})
        assert path.read_bytes() == first
    if loaded.random_state == 0:
        refitted = clone(loaded).fit(case.X, case.y, **case.fit_with)
        assert case.answer(refitted).tobytes() == answer.tobytes()


@pytest.mark.parametrize(
    "name",
    [
        "exact",
        "errors",
        "limits",
        "all families",
        "own family",
        "pandas with errors",
        "units",
        "out of bag",
        "error features",
    ],
)
@pytest.mark.parametrize("random_state", [0, "instance"])
def test_warm_start_goes_on_as_it_would_have(name, random_state, path):
    case = CASES[name]
    forests = []
    for is_saved in (False, True):
        seed = np.random.RandomState(5) if random_state == "instance" else 0
        forest = clone(case.model).set_params(warm_start=True, random_state=seed)
        forest.fit(case.X, case.y, **case.fit_with)
        if is_saved:
            save(forest, path)
            forest = load(path)
        forest.set_params(n_estimators=forest.n_estimators + 3).fit(case.X, case.y, **case.fit_with)
        forests.append(forest)
    assert_same_model(forests[1], forests[0])


def test_warm_start_with_a_distribution_of_scipy_goes_on(path):
    case = CASES["list of scipy"]
    save(clone(case.model).set_params(warm_start=True).fit(X, Y, **NOISY), path)
    loaded = load(path)
    assert loaded.feature_model_.families[0] is loaded.feature_model_.families[1] is loaded.distribution[0]
    loaded.set_params(n_estimators=6).fit(X, Y, **NOISY)
    whole = clone(case.model).set_params(n_estimators=6).fit(X, Y, **NOISY)
    assert case.answer(loaded).tobytes() == case.answer(whole).tobytes()


def test_what_scikit_learn_was_told_to_hand_over(path):
    with sklearn.config_context(enable_metadata_routing=True):
        forest = ProbabilisticRandomForestClassifier(2).set_fit_request(X_err=True, sample_weight="weight")
        save(forest.set_score_request(X_err=False).fit(X, Y), path)
        expected = repr(forest.get_metadata_routing())
    loaded = load(path)
    assert repr(loaded.get_metadata_routing()) == expected
    assert repr(clone(loaded).get_metadata_routing()) == expected


def test_what_scikit_learn_was_told_to_hand_to_the_decision_function(path):
    with sklearn.config_context(enable_metadata_routing=True):
        model = clone(CASES["boosting"].model).set_decision_function_request(X_err=True)
        save(model.fit(X, Y), path)
        expected = repr(model.get_metadata_routing())
    assert repr(load(path).get_metadata_routing()) == expected


def test_mixed_labels_keep_their_types(path):
    tree = ProbabilisticDecisionTreeClassifier().fit(X, Y)
    for classes in (
        np.array([1, 2.5, True], dtype=object),
        np.array(["a", 1, np.inf], dtype=object),
        np.array(["a", "bc", "ü\0x"]),
    ):
        tree.classes_ = classes
        save(tree, path)
        assert_same(load(path).classes_, classes)
        assert_same(describe(path)["classes"], classes.tolist())


@pytest.mark.skipif(not hasattr(np.dtypes, "StringDType"), reason="NumPy 1")
def test_classes_of_any_length(path):
    tree = ProbabilisticDecisionTreeClassifier().fit(X, Y)
    tree.classes_ = NAMES.astype(np.dtypes.StringDType())
    save(tree, path)
    assert load(path).classes_.dtype == tree.classes_.dtype
    assert load(path).classes_.tolist() == NAMES.tolist()


def test_names_of_all_kinds(path):
    tree = ProbabilisticDecisionTreeClassifier().fit(pd.DataFrame(X, columns=["$map", "ü\n", ""]), Y)
    save(tree, path)
    assert load(path).feature_names_in_.tolist() == ["$map", "ü\n", ""]


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
def test_no_kernel_is_compiled_again_for_a_loaded_model(path):
    def signatures():
        modules = [
            importlib.import_module(f"{kernels.__name__}.{each.name}")
            for each in pkgutil.iter_modules(kernels.__path__)
        ]
        things = [(name, thing) for module in modules for name, thing in vars(module).items()]
        compiled = [(name, thing) for name, thing in things if hasattr(thing, "signatures")]
        return {name: len(thing.signatures) for name, thing in compiled if not isinstance(thing, type)}

    case = CASES["limits"]
    model = case.fitted()
    for ask in ({"X_err": X_ERR}, {"X_err": 0.0}, case.fit_with, {"X_err": (X_ERR, 2 * X_ERR)}):
        model.predict_proba(X, **ask)
    ProbabilisticRandomForestClassifier(2).fit(X, Y).predict_proba(X)
    before = signatures()
    save(model, path)
    for ask in ({"X_err": X_ERR}, {"X_err": 0.0}, case.fit_with, {"X_err": (X_ERR, 2 * X_ERR)}):
        load(path).predict_proba(X, **ask)
    save(ProbabilisticRandomForestClassifier(2).fit(X, Y), path)
    load(path).predict_proba(X)
    assert signatures() == before
    nodes = load(path).trees_[1].nodes
    assert all(array.flags.c_contiguous and array.flags.writeable for array in nodes)


# What can't be saved


def test_what_is_no_fitted_model(path):
    class Mine(ProbabilisticRandomForestClassifier):
        pass

    with pytest.raises(NotFittedError):
        save(ProbabilisticRandomForestClassifier(), path)
    for odd in (
        make_pipeline(FunctionTransformer(), CASES["exact"].model),
        Mine(),
        None,
        ProbabilisticRandomForestClassifier,
    ):
        with pytest.raises(TypeError, match="save takes a fitted ProbabilisticRandomForestClassifier or a fitted"):
            save(odd, path)
    assert not path.exists()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"oob_score": balanced_accuracy_score}, r"parameter oob_score is a function .*set_params\(oob_score=True\)"),
        ({"random_state": np.random}, "parameter random_state has <module"),
        ({"random_state": np.random.RandomState(np.random.PCG64(1))}, "random_state is a RandomState of PCG64"),
        ({"sentinels": {"mag": {1, 2}}}, r"parameter sentinels has \{1, 2\}, a set"),
        ({"class_weight": {1: pd.Timestamp(0)}}, "parameter class_weight has Timestamp"),
        ({"distribution": Family("falling", lambda z: -z, lambda p: p)}, "falls or is no number"),
        ({"distribution": Family("falling", ndtr, lambda p: -p)}, "grid of the distribution 'falling' does not rise"),
        ({"distribution": stats.gamma}, "open parameters"),
        ({"max_depth": -3}, "max_depth must be an integer from 1 to 2147483647; got -3"),
        ({"n_jobs": 0}, "n_jobs must be None, a number of threads"),
    ],
)
def test_parameters_that_can_not_be_saved(parameters, message, path):
    forest = ProbabilisticRandomForestClassifier(2, random_state=0).fit(X, Y).set_params(**parameters)
    with pytest.raises(ValueError, match=message):
        save(forest, path)
    assert not path.exists()


def test_a_score_of_ones_own_stays(path):
    forest = ProbabilisticRandomForestClassifier(40, oob_score=balanced_accuracy_score, random_state=0).fit(X, Y)
    save(forest.set_params(oob_score=True), path)
    assert load(path).oob_score_ == forest.oob_score_


def test_units_that_astropy_can_not_read(path):
    table = QTable({"a": X[:, 0] * u.def_unit("widget")})
    with pytest.raises(
        ValueError, match="column 'a' of X has the unit widget, which astropy can't restore from its name"
    ):
        save(ProbabilisticDecisionTreeClassifier().fit(table, Y), path)


@pytest.mark.parametrize(
    "unit",
    [
        u.ABmag,
        u.mag,
        u.ct,
        u.deg,
        u.dex(u.cm / u.s**2),
        u.imperial.mile,
        u.def_unit("ell", 1.2345678912 * u.m),
        u.percent,
        u.Unit("furlongs", parse_strict="silent"),
        u.Unit("BJD-2454833", parse_strict="silent"),
        u.dimensionless_unscaled,
        u.m**0.5,
        u.nmgy,
        u.mag(u.ct / u.s),
    ],
)
def test_units_of_all_kinds(unit, path):
    tree = ProbabilisticDecisionTreeClassifier().fit(Table({"a": X[:, 0]}, units={"a": unit}), Y)
    save(tree, path)
    assert load(path).feature_model_.layout.units == {"a": unit}


def test_units_without_astropy(path, monkeypatch):
    save(CASES["units"].fitted(), path)
    for module in ("astropy", "astropy.units"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=r'A model that knows units needs astropy.*pip install "probforest\[astro\]"'):
        load(path)
    assert describe(path)["columns"] == ["mag", "e_mag", "flux"]


# Notes


def test_notes(path):
    about = {"table": "DR7 ü", "rows": np.int64(7), "list": [1, (2, None)], "limits": {"low": -np.inf}, "$": {1: True}}
    save(CASES["pandas"].fitted(), path, about=about)
    assert describe(path) == {
        "kind": "forest",
        "n_trees": 4,
        "n_nodes": sum(tree.n_nodes for tree in CASES["pandas"].fitted().trees_),
        "classes": [0, 1, 2],
        "n_features": 3,
        "has_fallback_trees": False,
        "columns": ["mag", "rad", "count"],
        "about": about,
        "written_by": version("probforest"),
        "format_version": 3,
    }
    save(CASES["tree"].fitted(), path)
    assert describe(path)["about"] == {}
    assert (describe(path)["kind"], describe(path)["columns"]) == ("tree", None)


def test_notes_that_are_none(path):
    tree = ProbabilisticDecisionTreeClassifier().fit(X, Y)
    endless = {}
    endless["again"] = endless
    for about, message in (({1: 2}, "keys are text"), ("text", "must be a mapping"), (endless, "contains itself")):
        with pytest.raises(ValueError, match=message):
            save(tree, path, about=about)
    with pytest.raises(ValueError, match="about has <object"):
        save(tree, path, about={"a": object()})
    assert not path.exists()


# Files


def test_a_save_that_fails_leaves_the_old_file(path, monkeypatch):
    model = CASES["exact"].fitted()
    save(model, path)
    old = path.read_bytes()

    def fail(part, document, arrays):
        Path(part).write_bytes(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr("probforest.storage.models.write_file", fail)
    with pytest.raises(KeyboardInterrupt):
        save(model, path)
    assert path.read_bytes() == old
    assert list(path.parent.iterdir()) == [path]


def test_places_that_are_none(tmp_path):
    model = CASES["exact"].fitted()
    with pytest.raises(FileNotFoundError, match=r"There is no folder .*nowhere"):
        save(model, tmp_path / "nowhere" / "model.prf")
    with pytest.raises(ValueError, match="is a folder"):
        save(model, tmp_path)
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "model.prf")
    with pytest.raises(ModelFileError, match="is a folder"):
        load(tmp_path)


def test_pickles_are_not_loaded(path):
    path.write_bytes(pickle.dumps(CASES["exact"].model))
    for read in (load, describe):
        with pytest.raises(ModelFileError, match="looks like a pickle"):
            read(path)


# The stored model


def stored_query():
    random = np.random.default_rng(7)
    mag, radius = random.normal(18, 2, 12), random.lognormal(0, 1, 12)
    return pd.DataFrame(
        {
            "gmag": np.where(np.arange(12) == 3, -99.0, mag),
            "e_gmag": random.gamma(2, 0.2, 12),
            "radius": radius,
            "radius_err1": 0.3 * radius,
            "radius_err2": -0.2 * radius,
            "radiuslim": np.where(np.arange(12) % 5 == 4, 1.0, 0.0),
            "redshift": random.gamma(2, 0.5, 12),
            "e_redshift": 0.1,
        }
    )


def write_stored_model(folder):
    """Write forest_v1.prf, and beside it, what it says about `stored_query`. Not to be repeated: the file is old."""
    table = pd.concat([stored_query()] * 4, ignore_index=True)
    offset = np.repeat([0.0, 0.4, 0.8, 1.2], 12)
    table = table.assign(
        gmag=np.where(table.gmag < 0, table.gmag, table.gmag + offset), redshift=table.redshift + offset
    )
    y = np.where(table.redshift > 1.6, "quasar", np.where(table.gmag > 18.5, "star", "galaxy"))
    forest = ProbabilisticRandomForestClassifier(
        20,
        oob_score=True,
        max_depth=4,
        class_weight={"star": 1.0, "galaxy": 1.5, "quasar": 2.0},
        distribution={"gmag": ("student_t", 5.0), "redshift": stats.gamma(3.0)},
        error_columns={
            "gmag": "e_gmag",
            "radius": Errors("radius_err2", "radius_err1", "radiuslim"),
            "redshift": "e_redshift",
        },
        sentinels={"gmag": [-99]},
        random_state=np.random.RandomState(1),
    ).fit(table, y)
    save(forest, Path(folder) / "forest_v1.prf", about={"table": "48 made-up objects", "rows": 48})
    answers = {
        "predict_proba": forest.predict_proba(stored_query()).tolist(),
        "oob_score": forest.oob_score_,
        "feature_importances": forest.feature_importances_.tolist(),
    }
    (Path(folder) / "forest_v1.json").write_text(json.dumps(answers, indent=1) + "\n")


def test_the_stored_model_says_what_it_always_said():
    forest = load(DATA / "forest_v1.prf")
    expected = json.loads((DATA / "forest_v1.json").read_text())
    # Posteriors of values are searched to five digits: a better search may change the sixth.
    np.testing.assert_allclose(forest.predict_proba(stored_query()), expected["predict_proba"], rtol=0, atol=1e-5)
    np.testing.assert_allclose(forest.feature_importances_, expected["feature_importances"], rtol=1e-12)
    assert forest.oob_score_ == expected["oob_score"]
    assert forest.oob_decision_function_.shape == (48, 3)
    assert forest.classes_.tolist() == ["galaxy", "quasar", "star"]
    assert forest.error_columns["radius"] == forest.error_pairs_["radius"]
    assert forest.get_params()["class_weight"]["quasar"] == 2.0
    about = describe(DATA / "forest_v1.prf")
    assert (about["format_version"], about["n_trees"]) == (1, 20)
    assert about["about"] == {"table": "48 made-up objects", "rows": 48}


# Crafted files: everything but the content is right, and a kernel would leave its arrays


def crafted(path, change):
    """The stored model with a change, and a right digest."""
    document, arrays = read_file(DATA / "forest_v1.prf")
    change(document, arrays)
    write_file(path, document, arrays)
    return path


def put(name, place, value):
    def change(document, arrays):
        arrays[name][place] = value

    return change


def replace(name, function):
    def change(document, arrays):
        arrays[name] = function(arrays[name])

    return change


def tell(value, *keys):
    def change(document, arrays):
        for key in keys[:-1]:
            document = document[key]
        document[keys[-1]] = value

    return change


CRAFTED = {
    "feature": put("nodes_links", (0, 0), 3),
    "negative feature": put("nodes_links", (0, 0), -2),
    "leaf with a child": put("nodes_links", (0, 0), -1),
    "split without children": put("nodes_links", (0, 1), -1),
    "child in another tree": put("nodes_links", (0, 1), 10_000),
    "child before": put("nodes_links", (0, 1), 0),
    "child that is the other": put("nodes_links", (0, 1), 1),
    "child of another": put("nodes_links", (0, 1), 3),
    "sizes": put("tree_sizes", 0, 1),
    "negative size": put("tree_sizes", slice(0, 2), [-(2**62), 2**62]),
    "no trees": replace("tree_sizes", lambda array: array[:0]),
    "links of floats": replace("nodes_links", lambda array: array.astype(np.float32)),
    "long links": replace("nodes_links", lambda array: array.astype(np.int64)),
    "fewer links": replace("nodes_links", lambda array: array[:-1]),
    "fewer thresholds": replace("nodes_threshold", lambda array: array[:-1]),
    "no threshold": put("nodes_threshold", 0, np.nan),
    "share": put("nodes_shares", (0, 0), 1.5),
    "other share": put("nodes_shares", (0, 1), np.nan),
    "value": put("nodes_value", (0, 0), np.inf),
    "negative value": put("nodes_value", (0, 0), -0.1),
    "fewer classes": replace("nodes_value", lambda array: array[:, :2].copy()),
    "facts": put("nodes_facts", (0, 0), np.nan),
    "single precision": replace("nodes_value", lambda array: array.astype(np.float32)),
    "edges": put("prior_edges", 1, -1e9),
    "edges that are none": put("prior_edges", 1, np.nan),
    "mass": put("prior_mass", 1, -1.0),
    "fewer masses": replace("prior_mass", lambda array: array[:-1]),
    "cells of a prior": tell(3, "priors", 0, "n_cells"),
    "negative cells": tell(-3, "priors", 0, "n_cells"),
    "priors": tell([None], "priors"),
    "points": put("reference_points", 1, np.nan),
    "below": put("reference_below", 1, 1.5),
    "sizes of references": put("reference_sizes", 0, -1),
    "fewer references": replace("reference_sizes", lambda array: array[:-1]),
    "table": put("family_tables", (0, 2000), 1.5),
    "short table": replace("family_tables", lambda array: array[:, :-1].copy()),
    "grid": put("family_grids", (0, 3), np.nan),
    "families": tell([0, 0, 99], "feature_families"),
    "negative family": tell([0, 0, -1], "feature_families"),
    "more features": tell([0, 0, 0, 0], "feature_families"),
    "no features": tell([], "feature_families"),
    "family": tell({"word": "system"}, "families", 0),
    "degrees": tell({"word": "student_t", "degrees": 1.0}, "families", 0),
    "kind": tell("pipeline", "kind"),
    "another kind": tell("tree", "kind"),
    "columns": tell(2, "n_features_in"),
    "columns of text": tell("8", "n_features_in"),
    "names": tell(["gmag"], "layout", "names"),
    "pairs": tell(None, "layout", "pairs"),
    "other pairs": tell({"gmag": None, "a": None, "b": None}, "layout", "pairs"),
    "units": tell([["gmag", {"text": "10**9999999999 m"}]], "layout", "units"),
    "other units": tell([["gmag", {"text": "furlongs"}]], "layout", "units"),
    "classes": tell({"$array": {"dtype": "<U3", "shape": [2], "items": ["a", "b"]}}, "classes"),
    "wide classes": tell({"$array": {"dtype": "<U99999999", "shape": [3], "items": ["a", "b", "c"]}}, "classes"),
    "no classes": tell([], "classes"),
    "medians": replace("median_errors", lambda array: array.T),
    "draws": put("draws", (0, 2), 10**15),
    "seeds": put("draws", (0, 0), 0),
    "fewer draws": replace("draws", lambda array: array[:-1]),
    "out of bag": replace("oob_decision_function", lambda array: array[0]),
    "parameter": tell(1, "parameters", "new_parameter"),
    "tag": tell({"$import": "os"}, "parameters", "n_jobs"),
    "two tags": tell({"$float": "nan", "$tuple": []}, "parameters", "n_jobs"),
    "random state": tell(10_000, "parameters", "random_state", "$random_state", "position"),
    "short random state": tell([1, 2], "parameters", "random_state", "$random_state", "key"),
    "routing": tell({"__init__": {"a": True}}, "routing"),
    "flag": tell("yes", "fitted_with_errors"),
    "probabilities that sum to 3": replace("nodes_value", np.ones_like),
    "probabilities that sum to 0": replace("nodes_value", np.zeros_like),
    "one leaf": put("nodes_value", -1, [0.5, 0.25, 0.0]),
    "threshold of minus infinity": put("nodes_threshold", 0, -np.inf),
    "weight": put("nodes_facts", (0, 0), -1.0),
    "median error": put("median_errors", (0, 0), -1.0),
    "infinite median error": put("median_errors", (0, 0), np.inf),
    "masses that sum to 2": replace("prior_mass", lambda array: 2 * array),
    "objects of a draw": put("draws", (0, 1), 10**12),
    "grid without end": put("family_grids", (0, 6), np.inf),
    "out-of-bag probability": put("oob_decision_function", (0, 0), 7.0),
    "unknown array": lambda document, arrays: arrays.update(more=np.zeros(3)),
    "array of a forest in a tree": tell("tree", "kind"),
    "classes twice": tell({"$array": {"dtype": "<U1", "shape": [3], "items": ["a", "b", "a"]}}, "classes"),
    "classes in no order": tell({"$array": {"dtype": "<U1", "shape": [3], "items": ["b", "a", "c"]}}, "classes"),
    "classes of lists": tell({"$array": {"dtype": "O", "shape": [3], "items": [[1], [2], [3]]}}, "classes"),
    "cut classes": tell({"$array": {"dtype": "<U1", "shape": [3], "items": ["galaxy", "quasar", "star"]}}, "classes"),
    "class without width": tell({"$array": {"dtype": "<U0", "shape": [3], "items": ["a", "b", "c"]}}, "classes"),
    "many wide arrays": tell([{"$array": {"dtype": "<U9999999", "shape": [1], "items": ["a"]}}] * 9, "about"),
    "parameter of no use": tell(-3, "parameters", "max_depth"),
    "share of leaves": tell(7.5, "parameters", "min_samples_leaf"),
    "number of features": tell("all", "parameters", "max_features"),
    "number of draws": tell("all", "parameters", "max_samples"),
    "threads": tell("many", "parameters", "n_jobs"),
    "factor of a unit": tell([["gmag", {"text": "m", "factor": 0.0}]], "layout", "units"),
    "unit of nothing": tell([["vmag", {"text": "m"}]], "layout", "units"),
    "names of errors": tell("e_gmag", "error_names"),
    "nesting": tell(json.loads("[" * 800 + "]" * 800), "parameters", "sentinels"),
}


CRAFTED_BOOSTING = {
    "score": put("nodes_value", (0, 0), np.inf),
    "score that is none": put("nodes_value", (-1, 0), np.nan),
    "large score": put("nodes_value", (0, 0), -1e200),
    "values of classes": replace("nodes_value", lambda array: np.repeat(array, 3, axis=1)),
    "baseline": put("baseline", 1, np.nan),
    "fewer scores": replace("baseline", lambda array: array[:2].copy()),
    "iteration without a tree": replace("baseline", lambda array: np.zeros(2)),
    "training scores": replace("train_score", lambda array: array[1:].copy()),
    "validation scores": replace("validation_score", lambda array: np.zeros(2)),
    "another kind": tell("forest", "kind"),
    "feature": put("nodes_links", (0, 0), 3),
    "rate": tell(0.0, "parameters", "learning_rate"),
}


@pytest.mark.parametrize("name", CRAFTED_BOOSTING)
def test_crafted_boosting_is_refused(name, path):
    save(CASES["boosting"].fitted(), path)
    document, arrays = read_file(path)
    CRAFTED_BOOSTING[name](document, arrays)
    write_file(path, document, arrays)
    with pytest.raises(ModelFileError, match=r"has no model that probforest can use"):
        load(path)


@pytest.mark.parametrize("name", CRAFTED)
def test_crafted_files_are_refused(name, path):
    with pytest.raises(ModelFileError, match=r"has no model that probforest can use") as caught:
        load(crafted(path, CRAFTED[name]))
    assert "\n" not in str(caught.value)


def test_a_document_without_an_entry_or_an_array(path):
    document, arrays = read_file(DATA / "forest_v1.prf")
    for key in document.keys() - {"about"}:
        write_file(path, {name: entry for name, entry in document.items() if name != key}, arrays)
        with pytest.raises(ModelFileError):
            load(path)
    for key in arrays.keys() - {"oob_decision_function", "prior_summaries"}:  # the last was in version 1 only
        write_file(path, document, {name: array for name, array in arrays.items() if name != key})
        with pytest.raises(ModelFileError):
            load(path)
    del document["about"]
    write_file(path, document, arrays)
    with pytest.raises(ModelFileError, match="KeyError 'about'"):
        describe(path)


def test_an_array_that_is_not_expected_is_not_read(path):
    """Neither one with another name nor one with another type or shape takes any memory."""
    document, arrays = read_file(DATA / "forest_v1.prf")
    for name, array in (("zeros", np.zeros(5_000_000)), ("draws", np.zeros((5_000_000, 3), np.int64))):
        write_file(path, document, {**arrays, name: array})
        for read in (load, describe):
            tracemalloc.start()
            try:
                with pytest.raises(ModelFileError, match=name):
                    read(path)
                assert tracemalloc.get_traced_memory()[1] < 5_000_000
            finally:
                tracemalloc.stop()


def test_text_in_a_document_takes_no_more_memory_than_it_says(path):
    """An array of text without a width would get that of its longest item, for all of its items."""
    document, arrays = read_file(DATA / "forest_v1.prf")
    items = ["a" * 20_000, *[""] * 20_000]
    for dtype in ("<U0", "<U", "U", "str", "<U20000"):
        document["about"] = {"note": {"$array": {"dtype": dtype, "shape": [len(items)], "items": items}}}
        write_file(path, document, arrays)
        tracemalloc.start()
        try:
            for read in (load, describe):
                with pytest.raises(ModelFileError, match="array"):
                    read(path)
            assert tracemalloc.get_traced_memory()[1] < 50_000_000
        finally:
            tracemalloc.stop()


# Damage of all kinds, in a process of its own: it must end, soon, and without taking much memory

ODD = [None, True, -1, 0, 3, 10**30, -0.5, 1e308, "", "x", [], {}, [[]], {"a": 1}, {"$float": "nan"}, {"$tuple": [1]}]


def places(data, at=()):
    """The keys that lead to every entry of a JSON document."""
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, each in items:
        yield (*at, key)
        yield from places(each, (*at, key))


def damaged_files(folder, random):
    """Files with damage of all kinds, and whether their digest is right."""
    content = (DATA / "forest_v1.prf").read_bytes()
    path = Path(folder) / "damaged.prf"
    for _ in range(100):
        damaged = bytearray(content)
        for place in random.integers(0, len(content), random.integers(1, 4)):
            damaged[place] = random.integers(256)
        path.write_bytes(damaged)
        yield path, False
    for length in random.integers(0, len(content), 50):
        path.write_bytes(content[:length])
        yield path, False
        cut = random.integers(0, len(content) - length + 1)
        path.write_bytes(content[:length] + content[length + cut :])
        yield path, False
    document, arrays = read_file(DATA / "forest_v1.prf")
    entries = [at for at in places(document) if "key" not in at[:-1]]  # not the 624 numbers of a random state
    for number in random.integers(0, len(entries), 100):
        changed = json.loads(json.dumps(document))
        tell(ODD[random.integers(len(ODD))], *entries[number])(changed, arrays)
        write_file(path, changed, arrays)
        yield path, True
    for _ in range(150):
        changed = {name: array.copy() for name, array in arrays.items()}
        name = list(arrays)[random.integers(len(arrays))]
        raw = changed[name].reshape(-1).view(np.uint8)
        raw[random.integers(0, len(raw), 3)] = random.integers(0, 256, 3)
        write_file(path, document, changed)
        yield path, True


def survive(folder):
    """Load damaged files, and ask those that load; prints how many were refused."""
    import resource

    query, random = stored_query(), np.random.default_rng(0)
    expected = load(DATA / "forest_v1.prf").predict_proba(query)
    in_use = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (in_use + (1 << 28), resource.RLIM_INFINITY))
    counts = {"refused": 0, "same": 0, "other": 0}
    for path, is_crafted in damaged_files(folder, random):
        try:
            model = load(path)
        except ModelFileError:
            counts["refused"] += 1
            continue
        model.n_jobs = None
        try:
            answer = model.predict_proba(query)
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError):  # parameters that are none
            assert is_crafted
            answer = None
        is_same = answer is not None and np.array_equal(answer, expected)
        assert is_same or is_crafted
        counts["same" if is_same else "other"] += 1
    print(json.dumps(counts))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of memory are those of Linux")
def test_damaged_files_are_refused_quickly_and_without_much_memory(tmp_path):
    run = subprocess.run(
        [sys.executable, "-c", f"import test_models; test_models.survive({str(tmp_path)!r})"],
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parent)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    counts = json.loads(run.stdout)
    assert sum(counts.values()) == 450
    assert counts["refused"] > 200
