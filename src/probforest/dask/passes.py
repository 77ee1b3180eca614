"""The passes over a table in pieces as tasks of Dask: on a cluster, or in threads of this process.

What becomes of a partition stays in the memory of the worker that made it, or where Dask spills it to; a tree fetches
the rows that it has drawn from all of them. Dask computes again what is lost with a worker.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, TypeVar

import numpy as np
from joblib import effective_n_jobs

from ..estimators.table_pieces import GrowTree, Prepared, TablePiece
from ..inputs.cell_error import CellError
from ..support.progress import with_progress
from ..trees.bootstrap import Draw
from ..trees.fitted_tree import FittedTree
from ..trees.training_rows import drawn_rows, join_rows
from ..trees.training_set import TrainingSet
from .collections import PartitionReader, Partitions, dask_module, rows_between

Result = TypeVar("Result")
_LOST = (
    "The connection to the Dask scheduler was lost while the forest was fitted. The model is as it was before. Start "
    "the cluster again, and repeat the fit."
)


class DaskPasses:
    """Passes over partitions; `client` is a cluster's, None: threads of this process."""

    def __init__(self, partitions: Partitions, client: Any = None, verbose: int = 0) -> None:
        self._partitions, self._cluster = partitions, Cluster(client, verbose)

    def name_of(self, number: int) -> str:
        return f"partition {number}"

    def in_place(self, problem: CellError, number: int) -> Exception:
        return ValueError(f"partition {number}: {problem}")

    def over_targets(self, function: Callable[[TablePiece], Result]) -> list[Result]:
        table = self._partitions
        numbered = zip(range(len(table.parts)), table.target_parts, table.target_others, strict=True)
        try:
            return self._over("targets", _of_targets, function, numbered)
        except KeyError:  # of Dask, for a partition without a column that others have; now that partition is named
            numbered = zip(range(len(table.parts)), table.parts, table.target_others, strict=True)
            return self._over("targets", _of_targets, function, numbered)

    def take(self, rows: list[np.ndarray]) -> list[TablePiece]:
        wanted = [each for each in self._numbered(rows) if len(each[-1])]
        return self._over("sample", _rows_of_piece, None, wanted)

    def prepare(
        self, function: Callable[[TablePiece, np.ndarray], Prepared], rows: list[np.ndarray]
    ) -> tuple[DaskTrees, np.ndarray]:
        tasks = self._cluster.tasks("codes", _prepared_piece, (self._partitions.read, function), self._numbered(rows))
        prepared = self._cluster.kept(tasks)
        facts = self._cluster.tasks("sizes", _facts, None, ((each,) for each in prepared))
        sizes, places = zip(*self._cluster.results(facts, "codes"), strict=True)
        spans = rows_between(sizes)
        among_all = [np.where(here >= 0, here + first, -1) for here, (first, _) in zip(places, spans, strict=True)]
        return DaskTrees(self._cluster, prepared, spans), np.concatenate(among_all)

    def _numbered(self, rows: list[np.ndarray]) -> Iterator[tuple[int, Any, dict[str, Any], np.ndarray]]:
        return zip(range(len(rows)), self._partitions.parts, self._partitions.others, rows, strict=True)

    def _over(self, label: str, work: Callable[..., Any], function: Any, arguments: Any) -> list[Any]:
        tasks = self._cluster.tasks(label, work, (self._partitions.read, function), arguments)
        return self._cluster.results(tasks, label)


class DaskTrees:
    """Trees as tasks that draw from all partitions."""

    def __init__(self, cluster: Cluster, prepared: list[Any], spans: list[tuple[int, int]]) -> None:
        self._cluster = cluster
        self._pieces = [(piece, *span) for piece, span in zip(prepared, spans, strict=True) if span[1] > span[0]]
        self._n_objects = spans[-1][1]

    @property
    def n_objects(self) -> int:
        return self._n_objects

    def grow(self, grow_tree: GrowTree, draws: list[Draw], n_values: int | None = None) -> list[FittedTree]:
        def in_turn() -> Iterator[FittedTree]:
            """A few at a time: workers would fetch the rows of all trees before they grow the first one."""
            step = 2 * self._cluster.n_threads()
            for first in range(0, len(draws), step):
                some = draws[first : first + step]
                taken = [self._cluster.tasks("rows", _drawn, draw, self._pieces) for draw in some]
                tasks = self._cluster.tasks("tree", _grow, (grow_tree, n_values), zip(some, taken, strict=True))
                yield from self._cluster.results(tasks)

        return list(with_progress(in_turn(), len(draws), "trees", self._cluster.verbose))


class Cluster:
    """Who works on tasks."""

    def __init__(self, client: Any, verbose: int) -> None:
        self._client, self.verbose = client, verbose
        self._token = uuid.uuid4().hex[:12]
        self._count = 0

    def tasks(self, name: str, work: Callable[..., Any], shared: Any, arguments: Any) -> list[Any]:
        """A task for each tuple of arguments. What all of them share is in the graph once. The dashboard shows the
        name."""
        dask = dask_module()
        self._count += 1
        key = f"probforest-{name}-{self._token}-{self._count}"
        common = dask.delayed(shared, name=f"{key}-shared", traverse=False)
        make = dask.delayed(work, pure=False)
        return [make(common, *each, dask_key_name=f"{key}-{i}") for i, each in enumerate(arguments)]

    def kept(self, tasks: list[Any]) -> list[Any]:
        """The same tasks, whose answers stay in memory once they are there."""
        if self._client is None:
            with self._bar(self.verbose):
                return list(dask_module().persist(*tasks, scheduler="threads"))
        with self._blaming_cluster():
            return list(self._client.persist(tasks))

    def results(self, tasks: list[Any], label: str = "") -> list[Any]:
        """The answers of all tasks, in their order. With a label, progress is shown."""
        verbose = self.verbose if label else 0
        if self._client is None:
            with self._bar(verbose):
                return list(dask_module().compute(*tasks, scheduler="threads"))
        with self._blaming_cluster():
            futures = self._client.compute(tasks)
            finished = dask_module("distributed").as_completed(futures, loop=self._client.loop) if verbose else ()
            for _ in with_progress(finished, len(tasks), label, verbose):
                pass
            return self._client.gather(futures)

    def _bar(self, verbose: int) -> Any:
        """Dask's own progress bar, for threads."""
        return dask_module("dask.diagnostics").ProgressBar() if verbose else nullcontext()

    @contextmanager
    def _blaming_cluster(self) -> Iterator[None]:
        """Errors of the cluster itself, in words."""
        distributed = dask_module("distributed")
        try:
            yield
        except distributed.KilledWorker as problem:
            raise RuntimeError(
                f"Workers of the Dask cluster died again and again: {problem}. If their memory was full, give a "
                "smaller max_samples or smaller partitions."
            ) from problem
        except Exception as problem:
            if self._is_lost(problem):
                raise RuntimeError(_LOST) from problem
            raise

    def n_threads(self) -> int:
        """How many tasks run at once."""
        if self._client is None:
            return effective_n_jobs(-1)
        return max(1, sum(self._client.nthreads().values()))

    def _is_lost(self, problem: Exception) -> bool:
        """Whether an error means that there is no scheduler any more."""
        distributed = dask_module("distributed")
        lost = (distributed.CancelledError, distributed.comm.core.CommClosedError)
        return isinstance(problem, lost) or self._client.status != "running"


# Work on partitions, in other processes. What goes wrong names the partition.


def _of_targets(how: tuple[PartitionReader, Any], number: int, part: Any, others: dict[str, Any]) -> Any:
    read, function = how
    return _named(number, lambda: function(read(part, others, targets_only=True)))


def _rows_of_piece(
    how: tuple[PartitionReader, None], number: int, part: Any, others: dict[str, Any], rows: np.ndarray
) -> TablePiece:
    return _named(number, lambda: how[0](part, others).rows(rows))


def _prepared_piece(
    how: tuple[PartitionReader, Any], number: int, part: Any, others: dict[str, Any], rows: np.ndarray
) -> Prepared:
    read, function = how
    return _named(number, lambda: function(read(part, others), rows))


def _named(number: int, work: Callable[[], Any]) -> Any:
    try:
        return work()
    except (ValueError, TypeError) as problem:
        raise ValueError(f"partition {number}: {problem}") from problem


def _facts(_: None, prepared: Prepared) -> tuple[int, np.ndarray]:
    return 0 if prepared.training is None else prepared.training.n_objects, prepared.places


def _drawn(draw: Draw, prepared: Prepared, first: int, last: int) -> TrainingSet:
    assert prepared.training is not None
    return drawn_rows(prepared.training, *draw.drawn_between(first, last))


def _grow(how: tuple[GrowTree, int | None], draw: Draw, parts: list[TrainingSet]) -> FittedTree:
    grow_tree, n_values = how
    training = join_rows(parts)
    return grow_tree(training if n_values is None else training.with_first_features(n_values), training.weight, draw)
