"""The command line: its commands, its exit codes, and its error messages.

A command is imported when its options are known to be right, so that help, a wrong option and Ctrl-C need not wait
for Numba and scikit-learn.
"""

import argparse
import os
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from ..support.version import VERSION
from . import interruption
from .console import Console, open_closed_streams

FAILED, WRONG_INPUT = 1, 2
_COMMANDS = {
    "train": "train a forest, or boosted trees, on a table and save it",
    "predict": "classify a table with a saved forest",
    "evaluate": "evaluate a saved forest on a table with known classes",
    "merge": "make one forest of several that were trained apart",
    "explain": "explain the answers for some rows of a table",
    "complete": "replace noisy and missing values of a table by what its other values say",
    "inspect": "describe a saved forest and the columns it needs",
    "example": "write small tables to try the other commands with",
    "demo": "train and evaluate a forest on built-in noisy data, compared with scikit-learn's",
    "experiments": "repeat the experiments of the paper, with more methods to compare",
    "precompile": "compile all kernels now, so that no later run has to",
}


def parser(chosen: str | None = None) -> argparse.ArgumentParser:
    """A parser of the command `chosen`, or of the names of all commands."""
    main_parser = argparse.ArgumentParser(
        prog="probforest",
        description="Random forests for data with error bars and doubtful labels.",
        epilog="a first look:   probforest demo\n"
        "tables to try:  probforest example -o tables\n"
        "with a table:   probforest train stars.fits --target class -o stars.prf\n"
        "                probforest predict stars.prf survey.parquet -o classes.parquet\n\n"
        "exit codes: 0 success; 2 invalid command, table or model;\n"
        "            1 other failure, such as a full disk; 130 interrupted",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    main_parser.add_argument("--version", action="version", version=VERSION)
    commands = main_parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    if chosen in _COMMANDS:
        import_module(f".options.{chosen}", __package__).add(commands)
    else:
        for name, purpose in _COMMANDS.items():
            commands.add_parser(name, help=purpose)
    return main_parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns its exit code. Without `arguments`, those of the process are used."""
    open_closed_streams()
    console = Console()
    with interruption.Interruption() as stop:
        if arguments is None:
            stop.exits_at_once()
        else:
            stop.raises()
        code = _code(list(sys.argv[1:] if arguments is None else arguments), console, stop)
        if arguments is None:
            stop.kills()
        if console.problem is not None and code == 0:
            console.message(f"error: standard output: {console.problem.strerror}")
            code = FAILED
        return code


def _code(words: list[str], console: Console, stop: interruption.Interruption) -> int:
    """Run a command and report errors."""
    try:
        options = _options(words, console)
        console.as_json = options.json
        _expect_inputs(options)
        command = import_module(f".{options.command}", __package__)
        stop.raises()
        with console.notes_for_warnings():
            return command.run(options, console)
    except SystemExit:
        if console.problem is None:
            raise
        return 0  # a help text that could not be printed
    except KeyboardInterrupt:
        return _interrupted(console)
    except Exception as problem:
        if stop.is_requested:  # an interrupted import ends in many ways
            return _interrupted(console)
        if "--debug" in words:
            traceback.print_exc()
        console.message(f"error: {_in_one_line(problem)}")
        return _exit_code(problem)


def _options(words: list[str], console: Console) -> argparse.Namespace:
    try:
        return parser(words[0] if words else None).parse_args(words)
    finally:
        console.flush()  # the help text


def _expect_inputs(options: argparse.Namespace) -> None:
    """Raise the error of a file that is not there before anything is imported."""
    for argument in ("model", "table"):
        path = getattr(options, argument, None)
        if isinstance(path, Path):
            os.stat(path)


def _interrupted(console: Console) -> int:
    console.message(interruption.MESSAGE)
    return interruption.CODE


def _in_one_line(problem: Exception) -> str:
    """The error message, with options of the command line in place of Python arguments."""
    if isinstance(problem, MemoryError):
        return "there is not enough memory."
    if isinstance(problem, OSError) and problem.strerror:
        return _about_file(problem)
    text = " ".join(str(problem).split())
    for python_word, option in _IN_OPTIONS.items():
        text = text.replace(python_word, option)
    if isinstance(problem, ValueError | ImportError):
        return text
    return f"unexpected {type(problem).__name__}: {text} (--debug shows the traceback)"


def _about_file(problem: OSError) -> str:
    name = problem.filename
    if isinstance(problem, FileNotFoundError) and name is not None and os.path.islink(name):
        return f"{name} is a link to {os.readlink(name)}, which does not exist"
    return f"{name}: {problem.strerror}" if name else str(problem.strerror)


_IN_OPTIONS = {
    'error_columns="auto"': "--errors auto",
    "drop the column": "leave it out with --drop",
    "with a mapping in error_columns": "in a file, --errors MAP.toml",
    "error_columns has": "--errors has",
    "' of X has": "' has",  # X is the table
}


def _exit_code(problem: Exception) -> int:
    wrong_path = FileNotFoundError | FileExistsError | IsADirectoryError | NotADirectoryError
    wrong_input = ValueError | ImportError | wrong_path
    return WRONG_INPUT if isinstance(problem, wrong_input) else FAILED


if __name__ == "__main__":
    sys.exit(main())
