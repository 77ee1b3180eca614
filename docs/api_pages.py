"""Write a page for each public name from its docstring: python docs/api_pages.py [--check]."""

import argparse
import importlib
import inspect
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import probforest

FOLDER = Path(__file__).parent / "api"
MODULES = (
    "probforest",
    *(f"probforest.{name}" for name in ("explain", "metrics", "importance", "datasets", "families", "large", "dask")),
)
FAMILIES = ("Family",)  # the rest of this module is for the package itself
SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}\n", flags=re.MULTILINE)


def public_names() -> Iterator[tuple[str, Any]]:
    """Full names and objects, each once, where it is first offered."""
    seen = set()
    for module_name in MODULES:
        module = importlib.import_module(module_name)
        for name in _names_of(module):
            thing = getattr(module, name)
            if id(thing) not in seen and (inspect.isclass(thing) or inspect.isroutine(thing)):
                seen.add(id(thing))
                yield f"{module_name}.{name}", thing


def _names_of(module: Any) -> Sequence[str]:
    if module.__name__ == "probforest.families":
        return FAMILIES
    if hasattr(module, "__all__"):
        return module.__all__
    names = [name for name, thing in vars(module).items() if getattr(thing, "__module__", "") == module.__name__]
    return [name for name in names if not name.startswith("_")]


def page_of(name: str, thing: Any) -> str:
    """The page of a class with all of its methods, or of a function."""
    parts = [f"# {name.rpartition('.')[2]}", _signature(name, thing), _markdown(inspect.getdoc(thing) or "", "##")]
    if inspect.isclass(thing):
        for method_name, method in _methods(thing):
            text = _markdown(inspect.getdoc(method) or "", "###")
            parts += [f"## {method_name}", _signature(method_name, method), text]
    return "\n\n".join(part for part in parts if part) + "\n"


def _methods(thing: type) -> list[tuple[str, Any]]:
    """Public methods that the package itself defines."""
    found = []
    for name in sorted(dir(thing)):
        method = inspect.getattr_static(thing, name)
        function = getattr(method, "__func__", method)
        own = getattr(function, "__module__", "") or ""
        if not name.startswith("_") and inspect.isfunction(function) and own.startswith("probforest"):
            found.append((name, getattr(thing, name)))
    return found


def _signature(name: str, thing: Any) -> str:
    """Names and defaults of the arguments, as code; types are in the text."""
    try:
        parameters = list(inspect.signature(thing).parameters.values())
    except (TypeError, ValueError):
        return ""
    bare = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in parameters]
    bare = [parameter for parameter in bare if parameter.name != "self"]
    shown = str(inspect.Signature(bare))
    if len(shown) > 90:
        shown = "(\n    " + shown[1:-1].replace(", ", ",\n    ") + "\n)"
    return f"```text\n{name}{shown}\n```"


def _markdown(docstring: str, head: str) -> str:
    """A docstring in numpydoc's form as Markdown."""
    text, *sections = SECTION.split(docstring)
    parts = [text.strip()]
    for title, content in zip(sections[::2], sections[1::2], strict=True):
        parts.append(f"{head} {title}")
        parts.append(f"```pycon\n{content.strip()}\n```" if title == "Examples" else _entries(content))
    return "\n\n".join(parts)


def _entries(content: str) -> str:
    """Names with their types, and what they mean, as a list."""
    lines = []
    for line in content.strip().splitlines():
        if line.startswith("    "):
            lines.append(f"  {line.strip()}")
        elif line:
            name, colon, kind = line.partition(" : ")
            lines.append(f"- `{name}`{colon}{kind}  ")
    return "\n".join(lines)


def index_of(names: list[str], things: list[Any]) -> str:
    """The page that leads to all others."""
    lines = [
        "# Reference",
        "",
        "A page for each public name, written from its docstring by `python docs/api_pages.py`.",
    ]
    for module in MODULES:
        lines += ["", f"## {module}", ""]
        for name, thing in zip(names, things, strict=True):
            if name.rpartition(".")[0] == module:
                summary = (inspect.getdoc(thing) or "").partition("\n")[0]
                lines.append(f"- [{name.rpartition('.')[2]}]({name}.md): {summary}")
    return "\n".join(lines) + "\n"


def pages() -> dict[str, str]:
    """All pages by their file names."""
    names, things = zip(*public_names(), strict=True)
    found = {f"{name}.md": page_of(name, thing) for name, thing in zip(names, things, strict=True)}
    return {"README.md": index_of(list(names), list(things)), **found}


def outdated(made: dict[str, str]) -> list[str]:
    """Files that are missing, others than they should be, or too many."""
    there = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")}
    return sorted(name for name in {*made, *there} if made.get(name) != there.get(name))


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, and fail if a page is out of date")
    options, made = parser.parse_args(words), pages()
    changed = outdated(made)
    if options.check:
        print("\n".join(changed) or f"{len(made)} pages are up to date")
        return int(bool(changed))
    FOLDER.mkdir(exist_ok=True)
    for name in changed:
        path = FOLDER / name
        path.write_text(made[name], encoding="utf-8") if name in made else path.unlink()
    print(f"probforest {probforest.__version__}: {len(made)} pages, {len(changed)} of them changed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
