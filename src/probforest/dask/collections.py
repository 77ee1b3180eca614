"""Dask's tables and arrays as partitions: the pieces that a forest is fitted to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..estimators.table_pieces import TablePiece
from ..support.extras import need
from ..support.wording import listed, suggestion

# The arguments of `fit` that have a row per object.
ARGUMENTS = ("X", "y", "X_err", "X_limit", "X_samples", "y_proba", "y_err", "sample_weight")
_NEEDS = "probforest.dask"


def dask_module(name: str = "dask") -> Any:
    """A module of Dask, or an error that says how to install it."""
    return need(name, _NEEDS, "dask")


def is_table(thing: Any) -> bool:
    """Whether something is a Dask DataFrame or Series."""
    return hasattr(thing, "map_partitions") and hasattr(thing, "to_delayed") and hasattr(thing, "dtypes")


def is_array(thing: Any) -> bool:
    """Whether something is a Dask array."""
    return hasattr(thing, "map_blocks") and hasattr(thing, "chunks")


@dataclass(frozen=True)
class PartitionReader:
    """Makes a piece of a partition of X, on the worker that has it."""

    columns: tuple[str, ...] | None  # the features, in their order; None: X is an array
    roles: dict[str, Any]  # other arguments of `fit` that are columns of X: a name, or a list of names

    def __call__(self, part: Any, others: dict[str, Any], *, targets_only: bool = False) -> TablePiece:
        if self.columns is not None:
            others = {**others, **{role: self._column(part, name) for role, name in self.roles.items()}}
            part = None if targets_only else self._features(part)
        return TablePiece(X=part, **{name: _plain(name, each) for name, each in others.items()})

    def _column(self, part: Any, name: Any) -> Any:
        _refuse_missing([name] if isinstance(name, str) else name, part)
        return part[name]

    def _features(self, part: Any) -> Any:
        assert self.columns is not None
        _refuse_missing(self.columns, part)
        X = part[list(self.columns)]
        for name, kind in X.dtypes.items():
            if len(X) and kind.kind not in "biuf" and not str(kind).startswith(("Int", "UInt", "Float", "bool")):
                raise ValueError(f"X has the column {name!r} of the type {kind}; expected numbers.")
        return X


def _refuse_missing(names: Sequence[str], part: Any) -> None:
    missing = [name for name in names if name not in part.columns]
    if missing:
        known = suggestion(str(missing[0]), [str(name) for name in part.columns])
        raise ValueError(f"X has no column {listed([str(name) for name in missing])}. {known}")


@dataclass(frozen=True)
class Partitions:
    """The arguments of `fit`, a delayed part for each partition."""

    read: PartitionReader
    parts: list[Any]  # of X
    target_parts: list[Any]  # of X, with no more columns than targets need; None where they need none
    others: list[dict[str, Any]]  # arguments beside X
    target_others: list[dict[str, Any]]  # those of them that are no features


def partitions_of(X: Any, arguments: dict[str, Any]) -> Partitions:
    """The partitions of X and of the other `arguments`, each of which is None, the name of a column of X, a Dask
    collection with the partitions of X, or, for X_err and the like, the same for all objects."""
    if not is_table(X) and not (is_array(X) and X.ndim == 2):
        raise TypeError(
            f"X must be a Dask DataFrame or a Dask array with two dimensions; got {type(X).__name__}. For tables in "
            "memory, take the forests of probforest itself."
        )
    given = {name: arguments[name] for name in ARGUMENTS[1:] if arguments.get(name) is not None}
    roles = {name: each for name, each in given.items() if isinstance(each, str | list) and not name.startswith("X")}
    columns = _role_columns(X, roles)
    beside = {name: _parts(name, each, X) for name, each in given.items() if name not in roles}
    parts = _delayed(X)
    features = tuple(name for name in X.columns if name not in columns) if is_table(X) else None
    others = [{name: each[number] for name, each in beside.items()} for number in range(len(parts))]
    return Partitions(
        PartitionReader(features, roles),
        parts,
        _delayed(X[columns]) if columns else [None] * len(parts),
        others,
        [{name: each for name, each in all_of_them.items() if not name.startswith("X")} for all_of_them in others],
    )


def _role_columns(X: Any, roles: dict[str, Any]) -> list[str]:
    """The columns of X that are no features."""
    columns = [name for each in roles.values() for name in ([each] if isinstance(each, str) else each)]
    if columns and not is_table(X):
        raise ValueError(f"{next(iter(roles))} is the name of a column, but X is an array.")
    for name in columns:
        if name not in X.columns:
            raise ValueError(f"X has no column {name!r}. {suggestion(str(name), [str(known) for known in X.columns])}")
    return list(dict.fromkeys(columns))


def _parts(name: str, given: Any, X: Any) -> list[Any]:
    """The partitions of an argument."""
    n_parts = X.npartitions if is_table(X) else X.numblocks[0]
    if isinstance(given, tuple):
        sides = [_parts(name, each, X) for each in given]
        return [dask_module().delayed(tuple)(list(each)) for each in zip(*sides, strict=True)]
    if not is_table(given) and not is_array(given):
        if np.ndim(given) == 0 or (name == "X_err" and np.ndim(given) == 1):
            return [given] * n_parts
        raise TypeError(f"{name} must be a Dask collection with the partitions of X, or the name of a column of X.")
    parts = _delayed(given)
    if len(parts) != n_parts:
        raise ValueError(f"{name} has {len(parts)} partitions, but X has {n_parts}.")
    return parts


def _delayed(collection: Any) -> list[Any]:
    """One delayed object per partition."""
    if is_table(collection):
        return list(collection.to_delayed())
    whole = dict.fromkeys(range(1, collection.ndim), -1)
    return list(np.ravel((collection.rechunk(whole) if whole else collection).to_delayed()))


def _plain(name: str, given: Any) -> Any:
    """Targets and weights as arrays: the index of a partition says nothing. Columns of PMFs keep their names."""
    if name in ("y", "sample_weight", "y_err") and hasattr(given, "to_numpy"):
        kind = str(given.dtype)
        return np.asarray(given.to_numpy() if kind != "category" else given.astype(object))
    return (
        given.to_numpy() if name == "y_proba" and getattr(given, "ndim", 0) == 1 and hasattr(given, "iloc") else given
    )


def rows_between(sizes: Sequence[int]) -> list[tuple[int, int]]:
    """First and last object of each partition, among all."""
    ends = np.cumsum([0, *sizes])
    return list(zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True))
