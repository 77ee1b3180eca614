"""Units of astropy as JSON and back. Only models with units need astropy."""

import math
from typing import Any

from ..support.extras import need
from .unit_text import refuse_costly_unit


def unit_to_json(unit: Any, column: str) -> dict[str, Any]:
    """A unit as text, or as a factor and text where the text alone would be rounded, or is not known to astropy.

    >>> from astropy import units
    >>> unit_to_json(units.ABmag, "gmag"), unit_to_json(units.Unit(1.23456789 * units.m), "distance")
    ({'text': 'mag(AB)'}, {'text': 'm', 'factor': 1.23456789})
    """
    units = _astropy_units()
    if isinstance(unit, units.UnrecognizedUnit):
        return {"text": unit.to_string(), "unrecognized": True}
    candidates = [{"text": unit.to_string()}]
    if isinstance(unit, units.UnitBase):  # unlike mag(AB)
        plain = unit.decompose()
        bases = units.CompositeUnit(1.0, plain.bases, plain.powers)
        candidates.append({"text": bases.to_string(), "factor": float(plain.scale)})
    for candidate in candidates:
        if _is_read_as(candidate, unit):
            return candidate
    raise ValueError(
        f"column {column!r} of X has the unit {unit}, which astropy can't restore from its name. Convert it to one of "
        "astropy's own units, and fit again."
    )


def unit_from_json(data: dict[str, Any]) -> Any:
    """The unit that `unit_to_json` wrote."""
    units = _astropy_units()
    text = data["text"]
    refuse_costly_unit(text)
    unit = units.Unit(text, parse_strict="silent" if data.get("unrecognized", False) else "raise")
    if "factor" not in data:
        return unit
    factor = float(data["factor"])
    if not 0 < factor < math.inf:
        raise ValueError(f"a unit has the factor {factor}; expected a positive number")
    return units.CompositeUnit(factor, unit.bases, unit.powers)


def _is_read_as(data: dict[str, Any], unit: Any) -> bool:
    try:
        return bool(unit_from_json(data) == unit)
    except (TypeError, ValueError):
        return False


def _astropy_units() -> Any:
    return need("astropy.units", "A model that knows units", "astro")
