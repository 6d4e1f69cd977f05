"""Models: what they know, and tagging with them."""

from __future__ import annotations

import json
import math
import os
from html import escape
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, Mapping, NamedTuple, Sequence

from . import _arrays, _trellis
from ._annotation import Annotation, Contribution, Explanation, Explanations, Picture, Span
from ._evaluation import Evaluation, evaluate
from ._options import as_settings
from ._signatures import EVAL, RUN, TAG, takes_options

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._option_types import EvaluationOptions, TagOptions


# Marginals need no best path.
_POSTERIOR: TagOptions = {"decode": "posterior"}
_POSTERIOR_KEY = tuple(_POSTERIOR.items())


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
        self._maker: Callable[[int], Any] | None = None
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

    def weight_dict(self) -> dict[tuple[str | None, ...], float]:
        """All weights by (attribute, label, ...); the attribute of a transition is None, as are start and end.

        >>> import trellis
        >>> model = trellis.train([[["a"], ["b"]]], [["A", "B"]], type="crf")
        >>> model.weight_dict()["a", "A"] > 0 > model.weight_dict().get(("a", "B"), -1)
        True
        """
        return {(w.attribute, *w.labels): w.weight for w in self.weights()}

    @takes_options(TAG | RUN)
    def tag(self, items: Iterable[Any], **options: Unpack[TagOptions]) -> list[str]:
        """The labels of a sequence."""
        items, columns = self._columns(items)
        pool, tagger = self._take(columns, options)
        labels: list[str] = tagger.tag(items, columns)
        pool.append(tagger)
        return labels

    @takes_options(TAG | RUN)
    def tag_many(self, sequences: Iterable[Iterable[Any]], **options: Unpack[TagOptions]) -> list[list[str]]:
        """The labels of many sequences."""
        found: list[list[str]] = self._many(sequences, options, None)
        return found

    @takes_options(TAG | RUN)
    def nbest(self, items: Iterable[Any], n: int = 10, **options: Unpack[TagOptions]) -> list[Labelling]:
        """The n best labellings of a sequence, best first; fewer where there are fewer."""
        items, columns = self._columns(items)
        pool, tagger = self._take(columns, options)
        found = [Labelling._make(row) for row in tagger.nbest(items, n, columns)]
        pool.append(tagger)
        return found

    @takes_options(TAG | RUN)
    def marginals(self, items: Iterable[Any], **options: Unpack[TagOptions]) -> Any:
        """The posterior of every label at every position, [length][labels] with the labels as in `labels`.

        An array of numpy where it is installed, otherwise a memoryview.
        """
        items, columns = self._columns(items)
        pool, tagger = self._take(columns, options or _POSTERIOR)
        found = tagger.tag(items, columns, self._maker or self._make_maker())
        pool.append(tagger)
        return found

    @takes_options(TAG | RUN)
    def marginals_many(self, sequences: Iterable[Iterable[Any]], **options: Unpack[TagOptions]) -> list[Any]:
        """The marginals of many sequences."""
        found: list[Any] = self._many(sequences, options or _POSTERIOR, self._maker or self._make_maker())
        return found

    @takes_options(TAG | RUN)
    def log_probability(self, items: Iterable[Any], labels: Sequence[str], **options: Unpack[TagOptions]) -> float:
        """log P(labels | items); minus infinity if the model excludes them."""
        items, columns = self._columns(items)
        pool, tagger = self._take(columns, options)
        tagger.tag(items, columns)
        found = tagger.log_probability(labels)
        pool.append(tagger)
        return found

    @takes_options(TAG | RUN)
    def probability(self, items: Iterable[Any], labels: Sequence[str], **options: Unpack[TagOptions]) -> float:
        """P(labels | items)."""
        return math.exp(self.log_probability(items, labels, **options))

    @takes_options(TAG | RUN)
    def annotate(self, items: Iterable[Any], text: str | None = None, **options: Unpack[TagOptions]) -> Annotation:
        """Labels, spans and probabilities of a sequence; coloured spans in a notebook.

        `text` is the text that the tokens are from, for the offsets of spans; without it, they are joined by blanks.
        """
        given, columns = self._columns(items if isinstance(items, (list, tuple)) else list(items))
        pool, tagger = self._take(columns, options)
        found = tagger.annotate(given, columns)
        pool.append(tagger)
        return Annotation(_tokens(given, columns), found, text, self._core.has_spans())

    @takes_options(TAG | RUN)
    def spans(self, items: Iterable[Any], text: str | None = None, **options: Unpack[TagOptions]) -> list[Span]:
        """The spans of a sequence, such as named entities, with their offsets in `text` and their probabilities."""
        return self.annotate(items, text, **options).spans

    @takes_options(TAG | RUN)
    def explain(self, items: Iterable[Any], **options: Unpack[TagOptions]) -> Explanations:
        """Why each token got its label: the contributions of all features, against the runner-up."""
        given, columns = self._columns(items if isinstance(items, (list, tuple)) else list(items))
        rows = _trellis.Explainer(self._core, as_settings(options), columns).explain(given, columns)
        tokens = _tokens(given, columns)
        return Explanations([_explanation(token, *row) for token, row in zip(tokens, rows)])

    @takes_options(TAG | RUN)
    def draw(self, items: Iterable[Any], max_labels: int = 5, **options: Unpack[TagOptions]) -> Picture:
        """The trellis of a short sequence as SVG, with the best path and the `max_labels` most probable labels."""
        given, columns = self._columns(items)
        pool, tagger = self._take(columns, options)
        picture = tagger.draw(given, columns, max_labels)
        pool.append(tagger)
        return Picture(picture.decode("utf-8"))

    @takes_options(TAG)
    def sample(self, items: Iterable[Any], n: int = 1, seed: int = 1, **options: Any) -> list[list[str]]:
        """Labellings drawn from P(labels | items)."""
        given, columns = self._columns(items)
        pool, tagger = self._take(columns, options)
        drawn = tagger.sample(given, columns, seed, n)
        pool.append(tagger)
        return drawn

    @takes_options(TAG | RUN)
    def entropy(self, items: Iterable[Any], **options: Unpack[TagOptions]) -> float:
        """The entropy of P(labels | items) in nats: 0 if the model is certain."""
        given, columns = self._columns(items)
        pool, tagger = self._take(columns, options)
        found = tagger.entropy(given, columns)
        pool.append(tagger)
        return found

    @takes_options(EVAL | RUN)
    def evaluate(
        self, X: Iterable[Iterable[Any]], y: Sequence[Iterable[str]], **options: Unpack[EvaluationOptions]
    ) -> Evaluation:
        """Tags sequences and scores the labels against the gold labels y."""
        return evaluate(y, self.tag_many(X), **options)

    def _repr_html_(self) -> str:
        notes = self.info["notes"]
        known = {
            "type": notes.get("type"),
            "algorithm": notes.get("algorithm"),
            "labels": ", ".join(self._labels[:20]) + (", ..." if len(self._labels) > 20 else ""),
            "features": self.info.get("features"),
            "iterations": notes.get("iterations"),
            "objective": notes.get("objective"),
        }
        rows = (f"<tr><th>{name}</th><td>{escape(str(value))}</td></tr>" for name, value in known.items() if value)
        return f"<table>{''.join(rows)}</table>"

    def _make_maker(self) -> Callable[[int], Any]:
        """Sets the function that makes the arrays of marginals."""
        self._maker = _arrays.maker(len(self._labels))
        return self._maker

    def _many(
        self, sequences: Iterable[Iterable[Any]], options: Mapping[str, Any], make: Callable[[int], Any] | None
    ) -> Any:
        """Labels of many sequences, or marginals in arrays by make(); the first one tells what their columns are."""
        columns = None
        if self.has_templates:
            if not isinstance(sequences, (list, tuple)):
                sequences = list(sequences)
            first, columns = self._columns(sequences[0] if sequences else ())
            sequences = [first, *sequences[1:]] if sequences else sequences
        pool, tagger = self._take(columns, options)
        found = tagger.tag_many(sequences, columns, make)
        pool.append(tagger)
        return found

    def _columns(self, items: Iterable[Any]) -> tuple[Any, tuple[str, ...] | None]:
        """The items, and the names of their columns; None for attributes."""
        if not self.has_templates:
            return items, None
        if not isinstance(items, (list, tuple)):
            items = items if isinstance(items, str) else list(items)
        return items, tuple(items[0]) if items and isinstance(items[0], dict) else self.columns

    def _take(self, columns: Any, options: Mapping[str, Any]) -> tuple[list[_trellis.Tagger], _trellis.Tagger]:
        """A tagger for this thread alone, and where to put it afterwards."""
        key = columns
        if options:
            key = columns, _POSTERIOR_KEY if options is _POSTERIOR else tuple(sorted(options.items()))
        pool = self._pools.get(key)
        if pool is None:
            pool = self._pools.setdefault(key, [])
        try:
            return pool, pool.pop()
        except IndexError:
            return pool, _trellis.Tagger(self._core, as_settings(options), columns)


def _tokens(items: Sequence[Any], columns: tuple[str, ...] | None) -> list[str]:
    """What stands for the items where they are shown: words, or all attributes."""
    return [_token(item, columns) for item in items]


def _token(item: Any, columns: tuple[str, ...] | None) -> str:
    if isinstance(item, dict):
        for name in "word", "token", "form", "w":
            if isinstance(item.get(name), str):
                return str(item[name])
        return " ".join(f"{key}={value}" for key, value in item.items())
    if isinstance(item, (list, tuple)):
        return str(item[0]) if columns is not None and item else " ".join(map(str, item))
    return str(item)


def _known(number: float) -> float | None:
    return None if math.isnan(number) else number


def _explanation(
    token: str, predicted: str, runner_up: str | None, margin: float, p: float, q: float, rows: list[tuple[Any, ...]]
) -> Explanation:
    parts = [Contribution(at, name, tuple(labels), first, second) for at, name, labels, first, second in rows]
    return Explanation(token, predicted, runner_up, margin, _known(p), _known(q), parts)
