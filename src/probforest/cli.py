"""The command line: its commands, how it ends, and how it complains."""

import argparse
import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from typing import NoReturn

from .commands import demo, evaluate, experiments, inspect, precompile, predict, train
from .commands.console import Console

FAILED, WRONG_INPUT, INTERRUPTED = 1, 2, 130
_COMMANDS = (train, predict, evaluate, inspect, demo, experiments, precompile)


def parser() -> argparse.ArgumentParser:
    main_parser = argparse.ArgumentParser(
        prog="probforest",
        description="Random forests for data with error bars and doubtful labels.",
        epilog="a first look:   probforest demo\n"
        "with a table:   probforest train stars.fits --target class -o stars.prf\n"
        "                probforest predict stars.prf survey.parquet -o classes.parquet\n\n"
        "exit codes: 0 all went well; 2 the command, a table or a model is not as it should be;\n"
        "            1 something else failed, such as a full disk; 130 interrupted",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    main_parser.add_argument("--version", action="version", version=version("probforest"))
    commands = main_parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in _COMMANDS:
        command.add(commands)
    return main_parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns its exit code."""
    options = parser().parse_args(arguments)
    console = Console(options.json)
    try:
        with _termination_is_interruption(), console.notes_for_warnings():
            return options.run(options, console)
    except KeyboardInterrupt:
        print("probforest: interrupted; no unfinished file is left.", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # a reader such as `head` has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except Exception as problem:
        if options.debug:
            traceback.print_exc()
        print(f"probforest: error: {_in_one_line(problem)}", file=sys.stderr)
        return _exit_code(problem)


def _in_one_line(problem: Exception) -> str:
    """What went wrong, in the words of the command line."""
    if isinstance(problem, MemoryError):
        return "there is not enough memory."
    if isinstance(problem, OSError) and problem.strerror:
        where = f"{problem.filename}: " if problem.filename else ""
        return f"{where}{problem.strerror}"
    text = " ".join(str(problem).split())
    for python_word, option in _IN_OPTIONS.items():
        text = text.replace(python_word, option)
    if isinstance(problem, ValueError | ImportError):
        return text
    return f"unexpected {type(problem).__name__}: {text} (--debug shows where)"


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


@contextmanager
def _termination_is_interruption() -> Iterator[None]:
    """A polite end by another program is an interruption: unfinished files are removed."""

    def stop(*_) -> NoReturn:
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():  # only the main thread may say what signals do
        yield
        return
    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


if __name__ == "__main__":
    sys.exit(main())
