"""The folders keep to ARCHITECTURE.md: who imports whom, what is private, how long files and functions are."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import NamedTuple

import probforest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "probforest"
MOST_LINES_OF_A_FILE = 400
MOST_LINES_OF_A_FUNCTION = 60
MEDIAN_LINES_OF_A_FUNCTION = 8
PUBLIC_MODULES = {"dask", "datasets", "explain", "families", "importance", "large", "metrics"}


class Import(NamedTuple):
    """An import of one module of the package by another."""

    place: str  # path and line
    importer: str  # a folder, or a module beside the folders
    imported: str
    names: tuple[str, ...]


def modules() -> dict[Path, ast.Module]:
    """All modules of the package, parsed."""
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(PACKAGE.rglob("*.py"))}


MODULES = modules()


def room(path: Path) -> str:
    """The folder a module belongs to, or the module itself if it lies beside the folders."""
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


def place(path: Path, node: ast.AST) -> str:
    return f"{path.relative_to(ROOT)}:{node.lineno}"


def imports() -> Iterator[Import]:
    """All imports from one folder of the package to another."""
    for path, tree in MODULES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                names = tuple(alias.name for alias in node.names)
                for target in imported_rooms(path, node):
                    if target != room(path):
                        yield Import(place(path, node), room(path), target, names)
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    assert not alias.name.startswith("probforest"), f"{place(path, node)}: import it relatively"


def imported_rooms(path: Path, node: ast.ImportFrom) -> set[str]:
    if node.level == 0:
        assert not (node.module or "").startswith("probforest"), f"{place(path, node)}: import it relatively"
        return set()
    folder = path.relative_to(PACKAGE).parts[:-1]
    base = folder[: len(folder) - (node.level - 1)]
    parts = (*base, *(node.module or "").split(".")) if node.module else base
    return {parts[0]} if parts else {alias.name for alias in node.names}


def allowed_imports() -> dict[str, set[str]]:
    """The table of ARCHITECTURE.md: a folder or module, and what it may import."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    section = text.partition("## Who imports whom\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `([^`|]+)` \|(.*)\|$", section, re.MULTILINE)
    assert rows, "ARCHITECTURE.md has no table of imports"
    return {name.rstrip("/"): {word.rstrip("/") for word in re.findall(r"`([^`]+)`", cell)} for name, cell in rows}


def test_folders_import_only_what_the_architecture_allows():
    allowed = allowed_imports()
    wrong = [
        f"{each.place}: {each.importer} imports {each.imported}"
        for each in imports()
        if each.imported not in allowed.get(each.importer, set())
    ]
    assert wrong == []


def test_the_architecture_names_every_folder():
    assert set(allowed_imports()) == {room(path) for path in MODULES}


def test_the_architecture_has_no_circles():
    above = set()
    for name, targets in allowed_imports().items():
        assert targets <= above, f"{name} may import {targets - above}, which stand below it"
        above.add(name)


def test_no_private_name_is_imported_from_another_folder():
    wrong = [each.place for each in imports() for name in each.names if name.startswith("_")]
    assert wrong == []


# What these mean is documented: named tuples, and the standard library.
DOCUMENTED = {"_asdict", "_fields", "_replace", "_getframe", "_exit"}


def test_private_attributes_are_used_by_their_own_folder_only():
    """A private attribute belongs to the folder in which some class or module defines it."""
    homes = defaultdict(set)
    for path, tree in MODULES.items():
        for name in private_definitions(tree):
            homes[name].add(room(path))
    wrong = [
        f"{place(path, node)}: {ast.unparse(node)}"
        for path, tree in MODULES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and is_private(node.attr) and node.attr not in DOCUMENTED
        if homes[node.attr] and room(path) not in homes[node.attr]
    ]
    assert wrong == []


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def private_definitions(tree: ast.Module) -> Iterator[str]:
    """Private names that a module defines: functions, classes, attributes of `self`, fields."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and is_private(node.name):
            yield node.name
        elif isinstance(node, ast.AnnAssign | ast.Assign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in [part for each in targets for part in ast.walk(each)]:
                if isinstance(target, ast.Name) and is_private(target.id):
                    yield target.id
                if (
                    isinstance(target, ast.Attribute)
                    and is_private(target.attr)
                    and ast.unparse(target.value) == "self"
                ):
                    yield target.attr


def test_files_are_short():
    lengths = {str(path.relative_to(PACKAGE)): len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES}
    too_long = {name: length for name, length in lengths.items() if length > MOST_LINES_OF_A_FILE}
    assert too_long == {}


def docstring_lines(node: ast.FunctionDef) -> int:
    if ast.get_docstring(node) is None:
        return 0
    return node.body[0].end_lineno - node.body[0].lineno + 1


def function_lengths() -> dict[str, int]:
    """Lines of every function with its signature, without its docstring."""
    return {
        f"{place(path, node)} {node.name}": node.end_lineno - node.lineno + 1 - docstring_lines(node)
        for path, tree in MODULES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
    }


def test_functions_are_short():
    lengths = function_lengths()
    too_long = [name for name, length in lengths.items() if length > MOST_LINES_OF_A_FUNCTION]
    assert too_long == []
    assert median(lengths.values()) <= MEDIAN_LINES_OF_A_FUNCTION


def test_dir_shows_the_public_names_only():
    names = {name for name in dir(probforest) if not name.startswith("__")}
    assert names == set(probforest.__all__) | PUBLIC_MODULES
    assert all(not name.startswith("_") for name in names)
