"""Which columns of a table hold the errors and limits of which others, told by the user or read from their names.

Only names are looked at here; the numbers in the columns are read and checked elsewhere. What the names of usual
catalogues say is known in `column_names`.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from .column_names import LIMIT, LOWER, SYMMETRIC, UPPER, guess_roles
from .parameters import complain


@dataclass(frozen=True)
class Errors:
    """The columns that hold the errors of a value, and whether it is a limit.

    >>> Errors(lower="mass_err2", upper="mass_err1").columns
    ('mass_err2', 'mass_err1')
    """

    lower: str | None = None  # with upper None: one symmetric error column
    upper: str | None = None
    limit: str | None = None  # column with -1, 0, +1: lower limit, value, upper limit

    def __post_init__(self) -> None:
        if not all(isinstance(column, str) for column in self.columns):
            raise ValueError(f"{self} must have names of columns, which are strings, or None.")
        if self.upper is not None and self.lower is None:
            raise ValueError(f"{self} has an upper error but no lower one; give both, or a symmetric error as lower.")
        if not self.columns:
            raise ValueError("Errors() has no column; give lower, lower and upper, or limit.")

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(column for column in (self.lower, self.upper, self.limit) if column is not None)

    @property
    def sides(self) -> tuple[str, ...]:
        """The columns with errors, which have the unit of the value: all but the limit."""
        return tuple(column for column in (self.lower, self.upper) if column is not None)


def pair_columns(
    names: Sequence[str], error_columns: str | Mapping[str, str | tuple[str, str] | Errors]
) -> dict[str, Errors | None]:
    """The features of a table, in its order, each with the columns of its errors, or None where it has none.

    `error_columns` is "auto", or says for each value which column has its error, which two have its
    (lower, upper) errors, or which `Errors` it has. All columns that it does not mention are features.

    >>> pair_columns(["gmag", "e_gmag", "n_visits"], {"gmag": "e_gmag"})
    {'gmag': Errors(lower='e_gmag', upper=None, limit=None), 'n_visits': None}

    "auto" goes by the names. For a value `x` it knows `x_err`, `xerr`, `x_error`, `e_x`, `err_x`, `sig_x`, `x_sigma`,
    `sigma_x` and `x_uncertainty`; the upper and lower errors `x_err1` and `x_err2`, or `xerr1` and `xerr2`; beside any
    of these the limit `xlim` or `x_lim`; `err` in front of an underscore, as in `mag_err_g` of `mag_g`, or of a number,
    as in `mag_err3` of `mag3`; and the names of WISE (`w1sigmpro` of `w1mpro`) and 2MASS (`j_msigcom` or `j_cmsig` of
    `j_m`). `x_over_error` is a signal-to-noise ratio, not an error. `err`, `error`, `sigma`, `uncertainty` and `lim`
    may also be written `Err` or `ERR`, and so on; all else must be spelled as in the table.

    >>> list(pair_columns(["psfMag_u", "psfMagErr_u", "psfMag_g", "psfMagErr_g"], "auto"))
    ['psfMag_u', 'psfMag_g']

    A column that looks like an error of nothing in the table is refused, and so is one with two meanings.

    >>> pair_columns(["gmag", "e_rmag"], "auto")
    Traceback (most recent call last):
    ...
    ValueError: error_columns="auto": column 'e_rmag' looks like the error of 'rmag', which the table does not have; \
drop the column, or say what it is with a mapping in error_columns.
    """
    names = _checked_names(names)
    is_auto = isinstance(error_columns, str) and error_columns == "auto"
    if not is_auto and not isinstance(error_columns, Mapping):
        complain("error_columns", error_columns, '"auto", or a mapping such as {"gmag": "e_gmag"}')
    found = _told(names, error_columns) if isinstance(error_columns, Mapping) else _guessed(names)
    used = {column for errors in found.values() for column in errors.columns}
    return {name: found.get(name) for name in names if name not in used}


def without_empty(
    pairs: Mapping[str, Errors | None], empty: Collection[str]
) -> tuple[dict[str, Errors | None], dict[str, list[str]]]:
    """The pairs without error columns that are `empty`, which say nothing, and the columns that each value lost.

    A value may lose both sides of its error, but not one of them.

    >>> without_empty({"g": Errors("e_g"), "r": Errors("e_r"), "n": None}, ["e_g"])
    ({'g': None, 'r': Errors(lower='e_r', upper=None, limit=None), 'n': None}, {'g': ['e_g']})
    """
    kept, lost = dict(pairs), {}
    for value, errors in pairs.items():
        gone = [column for column in errors.sides if column in empty] if errors is not None else []
        if errors is None or not gone:
            continue
        if len(gone) < len(errors.sides):
            side, other = ("lower", errors.upper) if gone[0] == errors.lower else ("upper", errors.lower)
            raise ValueError(
                f"column {gone[0]!r}, the {side} error of {value!r}, has no number beside a value in the training set, "
                f"but that of the other side, {other!r}, has. Drop both, or take {other!r} for both sides with a "
                "mapping in error_columns."
            )
        kept[value] = None if errors.limit is None else Errors(limit=errors.limit)
        lost[value] = gone
    return kept, lost


def describe_pairs(pairs: Mapping[str, Errors | None]) -> str:
    """The result of `pair_columns` for people to read: a line per feature with errors, then the other features.

    >>> print(describe_pairs(pair_columns(["period", "period_err1", "period_err2", "g", "e_g", "n"], "auto")))
    period: -period_err2 +period_err1
    g: ±e_g
    without errors: n
    """
    lines = [f"{name}: {_described(errors)}" for name, errors in pairs.items() if errors is not None]
    others = [name for name, errors in pairs.items() if errors is None]
    return "\n".join(lines + (["without errors: " + ", ".join(others)] if others else []))


def _described(errors: Errors) -> str:
    parts = []
    if errors.upper is not None:
        parts += [f"-{errors.lower}", f"+{errors.upper}"]
    elif errors.lower is not None:
        parts += [f"±{errors.lower}"]
    if errors.limit is not None:
        parts += [f"limit {errors.limit}"]
    return " ".join(parts)


def _checked_names(names: Sequence[str]) -> list[str]:
    position: dict[str, int] = {}
    for place, name in enumerate(names):
        if not isinstance(name, str):
            raise ValueError(
                f"error_columns finds columns by name, but column {place} of the table has the name {name!r}, which "
                "is not a string. Rename the columns."
            )
        if name in position:
            raise ValueError(
                f"error_columns finds columns by name, but columns {position[name]} and {place} of the table are "
                f"both named {name!r}. Rename or drop one."
            )
        position[name] = place
    return list(position)


# What the user says


def _told(names: list[str], error_columns: Mapping) -> dict[str, Errors]:
    known = dict.fromkeys(names)  # to be looked up, and in their order
    for value in error_columns:
        _refuse_unknown(value, known, "the key")
    told = {value: _read_entry(value, entry) for value, entry in error_columns.items()}
    owner: dict[str, str] = {}
    for value, errors in told.items():
        for column in errors.columns:
            _refuse_unknown(column, known, f"for {value!r} the column")
            if column in told:
                raise ValueError(
                    f"error_columns gives {column!r} to {value!r}, but {column!r} is a key, which means a value. "
                    "A column can be a value or an error, not both."
                )
            if column in owner:
                raise ValueError(
                    f"error_columns uses the column {column!r} twice, for {owner[column]!r} and for {value!r}. "
                    "A column has one role; give a symmetric error once, as a string."
                )
            owner[column] = value
    return told


def _read_entry(value: str, entry: str | tuple[str, str] | Errors) -> Errors:
    if isinstance(entry, Errors):
        return entry
    if isinstance(entry, str):
        return Errors(lower=entry)
    if isinstance(entry, tuple) and len(entry) == 2 and all(isinstance(column, str) for column in entry):
        return Errors(*entry)
    complain(
        f"error_columns[{value!r}]",
        entry,
        "the name of a column, a tuple of two, (lower, upper), or Errors(lower, upper, limit); "
        "leave a value without errors out of the mapping",
    )
    raise AssertionError


def _refuse_unknown(column: str, names: Collection[str], what: str) -> None:
    if column in names:
        return
    # in lower case, as the wrong case is a usual mistake
    alike = get_close_matches(str(column).lower(), [name.lower() for name in names])
    close = [repr(name) for name in names if name.lower() in alike]
    hint = f"Did you mean {' or '.join(close)}?" if close else "Give the names of columns as they are in the table."
    raise ValueError(f"error_columns has {what} {column!r}, which the table does not have. {hint}")


# What the names say


def _guessed(names: list[str]) -> dict[str, Errors]:
    return {
        value: Errors(roles.get(SYMMETRIC, roles.get(LOWER)), roles.get(UPPER), roles.get(LIMIT))
        for value, roles in guess_roles(names).items()
    }
