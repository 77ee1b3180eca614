"""Names and texts, fit to be shown to people."""

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any


def one_line(text: Any) -> str:
    """The text on one line, without characters that could control a terminal."""
    return "".join(letter if letter.isprintable() else "�" for letter in " ".join(str(text).split()))


def shortened(text: str, longest: int) -> str:
    """The text, cut in its middle when it is too long: names often differ at their end.

    >>> shortened("cataclysmic variable 7", 12)
    'cataclys…e 7'
    """
    if len(text) <= longest:
        return text
    tail = (longest - 1) // 3
    return text[: longest - 1 - tail] + "…" + text[len(text) - tail :]


def listed(names: Sequence[str], most: int = 12) -> str:
    """The first few names, and how many there are.

    >>> listed(["u", "g", "r", "i"], most=2)
    'u, g, … (4 in all)'
    """
    return ", ".join(names[:most]) + (f", … ({len(names)} in all)" if len(names) > most else "")


def suggestion(name: str, names: Sequence[str]) -> str:
    """The names that `name` may be a misspelling of; if there are none, all names.

    >>> suggestion("Gmag", ["gmag", "rmag"]), suggestion("z", ["gmag", "rmag"])
    ("Did you mean 'gmag'?", 'There is gmag, rmag.')
    """
    close = get_close_matches(name.lower(), [other.lower() for other in names], n=3, cutoff=0.8)
    alike = [repr(other) for other in names if other.lower() in close]
    return f"Did you mean {' or '.join(alike)}?" if alike else f"There is {listed(names)}."


def indented(text: str) -> str:
    """Every line two spaces further to the right."""
    return "\n".join(f"  {line}" for line in text.splitlines())
