"""Descriptions of arguments that are written once and filled into the docstrings of all that take them."""

import inspect
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

_WIDTH = 120

Described = TypeVar("Described", bound=Callable[..., Any])  # a function or a class


@dataclass(frozen=True)
class Description:
    """An argument or an attribute, as numpydoc writes it; the default comes from the signature."""

    type: str
    text: str


def described(
    arguments: Mapping[str, Description], attributes: Mapping[str, Description] | None = None
) -> Callable[[Described], Described]:
    """Decorate a function or a class whose docstring has the line `{parameters}`, or also `{attributes}`.

    The first line is replaced by the descriptions of all arguments in the signature, in their order, the second one by
    those of all attributes.

    >>> @described({"x": Description("float", "Where to look.")})
    ... def look(x=0.5):
    ...     '''Look.
    ...
    ...     Parameters
    ...     ----------
    ...     {parameters}
    ...     '''
    >>> print(inspect.getdoc(look))
    Look.
    <BLANKLINE>
    Parameters
    ----------
    x : float, default=0.5
        Where to look.
    """

    def fill(this: Described) -> Described:
        if this.__doc__ is not None:  # it is with `python -OO`
            filled = _with_entries(this.__doc__, "parameters", _argument_entries(this, arguments))
            this.__doc__ = _with_entries(filled, "attributes", _attribute_entries(attributes or {}))
        return this

    return fill


def _argument_entries(function: Callable[..., Any], arguments: Mapping[str, Description]) -> list[tuple[str, str]]:
    return [
        (f"{argument.name} : {arguments[argument.name].type}{_default(argument)}", arguments[argument.name].text)
        for argument in inspect.signature(function).parameters.values()
        if argument.name != "self"
    ]


def _attribute_entries(attributes: Mapping[str, Description]) -> list[tuple[str, str]]:
    return [(f"{name} : {attribute.type}", attribute.text) for name, attribute in attributes.items()]


def _default(argument: inspect.Parameter) -> str:
    if argument.default is argument.empty:
        return ""
    shown = f'"{argument.default}"' if isinstance(argument.default, str) else repr(argument.default)
    return f", default={shown}"


def _with_entries(docstring: str, placeholder: str, entries: Iterable[tuple[str, str]]) -> str:
    """Replace the line of a placeholder by entries, indented as it is."""

    def lines(found: re.Match[str]) -> str:
        indent = found.group(1)
        return "\n".join(f"{indent}{head}\n{_wrapped(text, indent + '    ')}" for head, text in entries)

    return re.sub(rf"^( *)\{{{placeholder}\}}$", lines, docstring, flags=re.MULTILINE)


def _wrapped(text: str, indent: str) -> str:
    return textwrap.fill(
        text,
        _WIDTH,
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
