"""Kills: a process that is ended while it writes leaves the old file or the new one, never half of one.

The process is a fork of the worker, so that nothing has to be imported: it is hit while it works, not while it starts.
"""

import os
import signal
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

import probforest
from probforest.cli.main import main

from .answers import expect
from .values import pick

_OLD = b"what was there before"
_PATIENCE = 30.0  # seconds that a process may take to end after a signal
_LATE = 1.1  # the last moment of a kill, in units of the time that the work takes


Work = Callable[[Path], bool]  # tells whether it succeeded


class Job(NamedTuple):
    """Work that writes a file into a folder, and the name of the file."""

    work: Work
    output: str
    cleans_up: bool  # whether a polite signal leaves no unfinished file


class Record(NamedTuple):
    """What becomes of a job that nobody disturbs."""

    content: bytes
    seconds: float


def run(random: np.random.Generator) -> None:
    """Kill one job at a random moment."""
    name = pick(random, *JOBS)
    how = pick(random, signal.SIGKILL, signal.SIGTERM)
    moment = random.random() * _LATE
    try:
        kill(job_named(name), how, record_of(name), moment)
    except Exception as problem:
        problem.add_note(f"{name}, {how.name} after {moment:.3f} of its time")
        raise


def kill(job: Job, how: signal.Signals, undisturbed: Record, moment: float) -> None:
    """Start a job, end it after a share of its time, and look at what it has left."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        output = folder / job.output
        output.write_bytes(_OLD)
        process = _forked(job.work, folder)
        time.sleep(moment * undisturbed.seconds)
        os.kill(process, how)
        _wait_for(process)
        content = output.read_bytes() if output.exists() else None
        expect(content is not None, "the old file is gone")
        expect(content in (_OLD, undisturbed.content), f"a file of {len(content or b'')} bytes is neither old nor new")
        left = sorted(each.name for each in folder.iterdir() if each != output)
        expect(not left or how == signal.SIGKILL or not job.cleans_up, f"an unfinished file is left: {left}")


@cache
def record_of(name: str) -> Record:
    """Run a job to its end, twice: the first time fills caches."""
    return [_undisturbed(job_named(name)) for _ in range(2)][-1]


def _undisturbed(job: Job) -> Record:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / job.output).write_bytes(_OLD)
        start = time.monotonic()
        status = _wait_for(_forked(job.work, folder))
        seconds = time.monotonic() - start
        expect(status == 0, f"a job that nobody disturbs ends with status {status}")
        return Record((folder / job.output).read_bytes(), seconds)


def _forked(work: Work, folder: Path) -> int:
    """Start work in a copy of this process; returns its number."""
    with warnings.catch_warnings():  # Python warns of forks with threads: here all of them sleep
        warnings.simplefilter("ignore", DeprecationWarning)
        process = os.fork()
    if process:
        return process
    status = 1
    try:
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        status = 0 if work(folder) else 1
    finally:
        os._exit(status)


def _wait_for(process: int) -> int:
    """How the process ended; one that does not is a violation."""
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        number, status = os.waitpid(process, os.WNOHANG)
        if number:
            return status
        time.sleep(0.001)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    expect(False, f"a process does not end within {_PATIENCE:.0f} s")
    raise AssertionError


# The jobs


@cache
def _inputs() -> Path:
    """A folder with a table and a model of it, which stays as long as the process."""
    random = np.random.default_rng(0)
    X, y = random.normal(size=(400, 4)), np.arange(400) % 3
    folder = Path(tempfile.mkdtemp())
    names = ",".join([f"m{j},e_m{j}" for j in range(4)])
    rows = [",".join(f"{x:.6f},0.3" for x in row) + f",{label}" for row, label in zip(X, y, strict=True)]
    (folder / "table.csv").write_text("\n".join([f"{names},kind", *rows]) + "\n")
    status = _wait_for(_forked(partial(_train, folder), folder))
    expect(status == 0, f"a training ends with status {status}")
    return folder


@cache
def _forest() -> probforest.ProbabilisticRandomForestClassifier:
    random = np.random.default_rng(0)
    X, y = random.normal(size=(400, 4)), np.arange(400) % 3
    return probforest.ProbabilisticRandomForestClassifier(30, random_state=0).fit(X, y, X_err=0.3)


def _save(folder: Path) -> bool:
    return probforest.save(_forest(), folder / "model.prf") > 0


def _train(inputs: Path, folder: Path) -> bool:
    words = ["train", inputs / "table.csv", "--target", "kind", "--set", "n_estimators=5", "--overwrite"]
    return main([*map(str, words), "-o", str(folder / "model.prf")]) == 0


def _predict(inputs: Path, folder: Path) -> bool:
    words = ["predict", inputs / "model.prf", inputs / "table.csv", "--overwrite"]
    return main([*map(str, words), "-o", str(folder / "classes.csv")]) == 0


@cache
def job_named(name: str) -> Job:
    """A job with everything that it needs."""
    if name == "save":
        _forest()
        return Job(_save, "model.prf", cleans_up=False)
    if name == "train":
        return Job(partial(_train, _inputs()), "model.prf", cleans_up=True)
    return Job(partial(_predict, _inputs()), "classes.csv", cleans_up=True)


JOBS = ("save", "save", "train", "predict")
