"""A sequence of items that is converted once."""

from __future__ import annotations

from typing import Any

from .. import _trellis


class ItemSequence(_trellis.Items):
    """A sequence of items as taggers and trainers see it; converting it once saves time if it is used often.

    An item is a dict or an iterable of attributes. In a dict, a str or bytes makes the attribute "key:value", a number
    is the value of the attribute, and a dict, list or set makes attributes that begin with "key:".

    >>> sequence = ItemSequence([["a", "b"], {"c": {"d": 1, "e": "f"}}])
    >>> sequence
    <ItemSequence of size 2>
    >>> sequence.items()
    [{'a': 1.0, 'b': 1.0}, {'c:d': 1.0, 'c:e:f': 1.0}]
    """

    def __repr__(self) -> str:
        return f"<ItemSequence of size {len(self)}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.items(),)
