"""Options of the library in signatures and docstrings, so that completion and help() know them."""

from __future__ import annotations

import inspect
import textwrap
from keyword import iskeyword
from typing import Any, Callable, TypeVar

from ._options import Option, options

READ, WRITE, TRAIN, TAG, EVAL = 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 4
RUN = 1 << 6 | 1 << 9  # how it is done: seed, threads, memory; and the limits on untrusted input

Function = TypeVar("Function", bound=Callable[..., Any])


def keyword(name: str) -> str:
    """The keyword argument of an option: `lambda_`, since lambda is reserved."""
    return name + "_" if iskeyword(name) else name


def chosen(groups: int, without: tuple[str, ...] = ()) -> list[Option]:
    """The options of some groups, except those with these names."""
    return [option for option in options().values() if option.groups & groups and option.name not in without]


def describe(option: Option) -> str:
    """The help of an option with its default.

    >>> describe(options()["seed"])[-11:]
    'Default: 1.'
    """
    default = f" Default: {option.default}." if option.default else ""
    return " ".join(option.help.split()) + default


def takes_options(groups: int, without: tuple[str, ...] = ()) -> Callable[[Function], Function]:
    """Puts the options of some groups into the signature and the docstring of a function with **options."""

    def complete(function: Function) -> Function:
        signature = inspect.signature(function)
        given = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        taken = {p.name for p in given}
        more = [
            inspect.Parameter(keyword(option.name), inspect.Parameter.KEYWORD_ONLY, default=None)
            for option in chosen(groups, without)
            if option.name not in taken
        ]
        setattr(function, "__signature__", signature.replace(parameters=[*given, *more]))
        lines = ["", "Options (None is the default of the library):"]
        for option in chosen(groups, without):
            if option.name not in taken:
                text = f"{keyword(option.name)}: {describe(option)}"
                lines += textwrap.wrap(text, 100, initial_indent="    ", subsequent_indent="        ")
        function.__doc__ = inspect.cleandoc(function.__doc__ or "") + "\n" + "\n".join(lines) + "\n"
        return function

    return complete
