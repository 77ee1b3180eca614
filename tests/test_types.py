"""What a user's type checker sees: annotations of all that is public, which mypy tries on `typed_use.py`."""

import importlib
import inspect
from pathlib import Path

import pytest

import probforest
import typed_use

MODULES = [importlib.import_module(f"probforest.{name}") for name in ("datasets", "families", "importance", "metrics")]
CLASSES = [probforest.ProbabilisticRandomForestClassifier, probforest.ProbabilisticDecisionTreeClassifier]


def functions_of(scope):
    """The public functions that are written in this package, and its `__init__`."""
    for name, thing in inspect.getmembers(scope):
        function = inspect.unwrap(thing.fget if isinstance(thing, property) else thing)
        ours = inspect.isfunction(function) and function.__module__.startswith("probforest.")
        if ours and (name in ("__init__", "__call__") or not name.startswith("_")):
            yield function


def public_functions():
    yield from (function for scope in CLASSES for function in functions_of(scope))
    for module in MODULES:
        yield from (function for function in functions_of(module) if function.__module__ == module.__name__)
        for _, scope in inspect.getmembers(module, inspect.isclass):
            if scope.__module__ == module.__name__ and not scope.__name__.startswith("_"):
                yield from functions_of(scope)
    yield from (probforest.save, probforest.load, probforest.describe)


def without_types(function):
    signature = inspect.signature(function)
    bare = [
        each.name for each in signature.parameters.values() if each.annotation is each.empty and each.name != "self"
    ]
    return bare + (["return"] if signature.return_annotation is signature.empty else [])


def test_all_public_functions_have_types():
    functions = set(public_functions())
    names = {function.__qualname__ for function in functions}
    assert {"ProbabilisticClassifier.fit", "BaggedTrees.proximity", "ScorerWithErrors.__call__", "add_noise"} <= names
    assert {function.__qualname__: bare for function in functions if (bare := without_types(function))} == {}


def test_the_package_says_that_it_has_types():
    assert (Path(probforest.__file__).parent / "py.typed").is_file()


@pytest.mark.filterwarnings("ignore:.*drawn by every tree")
def test_the_typed_program_runs():
    typed_use.fit_and_predict()
    assert len(typed_use.parameters()) > 1
    assert len(typed_use.mistakes()) > 1
