"""Arrays: of numpy where it is installed, otherwise memoryviews."""

from __future__ import annotations

import importlib
from array import array
from functools import lru_cache
from typing import Any, Callable


@lru_cache(maxsize=None)
def numpy() -> Any:
    """The module numpy, or None. Imported at its first use: it takes 13 MB, and labels need no arrays."""
    try:
        return importlib.import_module("numpy")
    except ImportError:
        return None


_CODES = {"f": "float32", "i": "int32", "B": "uint8"}


def from_bytearray(data: bytearray, code: str, shape: tuple[int, ...]) -> Any:
    """An array over these bytes."""
    if numpy() is not None:
        return numpy().frombuffer(data, dtype=_CODES[code]).reshape(shape)
    if not data:
        return memoryview(data)
    view: Any = memoryview(data)
    return view.cast("B").cast(code, shape)


def maker(width: int) -> Callable[[int], Any]:
    """A function that makes an array of floats [length][width], to be filled."""
    if numpy() is not None:
        new, floats = numpy().empty, numpy().dtype("float32")
        return lambda length: new((length, width), floats)
    return lambda length: empty("f", (length, width))


def empty(code: str, shape: tuple[int, ...]) -> Any:
    """An array of zeros."""
    size = array(code).itemsize
    for extent in shape:
        size *= extent
    return from_bytearray(bytearray(size), code, shape)


def take(values: Any, code: str) -> Any:
    """Values as an array of this type, without a copy where they are one already."""
    if numpy() is not None:
        result = numpy().asarray(values, dtype=_CODES[code])
        return result if code == "f" else numpy().ascontiguousarray(result)
    try:
        view = memoryview(values)
    except TypeError:
        pass
    else:
        if view.format != code:
            raise TypeError(f"the elements must be of format {code!r}, not {view.format!r}")
        return view
    values = list(values)
    if values and hasattr(values[0], "__len__"):
        flat = array(code, (value for row in values for value in row))
        if any(len(row) != len(values[0]) for row in values):
            raise ValueError("the rows differ in length")
        flat_view: Any = memoryview(flat)
        return flat_view.cast("B").cast(code, (len(values), len(values[0])))
    return array(code, values)
