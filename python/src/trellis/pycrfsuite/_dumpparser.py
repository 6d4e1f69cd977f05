"""What a model of CRFsuite holds, and its form as text."""

from __future__ import annotations

import re
from typing import Iterator


class ParsedDump:
    """The weights of a model, as `Tagger.info()` returns them."""

    def __init__(self) -> None:
        self.header: dict[str, str] = {}
        """Of the file: magic, size, type, version, num_features, num_labels, num_attrs, off_*."""
        self.labels: dict[str, str] = {}
        """{name: number}"""
        self.attributes: dict[str, str] = {}
        """{name: number}"""
        self.transitions: dict[tuple[str, str], float] = {}
        """{(from, to): weight}"""
        self.state_features: dict[tuple[str, str], float] = {}
        """{(attribute, label): weight}"""


def dump_lines(dump: ParsedDump) -> Iterator[str]:
    """The text of a dump, line by line, as `crfsuite dump` writes it."""
    yield "FILEHEADER = {\n"
    yield from (f"  {name}: {value}\n" for name, value in dump.header.items())
    for title, numbers in (("LABELS", dump.labels), ("ATTRIBUTES", dump.attributes)):
        yield f"}}\n\n{title} = {{\n"
        yield from (f"  {number:>5}: {name}\n" for name, number in numbers.items())
    weights = (("TRANSITIONS", 1, dump.transitions), ("STATE_FEATURES", 0, dump.state_features))
    for title, kind, features in weights:
        yield f"}}\n\n{title} = {{\n"
        yield from (f"  ({kind}) {first} --> {last}: {weight:f}\n" for (first, last), weight in features.items())
    yield "}\n\n"


_BLOCK = re.compile(r"(FILEHEADER|LABELS|ATTRIBUTES|TRANSITIONS|STATE_FEATURES) = \{\Z")
_STARTS = {
    "FILEHEADER": re.compile(r"\w+: "),
    "LABELS": re.compile(r"\d+: "),
    "ATTRIBUTES": re.compile(r"\d+: "),
    "TRANSITIONS": re.compile(r"\(\d+\) "),
    "STATE_FEATURES": re.compile(r"\(\d+\) "),
}
_WEIGHT = re.compile(r"\(\d+\) (.*): ([+-]?\d+\.\d+)\Z", re.DOTALL)


class CRFsuiteDumpParser:
    """Reads the text of `crfsuite dump`, line by line. A name may contain newlines: an entry goes on until the next one
    begins."""

    def __init__(self) -> None:
        self.state: str | None = None
        self.result = ParsedDump()
        self._entry: str | None = None  # begun, and perhaps not at its end yet

    def feed(self, line: str) -> None:
        """Reads a line."""
        text = line.rstrip("\r\n")
        begun = text.lstrip()
        if found := _BLOCK.match(begun):
            self._finish()
            self.state = found[1]
        elif text == "}":
            self._finish()
            self.state = None
        elif self.state and _STARTS[self.state].match(begun) and self._is_whole():
            self._finish()
            self._entry = begun
        elif self._entry is not None:
            self._entry += "\n" + text

    def _is_whole(self) -> bool:
        """Whether the last entry may end here: that of a weight ends with it."""
        weights = self.state in ("TRANSITIONS", "STATE_FEATURES")
        return self._entry is None or not weights or _WEIGHT.match(self._entry) is not None

    def _finish(self) -> None:
        entry, self._entry = self._entry, None
        if entry is None or self.state is None:
            return
        if self.state in ("TRANSITIONS", "STATE_FEATURES"):
            self._add_weight(entry)
            return
        first, _, second = entry.partition(": ")
        if self.state == "FILEHEADER":
            self.result.header[first] = second
        else:
            (self.result.labels if self.state == "LABELS" else self.result.attributes)[second] = first

    def _add_weight(self, entry: str) -> None:
        found = _WEIGHT.match(entry)
        if not found:
            raise ValueError(f"not a line of a dump: {entry!r}")
        states = self.state == "STATE_FEATURES"
        firsts = self.result.attributes if states else self.result.labels
        features = self.result.state_features if states else self.result.transitions
        for arrow in re.finditer(" --> ", found[1]):  # names may contain arrows
            pair = found[1][: arrow.start()], found[1][arrow.end() :]
            if pair[0] in firsts and pair[1] in self.result.labels:
                features[pair] = float(found[2])
                return
        raise ValueError(f"a name in {entry!r} was not listed before")
