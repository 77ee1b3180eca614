"""Options that commands share, and readers of their values."""

import argparse
import os
import textwrap
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

_HELP_WIDTH = 80


def integer(low: int, *, but_not: int | None = None) -> Callable[[str], int]:
    """A reader of whole numbers of at least `low`."""

    def read(text: str) -> int:
        number = int(text)
        if number < low or number == but_not:
            raise argparse.ArgumentTypeError(f"{number} is out of range, which begins at {low}")
        return number

    read.__name__ = "whole number"  # which argparse calls it
    return read


def new_parser(commands: Any, name: str, description: str, epilog: str = "") -> argparse.ArgumentParser:
    """A parser for the options of a command. The description is wrapped, the epilog keeps its line breaks."""
    return commands.add_parser(
        name,
        description=textwrap.fill(description, _HELP_WIDTH),
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def add_model(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", type=Path, metavar="MODEL", help="a forest saved by probforest train")


def table_path(text: str) -> Any:
    """The name of a table; `-` is standard input, and s3://... an address that fsspec knows."""
    if "://" in text:
        from ..storage.catalogues.remote import RemotePath, is_address

        if is_address(text) and not Path(text).exists():
            return RemotePath(text)
    return Path("/dev/stdin" if text == "-" else text)


def add_n_jobs(parser: argparse.ArgumentParser, default: int = -1) -> None:
    shown = "all cores" if default == -1 else str(default)
    parser.add_argument(
        "--n-jobs",
        type=integer(-1, but_not=0),
        default=default,
        metavar="N",
        help=f"number of threads; -1 uses all cores (default: {shown})",
    )


def add_common(parser: argparse.ArgumentParser) -> None:
    """Options of every command."""
    parser.add_argument("--json", action="store_true", help="print the result as JSON, for scripts")
    parser.add_argument("--debug", action="store_true", help="show the whole traceback of an error")


def add_output(parser: argparse.ArgumentParser, metavar: str, text: str) -> None:
    parser.add_argument("-o", "--output", required=True, type=Path, metavar=metavar, help=text)
    add_overwrite(parser)


def add_overwrite(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--overwrite", action="store_true", help="replace the output if it exists")


def refuse_to_overwrite(output: Path, inputs: Sequence[Path], *, overwrite: bool) -> None:
    """Raise an error before the work starts if the output exists, can't be created, or is one of the inputs."""
    if output.is_dir():
        raise ValueError(f"{output} is a folder; give the name of a file in it.")
    is_stream = str(output) == "-" or str(output.parent) in ("/dev", "/dev/fd", "/proc/self/fd")
    if is_stream or (output.exists() and not output.is_file()):
        raise ValueError(f"{output} is a pipe or a device; give the name of a file.")
    if output.exists():
        for given in inputs:
            if given.exists() and os.path.samefile(output, given):
                raise ValueError(f"{output} is also an input; write to another file.")
        if not overwrite:
            raise ValueError(f"{output} exists already. Choose another name, or add --overwrite to replace it.")
    folder = Path(os.path.realpath(output)).parent
    if not folder.is_dir():
        raise ValueError(f"{output}: there is no folder {folder}. Create it first.")


def refuse_full_folder(plots: Path | None, *, overwrite: bool) -> None:
    """Raise an error before the work starts if figures would be written into a folder that has something in it."""
    if plots is not None and not overwrite and plots.is_dir() and any(plots.iterdir()):
        raise ValueError(f"{plots} is not empty. Choose another folder, or add --overwrite to replace figures.")


def setting(text: str) -> tuple[str, Any]:
    """`key=value`, the value being written as in TOML; a word needs no quotes, and `none` is None.

    >>> setting("n_estimators=200"), setting("criterion=entropy"), setting("max_depth=none")
    (('n_estimators', 200), ('criterion', 'entropy'), ('max_depth', None))
    >>> setting('distribution={flux = "lognormal", mag = ["student_t", 5]}')
    ('distribution', {'flux': 'lognormal', 'mag': ('student_t', 5)})
    """
    key, separator, value = text.partition("=")
    key, value = key.strip(), value.strip()
    if not separator or not key or not value:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form key=value")
    if value.lower() == "none":
        return key, None
    if value in ("True", "False"):
        value = value.lower()
    try:
        return key, _with_tuples(tomllib.loads(f"value = {value}")["value"])
    except tomllib.TOMLDecodeError as problem:
        if value[0] in "[{\"'":
            raise argparse.ArgumentTypeError(f"{text!r}: the value is not TOML: {problem}") from problem
        return key, value


def _with_tuples(value: Any) -> Any:
    """TOML has no tuples: ["student_t", 5] means one."""
    if isinstance(value, dict):
        return {key: _with_tuples(item) for key, item in value.items()}
    if isinstance(value, list):
        return tuple(value) if value[:1] == ["student_t"] else [_with_tuples(item) for item in value]
    return value
