"""A training set that is larger than the memory: pieces of it in files, from which trees take what they draw."""

import errno
import os
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.lib import format as npy

from .bootstrap import Draw
from .training_rows import arrays_of, drawn_rows, join_rows, with_arrays
from .training_set import TrainingSet


@dataclass
class StoredRows:
    """Pieces of a training set in the files of a folder, in their order. Whoever made the folder removes it."""

    folder: Path
    sizes: list[int] = field(default_factory=list)  # objects in each piece
    _frames: list[TrainingSet] = field(default_factory=list)  # all that has no row per object

    @property
    def n_objects(self) -> int:
        """All objects."""
        return sum(self.sizes)

    @property
    def n_bytes(self) -> int:
        """Size of the files."""
        return sum(path.stat().st_size for path in self.folder.glob("*.npy"))

    def add(self, piece: TrainingSet) -> None:
        """Write a piece behind the others. Nothing of it stays in memory."""
        number = len(self.sizes)
        arrays = arrays_of(piece)
        for name, array in arrays.items():
            _write(self._path(number, name), np.ascontiguousarray(array))
        self.sizes.append(piece.n_objects)
        self._frames.append(with_arrays(piece, {name: array[:0].copy() for name, array in arrays.items()}))

    def drawn(self, draw: Draw) -> tuple[TrainingSet, np.ndarray]:
        """The objects that were drawn, and what they weigh in this draw (n,)."""
        rows, counts = draw.drawn_between(0, self.n_objects)
        starts = np.cumsum([0, *self.sizes[:-1]])
        cuts = np.searchsorted(rows, starts[1:])
        here, times = np.split(rows, cuts), np.split(counts, cuts)
        training = join_rows(
            [drawn_rows(self._opened(i), here[i] - starts[i], times[i]) for i in range(len(self.sizes))]
        )
        return training, training.weight

    def _opened(self, number: int) -> TrainingSet:
        """A piece whose arrays stay in their files until rows are taken out of them."""
        frame = self._frames[number]
        arrays = {name: np.load(self._path(number, name), mmap_mode="r") for name in arrays_of(frame)}
        return with_arrays(frame, arrays)

    def _path(self, number: int, name: str) -> Path:
        return self.folder / f"{number:06d}-{name}.npy"


def _write(path: Path, array: np.ndarray) -> None:
    """As `numpy.save`, which does not say why it could not write."""
    try:
        with path.open("wb") as file:
            npy.write_array_header_2_0(file, npy.header_data_from_array_1_0(array))
            file.write(array.data if array.size else b"")
    except OSError as problem:
        if problem.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            free = os.statvfs(path.parent) if hasattr(os, "statvfs") else None
            left = "" if free is None else f" ({free.f_bavail * free.f_frsize / 1e6:.0f} MB are left)"
            raise OSError(
                problem.errno,
                f"No space left for the codes of the training set{left}: they take about as much space as the table "
                "in memory. Give another folder (--scratch, or the environment variable TMPDIR)",
                str(path.parent),
            ) from None
        raise
