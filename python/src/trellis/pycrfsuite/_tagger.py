"""Tagging: python-crfsuite's Tagger."""

from __future__ import annotations

import contextlib
import math
import os
import struct
import sys
from threading import RLock
from typing import Any, Iterable

from .. import _trellis
from ._dumpparser import ParsedDump, dump_lines

_HEADER = struct.Struct("<4sI4s9I")
_NAMES = ("magic", "size", "type", "version", "num_features", "num_labels", "num_attrs")
_OFFSETS = ("off_features", "off_labels", "off_attrs", "off_labelrefs", "off_attrrefs")


class Tagger:
    """Predicts labels with a model of CRFsuite.

    A tagger keeps the last sequence that it was given, for `probability()` and `marginal()`. It may be used by several
    threads, one at a time, and pickled. `trellis.Model` tags in several threads at once.
    """

    def __init__(self) -> None:
        self._lock = RLock()
        self._forget()

    def _forget(self) -> None:
        self._model: _trellis.Model | None = None
        self._header = b""
        self._tagger: _trellis.Tagger | None = None
        self._numbers: dict[str, int] = {}
        self._tagged: list[str] | None = None  # of the last sequence
        self._marginals: Any = None  # [length * labels], or None while not asked for

    # ---- models

    def open(self, name: str | os.PathLike[str]) -> contextlib.closing[Tagger]:
        """Opens a model file; closes it at the end of a `with` block. OSError, or ValueError if it is none."""
        with open(name, "rb") as file:
            data = file.read()
        return self._open(data, f"{os.fsdecode(name)}: ")

    def open_inmemory(self, value: bytes) -> contextlib.closing[Tagger]:
        """Opens a model from the bytes of its file."""
        return self._open(bytes(value), "")

    def _open(self, data: bytes, where: str) -> contextlib.closing[Tagger]:
        if data[:4] != b"lCRF" or len(data) < _HEADER.size:
            raise ValueError(f"{where}not a model of CRFsuite; trellis.Model.open() opens models of other programs")
        try:
            model = _trellis.Model.from_bytes(data)
        except ValueError as error:
            raise ValueError(f"{where}{error}") from None
        with self._lock:
            self._forget()
            self._model = model
            self._header = data[: _HEADER.size]
            self._tagger = _trellis.Tagger(model, {}, None)
            self._numbers = {label: number for number, label in enumerate(model.labels())}
        return contextlib.closing(self)

    def close(self) -> None:
        """Closes the model."""
        with self._lock:
            self._forget()

    def labels(self) -> list[str]:
        """The labels of the model."""
        self._opened()
        return list(self._numbers)

    def _opened(self) -> _trellis.Tagger:
        if self._tagger is None:
            raise ValueError("the tagger has no model: call open() first")
        return self._tagger

    def __getstate__(self) -> dict[str, Any]:
        return {"model": None if self._model is None else self._model.to_crfsuite()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._lock = RLock()
        self._forget()
        if state["model"] is not None:
            self.open_inmemory(state["model"])

    # ---- sequences

    def set(self, xseq: Any) -> None:
        """Takes a sequence of items, for `tag()`, `probability()` and `marginal()`."""
        self.tag(xseq)

    def tag(self, xseq: Any = None) -> list[str]:
        """The labels of a sequence, or of the last one."""
        with self._lock:
            tagger = self._tagger or self._opened()
            if xseq is None:
                return self._current().copy()
            self._tagged = self._marginals = None
            labels: list[str] = tagger.tag(xseq)
            self._tagged = labels
            return labels.copy()

    def _current(self) -> list[str]:
        self._opened()
        if self._tagged is None:
            raise ValueError("the tagger has no sequence: call set() or tag() first")
        return self._tagged

    def probability(self, yseq: Iterable[Any]) -> float:
        """P(labels | items) for the last sequence."""
        with self._lock:
            length = len(self._current())
            labels = [label if isinstance(label, str) else bytes(label).decode("utf-8") for label in yseq]
            if len(labels) != length:
                raise ValueError(f"the numbers of items ({length}) and labels ({len(labels)}) differ")
            for label in labels:
                self._number(label)
            return math.exp(self._opened().log_probability(labels)) if labels else 0.0

    def marginal(self, y: Any, pos: int) -> float:
        """The probability of a label at a position of the last sequence."""
        with self._lock:
            length = len(self._current())
            number = self._number(y)
            if not length:
                return 0.0
            if not 0 <= pos < length:
                raise ValueError(f"the position {pos} is outside the sequence of {length} items")
            value: float = self._all_marginals()[pos * len(self._numbers) + number]
            return value

    def _number(self, label: Any) -> int:
        number = self._numbers.get(label if isinstance(label, str) else bytes(label).decode("utf-8"))
        if number is None:
            raise RuntimeError(f"the model has no label {label!r}")
        return number

    def _all_marginals(self) -> Any:
        """[length * labels] of the last sequence."""
        if self._marginals is None:
            self._marginals = memoryview(self._opened().last_marginals()).cast("f")
        return self._marginals

    def marginals(self) -> list[dict[str, float]]:
        """The probability of every label at every position of the last sequence."""
        with self._lock:
            length, names = len(self._current()), list(self._numbers)
            values = self._all_marginals().tolist() if length else []
            width = len(names)
            return [dict(zip(names, values[width * i : width * (i + 1)])) for i in range(length)]

    # ---- looking in

    def info(self) -> ParsedDump:
        """What the model holds."""
        if self._model is None:
            raise RuntimeError("the tagger has no model: call open() first")
        dump = ParsedDump()
        values = _HEADER.unpack(self._header)
        for name, value in zip(_NAMES, values):
            dump.header[name] = value.decode("latin-1") if isinstance(value, bytes) else str(value)
        for name, value in zip(_OFFSETS, values[len(_NAMES) :]):
            dump.header[name] = f"0x{value:X}"
        dump.labels = {label: str(number) for label, number in self._numbers.items()}
        dump.attributes = {name: str(number) for number, name in enumerate(self._model.attributes())}
        for _, attribute, labels, weight in self._model.weights():
            if attribute is None:
                dump.transitions[labels[0] or "", labels[1] or ""] = weight
            else:
                dump.state_features[attribute, labels[0] or ""] = weight
        return dump

    def dump(self, filename: str | os.PathLike[str] | None = None) -> None:
        """Writes the model as text to a file, or to standard output."""
        lines = dump_lines(self.info())
        if filename is None:
            sys.stdout.writelines(lines)
            return
        with open(filename, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
            file.writelines(lines)
