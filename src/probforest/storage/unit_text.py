"""Units as text that comes from files, before astropy reads them."""

import re

_LONGEST = 200  # characters of a unit
# astropy computes 10**n with whole numbers, for hours where n has many digits. A power of four is beyond any float.
_POWER = re.compile(r"(?:\*\*|\^|10\s*\(?\s*\+)[\s(+]*\d{4}")


def refuse_costly_unit(text: str) -> None:
    """Raise a ValueError for the text of a unit that astropy could take hours to read.

    >>> refuse_costly_unit("1e-17 erg / (s cm**2)"), refuse_costly_unit("BJD-2454833")
    (None, None)
    """
    if len(text) > _LONGEST:
        raise ValueError(f"the unit {text[:50]!r}… has {len(text)} characters; at most {_LONGEST} are expected")
    if _POWER.search(text):
        raise ValueError(f"the unit {text[:50]!r} has a power of more than three digits")
