"""What the names of columns say: which is the error or the limit of which other, as usual catalogues name them."""

import re
from collections.abc import Collection, Iterator, Sequence, Set
from dataclasses import dataclass
from typing import NoReturn

SYMMETRIC, LOWER, UPPER, LIMIT = "symmetric", "lower", "upper", "limit"
SIDES = {"1": UPPER, "2": LOWER}  # err1 and err2 of the NASA Exoplanet Archive

# Removing any of these from the name of an error gives that of its value.
IN_FRONT = re.compile(r"(?: e | sig | err | Err | ERR | (?P<sigma> sigma | Sigma | SIGMA ) ) _", re.VERBOSE)
INSIDE = re.compile(
    r"""  _? (?: err | Err | ERR ) (?= _ | \Z )         # mag_err, magerr, MAGERR_U, mag_err_u
        | _? (?: err | Err | ERR ) (?P<side> [12] ) \Z  # mag_err1, magerr1
        | _  (?: error | Error | ERROR ) \Z             # mag_error, but not terror or error_rate
        | _? (?P<limit> lim | Lim | LIM ) \Z            # maglim, mag_lim
        | (?P<word>
              _ (?: sigma | Sigma | SIGMA | uncertainty | Uncertainty | UNCERTAINTY ) \Z
            | (?<= \d ) sig (?= mpro | flux )           # WISE: w1sigmpro of w1mpro; w1sigm is no error of w1m
            | (?<= _m ) sig (?: com \Z | (?= _ | \Z ) ) # 2MASS: j_msigcom of j_m, j_msig_k20fe of j_m_k20fe
          )""",
    re.VERBOSE,
)
CORRECTED = re.compile(r"(?<=_)cmsig\Z")  # 2MASS: j_cmsig of j_m
NUMBERED = re.compile(r"_?(?:err|Err|ERR)(?P<number>\d+)\Z")  # mag_err3 of mag3


@dataclass(frozen=True)
class _Reading:
    """One way to understand the name of a column as that of an error or a limit."""

    value: str
    role: str
    is_sure: bool = True  # False: an ordinary name, unless the table has the value


def looks_like_error_of(name: str, values: Collection[str], names: Set[str]) -> bool:
    """Whether a column of a table with the columns `names` is by its name an error or a limit of one of `values`.

    >>> looks_like_error_of("e_g", ["g"], {"g", "e_g"}), looks_like_error_of("e_g", ["r"], {"r", "e_g"})
    (True, False)
    """
    return any(reading.value in values for reading in _readings_beside(name, names))


def guess_roles(names: Sequence[str]) -> dict[str, dict[str, str]]:
    """For every value with errors the column of each role. What is doubtful raises an error.

    >>> guess_roles(["g", "e_g", "r", "r_err1", "r_err2", "n"])
    {'g': {'symmetric': 'e_g'}, 'r': {'upper': 'r_err1', 'lower': 'r_err2'}}
    """
    claims = _claims(names)
    _refuse_upper_e(set(names), claims)
    return {value: _combined(value, claimed) for value, claimed in claims.items()}


def _readings_beside(name: str, names: Set[str]) -> list[_Reading]:
    """What a name may mean in a table with the columns `names`."""
    return [*_readings(name), *_readings_with_number(name, names)]


def _readings(name: str) -> Iterator[_Reading]:
    front = IN_FRONT.match(name)
    if front and front.end() < len(name):
        yield _Reading(name[front.end() :], SYMMETRIC, is_sure=not front["sigma"])
    if CORRECTED.search(name):
        yield _Reading(CORRECTED.sub("m", name), SYMMETRIC, is_sure=False)
    for token in INSIDE.finditer(name):
        before, after = name[: token.start()], name[token.end() :]
        is_glued = not token[0].startswith("_")
        if not before or _is_no_error(before, is_glued=is_glued):
            continue
        if token["limit"]:
            yield _Reading(before, LIMIT, is_sure=False)  # slim, xlim
            continue
        role = SIDES.get(token["side"], SYMMETRIC)
        # the end of an ordinary word may look like err, but not like Err, ERR or err1
        yield _Reading(before + after, role, is_sure=not token["word"] and (not is_glued or token[0] != "err"))


def _readings_with_number(name: str, names: Set[str]) -> Iterator[_Reading]:
    """`x_err1` and `x_err2` in a table without `x`: the errors of `x1` and `x2`, or both sides of `x1` if there is no
    `x2`."""
    token = NUMBERED.search(name)
    stem = name[: token.start()] if token else ""
    if token is None or not stem or stem in names or _is_no_error(stem, is_glued=not token[0].startswith("_")):
        return
    number, word = token["number"], name[: token.start("number")]
    is_side = number in SIDES and {f"{stem}1", f"{word}1", f"{word}2"} <= names and f"{stem}2" not in names
    if is_side:
        yield _Reading(f"{stem}1", SIDES[number], is_sure=False)
    else:
        yield _Reading(stem + number, SYMMETRIC, is_sure=False)


def _is_no_error(before: str, *, is_glued: bool) -> bool:
    """Whether what stands before `err` makes another thing of it: parallax_over_error is a ratio, and stderr no error
    of std."""
    return before.lower().endswith("_over") or (is_glued and before.lower().endswith("std"))


def _claims(names: Sequence[str]) -> dict[str, list[tuple[str, str]]]:
    """For every value with errors the (role, column) of each."""
    all_names = set(names)
    readings = {name: _readings_beside(name, all_names) for name in names}
    # only a value with an error has a limit: xlim may be anything
    has_errors = {reading.value for name in names for reading in readings[name] if reading.role != LIMIT}
    values: set[str] = set()
    claims: dict[str, list[tuple[str, str]]] = {}
    # The name of a value is shorter than that of its error: by then we know whether it is an error itself.
    for name in sorted(names, key=len):
        meant = {
            reading.value: reading.role
            for reading in readings[name]
            if reading.value in values and (reading.role != LIMIT or reading.value in has_errors)
        }
        if len(meant) > 1:
            _refuse(f"column {name!r} may belong to {' or to '.join(map(repr, meant))}")
        for value, role in meant.items():
            claims.setdefault(value, []).append((role, name))
        if not meant:
            _refuse_orphan(name, readings[name], all_names)
            values.add(name)
    return claims


def _combined(value: str, claims: list[tuple[str, str]]) -> dict[str, str]:
    """The columns of a value by their roles, if there is one for each."""
    columns = dict(claims)
    has_both_kinds = SYMMETRIC in columns and (LOWER in columns or UPPER in columns)
    if len(columns) < len(claims) or has_both_kinds:
        listed = ", ".join(repr(column) for _, column in claims)
        _refuse(
            f"column {value!r} has too many errors or limits, {listed}",
            "drop those that you do not need, or say which are meant",
        )
    for there, lacking in ((LOWER, UPPER), (UPPER, LOWER)):
        if there in columns and lacking not in columns:
            _refuse(
                f"column {columns[there]!r} looks like the {there} error of {value!r}, which has no {lacking} error "
                "in the table"
            )
    return columns


def _refuse_orphan(name: str, readings: list[_Reading], names: Set[str]) -> None:
    """Raise an error for a column that must be an error, but of no value in the table."""
    values = [reading.value for reading in readings if reading.is_sure]
    reasons = [
        "is no value but an error or a limit" if value in names else "the table does not have" for value in values
    ]
    if values:
        listed = ", or of ".join(f"{value!r}, which {reason}" for value, reason in zip(values, reasons, strict=True))
        _refuse(f"column {name!r} looks like the error of {listed}")


def _refuse_upper_e(names: Set[str], claims: dict[str, list[tuple[str, str]]]) -> None:
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
