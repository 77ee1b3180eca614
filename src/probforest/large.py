"""Forests of tables that are larger than the memory, on one machine. See docs/large.md."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from sklearn.base import is_classifier

from .estimators.in_pieces import FitInPieces, fit_in_pieces
from .estimators.local_passes import LocalPasses
from .estimators.memory_plan import MemoryPlan, bytes_of, half_of_the_memory, plan_memory
from .inputs.columns import pair_columns
from .storage.catalogues import Catalogue, open_catalogue
from .storage.catalogues.catalogue import is_number
from .storage.catalogues.dataset import DatasetCatalogue, is_dataset
from .storage.catalogues.in_pieces import CataloguePieces

__all__ = ["fit_tables"]

Forest = TypeVar("Forest")


def fit_tables(
    model: Forest,
    table: Any,
    target: str,
    *,
    columns: Sequence[str] | None = None,
    label_proba: str | None = None,
    target_err: str | None = None,
    sample_weight: str | None = None,
    memory: str | int | None = None,
    scratch: str | os.PathLike | None = None,
    feature_model: Any = None,
) -> Forest:
    """Fit a forest to a table in a file or in the files of a folder, of which only pieces are in memory.

    A table of up to 100,000 rows gives the forest of `fit`. From a larger one, all that a fit learns before trees are
    grown (priors, bins, medians, rules for missing values) is learnt from a sample of 100,000 rows, and all trees draw
    from the whole table. Out-of-bag scores are those of the sample.

    Parameters
    ----------
    model : ProbabilisticRandomForestClassifier or ProbabilisticRandomForestRegressor
        The forest. With ``max_samples=None`` a tree draws as many objects as there are, or as many as fit.
    table : path, address or pyarrow.dataset.Dataset
        A table (CSV, ECSV, FITS, VOTable, Parquet, Arrow), a folder of such files, an address of one of both that
        fsspec knows, or a dataset of pyarrow.
    target : str
        The column with the classes, or with the numbers to learn. Rows without one are left out.
    columns : list of str, default=None
        The columns with features and, for `error_columns`, their errors. None: all columns with numbers that have no
        other role.
    label_proba : str, default=None
        A column with the probability that the class is right.
    target_err : str, default=None
        A column with the errors of the numbers.
    sample_weight : str, default=None
        A column with weights.
    memory : str or int, default=None
        What the process may use in all, such as "4GB". None: half of the memory of the machine.
    scratch : path, default=None
        Folder for temporary files, about as large as the table in memory. None: that of the system.
    feature_model : fitted model of probforest, default=None
        As in `fit`.

    Returns
    -------
    model
        The same object, fitted.

    Examples
    --------
    >>> import tempfile
    >>> from probforest import ProbabilisticRandomForestClassifier
    >>> from probforest.large import fit_tables
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for part in "ab":
    ...         with open(f"{folder}/{part}.csv", "w") as file:
    ...             _ = file.write("kind,g,e_g\\nstar,1.0,0.3\\nstar,1.3,0.2\\nquasar,4.1,0.5\\nquasar,5.2,0.6\\n")
    ...     forest = ProbabilisticRandomForestClassifier(10, error_columns="auto", random_state=0)
    ...     forest = fit_tables(forest, folder, "kind")
    >>> forest.feature_names_
    array(['g'], dtype=object)
    """
    roles = {"y_proba": label_proba, "y_err": target_err, "sample_weight": sample_weight}
    with DatasetCatalogue(table) if is_dataset(table) else open_catalogue(table) as catalogue:
        given = {role: column for role, column in roles.items() if column is not None}
        catalogue.refuse_unknown([target, *given.values()])
        names = list(columns) if columns is not None else numeric_columns(catalogue, [target, *given.values()])
        fit_catalogue(
            model, catalogue, names, target, given, memory=memory, scratch=scratch, feature_model=feature_model
        )
    return model


class LargeFit(NamedTuple):
    """What became of a fit to a large table."""

    passes: FitInPieces
    plan: MemoryPlan
    memory: int  # bytes
    n_without_target: int  # rows that were left out
    fingerprint: str  # of the rows with a target
    n_bytes: int  # of temporary files


def fit_catalogue(
    model: Any,
    catalogue: Catalogue,
    names: Sequence[str],
    target: str,
    roles: dict[str, str],
    *,
    memory: str | int | None = None,
    scratch: str | os.PathLike | None = None,
    feature_model: Any = None,
    units: dict[str, Any] | None = None,
    verbose: int | None = None,
) -> LargeFit:
    """Fit a forest to a table that is open; `units` are those of the table, unless others are given."""
    catalogue.refuse_unknown(list(names))
    allowed = half_of_the_memory() if memory is None else bytes_of(memory)
    plan = plan_memory(allowed, model, len(names), _number_of_features(model, names))
    pieces = CataloguePieces(
        catalogue,
        names,
        target,
        roles,
        not is_classifier(model),
        catalogue.units if units is None else units,
        plan.rows_of_a_piece,
    )
    shown = int(model.verbose) if verbose is None else verbose
    with LocalPasses(pieces, None if scratch is None else Path(scratch), model.n_jobs, shown) as passes:
        done = fit_in_pieces(
            model, passes, n_sample=plan.n_sample, most_draws=plan.most_draws, feature_model=feature_model
        )
        return LargeFit(done, plan, allowed, pieces.n_without_target, pieces.fingerprint.hex(), passes.n_bytes)


def numeric_columns(catalogue: Catalogue, others: Sequence[str]) -> list[str]:
    """All columns with numbers but some `others`, by the first rows of a table."""
    names = [name for name in catalogue.names if name not in others]
    first = next(iter(catalogue.pieces((), names)), None)
    found = [] if first is None else [name for name in names if is_number(first.column(name).type)]
    if not found:
        raise ValueError(f"{catalogue.path} has no column with numbers to train on.")
    return found


def _number_of_features(model: Any, names: Sequence[str]) -> int:
    """How many of the columns are no errors, or more."""
    if model.error_columns is None:
        return len(names)
    try:
        return len(pair_columns(list(names), model.error_columns))
    except ValueError:
        return len(names)  # the fit itself will say what is wrong
