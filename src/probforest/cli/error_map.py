"""Which columns are errors of which others: the option --errors."""

import tomllib
from pathlib import Path
from typing import Any

from ..inputs.columns import Errors


def error_map(word: str) -> str | dict[str, Any] | None:
    """The option --errors: "auto", "none", or a TOML file that says which columns are errors of which."""
    if word == "auto":
        return word
    if word == "none":
        return None
    path = Path(word)
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ValueError(f"--errors must be auto, none or a TOML file; there is no file {word}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise ValueError(f"{path} is not a TOML file: {problem}") from problem
    return {value: _errors_of(value, entry, path) for value, entry in entries.items()}


def _errors_of(value: str, entry: Any, path: Path) -> Errors:
    if isinstance(entry, str):
        return Errors(lower=entry)
    if isinstance(entry, list) and len(entry) == 2:
        return Errors(*entry)
    if isinstance(entry, dict) and entry and set(entry) <= {"lower", "upper", "limit"}:
        return Errors(**entry)
    raise ValueError(
        f"{path}: {value} = {entry!r} must be the name of an error column, a list of two, [lower, upper], or a table "
        "with any of lower, upper and limit."
    )
