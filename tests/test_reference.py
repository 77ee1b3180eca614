"""The reference has all public names and no others, each with an example."""

import importlib
import inspect
import re
from pathlib import Path

import pytest

import probforest

ROOT = Path(__file__).parents[1]
MODULES = ("datasets", "explain", "families", "importance", "large", "metrics", "dask")
RETURNED = {"probforest.trees.predicted_distribution.PredictedDistribution"}  # public as an answer, not to be made


def names_of(module):
    if module.__name__ == "probforest.families":
        return ["Family"]  # the rest of this module is for the package itself
    own = [name for name, thing in vars(module).items() if getattr(thing, "__module__", "") == module.__name__]
    return getattr(module, "__all__", [name for name in own if not name.startswith("_")])


def public_names():
    found = {f"probforest.{name}" for name in probforest.__all__}
    for word in MODULES:
        module = importlib.import_module(f"probforest.{word}")
        found |= {f"{module.__name__}.{name}" for name in names_of(module)}
    return found | RETURNED


def listed_names():
    """What the page of the reference lists, with its module."""
    found, module = [], ""
    for line in (ROOT / "docs" / "api" / "index.rst").read_text(encoding="utf-8").splitlines():
        changed = re.fullmatch(r"\.\. currentmodule:: (.*)", line)
        module = changed[1] if changed else module
        if re.fullmatch(r"   \w+", line):
            found.append(f"{module}.{line.strip()}")
    return found


def test_all_public_names_are_listed_once():
    assert sorted(listed_names()) == sorted(public_names())


@pytest.mark.parametrize("name", sorted(public_names()))
def test_every_public_name_has_an_example(name):
    module, _, word = name.rpartition(".")
    assert ">>>" in inspect.getdoc(getattr(importlib.import_module(module), word))


def test_the_gallery_has_stories():
    examples = sorted((ROOT / "examples").glob("*/plot_*.py"))
    assert len(examples) >= 15
    for path in examples:
        text = path.read_text(encoding="utf-8")
        assert re.match(r'"""\n.+\n=+\n\n.{80}', text), path.name
        assert "plt.show()" in text, path.name
