"""Optional dependencies, and the error message if one is not installed."""

from importlib import import_module
from typing import Any


def need(module: str, what: str, extra: str) -> Any:
    """Import `module`; an ImportError names the extra that installs it.

    >>> need("json", "JSON", "tables").dumps([1])
    '[1]'
    >>> need("no_such_module", "A table", "tables")
    Traceback (most recent call last):
    ...
    ImportError: A table needs no_such_module, which is not installed: pip install "probforest[tables]"
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as problem:
        name = module.split(".")[0]
        if problem.name is None or problem.name.split(".")[0] != name:
            raise
        remedy = f'pip install "probforest[{extra}]"'
        raise ImportError(f"{what} needs {name}, which is not installed: {remedy}") from problem
