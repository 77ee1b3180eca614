"""The version is the same everywhere, and what a release needs is there."""

import re
from pathlib import Path

import probforest

ROOT = Path(__file__).parents[1]


def text_of(name):
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_version_is_the_same_everywhere():
    version = probforest.__version__
    assert re.search(r"^version: (.+)$", text_of("CITATION.cff"), flags=re.MULTILINE)[1] == version
    headings = re.findall(r"^## (\S+)", text_of("CHANGELOG.md"), flags=re.MULTILINE)
    assert headings[:2] == ["Unreleased", version]
    assert 'path = "src/probforest/support/version.py"' in text_of("pyproject.toml")


def test_the_conda_recipe_has_the_dependencies_of_the_package():
    listed = re.search(r"^dependencies = \[(.*?)\]", text_of("pyproject.toml"), flags=re.MULTILINE | re.DOTALL)[1]
    recipe = text_of("conda.recipe/meta.yaml")
    for name, bound in re.findall(r'"([\w-]+)(>=[\d.]+)"', listed):
        assert f"- {name} {bound}\n" in recipe
