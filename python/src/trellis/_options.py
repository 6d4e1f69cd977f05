"""Options of the library as keyword arguments."""

from __future__ import annotations

import os
from functools import lru_cache
from typing import Any, Mapping, NamedTuple

from . import _trellis


class Option(NamedTuple):
    """An option of the library."""

    name: str
    """As a keyword argument, with underscores."""
    type: str
    """flag, integer, real, choice or string."""
    default: str | None
    choices: str | None
    """Of a choice, separated by spaces."""
    help: str
    groups: int
    """What it is for, as the TRELLIS_GROUP_* of trellis.h."""


@lru_cache(maxsize=None)
def _table() -> dict[str, Option]:
    return {row[0]: Option(row[0].replace("-", "_"), *row[1:]) for row in _trellis.options()}


def options() -> dict[str, Option]:
    """All options of the library by the name of their keyword argument.

    >>> options()["l2"].default
    '1'
    """
    return {option.name: option for option in _table().values()}


def learners() -> dict[str, str]:
    """The learners, which are the values of the option `type`, with a sentence each.

    >>> sorted(learners())[:2]
    ['crf', 'hmm']
    """
    return _trellis.learners()


def as_text(value: Any) -> str:
    """The value of an option as the library reads it.

    >>> as_text(True), as_text(0.5), as_text(3)
    ('yes', '0.5', '3')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (str, os.PathLike)):
        return os.fsdecode(value)
    if isinstance(value, int):
        return str(value)
    return repr(float(value))


def as_settings(keywords: Mapping[str, Any]) -> dict[str, str]:
    """Keyword arguments as a dict of options; None means the default.

    Underscores stand for dashes, and one at the end is dropped, for the names that are reserved in Python.
    """
    settings = {}
    for keyword, value in keywords.items():
        name = keyword.rstrip("_").replace("_", "-")
        if name not in _table():
            nearest = _trellis.suggest(name)
            hint = f"; did you mean {nearest.replace('-', '_')!r}?" if nearest else ""
            raise TypeError(f"unknown option {keyword!r}{hint}")
        if value is not None:
            settings[name] = as_text(value)
    return settings
