"""Models: what they know, and tagging with them."""

from __future__ import annotations

import json
import math
import os
from typing import Any, Iterable, Iterator, NamedTuple, Sequence

from . import _arrays, _trellis
from ._options import as_settings


# Marginals need no best path.
_POSTERIOR = {"decode": "posterior"}


class Weight(NamedTuple):
    """A weight of a model."""

    kind: str
    """node (of an attribute and a label), edge (of an attribute and two labels) or transition (of labels alone)."""
    attribute: str | None
    """None for a transition."""
    labels: tuple[str | None, ...]
    """Oldest first; None is the start or the end of the sequence."""
    weight: float


class Labelling(NamedTuple):
    """One of the best labellings of a sequence."""

    labels: list[str]
    score: float
    probability: float | None
    """None if the model is not probabilistic."""


class Model:
    """A trained model: made by `train()`, `Model.open()` or `Model.from_bytes()`.

    A model may be used by any number of threads at once. Keyword arguments of the methods that tag are options of the
    library, such as decode="posterior".

    A sequence is a list of items. An item is a dict or a list of attributes for a model that was trained on attributes;
    for one with templates it is a token (a str), or a list, tuple or dict of columns. `columns` has the names of those
    in lists and tuples; without names they are in the order of the training data.
    """

    has_templates: bool
    """Whether items are tokens or columns, of which templates make attributes."""

    def __init__(self, core: _trellis.Model, columns: Sequence[str] | None = None) -> None:
        if not isinstance(core, _trellis.Model):
            raise TypeError("use trellis.train(), Model.open() or Model.from_bytes() to make a model")
        self._core = core
        self.columns = tuple(columns or ())
        self._labels = core.labels()
        self.has_templates = json.loads(core.info().decode("utf-8", "replace")).get("templates", 0) > 0
        # Taggers that no thread is using now, by their columns and options.
        self._pools: dict[Any, list[_trellis.Tagger]] = {}

    @classmethod
    def open(cls, path: str | os.PathLike[str], columns: Sequence[str] | None = None) -> Model:
        """Opens a model file."""
        return cls(_trellis.Model.open(os.fspath(path)), columns)

    @classmethod
    def from_bytes(cls, data: bytes, columns: Sequence[str] | None = None) -> Model:
        """A model from the bytes of its file."""
        return cls(_trellis.Model.from_bytes(bytes(data)), columns)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model to a file, in one step: another process sees the old file or the new one."""
        self._core.save(os.fspath(path))

    def to_bytes(self) -> bytes:
        """The bytes of the model file."""
        return self._core.to_bytes()

    def to_crfsuite(self) -> bytes:
        """The bytes of a model file (lCRF) that CRFsuite and python-crfsuite open.

        ValueError if that format cannot hold the model; `Model.open()` reads such files.
        """
        return self._core.to_crfsuite()

    def __reduce__(self) -> tuple[Any, ...]:
        return Model.from_bytes, (self.to_bytes(), self.columns)

    def __repr__(self) -> str:
        return f"<trellis.Model: {self.info['notes'].get('type', 'model')}, {len(self._labels)} labels>"

    @property
    def labels(self) -> list[str]:
        """The labels, in the order of the columns of `marginals()`."""
        return list(self._labels)

    @property
    def has_probabilities(self) -> bool:
        """Whether the model is probabilistic: of type crf, maxent, hmm or memm."""
        return self._core.has_probabilities()

    @property
    def info(self) -> dict[str, Any]:
        """What is known about the model and its training."""
        described: dict[str, Any] = json.loads(self._core.info().decode("utf-8", "replace"))
        return described

    def weights(self) -> Iterator[Weight]:
        """All weights that are not 0: of the transitions, then of the attributes."""
        return map(Weight._make, self._core.weights())

    def tag(self, items: Iterable[Any], **options: Any) -> list[str]:
        """The labels of a sequence."""
        items, columns = self._columns(items)
        pool, tagger = self._take(columns, options)
        labels: list[str] = tagger.tag(items, columns)
        pool.append(tagger)
        return labels

    def tag_many(self, sequences: Iterable[Iterable[Any]], **options: Any) -> list[list[str]]:
        """The labels of many sequences."""
        found: list[list[str]] = self._many(sequences, options, False)
        return found

    def nbest(self, items: Iterable[Any], n: int = 10, **options: Any) -> list[Labelling]:
        """The n best labellings of a sequence, best first; fewer where there are fewer."""
        items, columns = self._columns(items)
        pool, tagger = self._take(columns, options)
        found = [Labelling._make(row) for row in tagger.nbest(items, n, columns)]
        pool.append(tagger)
        return found

    def marginals(self, items: Iterable[Any], **options: Any) -> Any:
        """The posterior of every label at every position, [length][labels] with the labels as in `labels`.

        An array of numpy where it is installed, otherwise a memoryview.
        """
        items, columns = self._columns(items)
        pool, tagger = self._take(columns, options or _POSTERIOR)
        data = tagger.tag(items, columns, True)
        pool.append(tagger)
        return self._as_marginals(data)

    def marginals_many(self, sequences: Iterable[Iterable[Any]], **options: Any) -> list[Any]:
        """The marginals of many sequences."""
        return [self._as_marginals(data) for data in self._many(sequences, options or _POSTERIOR, True)]

    def log_probability(self, items: Iterable[Any], labels: Sequence[str], **options: Any) -> float:
        """log P(labels | items); minus infinity if the model excludes them."""
        items, columns = self._columns(items)
        pool, tagger = self._take(columns, options)
        tagger.tag(items, columns)
        found = tagger.log_probability(labels)
        pool.append(tagger)
        return found

    def probability(self, items: Iterable[Any], labels: Sequence[str], **options: Any) -> float:
        """P(labels | items)."""
        return math.exp(self.log_probability(items, labels, **options))

    def _as_marginals(self, data: bytearray) -> Any:
        labels = len(self._labels)
        return _arrays.from_bytearray(data, "f", (len(data) // (4 * labels), labels))

    def _many(self, sequences: Iterable[Iterable[Any]], options: dict[str, Any], marginals: bool) -> Any:
        """Labels or marginals of many sequences; the first one tells what their columns are."""
        columns = None
        if self.has_templates:
            if not isinstance(sequences, (list, tuple)):
                sequences = list(sequences)
            first, columns = self._columns(sequences[0] if sequences else ())
            sequences = [first, *sequences[1:]] if sequences else sequences
        pool, tagger = self._take(columns, options)
        found = tagger.tag_many(sequences, columns, marginals)
        pool.append(tagger)
        return found

    def _columns(self, items: Iterable[Any]) -> tuple[Any, tuple[str, ...] | None]:
        """The items, and the names of their columns; None for attributes."""
        if not self.has_templates:
            return items, None
        if not isinstance(items, (list, tuple)):
            items = items if isinstance(items, str) else list(items)
        return items, tuple(items[0]) if items and isinstance(items[0], dict) else self.columns

    def _take(self, columns: Any, options: dict[str, Any]) -> tuple[list[_trellis.Tagger], _trellis.Tagger]:
        """A tagger for this thread alone, and where to put it afterwards."""
        key = (columns, tuple(sorted(options.items()))) if options else columns
        pool = self._pools.get(key)
        if pool is None:
            pool = self._pools.setdefault(key, [])
        try:
            return pool, pool.pop()
        except IndexError:
            return pool, _trellis.Tagger(self._core, as_settings(options), columns)
