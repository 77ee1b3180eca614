"""A table that is written as a folder of Parquet files, part by part: what is finished stays after an interruption."""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from ...support.atomic import replacing
from ...support.extras import need
from .output import Output, open_output

ROWS_OF_A_PART = 1_000_000
_JOB = "_probforest.json"  # readers of folders leave out names with an underscore in front


def is_folder_name(path: str | os.PathLike) -> bool:
    """Whether the name of an output stands for a folder: it has no ending, and is not that of something else.

    >>> is_folder_name("classes"), is_folder_name("classes.parquet"), is_folder_name("classes.xyz")
    (True, False, False)
    """
    path = Path(path)
    is_something_else = path.exists() and not path.is_dir()
    return path.suffix == "" and str(path) != "-" and not is_something_else


class PartsOutput(Output):
    """A folder that is being written. Parts that were finished earlier are kept."""

    def __init__(self, folder: Path, rows_of_a_part: int):
        self._folder, self._rows_of_a_part = folder, rows_of_a_part
        self._finished = _finished_parts(folder)
        self._current: Any = None
        self._room = 0
        self._open_part = ExitStack()

    @property
    def finished(self) -> list[Path]:
        """The parts that are complete."""
        return self._finished

    @property
    def n_finished(self) -> int:
        """Rows in them."""
        parquet = need("pyarrow.parquet", "Reading Parquet", "tables")
        return sum(parquet.read_metadata(os.fspath(path)).num_rows for path in self._finished)

    def column(self, name: str) -> Iterator[Any]:
        """A column of the finished parts."""
        parquet = need("pyarrow.parquet", "Reading Parquet", "tables")
        for path in self._finished:
            yield parquet.read_table(os.fspath(path), columns=[name], partitioning=None).column(name)

    def write(self, piece: Any) -> None:
        while piece.num_rows:
            if self._current is None:
                path = self._folder / f"part-{len(self._finished):05d}.parquet"
                self._current = self._open_part.enter_context(open_output(path, overwrite=False))
                self._room = self._rows_of_a_part
            head, piece = piece.slice(0, self._room), piece.slice(self._room)
            self._current.write(head)
            self._room -= head.num_rows
            if self._room == 0:
                self.finish()

    def finish(self) -> None:
        if self._current is not None:
            self._open_part.close()
            self._current = None
            self._finished = _finished_parts(self._folder)

    def close(self) -> None:
        """The part that is not finished is removed by whoever called, with its error."""


@contextmanager
def open_parts(
    folder: Path, job: Mapping[str, Any], *, resume: bool, overwrite: bool, rows_of_a_part: int | None = None
) -> Iterator[PartsOutput]:
    """Write a folder of Parquet files. `job` says what is written: an interrupted one is only resumed by the same.

    After an error, the finished parts stay.
    """
    rows_of_a_part = rows_of_a_part or ROWS_OF_A_PART
    job = {**job, "rows_of_a_part": rows_of_a_part}
    _prepare(folder, job, resume=resume, overwrite=overwrite)
    output = PartsOutput(folder, rows_of_a_part)
    with output._open_part:  # an error discards the part under way
        yield output
        output.finish()


def _prepare(folder: Path, job: Mapping[str, Any], *, resume: bool, overwrite: bool) -> None:
    """An empty folder, or one with parts of the same job."""
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is a file; expected the name of a folder to write.")
    folder.mkdir(exist_ok=True)
    if any(folder.iterdir()):
        known = _job_of(folder)
        if resume:
            _refuse_another_job(folder, known, job)
            return
        if not overwrite:
            raise ValueError(
                f"{folder} is not empty. Choose another folder, add --resume to continue an interrupted prediction, or "
                "--overwrite to replace it."
            )
        if known is None:
            raise ValueError(f"{folder} has files that probforest did not write. Choose another folder.")
        for path in [*_finished_parts(folder), folder / _JOB]:
            path.unlink()
    with replacing(folder / _JOB) as part:
        part.write_text(json.dumps(job, indent=1), encoding="utf-8")


def _refuse_another_job(folder: Path, known: Any, job: Mapping[str, Any]) -> None:
    if known is None:
        raise ValueError(f"{folder} has no prediction that could be resumed ({_JOB} is not there).")
    for key in job:
        if known.get(key) != job[key]:
            raise ValueError(
                f"--resume: {folder} was begun with {_other(key)}. Repeat the command as it was, or "
                "begin again with --overwrite."
            )


def _other(key: str) -> str:
    return f"{'other' if key.endswith('s') or key.startswith('rows') else 'another'} {key.replace('_', ' ')}"


def _job_of(folder: Path) -> Any:
    try:
        job = json.loads((folder / _JOB).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return job if isinstance(job, dict) else None


def _finished_parts(folder: Path) -> list[Path]:
    return sorted(folder.glob("part-*.parquet"))
