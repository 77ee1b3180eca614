"""Which columns of a table hold the errors and limits of which others, told by the user or read from their names.

Only names are looked at here; the numbers in the columns are read and checked elsewhere.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import NoReturn

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


def pair_columns(
    names: Sequence[str], error_columns: str | Mapping[str, str | tuple[str, str] | Errors]
) -> dict[str, Errors | None]:
    """The features of a table, in its order, each with the columns of its errors, or None where it has none.

    `error_columns` is "auto", or says for each value which column has its error, which two have its
    (lower, upper) errors, or which `Errors` it has. All columns that it does not mention are features.

    >>> pair_columns(["gmag", "e_gmag", "n_visits"], {"gmag": "e_gmag"})
    {'gmag': Errors(lower='e_gmag', upper=None, limit=None), 'n_visits': None}

    "auto" goes by the names. For a value `x` it knows `x_err`, `xerr`, `x_error`, `e_x`, `err_x` and `sig_x`;
    the upper and lower errors `x_err1` and `x_err2`, or `xerr1` and `xerr2`, and beside them the limit `xlim` or
    `x_lim`; and `err` in front of an underscore, as in `mag_err_g` of `mag_g`. `err`, `error` and `lim` may also be
    written `Err` or `ERR`, and so on; all else must be spelled as in the table.

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


def looks_like_error_of(name: str, values: Collection[str]) -> bool:
    """Whether the name of a column is that of an error or a limit of one of `values`.

    >>> looks_like_error_of("e_gmag", ["gmag"]), looks_like_error_of("e_gmag", ["rmag"])
    (True, False)
    """
    return any(reading.value in values for reading in _readings(name))


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

SYMMETRIC, LOWER, UPPER, LIMIT = "symmetric", "lower", "upper", "limit"
SIDES = {"1": UPPER, "2": LOWER}  # err1 and err2 of the NASA Exoplanet Archive

# Removing any of these from the name of an error gives that of its value.
IN_FRONT = re.compile(r"(?:e|sig|err|Err|ERR)_")
INSIDE = re.compile(
    r"""  _? (?: err | Err | ERR ) (?= _ | \Z )         # mag_err, magerr, MAGERR_U, mag_err_u
        | _? (?: err | Err | ERR ) (?P<side> [12] ) \Z  # mag_err1, magerr1
        | _  (?: error | Error | ERROR ) \Z             # mag_error, but not terror or error_rate
        | _? (?P<limit> lim | Lim | LIM ) \Z            # maglim, mag_lim""",
    re.VERBOSE,
)


@dataclass(frozen=True)
class _Reading:
    """One way to understand the name of a column as that of an error or a limit."""

    value: str
    role: str
    is_sure: bool = True  # False: an ordinary name, unless the table has the value


def _readings(name: str) -> Iterator[_Reading]:
    front = IN_FRONT.match(name)
    if front and front.end() < len(name):
        yield _Reading(name[front.end() :], SYMMETRIC)
    for token in INSIDE.finditer(name):
        before, after = name[: token.start()], name[token.end() :]
        is_glued = not token[0].startswith("_")
        is_word = is_glued and before.lower().endswith("std")  # stderr is no error of std
        if not before or is_word:
            continue
        if token["limit"]:
            yield _Reading(before, LIMIT, is_sure=False)  # slim, xlim
            continue
        role = SIDES.get(token["side"], SYMMETRIC)
        # the end of an ordinary word may look like err, but not like Err, ERR or err1
        yield _Reading(before + after, role, is_sure=not is_glued or token[0] != "err")


def _guessed(names: list[str]) -> dict[str, Errors]:
    claims = _claims(names)
    _refuse_upper_e(set(names), claims)
    return {value: _combined(value, claimed) for value, claimed in claims.items()}


def _claims(names: list[str]) -> dict[str, list[tuple[str, str]]]:
    """For every value with errors the (role, column) of each."""
    readings = {name: list(_readings(name)) for name in names}
    # values with err1 or err2, which may have a limit; those with only one of the two are refused later
    has_sides = {reading.value for name in names for reading in readings[name] if reading.role in (LOWER, UPPER)}
    values: set[str] = set()
    claims: dict[str, list[tuple[str, str]]] = {}
    # The name of a value is shorter than that of its error: by then we know whether it is an error itself.
    for name in sorted(names, key=len):
        meant = {
            reading.value: reading.role
            for reading in readings[name]
            if reading.value in values and (reading.role != LIMIT or reading.value in has_sides)
        }
        if len(meant) > 1:
            _refuse(f"column {name!r} may belong to {' or to '.join(map(repr, meant))}")
        for value, role in meant.items():
            claims.setdefault(value, []).append((role, name))
        if not meant:
            _refuse_orphan(name, readings[name], names)
            values.add(name)
    return claims


def _combined(value: str, claims: list[tuple[str, str]]) -> Errors:
    columns = dict(claims)
    has_both_kinds = SYMMETRIC in columns and (LOWER in columns or UPPER in columns)
    if len(columns) < len(claims) or has_both_kinds:
        listed = ", ".join(repr(column) for _, column in claims)
        _refuse(
            f"column {value!r} has too many errors or limits, {listed}",
            "drop those that you do not need, or say which are meant",
        )
    if SYMMETRIC in columns:
        return Errors(lower=columns[SYMMETRIC])
    for there, lacking in ((LOWER, UPPER), (UPPER, LOWER)):
        if lacking not in columns:
            _refuse(
                f"column {columns[there]!r} looks like the {there} error of {value!r}, which has no {lacking} error "
                "in the table"
            )
    return Errors(columns[LOWER], columns[UPPER], columns.get(LIMIT))


def _refuse_orphan(name: str, readings: list[_Reading], names: list[str]) -> None:
    """Complain about a column that must be an error, but of no value in the table."""
    values = [reading.value for reading in readings if reading.is_sure]
    reasons = [
        "is no value but an error or a limit" if value in names else "the table does not have" for value in values
    ]
    if values:
        listed = ", or of ".join(f"{value!r}, which {reason}" for value, reason in zip(values, reasons, strict=True))
        _refuse(f"column {name!r} looks like the error of {listed}")


def _refuse_upper_e(names: set[str], claims: dict[str, list[tuple[str, str]]]) -> None:
    """VizieR has lower errors in `e_x` and upper ones in `E_x`, but `E_x` may also be a colour excess."""
    for value in claims:
        lower, upper = f"e_{value}", f"E_{value}"
        if (SYMMETRIC, lower) in claims[value] and upper in names and upper not in claims:
            _refuse(
                f"columns {lower!r} and {upper!r} may be the lower and the upper error of {value!r}",
                f"drop {upper!r}, or say what they are",
            )


def _refuse(problem: str, remedy: str = "drop the column, or say what it is") -> NoReturn:
    raise ValueError(f'error_columns="auto": {problem}; {remedy} with a mapping in error_columns.')
