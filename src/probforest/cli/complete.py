"""`probforest complete`: a table with errors and holes → the same table with less of both."""

import argparse
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.utils import check_array

from ..families import NORMAL
from ..features.cell_summaries import CellSummaries
from ..features.feature_model import FeatureModel
from ..inputs.cell_error import CellError
from ..inputs.columns import describe_pairs
from ..inputs.tables import Layout, TableContent, read_table
from ..storage.catalogues import Catalogue, check_output_name, open_catalogue, open_output
from ..storage.catalogues.catalogue import with_numbers
from ..support.wording import indented, listed
from .arguments import refuse_to_overwrite
from .columns_to_use import ColumnsToUse, choose_columns, look_like_identifiers, matching
from .console import Console
from .error_map import error_map
from .predictions import in_file, table_for

_MOST_ROWS = 65_536  # that the prior is learnt from, evenly from the table: more would not change it
_SUFFIXES = "", "_err1", "_err2"  # median, upper and lower error, as the NASA Exoplanet Archive has them


def run(options: argparse.Namespace, console: Console) -> int:
    check_output_name(options.output)
    refuse_to_overwrite(options.output, [options.table], overwrite=options.overwrite)
    start = time.perf_counter()
    with open_catalogue(options.table) as catalogue:
        completer = _Completer(catalogue, options, console)
        kept, new_names = completer.kept, completer.new_names
        of_values = {new: catalogue.units.get(old) for old, names in new_names.items() for new in names}
        units = {name: catalogue.units.get(name) for name in kept} | of_values
        units = {name: unit for name, unit in units.items() if unit is not None}
        with open_output(options.output, units, overwrite=options.overwrite) as output:
            for piece in completer.pieces():
                output.write(piece)
    seconds = time.perf_counter() - start
    completer.describe(console)
    console.say(f"{options.output}: {completer.n_rows:,} rows in {seconds:.1f} s")
    console.result(
        {
            "output": str(options.output),
            "rows": completer.n_rows,
            "seconds": seconds,
            "kept": kept,
            "columns": [*kept, *(new for names in new_names.values() for new in names)],
            "prior": options.prior,
            **completer.counts(),
        }
    )
    return 0


class _Completer:
    """Learns what a table says about its values, and replaces them piece by piece."""

    def __init__(self, catalogue: Catalogue, options: argparse.Namespace, console: Console):
        self._catalogue, self._options, self.n_rows = catalogue, options, 0
        self._sentinels = {"*": options.sentinels} if options.sentinels else None
        whole = catalogue.whole()
        if whole.num_rows == 0:
            raise ValueError(f"{catalogue.path} has no rows.")
        self._columns = self._choose(whole, console)
        table = self._read(with_numbers(whole, self._columns.names, catalogue.path))
        self._replaced = _with_errors_or_holes(table)
        self._model = self._learn(table)
        d = len(self._replaced)
        self._n_filled, self._n_empty = np.zeros(d, dtype=np.int64), np.zeros(d, dtype=np.int64)

    @property
    def new_names(self) -> dict[str, list[str]]:
        """For each column that is replaced, the new ones."""
        names = [name for name, replaced in zip(self._columns.pairs, self._replaced, strict=True) if replaced]
        new = {name: [f"{self._options.prefix}{name}{suffix}" for suffix in _SUFFIXES] for name in names}
        taken = [each for names in new.values() for each in names if each in self.kept]
        if taken:
            raise ValueError(
                f"The output would have two columns {taken[0]!r}. Rename the new columns with --prefix, or leave this "
                "one out with --keep."
            )
        return new

    @property
    def kept(self) -> list[str]:
        """The columns that are copied."""
        names = self._catalogue.names
        if self._options.keep is not None:
            return matching(self._options.keep, names, "--keep")
        pairs = self._columns.pairs.items()
        gone = {
            column
            for (name, pair), replaced in zip(pairs, self._replaced, strict=True)
            if replaced
            for column in (name, *(pair.columns if pair is not None else ()))
        }
        return [name for name in names if name not in gone]

    def pieces(self) -> Iterator[Any]:
        """The new table."""
        import pyarrow

        new_names = self.new_names
        for chunk in self._catalogue.chunks(self._columns.names, self.kept):
            found = self._posterior(chunk.numbers)
            piece = chunk.others
            for j, names in zip(np.flatnonzero(self._replaced), new_names.values(), strict=True):
                parts = found.center[:, j], found.upper[:, j], -found.lower[:, j]
                for new, values in zip(names, parts, strict=True):
                    piece = piece.append_column(new, pyarrow.array(values + 0.0, from_pandas=True))  # no -0
            yield piece
            self.n_rows += chunk.numbers.num_rows

    def counts(self) -> dict[str, Any]:
        """What was done, for scripts."""
        joint = self._model.joint_prior
        names = list(self.new_names)
        by_name = [
            dict(zip(names, each[self._replaced].tolist(), strict=True)) for each in (self._n_filled, self._n_empty)
        ]
        components = [] if joint is None else [len(group.mixture.share) for group in joint.groups]
        return {"replaced": names, "filled": by_name[0], "still_missing": by_name[1], "components": components}

    def describe(self, console: Console) -> None:
        """What was done, for people."""
        console.say(f"features ({len(self._columns.pairs)}):\n{indented(describe_pairs(self._columns.pairs))}")
        about = self.counts()
        if self._options.prior == "joint" and not about["components"]:
            console.note("no column says anything about another one: missing values stay missing.")
        console.say(f"replaced: {', '.join(about['replaced'])}")
        filled = {name: count for name, count in about["filled"].items() if count}
        if filled:
            console.say("missing values filled in: " + ", ".join(f"{name} {n:,}" for name, n in filled.items()))
        empty = {name: count for name, count in about["still_missing"].items() if count}
        if empty:
            console.say("still missing: " + ", ".join(f"{name} {n:,}" for name, n in empty.items()))

    def _choose(self, whole: Any, console: Console) -> ColumnsToUse:
        options, errors = self._options, error_map(self._options.errors)
        rows = range(whole.num_rows)
        chosen = choose_columns(self._catalogue, whole, rows, [], options.features, options.drop, errors)
        identifiers = look_like_identifiers(whole, list(chosen.pairs)) if options.features is None else []
        if identifiers:
            console.note(f"copied, as they look like identifiers: {listed(identifiers)}. --features uses them.")
            chosen.pairs = {name: pair for name, pair in chosen.pairs.items() if name not in identifiers}
        if len(chosen.pairs) == 0:
            raise ValueError(f"{self._catalogue.path} has no column to complete.")
        return chosen

    def _read(self, numbers: Any, layout: Layout | None = None) -> TableContent:
        names, units = self._columns.names, self._catalogue.units
        X = table_for(numbers, names, {name: units.get(name) for name in names})
        return read_table((X, None, None, None), _as_array, self._columns.error_columns, self._sentinels, layout)

    def _learn(self, table: TableContent) -> FeatureModel:
        if not self._replaced.any():
            raise ValueError(f"{self._catalogue.path}: no value has an error or is missing, so nothing is to be done.")
        rows = np.unique(np.linspace(0, len(table.X) - 1, min(len(table.X), _MOST_ROWS)).astype(np.int64))
        try:
            features = FeatureModel.fit(
                table,
                np.ones(len(table.X)),
                (NORMAL,) * table.X.shape[1],
                prior=self._options.prior,
                unknown_error="median" if table.has_errors else "exact",
                max_bins=256,
                n_jobs=self._options.n_jobs,
                error_spreads=(),
                rows=rows,
            )
        except CellError as error:
            raise in_file(error, self._catalogue, error.row or 0) from None
        return features.model

    def _posterior(self, numbers: Any) -> CellSummaries:
        try:
            measurements = self._model.read(self._read(numbers, self._model.layout))
            found = self._model.posterior(measurements, unknown_error="median", n_jobs=self._options.n_jobs)
        except CellError as error:
            raise in_file(error, self._catalogue, self.n_rows + (error.row or 0)) from None
        was_missing, is_missing = np.isnan(measurements.center.T), np.isnan(found.center)
        self._n_filled += (was_missing & ~is_missing).sum(axis=0)
        self._n_empty += is_missing.sum(axis=0)
        return found


def _as_array(X: Any) -> np.ndarray:
    return check_array(X, dtype=np.float64, ensure_all_finite=False)


def _with_errors_or_holes(table: TableContent) -> np.ndarray:
    """The features (d,) whose values can be replaced."""
    found = np.isnan(table.X).any(axis=0)
    sides: Sequence[Any] = table.X_err if isinstance(table.X_err, tuple) else [table.X_err]
    for side in sides:
        if side is not None:
            found = found | (np.nan_to_num(np.abs(side), nan=1.0) > 0).any(axis=0)
    return found if table.X_limit is None else found | (np.nan_to_num(table.X_limit) != 0).any(axis=0)
