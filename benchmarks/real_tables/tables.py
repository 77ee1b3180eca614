"""Tables with errors: real ones from files, and scikit-learn's own with noise and holes added."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn import datasets

from probforest.datasets import add_noise, make_two_classes, remove_cells


@dataclass(frozen=True)
class ErrorTable:
    """Objects with measured values, their errors, and labels."""

    name: str
    X: np.ndarray  # (n, d); NaN is missing
    lower: np.ndarray  # (n, d) errors; NaN is unknown
    upper: np.ndarray
    y: np.ndarray  # (n,)
    group: np.ndarray | None = None  # (n,) objects of one group stay together: planets of a star
    faintness: np.ndarray | None = None  # (n,) what "bright" and "faint" objects are told apart by
    confidence: np.ndarray | None = None  # (n,) the probability that each label is right

    def rows(self, index: np.ndarray) -> ErrorTable:
        """Some of the objects."""
        arrays = ("X", "lower", "upper", "y", "group", "faintness", "confidence")
        given = {name: getattr(self, name) for name in arrays}
        return replace(self, **{name: array[index] for name, array in given.items() if array is not None})

    @property
    def X_err(self) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        same = np.array_equal(self.lower, self.upper, equal_nan=True)
        return self.lower if same else (self.lower, self.upper)

    @property
    def with_error_columns(self) -> np.ndarray:
        """Values and errors as columns; the second error only where it differs from the first."""
        errors = self.X_err
        return np.hstack([self.X, errors]) if isinstance(errors, np.ndarray) else np.hstack([self.X, *errors])


def archive_table(
    name: str, table: pd.DataFrame, values: list[str], y: np.ndarray, group: str, faintness: str, joint: str = ""
) -> ErrorTable:
    """A table in the manner of the NASA Exoplanet Archive: err1 is the upper error, err2 the lower one, below 0."""

    def errors(which: str) -> np.ndarray:
        found = np.abs(table[[f"{value}{joint}{which}" for value in values]].to_numpy(dtype=float))
        return np.where(np.isnan(found).all(axis=0), 0.0, found)  # a column without any error is exact

    return ErrorTable(
        name,
        table[values].to_numpy(dtype=float),
        errors("err2"),
        errors("err1"),
        y,
        table[group].astype(str).to_numpy(),
        table[faintness].to_numpy(dtype=float),
    )


def kepler(table: pd.DataFrame) -> ErrorTable:
    """Kepler's objects of interest: confirmed planets against false positives."""
    table = table[table["koi_disposition"].isin(["CONFIRMED", "FALSE POSITIVE"])]
    names = ("period", "time0bk", "impact", "duration", "depth", "prad", "insol", "steff", "slogg", "srad")
    values = [f"koi_{name}" for name in names]
    return archive_table("KOI", table, values, table["koi_disposition"].to_numpy(), "kepid", "koi_kepmag", "_")


def tess(table: pd.DataFrame) -> ErrorTable:
    """Objects of TESS: planets against false positives."""
    planet = table["tfopwg_disp"].map({"CP": "planet", "KP": "planet", "FP": "false", "FA": "false"})
    table = table[planet.notna()]
    names = ("orbper", "trandurh", "trandep", "rade", "insol", "eqt")
    values = [*(f"pl_{name}" for name in names), *(f"st_{name}" for name in ("tmag", "dist", "teff", "logg", "rad"))]
    return archive_table("TOI", table, values, planet.dropna().to_numpy(), "tid", "st_tmag")


def k2(table: pd.DataFrame) -> ErrorTable:
    """Objects of K2: confirmed planets against all others."""
    values = ["pl_orbper", "pl_rade", *(f"st_{name}" for name in ("teff", "rad", "mass", "met", "logg"))]
    values += [f"sy_{name}" for name in ("dist", "vmag", "kmag", "gaiamag")]
    y = np.where(table["disposition"] == "CONFIRMED", "confirmed", "other")
    return archive_table("K2", table, values, y, "hostname", "sy_kmag")


def galaxies(table: pd.DataFrame) -> ErrorTable:
    """BOSS galaxies: five magnitudes; the classes are thirds of the redshifts."""
    bands = ["U", "G", "R", "I", "Z"]
    X, error = (table[[f"{what}_{band}" for band in bands]].to_numpy(dtype=float) for what in ("MAG", "MAGERR"))
    thirds = np.digitize(table["Z"], np.quantile(table["Z"], [1 / 3, 2 / 3]))
    return ErrorTable("BOSS", X, error, error, thirds, faintness=X[:, 3])


def in_colours(magnitudes: ErrorTable) -> ErrorTable:
    """Differences of neighbouring magnitudes, with the errors of both, and the magnitude that tells faint objects."""
    X, error = magnitudes.X, magnitudes.lower
    colours, errors = X[:, :-1] - X[:, 1:], np.hypot(error[:, :-1], error[:, 1:])
    errors = np.column_stack([errors, error[:, 3]])
    name = f"{magnitudes.name} in colours"
    return replace(magnitudes, name=name, X=np.column_stack([colours, X[:, 3]]), lower=errors, upper=errors)


_BY_COLUMN: dict[str, Callable[[pd.DataFrame], ErrorTable]] = {
    "koi_disposition": kepler,
    "tfopwg_disp": tess,
    "disposition": k2,
    "MAG_U": galaxies,
}


def read(path: Path) -> ErrorTable:
    """A real table, recognised by its columns."""
    with path.open(encoding="utf-8") as file:
        first = file.readline()
    if first.startswith("#F:"):  # ANNZ's header: types and names
        names = [field.split(":")[1] for field in first[1:].strip().split(";")]
        table = pd.read_csv(path, comment="#", names=names)
    else:
        table = pd.read_csv(path, comment="#")
    for column, make in _BY_COLUMN.items():
        if column in table:
            return make(table)
    raise ValueError(f"{path}: none of the columns {', '.join(_BY_COLUMN)}, by which a table is recognised.")


def breast_cancer() -> ErrorTable:
    """Ten means of cell nuclei with their standard errors, as measured."""
    table, y = datasets.load_breast_cancer(return_X_y=True)
    error = table[:, 10:20]
    return ErrorTable("breast cancer", table[:, :10], error, error, y, faintness=table[:, 0])


def noisy(name: str, X: np.ndarray, y: np.ndarray, level: float, case: str = "objects", holes: float = 0) -> ErrorTable:
    """A table with noise and holes added."""
    made = add_noise(np.asarray(X, dtype=float), level, case=case, random_state=1)
    values = remove_cells(made.X, holes, random_state=2) if holes else made.X
    return ErrorTable(name, values, made.X_err, made.X_err, y, faintness=made.X_err.mean(axis=1))


def built_in() -> Iterator[ErrorTable]:
    """Tables that need no file."""
    yield breast_cancer()
    yield noisy("wine, noise 1", *datasets.load_wine(return_X_y=True), 1)
    yield noisy("digits, noise 2", *datasets.load_digits(return_X_y=True), 2)
    two_classes = make_two_classes(5000, random_state=0)
    yield noisy("the paper's (ii), noise 2", *two_classes, 2)
    yield noisy("the paper's (iii), noise 2", *two_classes, 2, "groups")
    yield noisy("the paper's (ii), noise 1, 20 % missing", *two_classes, 1, holes=0.2)
    yield noisy("the paper's, 20 % missing", *two_classes, 0, holes=0.2)
    yield noisy("wine, 30 % missing", *datasets.load_wine(return_X_y=True), 0, holes=0.3)
    yield noisy("digits, 30 % missing", *datasets.load_digits(return_X_y=True), 0, holes=0.3)
