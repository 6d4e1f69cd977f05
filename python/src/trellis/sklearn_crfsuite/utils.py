"""Small helpers."""

from __future__ import annotations

from itertools import chain
from typing import Any, Iterable


def flatten(y: Iterable[Iterable[Any]]) -> list[Any]:
    """The elements of lists in one list.

    >>> flatten([[1, 2], [3]])
    [1, 2, 3]
    """
    return list(chain.from_iterable(y))
