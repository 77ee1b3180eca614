"""Warnings that point at the user's line."""

import sys
import warnings
from types import FrameType

_PACKAGE = f"{__name__.partition('.')[0]}."


def warn_caller(message: str) -> None:
    """Warn with the first line of the call stack that is not in this package, however deep the call came from."""
    level = 1
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_globals.get("__name__", "").startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, UserWarning, stacklevel=level)
